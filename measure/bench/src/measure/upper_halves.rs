//! In the case `upper-halves`, a fill follows code that left halves of vector registers dirty.
//!
//! On Intel's CPUs the first instruction of the older SSE encoding waits after such code. A caller
//! that forgets `vzeroupper` makes a generator pay for this wait.

use crate::draw::upper_halves::Halves;
use crate::draw::work::Work;
use crate::error::Error;
use crate::impls::variant::Variant;
use crate::measure::row::Row;
use crate::measure::thread_state::{ThreadState, set_mode_if_switching};
use crate::measure::timing::Timing;
use crate::plan::comparison::Comparison;
use std::time::Instant;

/// Measures two rows for each variant, in turns within each round.
pub(crate) fn measure(comparison: &Comparison) -> Result<Vec<Row>, Error> {
    let _lent = comparison.pins.lend(0)?;
    let mut state = ThreadState::open(comparison, Variant::set_mode)?;
    let calls = state.calibrate(comparison)?;
    let mut ns = vec![[const { Vec::new() }; 2]; comparison.variants.len()];
    for _ in comparison.pace.begin() {
        for (index, variant) in comparison.variants.iter().enumerate() {
            set_mode_if_switching(comparison, variant)?;
            let gave_out = |_| variant.gave_out();
            // The pools of a new mode are empty, and the first draw fills them.
            state.batch(index, comparison.work, 1).map_err(gave_out)?;
            for (halves, ns) in Halves::BOTH.into_iter().zip(&mut ns[index]) {
                let start = Instant::now();
                state.batch(index, Work::FillAfter(halves), calls[index]).map_err(gave_out)?;
                ns.push(start.elapsed().as_nanos() as f64 / calls[index] as f64);
            }
        }
    }
    let mut rows = Vec::new();
    for (index, variant) in comparison.variants.iter().enumerate() {
        for (halves, ns) in Halves::BOTH.into_iter().zip(&mut ns[index]) {
            let timing = Timing {
                calls: calls[index],
                ns: std::mem::take(ns),
                mode: state.modes[index],
                discarded_bytes: None,
                note: Some(halves.note()),
                percentiles: None,
                counters: None,
            };
            rows.push(Row::measured(comparison, variant, timing));
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use crate::draw::upper_halves::{CLEAN, DIRTY, exist};

    #[test]
    fn every_form_has_a_row_with_clean_and_one_with_dirty_halves() {
        let report = crate::run(&crate::args::Args {
            cases: vec!["upper-halves".to_owned()],
            impls: vec![
                "headwater".to_owned(),
                "headwater-rng".to_owned(),
                "urandom-read".to_owned(),
            ],
            rounds: Some(6),
            ..crate::Args::default()
        });
        if !exist() {
            assert!(report.is_err());
            return;
        }
        let report = report.unwrap();
        let rows: Vec<_> =
            report.rows.iter().map(|row| (&*row.implementation, row.note.as_deref())).collect();
        let [clean, dirty] = [Some(CLEAN), Some(DIRTY)];
        assert_eq!(
            rows,
            [
                ("headwater", clean),
                ("headwater", dirty),
                ("headwater-rng", clean),
                ("headwater-rng", dirty)
            ]
        );
        assert!(report.ratios.is_empty(), "rows of one note have no peer");
        let text = crate::table(&report);
        assert!(text.contains("| dirty in times of clean"), "{text}");
    }
}
