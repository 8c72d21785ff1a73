//! Compares the draws of copies: which source repeats, in how many of them, and who can renew it.
//!
//! Sets are compared, and not positions. If something in one copy draws once more, every later
//! value moves by a place, and a comparison of first with first would say that all is well while
//! each value of one copy is the next value of another.

use crate::builtin;
use crate::catalogue::{self, Class, Renewer};
use crate::draw::{Draws, Row};
use anyhow::{Result, ensure};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The schema of a comparison.
pub(crate) const SCHEMA: &str = "headwater.clones/1";

/// The thing that was copied.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Copied {
    /// Processes: all copies run on one kernel of one machine.
    Process,
    /// Machines, each with a copy of the kernel.
    Machine,
}

/// The verdict on a source.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Verdict {
    /// Copies gave equal values, and it can be renewed.
    Repeats,
    /// Copies gave equal values, and nothing outside the program or in it can change that.
    NotRenewable,
    /// The draws prove nothing.
    NotShown,
    /// No two copies gave an equal value.
    Differs,
}

/// The comparison of all copies.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Comparison {
    /// `headwater.clones/1`.
    pub schema: &'static str,
    /// The number of copies that drew.
    pub copies: usize,
    /// The thing that was copied.
    pub copied: Copied,
    /// The number of sources that repeat and can be renewed. The check fails if there is one.
    pub repeats: usize,
    /// The number of sources that repeat and cannot be renewed.
    pub not_renewable: usize,
    /// The number of sources whose draws prove nothing, or that were not drawn.
    pub not_shown: usize,
    /// The number of sources that differ.
    pub differs: usize,
    /// The sources: those that repeat first.
    pub rows: Vec<Compared>,
    /// Witnesses that did not run, with the reason.
    pub absent: Vec<Absent>,
}

/// A source.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Compared {
    /// Its name.
    pub id: String,
    /// The watched runtime, with its version.
    pub title: String,
    /// The verdict.
    pub verdict: Verdict,
    /// In how many copies a value is that another copy has, too.
    pub copies: usize,
    /// The number of values of one copy that another copy has, too: the most of any copy.
    pub repeated: usize,
    /// The number of values that each copy drew.
    pub draws: usize,
    /// Milliseconds from the trigger to the last value that repeats, where they were measured.
    pub until_ms: Option<u64>,
    /// Where its state lives.
    pub class: Class,
    /// The one that can renew it.
    pub renewed_by: Renewer,
    /// The way to renew it, or the reason why there is none.
    pub advice: String,
    /// Why the draws prove nothing.
    pub why: Option<String>,
}

/// A witness that did not run.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Absent {
    /// The witness.
    pub witness: String,
    /// The reason.
    pub why: String,
}

/// Compares copies.
///
/// # Errors
///
/// If there are fewer than two, or if they are copies of different originals.
pub fn compare(copies: &[Draws], copied: Copied) -> Result<Comparison> {
    ensure!(copies.len() > 1, "a comparison needs the draws of two copies or more");
    for draws in copies {
        ensure!(
            draws.schema == crate::draw::SCHEMA,
            "a file holds '{}' where '{}' is needed",
            draws.schema,
            crate::draw::SCHEMA
        );
        ensure!(
            draws.planting == copies[0].planting,
            "the draws come from two plantings, {} and {}: plant once, and copy that",
            copies[0].planting,
            draws.planting
        );
    }
    let mut sources: BTreeMap<&str, Drawn> = BTreeMap::new();
    let mut absent = BTreeSet::new();
    for witness in copies.iter().flat_map(|draws| &draws.witnesses) {
        if let Some(why) = &witness.error {
            absent.insert(Absent { witness: witness.name.clone(), why: why.clone() });
        }
        for row in &witness.rows {
            let drawn = sources.entry(&row.id).or_default();
            drawn.title = &witness.title;
            drawn.rows.push(row);
        }
        for skipped in &witness.skipped {
            let drawn = sources.entry(&skipped.id).or_default();
            drawn.title = &witness.title;
            drawn.skipped = Some(&skipped.why);
        }
    }
    let mut setting = Setting { copied, reseeded: reseeded(copies) };
    let judged = |setting: &Setting| -> Vec<Compared> {
        sources.iter().map(|(id, drawn)| drawn.judged(id, setting)).collect()
    };
    let mut rows = judged(&setting);
    // One value of the kernel that repeats refutes the reseed for all of its sources. A generation
    // can have moved between the planting and the copy, and then it says nothing of the copies.
    let of_kernel = |row: &Compared| row.class == Class::Kernel && row.copies > 0;
    if setting.reseeded && rows.iter().any(of_kernel) {
        setting.reseeded = false;
        rows = judged(&setting);
    }
    rows.sort_by(|a, b| (a.verdict, &a.id).cmp(&(b.verdict, &b.id)));
    let count = |verdict| rows.iter().filter(|row| row.verdict == verdict).count();
    Ok(Comparison {
        schema: SCHEMA,
        copies: copies.len(),
        copied,
        repeats: count(Verdict::Repeats),
        not_renewable: count(Verdict::NotRenewable),
        not_shown: count(Verdict::NotShown),
        differs: count(Verdict::Differs),
        rows,
        absent: absent.into_iter().collect(),
    })
}

