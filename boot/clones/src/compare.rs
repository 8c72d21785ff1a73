//! Compares the draws of copies: which source repeats, in how many of them, and who can renew it.
//!
//! Sets are compared, and not positions. If something in one copy draws once more, every later
//! value moves by a place, and a comparison of first with first would say that all is well while
//! each value of one copy is the next value of another.

use crate::builtin;
use crate::catalogue::{self, Class, Renewer};
use crate::clean::clean;
use crate::comparison::{Absent, Compared, Comparison, Copied, SCHEMA, Stamps, Verdict};
use crate::draw::{Draws, Row};
use crate::reseeded;
use anyhow::{Result, ensure};
use std::collections::{BTreeMap, BTreeSet};

/// Compares copies.
///
/// # Errors
///
/// If there are fewer than two, or if they are copies of different originals.
pub fn compare(copies: &[Draws], copied: Copied) -> Result<Comparison> {
    ensure!(copies.len() > 1, "a comparison needs the draws of two copies or more");
    for draws in copies {
        draws.check_schema()?;
        ensure!(
            draws.planting == copies[0].planting,
            "the draws come from two plantings, {} and {}: plant once, and copy that",
            clean(&copies[0].planting),
            clean(&draws.planting)
        );
    }
    let mut sources: BTreeMap<&str, Drawn> = BTreeMap::new();
    let mut absent = BTreeSet::new();
    let witnesses = copies.iter().enumerate();
    for (copy, witness) in
        witnesses.flat_map(|(copy, draws)| draws.witnesses.iter().map(move |one| (copy, one)))
    {
        if let Some(why) = &witness.error {
            absent.insert(Absent { witness: clean(&witness.name), why: clean(why) });
        }
        for row in &witness.rows {
            let drawn = sources.entry(&row.id).or_default();
            drawn.title = &witness.title;
            drawn.rows.push((copy, row));
        }
        for skipped in &witness.skipped {
            let drawn = sources.entry(&skipped.id).or_default();
            drawn.title = &witness.title;
            drawn.skipped = Some(&skipped.why);
        }
    }
    let stamps = stamps(copies);
    let reseeded_after_ms = reseeded::after_ms(copies).filter(|_| copied == Copied::Machine);
    let of_kernel = sources.iter().filter(|(id, _)| id.starts_with(KERNEL));
    let of_kernel = holders(of_kernel.flat_map(|(_, drawn)| &drawn.rows), 1);
    let (copies, reseeded) = (copies.len(), reseeded_after_ms.is_some());
    let mut setting = Setting { copies, copied, reseeded, of_kernel };
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
        copies,
        copied,
        note: None,
        repeats: count(Verdict::Repeats),
        not_renewable: count(Verdict::NotRenewable),
        not_shown: count(Verdict::NotShown),
        differs: count(Verdict::Differs),
        reseeded_after_ms: reseeded_after_ms.filter(|_| setting.reseeded),
        reseed_limit_ms: None,
        stamps,
        rows,
        absent: absent.into_iter().collect(),
    })
}

fn stamps(copies: &[Draws]) -> Vec<Stamps> {
    let of_copy = |draws: &Draws, name: &str| -> Option<bool> {
        let witness = draws.witnesses.iter().find(|one| one.name == name && one.error.is_none())?;
        Some(witness.title.ends_with("stamps unknown"))
    };
    let names = builtin::NAMES.iter().filter(|name| name.starts_with(builtin::HEADWATER));
    let stamps = names.map(|name| {
        let heard: Vec<bool> = copies.iter().filter_map(|draws| of_copy(draws, name)).collect();
        let stale: Vec<u64> = reseeded::each(copies, name).into_iter().flatten().collect();
        Stamps {
            witness: (*name).to_owned(),
            stale: stale.len(),
            of: heard.len(),
            within_ms: stale.into_iter().max(),
            unknown: heard.contains(&true),
        }
    });
    stamps.filter(|stamps| stamps.of > 0).collect()
}

/// The doors of the kernel's generator, whose values are compared across them too.
const KERNEL: &str = "kernel/";

/// The copies in which each run of values is. A copy in which a value is twice holds it once.
type Holders<'a> = BTreeMap<&'a [String], BTreeSet<usize>>;

