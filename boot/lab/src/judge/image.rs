//! The report on a process that CRIU dumped once and restored twice.

use crate::judge::compare::halves;
use crate::judge::finding::{Finding, FindingKind};
use serde::Serialize;
use std::collections::HashSet;

/// A process that was restored twice, in JSON of schema `headwater.lab-criu/1`.
#[derive(Clone, Debug, Serialize)]
pub struct RestoredImages {
    pub(crate) schema: &'static str,
    /// This host's `uname -r`.
    pub kernel: String,
    /// CRIU's version.
    pub criu: String,
    /// The process's C library.
    pub libc: String,
    /// headwater's mode that the process asked for.
    pub asked: String,
    /// The mode that it was served in at the dump.
    pub served: String,
    /// Kind of memory of the process's pages.
    pub page: String,
    /// Content of a page that the kernel may drop, after the restore: `kept`, `zero`, or `absent`.
    pub droppable: String,
    /// Content of a page that is wiped on fork, after the restore.
    pub wiped: String,
    /// The answers of a stamp that was checked before the dump, one of each restored process:
    /// `stale`, `fresh` or `unknown`.
    pub stamps: [String; 2],
    /// True if the process called `quiesce()` before the dump.
    pub quiesced: bool,
    /// Each witness.
    pub rows: Vec<RestoredWitness>,
}

/// Repeats of one witness.
#[derive(Clone, Debug, Serialize)]
pub struct RestoredWitness {
    /// `libc` (its getrandom), `arc4random`, or a witness of the guests.
    pub witness: String,
    /// Draws of 16 bytes after the restore, in the first process; 0: absent.
    pub draws: usize,
    /// Draws with bytes that the second process drew too.
    pub repeated: usize,
}

/// All draws of one restored process: rounds, and in each the draws of all witnesses.
pub(crate) type Rounds = Vec<Vec<Option<[u8; 16]>>>;

/// Compares what two restored processes drew.
pub(crate) fn compare(witnesses: &[String], [one, two]: [&Rounds; 2]) -> Vec<RestoredWitness> {
    let row = |(index, name): (usize, &String)| {
        let draws = |rounds: &Rounds| -> Vec<[u64; 2]> {
            let bytes = rounds.iter().filter_map(|round| *round.get(index)?);
            bytes.map(|bytes| halves(u128::from_be_bytes(bytes))).collect()
        };
        let one = draws(one);
        let other: HashSet<u64> = draws(two).into_iter().flatten().collect();
        let repeated = one.iter().filter(|words| words.iter().any(|word| other.contains(word)));
        RestoredWitness { witness: name.clone(), draws: one.len(), repeated: repeated.count() }
    };
    witnesses.iter().enumerate().map(row).collect()
}

impl RestoredImages {
    /// Returns true if headwater's pages came back empty, as the test page of the same kind did.
    fn came_back_empty(&self) -> bool {
        self.page == "droppable" && self.droppable == "zero"
    }

    /// Returns true for headwater's provider in a program without libcrypto.
    fn lacks_libcrypto(&self, witness: &str) -> bool {
        witness == "headwater-openssl"
            && self.rows.iter().any(|row| row.witness == "openssl" && row.draws == 0)
    }

    /// Returns the broken promises.
    ///
    /// Nothing may repeat in `hedged` and `strict`, after `quiesce()`, and where the pages come
    /// back empty. Otherwise at most the rest of one page may repeat. Where pages come back empty,
    /// a stamp has to be stale in both processes.
    fn findings(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        let mut add = |kind, text: String| {
            let text = format!("{}, {text}", self.criu);
            findings.push(Finding { situation: "criu", kind, text });
        };
        let empty = self.came_back_empty();
        let safe = self.quiesced || empty || matches!(self.served.as_str(), "hedged" | "strict");
        let after = if self.quiesced { ", after quiesce()" } else { "" };
        for row in self.rows.iter().filter(|row| row.witness.starts_with("headwater")) {
            // The draws that one page serves: a slot's, or the handle's own.
            const PAGE: usize = 3536 / 16;
            let name = format!("{} in {}{after}", row.witness, self.asked);
            if row.repeated > if safe { 0 } else { PAGE } {
                let RestoredWitness { repeated, draws, .. } = row;
                add(FindingKind::Broken, format!("{name}: {repeated} of {draws} draws repeat"));
            }
            if row.draws == 0 && !self.lacks_libcrypto(&row.witness) {
                add(FindingKind::NotShown, format!("{name}: no draw after the restore"));
            }
        }
        if empty && self.stamps.iter().any(|stamp| stamp != "stale") {
            let [one, two] = &self.stamps;
            add(FindingKind::Broken, format!("stamp in {}{after}: {one}, {two}", self.asked));
        }
        // The kernel's own vDSO state, which an older CRIU restores like any page.
        let vdso = self.rows.iter().find(|row| row.witness == "vdso");
        if !empty && vdso.is_none_or(|row| row.repeated == 0) {
            add(
                FindingKind::NotShown,
                format!(
                    "{}: the vDSO's getrandom() did not repeat, because the kernel reseeded meanwhile",
                    self.asked
                ),
            );
        }
        findings
    }
}