/// Returns whether the kernel of each copy shows that it was reseeded after the planting.
fn reseeded(copies: &[Draws]) -> bool {
    copies.iter().all(|draws| {
        let kernel = draws.witnesses.iter().find(|witness| witness.name == builtin::NAMES[0]);
        matches!(kernel.map(|kernel| kernel.reseeds), Some([Some(a), Some(b)]) if a != b)
    })
}

/// The facts that all copies share.
struct Setting {
    copied: Copied,
    reseeded: bool,
}

/// The draws of one source in all copies.
#[derive(Default)]
struct Drawn<'a> {
    title: &'a str,
    rows: Vec<&'a Row>,
    skipped: Option<&'a str>,
}

impl Drawn<'_> {
    fn judged(&self, id: &str, setting: &Setting) -> Compared {
        let source = catalogue::find(id);
        let mut compared = Compared {
            id: id.to_owned(),
            title: self.title.to_owned(),
            verdict: Verdict::NotShown,
            copies: 0,
            repeated: 0,
            draws: self.rows.iter().map(|row| row.values.len()).max().unwrap_or(0),
            until_ms: None,
            class: source.class,
            renewed_by: source.renewed_by,
            advice: source.advice.to_owned(),
            why: None,
        };
        let of_machine = source.class == Class::Identity && id.starts_with("machine/");
        if self.rows.len() < 2 {
            let why = self.skipped.unwrap_or("fewer than two copies drew it");
            compared.why = Some(why.to_owned());
        } else if of_machine && setting.copied == Copied::Process {
            compared.why = Some("the copies share one machine".to_owned());
        } else {
            self.count(&mut compared, source.window);
            (compared.verdict, compared.why) = verdict(&compared, setting);
        }
        compared
    }

    /// Counts what repeats, by windows of consecutive values.
    fn count(&self, compared: &mut Compared, window: usize) {
        let windows: Vec<Vec<&[String]>> = self
            .rows
            .iter()
            .map(|row| row.values.windows(window.min(row.values.len()).max(1)).collect())
            .collect();
        // In how many copies each window is, and not how often: one copy may give a value twice.
        let mut holders: BTreeMap<&[String], BTreeSet<usize>> = BTreeMap::new();
        for (copy, windows) in windows.iter().enumerate() {
            for window in windows {
                holders.entry(window).or_default().insert(copy);
            }
        }
        for (row, windows) in self.rows.iter().zip(&windows) {
            let repeats = |window: &&[String]| holders[window].len() > 1;
            let repeated = windows.iter().filter(|window| repeats(window)).count();
            compared.copies += usize::from(repeated > 0);
            compared.repeated = compared.repeated.max(repeated);
            compared.draws = compared.draws.min(windows.len()).max(1);
            if row.ms.len() == row.values.len()
                && let Some(last) = windows.iter().rposition(repeats)
            {
                compared.until_ms = compared.until_ms.max(row.ms.get(last).copied());
            }
        }
    }
}

