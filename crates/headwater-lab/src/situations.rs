//! The situations in which a machine's bytes may come twice, what is promised in each, and whether it held.

use crate::clone::{Pair, Plan, Row, Vmgenid};
use serde::Serialize;

/// A situation, as one row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Situation {
    /// A stable name.
    pub id: &'static str,
    /// As the table calls it.
    pub title: &'static str,
    /// The series of the kernel.
    pub series: &'static str,
    vmgenid: Vmgenid,
    vmclock: bool,
    smp: usize,
    rollback: bool,
    rdrand: bool,
    /// Seconds for which its clones are watched, taken of a guest that has been up for two minutes; 0: as others are.
    watch_s: u32,
    promise: Promise,
    /// What the system call must do, or the situation has not been shown.
    kernel: Kernel,
    /// Whether `cargo xtask test` makes it.
    pub short: bool,
}

/// What is promised of `auto`; `hedged` and `strict` never repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Promise {
    /// Nothing that was begun after the event comes twice.
    Never,
    /// What comes twice was begun before the kernel's word moved, as with the vDSO.
    AsTheVdso,
}

/// What is known of the system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kernel {
    Repeats,
    /// It may or may not: a race.
    Races,
}

const NONE: Situation = Situation {
    id: "none",
    title: "clone, nothing tells of it",
    series: "7",
    vmgenid: Vmgenid::None,
    vmclock: false,
    smp: 1,
    rollback: false,
    rdrand: true,
    watch_s: 0,
    promise: Promise::Never,
    kernel: Kernel::Repeats,
    short: true,
};

/// All of them.
pub const SITUATIONS: [Situation; 17] = [
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
        title: "clone, nothing tells of it, 6.12",
        series: "6.12",
        short: false,
        ..NONE
    },
    Situation {
        id: "none-5.10",
        title: "clone, nothing tells of it, 5.10",
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
        rollback: true,
        promise: Promise::AsTheVdso,
        short: false,
        ..NONE
    },
    Situation {
        id: "vmgenid",
        title: "clone, vmgenid",
        vmgenid: Vmgenid::Auto,
        promise: Promise::AsTheVdso,
        kernel: Kernel::Races,
        short: false,
        ..NONE
    },
    Situation {
        id: "race",
        title: "clone, vmgenid, two CPUs: before the reseed",
        vmgenid: Vmgenid::Auto,
        smp: 2,
        promise: Promise::AsTheVdso,
        kernel: Kernel::Races,
        ..NONE
    },
    Situation {
        id: "race-6.12",
        title: "clone, vmgenid, two CPUs: before the reseed, 6.12",
        series: "6.12",
        vmgenid: Vmgenid::Auto,
        smp: 2,
        promise: Promise::AsTheVdso,
        kernel: Kernel::Races,
        short: false,
        ..NONE
    },
    Situation {
        id: "race-vmclock",
        title: "clone, vmgenid and VMClock, two CPUs",
        vmgenid: Vmgenid::Auto,
        vmclock: true,
        smp: 2,
        kernel: Kernel::Races,
        ..NONE
    },
    Situation { id: "vmclock", title: "clone, VMClock alone", vmclock: true, short: false, ..NONE },
    Situation {
        id: "none-no-rdrand",
        title: "clone, nothing tells of it, no RDRAND",
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
        kernel: Kernel::Races,
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
        kernel: Kernel::Races,
        short: false,
        ..NONE
    },
    // The longest that it can take: from a reseed by the clock to the next, 60 s later in a kernel that is up for so long.
    Situation {
        id: "lasting",
        title: "clone, nothing tells of it, watched for 75 s",
        watch_s: 75,
        short: false,
        ..NONE
    },
    Situation {
        id: "none-arm64",
        title: "clone, nothing tells of it, arm64",
        series: crate::setup::ARM_PART,
        short: false,
        ..NONE
    },
    Situation {
        id: "none-arm64-no-rndr",
        title: "clone, nothing tells of it, arm64 without RNDR",
        series: crate::setup::ARM_PART,
        rdrand: false,
        short: false,
        ..NONE
    },
];

impl Situation {
    /// The clones that show it.
    pub fn plan(&self) -> Plan {
        let plan = Plan::new(self.series);
        Plan {
            vmgenid: self.vmgenid,
            vmclock: self.vmclock,
            smp: self.smp,
            rollback: self.rollback,
            rdrand: self.rdrand,
            watch_s: self.watch_s,
            after_s: if self.watch_s > 0 { 120.0 } else { plan.after_s },
            ..plan
        }
    }

