//! In the case `upper-halves`, a fill follows code that left halves of vector registers dirty.
//!
//! On Intel's CPUs the first instruction of the older SSE encoding waits after such code. A caller
//! that forgets `vzeroupper` makes a generator pay for this wait.

use crate::Error;
use crate::contender::Contender;
use crate::measure::Timing;
use crate::plan::Cell;
use crate::row::Row;
use crate::station::{Station, arm_if_switching};
use crate::work::Work;
use std::time::Instant;

/// One draw fills so many bytes.
pub(crate) const LEN: usize = 16;

/// The registers' upper halves are in one of two states when a draw begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Halves {
    Clean,
    Dirty,
}

impl Halves {
    const BOTH: [Halves; 2] = [Halves::Clean, Halves::Dirty];

    /// Returns the note of the rows with this state, which a target looks for.
    pub(crate) const fn note(self) -> &'static str {
        match self {
            Halves::Clean => CLEAN,
            Halves::Dirty => DIRTY,
        }
    }
}

/// Rows with clean upper halves have this note, and are the baseline.
pub(crate) const CLEAN: &str = "clean upper halves";
/// Rows with dirty upper halves have this note.
pub(crate) const DIRTY: &str = "dirty upper halves";

/// Tells whether this CPU has registers with upper halves, and instructions for integers in them.
pub(crate) fn are_here() -> bool {
    #[cfg(target_arch = "x86_64")]
    return is_x86_feature_detected!("avx2");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Writes a register of 256 bits, and leaves its upper half dirty.
#[inline(always)]
pub(crate) fn soil() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the case is planned on CPUs with AVX2 only. The compiler keeps nothing in a register
    // that a C function may change.
    unsafe {
        std::arch::asm!(
            "vpcmpeqd ymm15, ymm15, ymm15",
            clobber_abi("C"),
            options(nostack, preserves_flags)
        );
    }
}

/// Writes the same register, and then clears all upper halves.
#[inline(always)]
pub(crate) fn clean() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the reasons are those of `soil`.
    unsafe {
        std::arch::asm!(
            "vpcmpeqd ymm15, ymm15, ymm15",
            "vzeroupper",
            clobber_abi("C"),
            options(nostack, preserves_flags)
        );
    }
}

/// Measures two rows for each contender, in turns within each round.
pub(crate) fn measure(cell: &Cell) -> Result<Vec<Row>, Error> {
    let _lent = cell.pins.lend(0)?;
    let mut station = Station::open(cell, Contender::arm)?;
    let calls = station.calibrate(cell)?;
    let mut ns = vec![[const { Vec::new() }; 2]; cell.contenders.len()];
    for _ in cell.pace.begin() {
        for (index, contender) in cell.contenders.iter().enumerate() {
            arm_if_switching(cell, contender)?;
            let gave_out = |_| contender.gave_out();
            // The pools of a new mode are empty, and the first draw fills them.
            station.batch(index, cell.work, 1).map_err(gave_out)?;
            for (halves, ns) in Halves::BOTH.into_iter().zip(&mut ns[index]) {
                let start = Instant::now();
                station.batch(index, Work::FillAfter(halves), calls[index]).map_err(gave_out)?;
                ns.push(start.elapsed().as_nanos() as f64 / calls[index] as f64);
            }
        }
    }
    let mut rows = Vec::new();
    for (index, contender) in cell.contenders.iter().enumerate() {
        for (halves, ns) in Halves::BOTH.into_iter().zip(&mut ns[index]) {
            let timing = Timing {
                calls: calls[index],
                ns: std::mem::take(ns),
                mode: station.modes[index],
                discarded_bytes: None,
                note: Some(halves.note()),
                percentiles: None,
                counters: None,
            };
            rows.push(Row::measured(cell, contender, timing));
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_has_a_row_with_clean_and_one_with_dirty_halves() {
        let report = crate::run(&crate::Args {
            cases: vec!["upper-halves".to_owned()],
            impls: vec![
                "headwater".to_owned(),
                "headwater-rng".to_owned(),
                "urandom-read".to_owned(),
            ],
            rounds: Some(6),
            ..crate::Args::default()
        });
        if !are_here() {
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
        let text = report.table();
        assert!(text.contains("| dirty in times of clean"), "{text}");
    }
}