/// Returns the verdict on a source that two copies or more drew, and why its draws prove nothing.
fn verdict(compared: &Compared, setting: &Setting) -> (Verdict, Option<String>) {
    let not_shown = |why: &str| (Verdict::NotShown, Some(why.to_owned()));
    match (compared.class, compared.copies) {
        (_, 1..) if compared.renewed_by == Renewer::None => (Verdict::NotRenewable, None),
        (_, 1..) => (Verdict::Repeats, None),
        (Class::Time, _) => not_shown("its values hold a clock or a counter, which differs anyway"),
        // One process that draws before the witness is enough to move the kernel's sequence, so
        // different values prove nothing; a reseed does.
        (Class::Kernel, _) if setting.copied == Copied::Machine && !setting.reseeded => not_shown(
            "the copies' kernels do not show that they were reseeded, and other draws of the copy \
             may have come first",
        ),
        _ => (Verdict::Differs, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::Witness;

    fn row(id: &str, values: &[&str]) -> Row {
        let values: Vec<String> = values.iter().map(|value| (*value).to_owned()).collect();
        Row { id: id.to_owned(), ms: (0..values.len() as u64).collect(), values }
    }

    fn copy(rows: Vec<Row>, reseeds: [Option<u64>; 2]) -> Draws {
        let witness = Witness {
            name: "kernel".to_owned(),
            title: "Linux 6.18".to_owned(),
            error: None,
            reseeds,
            skipped: vec![],
            rows,
        };
        Draws {
            schema: crate::draw::SCHEMA.to_owned(),
            planting: "p".to_owned(),
            witnesses: vec![witness],
            kernel_ms: 1,
            total_ms: 2,
        }
    }

    fn judged(id: &str, copies: &[&[&str]], copied: Copied, reseeds: [Option<u64>; 2]) -> Compared {
        let copies: Vec<Draws> =
            copies.iter().map(|values| copy(vec![row(id, values)], reseeds)).collect();
        compare(&copies, copied).unwrap().rows.remove(0)
    }

    const SAME: [Option<u64>; 2] = [Some(5), Some(5)];
    const MOVED: [Option<u64>; 2] = [Some(5), Some(6)];

    #[test]
    fn a_sequence_that_is_moved_by_one_repeats() {
        let compared =
            judged("libc/rand", &[&["a", "b", "c"], &["b", "c", "d"]], Copied::Process, SAME);
        assert_eq!((compared.verdict, compared.copies), (Verdict::Repeats, 2));
        assert_eq!((compared.repeated, compared.draws, compared.until_ms), (2, 3, Some(2)));
    }

    #[test]
    fn copies_that_repeat_are_counted_among_those_that_do_not() {
        let three: [&[&str]; 3] = [&["a", "b"], &["c", "d"], &["d", "e"]];
        let compared = judged("libc/rand", &three, Copied::Process, SAME);
        assert_eq!((compared.copies, compared.repeated), (2, 1));
    }

    #[test]
    fn a_value_that_one_copy_gives_twice_is_no_repeat() {
        let compared = judged("libc/rand", &[&["a", "a"], &["b", "b"]], Copied::Process, SAME);
        assert_eq!(compared.verdict, Verdict::Differs);
    }

    /// A port has 15 bits: single ones are equal by chance in one check of a hundred.
    #[test]
    fn a_narrow_source_repeats_by_runs_of_values_alone() {
        const ID: &str = "kernel-net/bound-port";
        let chance: [&[&str]; 2] = [&["1", "2", "3", "4", "5"], &["9", "3", "7", "2", "6"]];
        assert_eq!(catalogue::find(ID).window, 4);
        let compared = judged(ID, &chance, Copied::Process, SAME);
        assert_eq!(compared.verdict, Verdict::Differs);
        let moved: [&[&str]; 2] = [&["1", "2", "3", "4", "5"], &["2", "3", "4", "5", "6"]];
        let compared = judged(ID, &moved, Copied::Process, SAME);
        assert_eq!((compared.verdict, compared.repeated), (Verdict::Repeats, 1));
    }

    #[test]
    fn different_values_of_a_kernel_prove_nothing_without_a_reseed() {
        let two: [&[&str]; 2] = [&["a"], &["b"]];
        let of = |copied, reseeds| judged("kernel/getrandom", &two, copied, reseeds).verdict;
        assert_eq!(of(Copied::Machine, SAME), Verdict::NotShown);
        assert_eq!(of(Copied::Machine, [None, None]), Verdict::NotShown);
        assert_eq!(of(Copied::Machine, MOVED), Verdict::Differs);
        assert_eq!(of(Copied::Process, SAME), Verdict::Differs);
        let equal: [&[&str]; 2] = [&["a"], &["a"]];
        let compared = judged("kernel/getrandom", &equal, Copied::Machine, MOVED);
        assert_eq!(
            compared.verdict,
            Verdict::Repeats,
            "a reseed that does not help proves nothing"
        );
    }

    /// As on a machine without a device: the kernel reseeded by its clock before the copy was made,
    /// and other processes of the copies drew before some of the witnesses.
    #[test]
    fn one_repeat_of_the_kernel_refutes_a_reseed_for_all_of_it() {
        let copies = [["a", "x"], ["a", "y"]].map(|[uuid, urandom]| {
            let rows =
                vec![row("kernel/proc-uuid", &[uuid]), row("kernel/dev-urandom", &[urandom])];
            copy(rows, MOVED)
        });
        let comparison = compare(&copies, Copied::Machine).unwrap();
        let verdicts: Vec<Verdict> = comparison.rows.iter().map(|row| row.verdict).collect();
        assert_eq!(verdicts, [Verdict::Repeats, Verdict::NotShown]);
    }

    #[test]
    fn one_copy_proves_nothing_and_says_why() {
        let copies = [
            copy(vec![row("libc/rand", &["a"])], SAME),
            copy(vec![row("libc/random", &["a"])], SAME),
        ];
        let comparison = compare(&copies, Copied::Process).unwrap();
        assert_eq!(comparison.not_shown, 2);
        assert!(comparison.rows.iter().all(|row| row.why.is_some()));
    }

    #[test]
    fn what_nobody_can_change_does_not_fail_the_check() {
        let compared = judged("process/AT_RANDOM", &[&["a"], &["a"]], Copied::Process, SAME);
        assert_eq!(compared.verdict, Verdict::NotRenewable);
        let shared = judged("machine/boot_id", &[&["a"], &["a"]], Copied::Process, SAME);
        assert_eq!(shared.verdict, Verdict::NotShown);
        let cloned = judged("machine/machine-id", &[&["a"], &["a"]], Copied::Machine, SAME);
        assert_eq!(cloned.verdict, Verdict::Repeats);
    }

    #[test]
    fn two_plantings_are_not_compared() {
        let mut other = copy(vec![], SAME);
        other.planting = "q".to_owned();
        let error = compare(&[copy(vec![], SAME), other], Copied::Machine).unwrap_err();
        assert!(error.to_string().contains("plant once"), "{error}");
        assert!(compare(&[copy(vec![], SAME)], Copied::Machine).is_err());
    }
}
