//! The checks, one file each, and the table of all of them.
//!
//! # What a check must not do
//!
//! It must not look at the machine by itself. `std::fs::read("/proc/cmdline")` works on the machine
//! of the author, and is wrong for everyone who passes a host file or a log: it would judge their
//! machine by ours. So a check reads only the [`Case`], and files only through its `host.root`.
//! Therefore it may also be made twice, as for `--assume-kernel`, with the same answer each time.
//!
//! It must not take a file that it could not read for a file that says "no". A container hides half
//! of /sys and an ordinary user sees only some of the processes, so "nothing found" would be a
//! claim about what was not seen. [`Answer::CouldNot`] and [`Answer::InPart`] say what is missing
//! and who could read it; they make the report incomplete, and that is right.
//!
//! It must not believe what any program writes in a log. Programs quote the kernel's lines and
//! report waits for reasons of their own, so only the kernel, and systemd as process 1, are proof.
//! A finding therefore names its [`Evidence`](crate::Evidence), a place with the text that stands
//! there, so that a reader who doubts it can look.
//!
//! It must not change anything, or print. The report decides how text from strangers is escaped.

mod blind_generators;
mod blocked;
mod boot_seed_unused;
mod checkpointing;
mod cloned;
mod cpu_rng_broken;
mod cpu_rng_untrusted;
mod early_caller;
mod early_read;
mod hwrng_late;
mod hwrng_no_driver;
mod hwrng_unhealthy;
mod hypervisor_seed;
mod logged;
mod needless_daemon;
mod no_cpu_rng;
mod no_cycle_counter;
mod no_hwrng;
mod no_jitter;
mod no_reseed_word;
mod no_vdso;
mod no_vmgenid;
mod not_ready;
mod observed;
mod one_lock;
mod ready_late;
mod reported_wait;
mod sandbox;
mod saved_seed;
mod swapped_pages;
mod trace_waited;
mod two_versions;
mod unit_waited;
mod vmclock_unreadable;
mod vmgenid_no_driver;

use crate::{Case, Finding, Id};

/// The result of a check.
#[derive(Clone, Debug)]
pub enum Answer {
    /// The check is complete; its findings, if any.
    Found(Vec<Finding>),
    /// The check is made in part: its findings so far, and the missing part with its reason: "needs
    /// root to read /proc/1/syscall".
    InPart(Vec<Finding>, String),
    /// The check could not be made, with the reason.
    CouldNot(String),
    /// The input of the check was not given (a log without a machine, a machine without a trace).
    NotAsked,
}

impl Answer {
    /// Returns a complete check without findings.
    pub const fn fine() -> Answer {
        Answer::Found(Vec::new())
    }

    /// Returns a complete check without findings, or one that could not be made, for this reason.
    fn fine_unless(reason: Option<String>) -> Answer {
        reason.map_or_else(Answer::fine, Answer::CouldNot)
    }

    fn findings(&self) -> &[Finding] {
        match self {
            Answer::Found(findings) | Answer::InPart(findings, _) => findings,
            Answer::CouldNot(_) | Answer::NotAsked => &[],
        }
    }

    fn into_findings(self) -> Vec<Finding> {
        match self {
            Answer::Found(findings) | Answer::InPart(findings, _) => findings,
            Answer::CouldNot(_) | Answer::NotAsked => Vec::new(),
        }
    }

    /// Returns the answer with more findings.
    fn with(self, more: Vec<Finding>) -> Answer {
        match self {
            Answer::Found(findings) => Answer::Found([findings, more].concat()),
            Answer::InPart(findings, why) => Answer::InPart([findings, more].concat(), why),
            Answer::CouldNot(why) if !more.is_empty() => Answer::InPart(more, why),
            other => other,
        }
    }
}

impl From<Finding> for Answer {
    fn from(finding: Finding) -> Answer {
        Answer::Found(vec![finding])
    }
}

impl From<Vec<Finding>> for Answer {
    fn from(findings: Vec<Finding>) -> Answer {
        Answer::Found(findings)
    }
}

impl From<Option<Finding>> for Answer {
    fn from(finding: Option<Finding>) -> Answer {
        Answer::Found(finding.into_iter().collect())
    }
}

/// The input without which a check cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Facts of the machine, or any input that the check itself looks for.
    Facts,
    /// A log. If the machine's own log cannot be read, the check counts as not made.
    Log,
    /// The measurements of `--deep`.
    Measurement,
}

/// A check.
pub struct Check {
    /// The check's name.
    pub id: Id,
    /// The input that it needs.
    pub needs: Needs,
    /// Examines the case.
    pub run: fn(&Case) -> Answer,
}

const fn check(id: Id, needs: Needs, run: fn(&Case) -> Answer) -> Check {
    Check { id, needs, run }
}

/// Every check, in the order of their numbers.
pub const CHECKS: &[Check] = &[
    check(Id::NotReady, Needs::Facts, not_ready::check),
    check(Id::ReadyLate, Needs::Log, ready_late::check),
    check(Id::Blocked, Needs::Facts, blocked::check),
    check(Id::UnitWaited, Needs::Log, unit_waited::check),
    check(Id::TraceWaited, Needs::Facts, trace_waited::check),
    check(Id::EarlyCaller, Needs::Log, early_caller::check),
    check(Id::EarlyRead, Needs::Log, early_read::check),
    check(Id::NoJitter, Needs::Facts, no_jitter::check),
    check(Id::OneLock, Needs::Facts, one_lock::check),
    check(Id::NoVdso, Needs::Facts, no_vdso::check),
    check(Id::NoReseedWord, Needs::Facts, no_reseed_word::check),
    check(Id::NoCpuRng, Needs::Facts, no_cpu_rng::check),
    check(Id::CpuRngUntrusted, Needs::Facts, cpu_rng_untrusted::check),
    check(Id::CpuRngBroken, Needs::Facts, cpu_rng_broken::check),
    check(Id::NoCycleCounter, Needs::Facts, no_cycle_counter::check),
    check(Id::NoHwrng, Needs::Facts, no_hwrng::check),
    check(Id::HwrngNoDriver, Needs::Facts, hwrng_no_driver::check),
    check(Id::HwrngLate, Needs::Facts, hwrng_late::check),
    check(Id::HwrngUnhealthy, Needs::Measurement, hwrng_unhealthy::check),
    check(Id::BootSeedUnused, Needs::Facts, boot_seed_unused::check),
    check(Id::SavedSeed, Needs::Facts, saved_seed::check),
    check(Id::HypervisorSeed, Needs::Facts, hypervisor_seed::check),
    check(Id::NoVmgenid, Needs::Facts, no_vmgenid::check),
    check(Id::VmgenidNoDriver, Needs::Facts, vmgenid_no_driver::check),
    check(Id::VmclockUnreadable, Needs::Facts, vmclock_unreadable::check),
    check(Id::Cloned, Needs::Log, cloned::check),
    check(Id::Checkpointing, Needs::Facts, checkpointing::check),
    check(Id::BlindGenerators, Needs::Facts, blind_generators::check),
    check(Id::Sandbox, Needs::Facts, sandbox::check),
    check(Id::NeedlessDaemon, Needs::Facts, needless_daemon::check),
    check(Id::SwappedPages, Needs::Facts, swapped_pages::check),
    check(Id::TwoVersions, Needs::Facts, two_versions::check),
];