    /// What is promised of `auto`, in words.
    pub fn promise(&self) -> &'static str {
        match self.promise {
            Promise::Never => "never repeats",
            Promise::AsTheVdso => "no worse than the vDSO",
        }
    }

    /// What does not hold.
    pub fn findings(&self, pair: &Pair) -> Vec<Finding> {
        let mut findings = Vec::new();
        let mut add =
            |kind, text: String| findings.push(Finding { situation: self.id, kind, text });
        let rows = |mode: &'static str| {
            pair.rows.iter().filter(move |row| row.mode.as_deref() == Some(mode))
        };
        // Without one there is none with headwater's provider either.
        let has_libcrypto = pair.rows.iter().any(|row| row.witness == "openssl" && row.draws > 0);
        for mode in ["auto", "hedged", "strict"] {
            for row in rows(mode) {
                let bad = match (mode, self.promise) {
                    ("auto", Promise::AsTheVdso) => row.after_stamp,
                    _ => row.repeated,
                };
                if bad > 0 {
                    add(
                        Kind::Broken,
                        format!(
                            "{} in {mode}: {bad} of {} requests came twice",
                            row.witness, row.draws
                        ),
                    );
                }
                if row.draws == 0 && (has_libcrypto || row.witness != "headwater-openssl") {
                    add(
                        Kind::NotShown,
                        format!("{} in {mode}: nothing was drawn after the event", row.witness),
                    );
                }
            }
        }
        for row in pair.rows.iter().filter(|row| row.twice_within > 0) {
            let name = name(row);
            add(
                Kind::Broken,
                format!("{name}: {} words came twice within one clone", row.twice_within),
            );
        }
        let syscall = pair.rows.iter().find(|row| row.witness == "syscall");
        if self.kernel == Kernel::Repeats && syscall.is_none_or(|row| row.repeated == 0) {
            add(
                Kind::NotShown,
                "the system call did not repeat: the kernel reseeded meanwhile, or something told it".to_owned(),
            );
        }
        findings
    }
}

/// A witness and its mode.
pub(crate) fn name(row: &Row) -> String {
    match &row.mode {
        Some(mode) => format!("{} ({mode})", row.witness),
        None => row.witness.clone(),
    }
}

/// Something that does not hold.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// The situation's name.
    pub situation: &'static str,
    /// How bad it is.
    pub kind: Kind,
    /// What was seen.
    pub text: String,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A promise is broken.
    Broken,
    /// The run did not show what it was made for; another may.
    NotShown,
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

    fn row(witness: &str, mode: Option<&str>, repeated: usize, after_stamp: usize) -> Row {
        Row {
            witness: witness.into(),
            mode: mode.map(str::to_owned),
            draws: 100,
            repeated,
            last_s: None,
            after_stamp,
            twice_within: 0,
        }
    }

    /// A pair in which OpenSSL and the system call repeat, and what `auto` and the others give does as told.
    fn pair(syscall: usize, auto: (usize, usize), hedged: usize) -> Pair {
        Pair {
            schema: "",
            kernel: String::new(),
            series: "7".into(),
            vmgenid: Vmgenid::None,
            vmclock: false,
            smp: 1,
            rollback: false,
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
            armed: Vec::new(),
            fork_reseeds: Vec::new(),
            state_mib: 0,
            wall_s: 0.0,
        }
    }

    #[test]
    fn a_repeat_is_broken_where_it_was_promised_away_and_silence_shows_nothing() {
        let kinds = |situation: Situation, pair: &Pair| -> Vec<Kind> {
            situation.findings(pair).into_iter().map(|finding| finding.kind).collect()
        };
        let race = SITUATIONS.into_iter().find(|situation| situation.id == "race").unwrap();
        assert_eq!(kinds(NONE, &pair(50, (0, 0), 0)), []);
        assert_eq!(kinds(NONE, &pair(50, (1, 0), 0)), [Kind::Broken]);
        assert_eq!(kinds(NONE, &pair(50, (0, 0), 1)), [Kind::Broken]);
        assert_eq!(kinds(race, &pair(0, (9, 0), 0)), []);
        assert_eq!(kinds(race, &pair(9, (9, 1), 0)), [Kind::Broken]);
        // A comparison that finds nothing finds no repeat of the system call either.
        assert_eq!(kinds(NONE, &pair(0, (0, 0), 0)), [Kind::NotShown]);
        let mut absent = pair(50, (0, 0), 0);
        absent.rows[3].draws = 0;
        assert_eq!(kinds(NONE, &absent), [Kind::NotShown]);
        absent.rows[1].draws = 0; // no libcrypto: none with our provider either
        assert_eq!(kinds(NONE, &absent), []);
    }
}
