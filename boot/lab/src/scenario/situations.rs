//! The situations in which a machine's bytes may repeat, and headwater's promise in each.

use crate::judge::finding::{Finding, FindingKind};
use crate::judge::pair::{ClonePair, WitnessResult};
use crate::machine::part::ARM_PART;
use crate::plan::{ClonePlan, CopyMethod, Vmgenid};

/// A situation: one row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Situation {
    /// A stable name.
    pub id: &'static str,
    /// Title in the table.
    pub title: &'static str,
    /// The series of the kernel.
    pub series: &'static str,
    vmgenid: Vmgenid,
    vmclock: bool,
    smp: usize,
    method: CopyMethod,
    rdrand: bool,
    /// Seconds for which the clones of a guest that has been up for two minutes are watched; 0:
    /// clones are compared for a moment only.
    watch_s: u32,
    promise: Promise,
    /// Without the expected repeats of the system call, the run has not produced the situation.
    syscall: SyscallExpectation,
    /// True if `cargo xtask test` runs it.
    pub short: bool,
}

/// The promise of `auto`; `hedged` and `strict` never repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Promise {
    /// No draw that began after the clone repeats.
    Never,
    /// Draws may repeat that began before the kernel's reseed generation changed, as the vDSO's do.
    AsTheVdso,
}

/// The expected behaviour of the system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SyscallExpectation {
    /// The system call repeats.
    Repeats,
    /// The system call repeats or not: draws race with the kernel's reseed.
    Races,
}

const NONE: Situation = Situation {
    id: "none",
    title: "clone, no device reports it",
    series: "7",
    vmgenid: Vmgenid::None,
    vmclock: false,
    smp: 1,
    method: CopyMethod::SavedState,
    rdrand: true,
    watch_s: 0,
    promise: Promise::Never,
    syscall: SyscallExpectation::Repeats,
    short: true,
};

/// All situations.
pub(crate) const SITUATIONS: [Situation; 19] = [
    NONE,
    Situation {
        id: "no-driver",
        title: "clone, vmgenid device without a driver (6.1 cloud kernel)",
        series: "6.1",
        vmgenid: Vmgenid::Auto,
        short: false,
        ..NONE
    },
    Situation {
        id: "none-6.12",
        title: "clone, no device reports it, 6.12",
        series: "6.12",
        short: false,
        ..NONE
    },
    Situation {
        id: "none-5.10",
        title: "clone, no device reports it, 5.10",
        series: "5.10",
        short: false,
        ..NONE
    },
    Situation {
        id: "fixed",
        title: "clone, vmgenid with a fixed identifier",
        vmgenid: Vmgenid::Fixed,
        promise: Promise::AsTheVdso,
        short: false,
        ..NONE
    },
    Situation {
        id: "rollback",
        title: "rollback in one QEMU (savevm, loadvm), vmgenid",
        vmgenid: Vmgenid::Auto,
        method: CopyMethod::Rollback,
        promise: Promise::AsTheVdso,
        short: false,
        ..NONE
    },
    Situation {
        id: "vmgenid",
        title: "clone, vmgenid",
        vmgenid: Vmgenid::Auto,
        promise: Promise::AsTheVdso,
        syscall: SyscallExpectation::Races,
        short: false,
        ..NONE
    },
    Situation {
        id: "race",
        title: "clone, vmgenid, two CPUs: before the reseed",
        vmgenid: Vmgenid::Auto,
        smp: 2,
        promise: Promise::AsTheVdso,
        syscall: SyscallExpectation::Races,
        ..NONE
    },
    Situation {
        id: "race-6.12",
        title: "clone, vmgenid, two CPUs: before the reseed, 6.12",
        series: "6.12",
        vmgenid: Vmgenid::Auto,
        smp: 2,
        promise: Promise::AsTheVdso,
        syscall: SyscallExpectation::Races,
        short: false,
        ..NONE
    },
    Situation {
        id: "race-vmclock",
        title: "clone, vmgenid and VMClock, two CPUs",
        vmgenid: Vmgenid::Auto,
        vmclock: true,
        smp: 2,
        syscall: SyscallExpectation::Races,
        ..NONE
    },
    Situation { id: "vmclock", title: "clone, VMClock alone", vmclock: true, short: false, ..NONE },
    Situation {
        id: "none-no-rdrand",
        title: "clone, no device reports it, no RDRAND",
        rdrand: false,
        short: false,
        ..NONE
    },
    Situation {
        id: "race-no-rdrand",
        title: "clone, vmgenid, two CPUs, no RDRAND",
        vmgenid: Vmgenid::Auto,
        smp: 2,
        rdrand: false,
        promise: Promise::AsTheVdso,
        syscall: SyscallExpectation::Races,
        short: false,
        ..NONE
    },
    Situation {
        id: "vmclock-no-rdrand",
        title: "clone, vmgenid and VMClock, two CPUs, no RDRAND",
        vmgenid: Vmgenid::Auto,
        vmclock: true,
        smp: 2,
        rdrand: false,
        syscall: SyscallExpectation::Races,
        short: false,
        ..NONE
    },
    // The longest stretch of repeats: from one reseed by the clock to the next, 60 s later in a
    // kernel that has been up for two minutes.
    Situation {
        id: "lasting",
        title: "clone, no device reports it, watched for 75 s",
        watch_s: 75,
        short: false,
        ..NONE
    },
    Situation {
        id: "hibernation",
        title: "hibernation, resumed from two copies of the disk",
        method: CopyMethod::Hibernation,
        short: false,
        ..NONE
    },
    // The device interrupts for a clone of memory, and a machine that resumes from its disk is not
    // asked whether its identifier is another one. So it repeats like a fixed identifier.
    Situation {
        id: "hibernation-vmgenid",
        title: "hibernation, resumed from two copies of the disk, vmgenid, two CPUs, 6.18",
        series: "6.18",
        vmgenid: Vmgenid::Auto,
        smp: 2,
        method: CopyMethod::Hibernation,
        promise: Promise::AsTheVdso,
        short: false,
        ..NONE
    },
    Situation {
        id: "none-arm64",
        title: "clone, no device reports it, arm64",
        series: ARM_PART,
        short: false,
        ..NONE
    },
    Situation {
        id: "none-arm64-no-rndr",
        title: "clone, no device reports it, arm64 without RNDR",
        series: ARM_PART,
        rdrand: false,
        short: false,
        ..NONE
    },
];

