//! The reseeds of the copies' kernels: did each come after the copy, and how long after? The same
//! of stamps that went stale.
//!
//! The kernel's witness notes each look at the generation with its nanosecond, and the notes are
//! copied with it. So a reseed that two copies noted at the same nanosecond came before the copy,
//! and one that a copy alone noted came after. Two copies that look at the same nanosecond by
//! chance, or by a clock that is coarse, only lose the proof.
//!
//! One case is left: the kernel may reseed by its clock in the 20 ms between the last look and the
//! copy, and each copy then notes it as its own. That is one check of three thousand on a kernel
//! that has been up for minutes, and a value that repeats refutes it.

use crate::builtin;
use crate::draw::{Draws, Reseed};
use std::collections::BTreeSet;

/// Returns the milliseconds from the copy to the first reseed after it, in the slowest copy; None
/// if the kernel of one copy does not show one.
pub(crate) fn after_ms(copies: &[Draws]) -> Option<u64> {
    let each: Option<Vec<u64>> = each(copies, builtin::NAMES[0]).into_iter().collect();
    each?.into_iter().max()
}

/// Returns for each copy the milliseconds from the copy to the first event after it that the
/// witness noted, or more; None where it shows none.
pub(crate) fn each(copies: &[Draws], witness: &str) -> Vec<Option<u64>> {
    let seen: Vec<&[Reseed]> = copies.iter().map(|draws| of(draws, witness)).collect();
    let noted: Vec<BTreeSet<u64>> = seen
        .iter()
        .map(|seen| seen.iter().flat_map(|one| one.looks.iter().copied().chain([one.ns])).collect())
        .collect();
    let after = |(copy, own): (usize, &&[Reseed])| {
        let others = || (0..seen.len()).filter(|other| *other != copy);
        let is_shared = |ns: u64| others().any(|other| noted[other].contains(&ns));
        // A copy keeps its last notes. If the oldest is later than this reseed, it may have noted
        // the reseed as well and dropped it, and nothing follows from its silence.
        let is_known = |ns: u64| {
            others().all(|other| {
                seen[other].first().is_some_and(|first| first.ns <= ns)
                    || seen[other].len() < builtin::KEPT_RESEEDS
            })
        };
        let reseed = own.iter().find(|reseed| !is_shared(reseed.ns) && is_known(reseed.ns))?;
        let shared = reseed.looks.iter().copied().filter(|look| is_shared(*look)).max();
        // Without a shared look the copy was made before the oldest look, and nothing shows how
        // long before. The clock began with the machine, so the copy came after that.
        let copied = shared.unwrap_or(0);
        Some(reseed.ns.saturating_sub(copied) / 1_000_000)
    };
    seen.iter().enumerate().map(after).collect()
}

fn of<'a>(draws: &'a Draws, name: &str) -> &'a [Reseed] {
    let witness = draws.witnesses.iter().find(|witness| witness.name == name);
    witness.map_or(&[], |witness| &witness.reseeds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::Witness;

    fn copies(reseeds: Vec<Vec<Reseed>>) -> Vec<Draws> {
        let draws = |reseeds| Draws {
            schema: String::new(),
            planting: String::new(),
            witnesses: vec![Witness {
                name: "kernel".to_owned(),
                title: String::new(),
                error: None,
                reseeds,
                skipped: vec![],
                rows: vec![],
            }],
            kernel_ms: 0,
            total_ms: 0,
        };
        reseeds.into_iter().map(draws).collect()
    }

    fn at(ms: u64, looks: &[u64]) -> Reseed {
        let looks = looks.iter().map(|ms| ms * 1_000_000).collect();
        Reseed { generation: ms, ns: ms * 1_000_000, looks }
    }

    #[test]
    fn a_reseed_before_the_copy_proves_nothing() {
        // The original's kernel reseeded by its clock at 100 ms, after it was planted.
        let before = || at(100, &[60, 80]);
        assert_eq!(after_ms(&copies(vec![vec![before()]; 3])), None);
        assert_eq!(after_ms(&copies(vec![vec![], vec![]])), None);
        // Each copy reseeds at once, between 200 ms and its next look.
        let own = |ms| vec![before(), at(ms, &[160, 180, 200])];
        assert_eq!(after_ms(&copies(vec![own(221), own(223), own(222)])), Some(23));
        // One of three does not.
        assert_eq!(after_ms(&copies(vec![own(221), own(223), vec![before()]])), None);
    }

    #[test]
    fn a_late_reseed_says_how_late_it_is() {
        let own = |ms: u64, last: u64| vec![at(ms, &[180, 200, last])];
        assert_eq!(after_ms(&copies(vec![own(5_001, 4_981), own(222, 212)])), Some(4_801));
        // The looks from before the copy are forgotten. One second, as they are left, would be too
        // little.
        let lost = vec![at(9_000, &[8_000, 8_980])];
        assert_eq!(after_ms(&copies(vec![lost, own(222, 212)])), Some(9_000));
    }

    #[test]
    fn notes_that_were_dropped_are_no_silence() {
        let many: Vec<Reseed> =
            (0..builtin::KEPT_RESEEDS as u64).map(|i| at(500 + i, &[])).collect();
        // The first copy shows one reseed, which the second may have noted and dropped.
        assert_eq!(after_ms(&copies(vec![vec![at(100, &[80])], many])), None);
    }
}