fn holders<'a>(rows: impl IntoIterator<Item = &'a (usize, &'a Row)>, window: usize) -> Holders<'a> {
    let mut holders = Holders::new();
    for (copy, row) in rows {
        for run in row.values.windows(window) {
            holders.entry(run).or_default().insert(*copy);
        }
    }
    holders
}

/// The facts that all sources share.
struct Setting<'a> {
    copies: usize,
    copied: Copied,
    /// True if each copy's kernel shows that it reseeded after the copy.
    reseeded: bool,
    of_kernel: Holders<'a>,
}

/// The draws of one source, with the number of the copy of each. A copy that names a source twice
/// has two rows of it, and must not look like two copies.
#[derive(Default)]
struct Drawn<'a> {
    title: &'a str,
    rows: Vec<(usize, &'a Row)>,
    skipped: Option<&'a str>,
}

impl Drawn<'_> {
    fn judged(&self, id: &str, setting: &Setting) -> Compared {
        let source = catalogue::find(id);
        let mut compared = Compared {
            id: clean(id),
            title: clean(self.title),
            verdict: Verdict::NotShown,
            copies: 0,
            repeated: 0,
            draws: self.rows.iter().map(|(_, row)| row.values.len()).max().unwrap_or(0),
            until_ms: None,
            class: source.class,
            renewed_by: source.renewed_by,
            advice: source.advice.to_owned(),
            why: None,
        };
        let of_machine = source.class == Class::Identity && id.starts_with("machine/");
        if of_machine && setting.copied == Copied::Process {
            compared.why = Some("the copies share one machine".to_owned());
            return compared;
        }
        let own;
        let holders = match id.starts_with(KERNEL) {
            true => &setting.of_kernel,
            false => {
                own = holders(&self.rows, source.window);
                &own
            }
        };
        self.count(&mut compared, source.window, holders);
        // A row that is too short for one run of values was not drawn.
        let drew = self.rows.iter().filter(|(_, row)| row.values.len() >= source.window);
        let drew: BTreeSet<usize> = drew.map(|(copy, _)| *copy).collect();
        if compared.copies == 0 && drew.len() < setting.copies {
            // One that repeats is known already. One that differs among some copies is not.
            let missing = format!("{} of {} copies drew it", drew.len(), setting.copies);
            compared.why = Some(self.skipped.map_or(missing, clean));
        } else {
            (compared.verdict, compared.why) = verdict(&compared, setting);
        }
        compared
    }

    /// Counts what repeats, by runs of consecutive values.
    fn count(&self, compared: &mut Compared, window: usize, holders: &Holders) {
        let mut copies = BTreeSet::new();
        for (copy, row) in &self.rows {
            let runs = || row.values.windows(window);
            let repeats = |run: &&[String]| holders.get(run).is_some_and(|held| held.len() > 1);
            let repeated = runs().filter(repeats).count();
            if repeated > 0 {
                copies.insert(copy);
            }
            compared.repeated = compared.repeated.max(repeated);
            compared.draws = compared.draws.min(runs().count()).max(1);
            if row.ms.len() == row.values.len()
                && let Some(last) = runs().rposition(|run| repeats(&run))
            {
                compared.until_ms = compared.until_ms.max(row.ms.get(last).copied());
            }
        }
        compared.copies = copies.len();
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
    use crate::draw::{Reseed, Witness};

    fn row(id: &str, values: &[&str]) -> Row {
        let values: Vec<String> = values.iter().map(|value| (*value).to_owned()).collect();
        Row { id: id.to_owned(), ms: (0..values.len() as u64).collect(), values }
    }

    fn copy(rows: Vec<Row>, reseeds: Vec<Reseed>) -> Draws {
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

    fn judged(id: &str, copies: &[&[&str]], copied: Copied, moved: bool) -> Compared {
        let copies: Vec<Draws> = (1..)
            .zip(copies)
            .map(|(number, values)| {
                // After looks that all copies share, each has a reseed of its own.
                let reseed = Reseed { generation: 6, ns: 2_000_000 * number, looks: vec![1_000] };
                copy(vec![row(id, values)], if moved { vec![reseed] } else { vec![] })
            })
            .collect();
        compare(&copies, copied).unwrap().rows.remove(0)
    }

    const SAME: bool = false;
    const MOVED: bool = true;

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
            let ns = 2 + u64::from(urandom == "y");
            copy(rows, vec![Reseed { generation: 6, ns, looks: vec![1] }])
        });
        let comparison = compare(&copies, Copied::Machine).unwrap();
        let verdicts: Vec<Verdict> = comparison.rows.iter().map(|row| row.verdict).collect();
        assert_eq!(verdicts, [Verdict::Repeats, Verdict::NotShown]);
    }

    #[test]
    fn one_copy_proves_nothing_and_says_why() {
        let copies = [
            copy(vec![row("libc/rand", &["a"])], vec![]),
            copy(vec![row("libc/random", &["a"])], vec![]),
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

    /// Another process drew once before the witness of the second copy, so that each value leaves
    /// by another door.
    #[test]
    fn a_kernel_that_repeats_behind_another_door_repeats() {
        let rows = |values: [&str; 3]| {
            let ids = ["kernel/getrandom", "kernel/dev-urandom", "kernel/proc-uuid"];
            let rows = ids.iter().zip(values).map(|(id, value)| row(id, &[value])).collect();
            copy(rows, vec![])
        };
        let copies = [rows(["a", "b", "c"]), rows(["b", "c", "d"])];
        let comparison = compare(&copies, Copied::Machine).unwrap();
        assert_eq!(comparison.repeats, 3, "{comparison:?}");
    }

    /// A reassuring verdict needs the values of each copy.
    #[test]
    fn a_copy_that_did_not_draw_is_no_copy_that_differs() {
        let three = |last: Vec<Row>| {
            [
                copy(vec![row("libc/rand", &["a"])], vec![]),
                copy(vec![row("libc/rand", &["b"])], vec![]),
                copy(last, vec![]),
            ]
        };
        let verdict = |last| compare(&three(last), Copied::Process).unwrap().rows.remove(0);
        for last in [vec![], vec![row("libc/rand", &[])]] {
            let compared = verdict(last);
            assert_eq!(compared.verdict, Verdict::NotShown);
            assert_eq!(compared.why.as_deref(), Some("2 of 3 copies drew it"));
        }
        assert_eq!(verdict(vec![row("libc/rand", &["c"])]).verdict, Verdict::Differs);
        assert_eq!(verdict(vec![row("libc/rand", &["a"])]).verdict, Verdict::Repeats);
    }

    #[test]
    fn rows_that_are_empty_short_or_doubled_are_no_proof() {
        let empty = judged("libc/rand", &[&[], &[]], Copied::Process, SAME);
        assert_eq!(empty.verdict, Verdict::NotShown);
        // Four ports make a run, so three prove nothing, whether they are equal or not.
        let short: [&[&str]; 2] = [&["1", "2", "3"], &["4", "5", "6", "7", "8"]];
        let short = judged("kernel-net/bound-port", &short, Copied::Process, SAME);
        assert_eq!(short.verdict, Verdict::NotShown);
        // One copy that names a source twice is one copy.
        let doubled = copy(vec![row("libc/rand", &["a"]), row("libc/rand", &["a"])], vec![]);
        let comparison = compare(&[doubled, copy(vec![], vec![])], Copied::Process).unwrap();
        assert_eq!(comparison.rows[0].verdict, Verdict::NotShown, "{comparison:?}");
    }

    #[test]
    fn a_copy_cannot_write_on_the_readers_terminal() {
        let hostile = "x/\u{1b}[2J\u{1b}[HNo source repeats\n";
        let mut copies = [copy(vec![row(hostile, &["a"])], vec![]), copy(vec![], vec![])];
        copies[0].witnesses[0].error = Some(hostile.to_owned());
        copies[0].witnesses[0].title = hostile.to_owned();
        let comparison = compare(&copies, Copied::Machine).unwrap();
        let xml = crate::report::junit::comparison(&comparison).unwrap();
        for text in [crate::report::text::comparison(&comparison, true), xml] {
            assert!(!text.contains('\u{1b}') && !text.contains("repeats\n\n"), "{text:?}");
        }
    }

    #[test]
    fn two_plantings_are_not_compared() {
        let mut other = copy(vec![], vec![]);
        other.planting = "q".to_owned();
        let error = compare(&[copy(vec![], vec![]), other], Copied::Machine).unwrap_err();
        assert!(error.to_string().contains("plant once"), "{error}");
        assert!(compare(&[copy(vec![], vec![])], Copied::Machine).is_err());
    }
}