impl Situation {
    /// Returns the clones that show the situation.
    pub fn plan(&self) -> ClonePlan {
        let plan = ClonePlan::new(self.series);
        ClonePlan {
            vmgenid: self.vmgenid,
            vmclock: self.vmclock,
            smp: self.smp,
            method: self.method,
            rdrand: self.rdrand,
            watch_s: self.watch_s,
            after_s: if self.watch_s > 0 { 120.0 } else { plan.after_s },
            ..plan
        }
    }

    /// Returns the promise of `auto` in words.
    pub fn promise(&self) -> &'static str {
        match self.promise {
            Promise::Never => "never repeats",
            Promise::AsTheVdso => "no worse than the vDSO",
        }
    }

    /// Returns the broken promises, and the reasons why a pair does not show the situation.
    pub fn findings(&self, pair: &ClonePair) -> Vec<Finding> {
        let mut findings = Vec::new();
        let mut add =
            |kind, text: String| findings.push(Finding { situation: self.id, kind, text });
        let rows = |mode: &'static str| {
            pair.rows.iter().filter(move |row| row.mode.as_deref() == Some(mode))
        };
        // Without libcrypto, headwater's provider is absent too.
        let has_libcrypto = pair.rows.iter().any(|row| row.witness == "openssl" && row.draws > 0);
        for mode in ["auto", "hedged", "strict"] {
            for row in rows(mode) {
                let bad = match (mode, self.promise) {
                    ("auto", Promise::AsTheVdso) => row.after_stamp,
                    _ => row.repeated,
                };
                if bad > 0 {
                    add(
                        FindingKind::Broken,
                        format!("{} in {mode}: {bad} of {} draws repeat", row.witness, row.draws),
                    );
                }
                if row.draws == 0 && (has_libcrypto || row.witness != "headwater-openssl") {
                    add(
                        FindingKind::NotShown,
                        format!("{} in {mode}: no draw after the clone", row.witness),
                    );
                }
            }
        }
        for row in pair.rows.iter().filter(|row| row.twice_within > 0) {
            let name = name(row);
            add(
                FindingKind::Broken,
                format!("{name}: {} words repeat within one clone", row.twice_within),
            );
        }
        let syscall = pair.rows.iter().find(|row| row.witness == "syscall");
        if self.syscall == SyscallExpectation::Repeats
            && syscall.is_none_or(|row| row.repeated == 0)
        {
            add(
                FindingKind::NotShown,
                "the system call did not repeat: the kernel reseeded before its clock was due"
                    .to_owned(),
            );
        }
        findings
    }
}

