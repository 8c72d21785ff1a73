//! The checks, one file each, and the table of all of them.

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
mod one_lock;
mod ready_late;
mod sandbox;
mod saved_seed;
mod swapped_pages;
mod trace_waited;
mod unit_waited;
mod vmclock_unreadable;
mod vmgenid_no_driver;

use crate::{Case, Evidence, Finding, Id};

/// What a check gives.
#[derive(Clone, Debug)]
pub enum Answer {
    /// It looked at everything; what it found, if anything.
    Found(Vec<Finding>),
    /// It looked as far as it could; what it found so far, and what it could not look at and why:
    /// "needs root to read /proc/1/syscall".
    InPart(Vec<Finding>, String),
    /// It could not look, and why.
    CouldNot(String),
    /// Nothing of the kind that it looks at was given (a log without a machine, a machine without a trace).
    NotAsked,
}

impl Answer {
    /// It looked, and all is well.
    pub const fn fine() -> Answer {
        Answer::Found(Vec::new())
    }
}

/// One line of evidence.
fn evidence(place: impl Into<String>, says: impl Into<String>) -> Evidence {
    Evidence { place: place.into(), says: says.into() }
}

impl From<Finding> for Answer {
    fn from(finding: Finding) -> Answer {
        Answer::Found(vec![finding])
    }
}

impl From<Option<Finding>> for Answer {
    fn from(finding: Option<Finding>) -> Answer {
        Answer::Found(finding.into_iter().collect())
    }
}

/// A check and its name.
pub struct Check {
    /// Which.
    pub id: Id,
    /// Looks at the case.
    pub run: fn(&Case) -> Answer,
}

const fn check(id: Id, run: fn(&Case) -> Answer) -> Check {
    Check { id, run }
}

/// Every check, in the order of their numbers.
pub const CHECKS: &[Check] = &[
    check(Id::NotReady, not_ready::check),
    check(Id::ReadyLate, ready_late::check),
    check(Id::Blocked, blocked::check),
    check(Id::UnitWaited, unit_waited::check),
    check(Id::TraceWaited, trace_waited::check),
    check(Id::EarlyCaller, early_caller::check),
    check(Id::EarlyRead, early_read::check),
    check(Id::NoJitter, no_jitter::check),
    check(Id::OneLock, one_lock::check),
    check(Id::NoVdso, no_vdso::check),
    check(Id::NoReseedWord, no_reseed_word::check),
    check(Id::NoCpuRng, no_cpu_rng::check),
    check(Id::CpuRngUntrusted, cpu_rng_untrusted::check),
    check(Id::CpuRngBroken, cpu_rng_broken::check),
    check(Id::NoCycleCounter, no_cycle_counter::check),
    check(Id::NoHwrng, no_hwrng::check),
    check(Id::HwrngNoDriver, hwrng_no_driver::check),
    check(Id::HwrngLate, hwrng_late::check),
    check(Id::BootSeedUnused, boot_seed_unused::check),
    check(Id::SavedSeed, saved_seed::check),
    check(Id::NoVmgenid, no_vmgenid::check),
    check(Id::VmgenidNoDriver, vmgenid_no_driver::check),
    check(Id::VmclockUnreadable, vmclock_unreadable::check),
    check(Id::Cloned, cloned::check),
    check(Id::Checkpointing, checkpointing::check),
    check(Id::BlindGenerators, blind_generators::check),
    check(Id::Sandbox, sandbox::check),
    check(Id::NeedlessDaemon, needless_daemon::check),
    check(Id::SwappedPages, swapped_pages::check),
];
