//! Gaps between values in a sixteenth of the range.

use super::{Test, TestPart, any};
use crate::effort::Effort;
use crate::tally::Tally;
use crate::view::{Form, View};

pub(crate) const TEST: Test = Test {
    name: "gap",
    source: "Knuth, TAOCP 2, 3.3.2 D",
    meaning: "A value comes back too early, too late or too regularly.",
    unseen: "whether values come back at random distances",
    least: 1 << 14,
    costly: false,
    fits: any,
    run,
};

/// The chance of a hit.
const HIT: f64 = 1.0 / 16.0;

fn run(view: &View, _: Effort) -> Vec<TestPart> {
    let values = view.values.iter().map(|value| value >> 60);
    let mut parts = vec![count("", values, view.values.len())];
    if view.form == (Form { width: 64, reversed: false }) {
        // The 8-bit forms see a sample, and lagged sums of a few numbers show late in that:
        // x[n - 5] + x[n - 17] of 32 bits, the upper half, needs 2^19 bytes.
        let bytes = view.values.iter().flat_map(|word| word.to_le_bytes());
        let bytes = bytes.map(|byte| u64::from(byte >> 4));
        parts.push(count("all bytes, ", bytes, 8 * view.values.len()));
    }
    parts
}

/// Counts the distances between zeros among the `highest` four bits of each value.
fn count(name: &str, highest: impl Iterator<Item = u64>, values: usize) -> TestPart {
    let longest = if values >= 1 << 18 { 80 } else { 30 };
    let mut seen = vec![0; longest + 1];
    let mut last = None; // no zero before
    for (at, value) in highest.enumerate() {
        if value == 0 {
            if let Some(last) = last {
                let gap: usize = at - last - 1;
                seen[gap.min(longest)] += 1;
            }
            last = Some(at);
        }
    }
    let mut chances: Vec<f64> = (0..longest).map(|n| HIT * (1.0 - HIT).powi(n as i32)).collect();
    chances.push((1.0 - HIT).powi(longest as i32));
    if seen.iter().all(|&n| n == 0) {
        // A stuck generator never hits. The probability of that many misses is practically zero.
        seen[longest] = (values / longest) as u64;
    }
    let name = format!("{name}gaps up to {longest}");
    TestPart::new(name, values, Tally::Cells { seen, chances })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_between_zeros_are_counted() {
        let digits = [0_u64, 3, 0, 0, 5, 5, 9, 0, 1];
        let Tally::Cells { seen, .. } = count("", digits.into_iter(), 9).tally else {
            unreachable!()
        };
        assert_eq!((seen[0], seen[1], seen[3]), (1, 1, 1));
        assert_eq!(seen.iter().sum::<u64>(), 3);
    }

    /// Additions of numbers 5 and 17 places before, their upper halves: 4 MiB once passed `--fast`.
    #[test]
    fn lagged_sums_show_in_all_bytes_of_4_mib() {
        let mut rng = fastrand::Rng::with_seed(17);
        let mut ring: [u32; 17] = std::array::from_fn(|_| rng.u32(..));
        let mut at = 0;
        let mut next = || {
            ring[at] = ring[at].wrapping_add(ring[(at + 12) % 17]);
            at = (at + 1) % 17;
            u64::from(ring[(at + 16) % 17] >> 16)
        };
        let words: Vec<u64> =
            (0..1 << 19).map(|_| next() | next() << 16 | next() << 32 | next() << 48).collect();
        let view = View::new(&words, Form { width: 64, reversed: false }, usize::MAX);
        let parts = run(&view, Effort::Fast);
        assert!(parts[1].tally.p() < 1e-20, "{:e}", parts[1].tally.p());
        let good: Vec<u64> = (0..1 << 19).map(|_| rng.u64(..)).collect();
        let view = View::new(&good, Form { width: 64, reversed: false }, usize::MAX);
        assert!(run(&view, Effort::Fast).iter().all(|part| part.tally.p() > 1e-4));
    }
}