/// Returns the name of a witness with its mode.
pub(crate) fn name(row: &WitnessResult) -> String {
    match &row.mode {
        Some(mode) => format!("{} ({mode})", row.witness),
        None => row.witness.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_the_short_lab_has_three_pairs() {
        for (at, situation) in SITUATIONS.iter().enumerate() {
            assert!(SITUATIONS[..at].iter().all(|other| other.id != situation.id));
        }
        assert_eq!(SITUATIONS.iter().filter(|situation| situation.short).count(), 3);
    }

    fn row(
        witness: &str,
        mode: Option<&str>,
        repeated: usize,
        after_stamp: usize,
    ) -> WitnessResult {
        WitnessResult {
            witness: witness.into(),
            mode: mode.map(str::to_owned),
            draws: 100,
            repeated,
            last_s: None,
            after_stamp,
            twice_within: 0,
        }
    }

    const AUTO: usize = 2;
    const PROVIDER: usize = 3;
    const STRICT: usize = 4;

    /// Makes a pair in which OpenSSL repeats all draws, and headwater's `strict` repeats none. The
    /// other witnesses repeat as often as given.
    fn pair(syscall: usize, auto: (usize, usize), hedged: usize) -> ClonePair {
        ClonePair {
            schema: "",
            kernel: String::new(),
            series: "7".into(),
            vmgenid: Vmgenid::None,
            vmclock: false,
            smp: 1,
            rollback: false,
            hibernated: false,
            rdrand: true,
            watched_s: None,
            threads: 1,
            threads_compared: 1,
            rows: vec![
                row("syscall", None, syscall, 0),
                row("openssl", None, 100, 0),
                row("headwater", Some("auto"), auto.0, auto.1),
                row("headwater-openssl", Some("hedged"), hedged, 0),
                row("headwater", Some("strict"), 0, 0),
            ],
            modes: Vec::new(),
            fork_reseeds: Vec::new(),
            state_mib: 0,
            wall_s: 0.0,
        }
    }

    fn kinds(situation: Situation, pair: &ClonePair) -> Vec<FindingKind> {
        situation.findings(pair).into_iter().map(|finding| finding.kind).collect()
    }

    fn race() -> Situation {
        SITUATIONS.into_iter().find(|situation| situation.id == "race").unwrap()
    }

    #[test]
    fn a_repeat_is_broken_where_it_was_promised_away_and_silence_shows_nothing() {
        use FindingKind::{Broken, NotShown};
        assert_eq!(kinds(NONE, &pair(50, (0, 0), 0)), []);
        assert_eq!(kinds(NONE, &pair(50, (1, 0), 0)), [Broken]);
        assert_eq!(kinds(NONE, &pair(50, (0, 0), 1)), [Broken]);
        assert_eq!(kinds(race(), &pair(0, (9, 0), 0)), []);
        assert_eq!(kinds(race(), &pair(9, (9, 1), 0)), [Broken]);
        // A comparison that finds nothing finds no repeat of the system call either.
        assert_eq!(kinds(NONE, &pair(0, (0, 0), 0)), [NotShown]);
        let mut absent = pair(50, (0, 0), 0);
        absent.rows[PROVIDER].draws = 0;
        assert_eq!(kinds(NONE, &absent), [NotShown]);
        absent.rows[1].draws = 0; // without libcrypto, the provider is absent too
        assert_eq!(kinds(NONE, &absent), []);
    }

    /// The allowance of `auto` in a race is not one for the other modes.
    #[test]
    fn hedged_and_strict_may_not_repeat_in_any_situation() {
        for situation in SITUATIONS {
            assert_eq!(kinds(situation, &pair(50, (0, 0), 1)), [FindingKind::Broken]);
            let mut strict = pair(50, (0, 0), 0);
            strict.rows[STRICT].repeated = 1;
            assert_eq!(kinds(situation, &strict), [FindingKind::Broken], "{}", situation.id);
        }
    }

    #[test]
    fn a_repeat_within_one_clone_is_broken_for_every_witness() {
        for index in 0..5 {
            let mut pair = pair(50, (0, 0), 0);
            pair.rows[index].twice_within = 1;
            assert_eq!(kinds(race(), &pair), [FindingKind::Broken], "{index}");
        }
    }

    #[test]
    fn a_mode_that_drew_nothing_is_not_shown() {
        for index in [AUTO, STRICT] {
            let mut pair = pair(50, (0, 0), 0);
            pair.rows[index].draws = 0;
            assert_eq!(kinds(race(), &pair), [FindingKind::NotShown], "{index}");
        }
    }

    /// Repeats of the generators beside headwater are the subject of the table, not a fault.
    #[test]
    fn other_generators_may_repeat() {
        let mut pair = pair(100, (0, 0), 0);
        pair.rows.push(row("rand", None, 100, 50));
        assert_eq!(kinds(NONE, &pair), []);
        // A pair without the system call shows nothing.
        pair.rows.remove(0);
        assert_eq!(kinds(NONE, &pair), [FindingKind::NotShown]);
        assert_eq!(kinds(race(), &pair), []);
    }

    /// The promises as SECURITY.md and docs/lab.md state them.
    #[test]
    fn auto_never_repeats_without_a_vmgenid_or_with_a_vmclock() {
        for situation in SITUATIONS {
            let reported = situation.vmgenid != Vmgenid::None && situation.id != "no-driver";
            let never = !reported || situation.vmclock;
            let expected = if never { Promise::Never } else { Promise::AsTheVdso };
            assert_eq!(situation.promise, expected, "{}", situation.id);
        }
    }
}
