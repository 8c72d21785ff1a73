//! Reasons to doubt figures, found in the figures themselves.

use crate::measure::row::Row;

/// A median whose MAD is above this part of it was not measured on a quiet machine.
const NOISY: f64 = 0.05;

/// If more than this part of the rounds were interrupted, the median may have moved too.
const MANY_OUTLIERS: f64 = 0.05;

/// Some three cycles of today's CPUs, in which nothing is both drawn and counted as drawn.
const LEAST_NS_PER_CALL: f64 = 0.75;
/// Six times the fastest AES-256-CTR measured for this project, and about what memset does in a
/// cache.
const MOST_GB_PER_S: f64 = 100.0;

fn too_fast(row: &Row) -> Option<String> {
    let gb_per_s_of_one = row.gb_per_s / (row.threads * row.procs) as f64;
    (row.ns_per_call < LEAST_NS_PER_CALL || gb_per_s_of_one > MOST_GB_PER_S).then(|| {
        format!(
            "{}: {:.2} ns per call is too fast to be true; do not use this figure",
            row.title(),
            row.ns_per_call
        )
    })
}

/// Returns one line for all noisy figures, with the worst, so that a busy machine does not bury the
/// rest.
fn noisy(rows: &[Row]) -> Option<String> {
    const NAMED: usize = 3;
    let mut noisy: Vec<&Row> = rows.iter().filter(|row| row.spread() > NOISY).collect();
    noisy.sort_by(|a, b| b.spread().total_cmp(&a.spread()));
    let named = noisy
        .iter()
        .take(NAMED)
        .map(|row| format!("{} ({:.0} %)", row.title(), 100.0 * row.spread()));
    (!noisy.is_empty()).then(|| {
        format!(
            "the MAD of {} of {} figures is above 5 %, so the machine was not quiet; the widest: {}",
            noisy.len(),
            rows.len(),
            named.collect::<Vec<_>>().join("; ")
        )
    })
}

/// Returns one line for all interrupted figures, with the worst. It differs from `noisy`: a machine
/// that runs at one of two speeds is noisy without an outlier.
fn interrupted(rows: &[Row]) -> Option<String> {
    let share = |row: &Row| row.outliers as f64 / row.samples as f64;
    // One in six rounds of a quick look is no sign of anything.
    let many = rows.iter().filter(|row| row.outliers > 2 && share(row) > MANY_OUTLIERS);
    let many: Vec<&Row> = many.collect();
    let worst = many.iter().max_by(|a, b| share(a).total_cmp(&share(b)))?;
    Some(format!(
        "in {} of {} figures more than 5 % of the rounds took at least 1.5 times the median, so \
         something else ran; the worst: {} ({} of {} rounds)",
        many.len(),
        rows.len(),
        worst.title(),
        worst.outliers,
        worst.samples
    ))
}

/// Returns the warnings, one line each.
pub(crate) fn warnings(rows: &[Row]) -> Vec<String> {
    let too_fast = rows.iter().filter_map(too_fast);
    too_fast.chain(noisy(rows)).chain(interrupted(rows)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(rounds: &[f64]) -> Row {
        Row::new("fill", "headwater", 16, 1000, rounds.to_vec())
    }

    #[test]
    fn tells_of_interrupted_rounds_once() {
        let mut rounds = vec![4.0; 100];
        rounds[..5].fill(6.0);
        assert_eq!(warnings(&[row(&rounds)]), [""; 0]);
        rounds[5] = 8.0;
        let warnings = warnings(&[row(&rounds), row(&rounds)]);
        assert_eq!(warnings.len(), 1);
        assert!(warnings[0].starts_with("in 2 of 2 figures more than 5 %"), "{warnings:?}");
        assert!(warnings[0].ends_with("(6 of 100 rounds)"), "{warnings:?}");
    }

    #[test]
    fn doubts_what_is_too_fast_and_what_is_noisy() {
        let warnings = |row| warnings(&[row]);
        assert_eq!(warnings(row(&[4.0, 4.0, 5.0])), [""; 0]);
        assert_eq!(
            warnings(row(&[0.2, 0.2, 0.2])),
            [
                "fill 16 B, headwater: 0.20 ns per call is too fast to be true; do not use this figure"
            ]
        );
        assert_eq!(
            warnings(row(&[3.0, 4.0, 5.0])),
            [
                "the MAD of 1 of 1 figures is above 5 %, so the machine was not quiet; the widest: fill 16 B, headwater (25 %)"
            ]
        );
    }
}