/// Returns the broken promises of all restored processes.
pub fn findings(images: &[RestoredImages]) -> Vec<Finding> {
    images.iter().flat_map(RestoredImages::findings).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn images(
        [page, droppable]: [&str; 2],
        quiesced: bool,
        repeated: [usize; 2],
    ) -> RestoredImages {
        let rows = [("vdso", repeated[0]), ("headwater-rng", repeated[1])];
        let row = |(witness, repeated): (&str, _)| RestoredWitness {
            witness: witness.into(),
            draws: 300,
            repeated,
        };
        RestoredImages {
            schema: "",
            kernel: String::new(),
            criu: "4".into(),
            libc: String::new(),
            asked: "buffered".into(),
            served: "buffered".into(),
            page: page.into(),
            droppable: droppable.into(),
            wiped: "kept".into(),
            stamps: ["stale", if droppable == "zero" { "stale" } else { "fresh" }].map(Into::into),
            quiesced,
            rows: rows.into_iter().map(row).collect(),
        }
    }

    fn kinds(images: &RestoredImages) -> Vec<FindingKind> {
        images.findings().into_iter().map(|finding| finding.kind).collect()
    }

    #[test]
    fn a_page_may_repeat_only_where_it_is_restored_as_it_was() {
        use FindingKind::{Broken, NotShown};
        let (kept, zero) = (["droppable", "kept"], ["droppable", "zero"]);
        assert_eq!(kinds(&images(kept, false, [300, 221])), []);
        assert_eq!(kinds(&images(kept, false, [300, 222])), [Broken]);
        assert_eq!(kinds(&images(kept, true, [300, 1])), [Broken]);
        assert_eq!(kinds(&images(kept, true, [0, 0])), [NotShown]);
        assert_eq!(kinds(&images(zero, false, [0, 0])), []);
        assert_eq!(kinds(&images(zero, false, [0, 1])), [Broken]);
        assert_eq!(kinds(&images(["wipe-on-fork", "zero"], false, [300, 221])), []);
    }

    #[test]
    fn a_stamp_has_to_be_stale_where_pages_came_back_empty() {
        for stamp in ["fresh", "unknown"] {
            let mut images = images(["droppable", "zero"], false, [0, 0]);
            images.stamps[1] = stamp.into();
            assert_eq!(kinds(&images), [FindingKind::Broken]);
        }
    }

    #[test]
    fn hedged_and_strict_may_not_repeat_at_all() {
        for served in ["hedged", "strict"] {
            let mut images = images(["droppable", "kept"], false, [300, 1]);
            images.served = served.into();
            assert_eq!(kinds(&images), [FindingKind::Broken]);
        }
    }

    #[test]
    fn a_silent_witness_shows_nothing() {
        let mut images = images(["droppable", "kept"], false, [300, 0]);
        images.rows[1].draws = 0;
        assert_eq!(kinds(&images), [FindingKind::NotShown]);
        // The provider is absent together with libcrypto, and only then.
        images.rows[1].witness = "headwater-openssl".into();
        assert_eq!(kinds(&images), [FindingKind::NotShown]);
        images.rows.push(RestoredWitness { witness: "openssl".into(), draws: 0, repeated: 0 });
        assert_eq!(kinds(&images), []);
    }

    #[test]
    fn half_a_draw_is_a_repeat() {
        let bytes =
            |high: u64, low: u64| Some((u128::from(high) << 64 | u128::from(low)).to_be_bytes());
        let names = ["a", "b", "c"].map(str::to_owned);
        let one = vec![vec![bytes(1, 2), bytes(5, 6), None], vec![bytes(3, 4), bytes(7, 8), None]];
        let two = vec![vec![bytes(9, 3), bytes(1, 2), None]];
        let rows: Vec<(usize, usize)> = compare(&names, [&one, &two])
            .into_iter()
            .map(|row| (row.draws, row.repeated))
            .collect();
        // `b` of the one shares words with `a` of the other only, which is another generator.
        assert_eq!(rows, [(2, 1), (2, 0), (0, 0)]);
    }
}
