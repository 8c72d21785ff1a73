//! The verdict: one sentence on the status.

use crate::Facts;
use core::fmt;
use headwater::{CpuRng, Hardware, Mode, Page, ReseedGeneration, Status, Vmclock, Vmgenid};

/// Rating of a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Nothing is missing.
    Good,
    /// Safe, but weaker than possible.
    Weaker,
    /// Something is wrong with this machine.
    Wrong,
}

impl Level {
    /// Returns a stable name.
    pub const fn name(self) -> &'static str {
        match self {
            Level::Good => "good",
            Level::Weaker => "weaker",
            Level::Wrong => "wrong",
        }
    }
}

/// Room for clauses, more than there are findings.
const MOST: usize = 10;

/// One sentence on a status, with its rating.
#[derive(Clone, Copy, Debug)]
pub struct Verdict {
    /// The rating.
    pub level: Level,
    clauses: [&'static str; MOST],
    len: usize,
}

impl Verdict {
    /// Judges these facts.
    pub fn of(facts: &Facts<'_>) -> Verdict {
        let mut verdict = Verdict { level: Level::Good, clauses: [""; MOST], len: 0 };
        if !facts.seeded {
            // Before the seed no guard is set up, so every other clause would mislead.
            verdict.level = Level::Wrong;
            verdict.add(NOT_SEEDED);
            return verdict;
        }
        let status = facts.status;
        wrong(status, &mut verdict);
        if verdict.len > 0 {
            verdict.level = Level::Wrong;
        }
        weak(status, &mut verdict);
        if verdict.len == 0 {
            good(status, &mut verdict);
        } else if verdict.level == Level::Good {
            verdict.level = Level::Weaker;
        }
        verdict
    }

    fn add(&mut self, clause: &'static str) {
        if let Some(place) = self.clauses.get_mut(self.len) {
            *place = clause;
            self.len += 1;
        }
    }

    /// Returns the clauses with their separators.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &'static str> + '_ {
        let clauses = self.clauses.iter().take(self.len).enumerate();
        clauses.flat_map(|(at, clause)| [if at == 0 { "" } else { "; " }, clause])
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.parts().try_for_each(|part| f.write_str(part))
    }
}

const NOT_SEEDED: &str = "the kernel's generator is not seeded yet, and requests wait until it is; \
                          in a VM, RDRAND or a virtio-rng device ends such waits";

/// Adds the clauses of faults.
fn wrong(status: &Status, found: &mut Verdict) {
    if status.counters.tripwires > 0 {
        found.add(
            "a page held zeros in place of random bytes: it was discarded; the memory or the kernel of \
             this machine is faulty",
        );
    }
    if status.cpu_rng == CpuRng::Broken {
        found.add(
            "the CPU's random instruction returns values that are not random, and is not used",
        );
    }
    if status.reseed_generation == ReseedGeneration::Retired {
        found.add("the reseed generation stopped agreeing with the kernel, and is not used");
    }
}

/// Adds the clauses of weaknesses.
fn weak(status: &Status, found: &mut Verdict) {
    if status.unknown_mode_requested {
        found.add("HEADWATER_MODE has an unknown value, so mode strict is in use");
    }
    if status.mode == Mode::Kernel {
        found.add("nothing is buffered, and every request costs a system call");
    }
    if !clones_differ(status) {
        found.add(match status.mode {
            Mode::Hedged | Mode::Strict if !has_clone_signal_of_vmclock(status) => {
                "no detector reports a clone of this VM, and without a CPU random instruction only \
                 the cycle counter makes a clone's bytes differ"
            }
            _ if has_clone_signal_of_vmclock(status) => {
                "VMClock reports a clone of this VM, but without a CPU random instruction only the \
                 cycle counter makes a clone's bytes differ"
            }
            _ => {
                "no detector reports a clone of this VM, which may repeat bytes until its kernel \
                 reseeds"
            }
        });
    }
    if status.page == Page::WipeOnFork {
        found.add("buffered bytes may reach swap (raise RLIMIT_MEMLOCK)");
    }
    // Busy threads may take so many for a moment, and one look does not distinguish the two.
    if status.pools.taken > status.pools.slots / 2 {
        found.add(
            "most slots are taken: if this lasts, threads that were killed or cancelled, or left a draw \
             by siglongjmp, have lost them, and draws stay slower until the process ends",
        );
    }
}

/// Returns true if two clones of this machine draw different bytes.
fn clones_differ(status: &Status) -> bool {
    let mixes_cpu = matches!(status.mode, Mode::Hedged | Mode::Strict) && has_cpu_words(status);
    mixes_cpu || clone_signal(status).is_some()
}

/// Returns true if fresh words of the CPU enter each key.
fn has_cpu_words(status: &Status) -> bool {
    matches!(status.cpu_rng, CpuRng::Good | CpuRng::Slow)
}

/// Returns true if VMClock's page promises to change when a snapshot is loaded.
fn has_clone_signal_of_vmclock(status: &Status) -> bool {
    matches!(status.vmclock, Vmclock::Mapped { vm_generation: Some(_), .. })
}

/// Returns the clause on clone detection, or `None` without a detector. VMClock notifies headwater
/// but not the kernel, so it counts only together with the CPU's random words.
fn clone_signal(status: &Status) -> Option<&'static str> {
    let vmclock = has_clone_signal_of_vmclock(status) && has_cpu_words(status);
    let vmgenid = status.vmgenid == Vmgenid::Bound;
    match (vmclock, vmgenid) {
        (true, true) => Some("a clone of this VM is noticed by VMClock and vmgenid"),
        (true, false) => Some("a clone of this VM is noticed by VMClock"),
        (false, true) => Some("a clone of this VM is noticed by vmgenid"),
        (false, false) if status.hardware == Hardware::BareMetal => {
            Some("bare metal is not cloned while it runs")
        }
        (false, false) => None,
    }
}

fn good(status: &Status, found: &mut Verdict) {
    match status.mode {
        Mode::Hedged => found.add(
            "buffered bytes, with fresh bits of the CPU mixed into every request: a clone of this machine does \
             not repeat them",
        ),
        Mode::Strict => found.add(
            "every request has its own key, from the kernel and the CPU: a clone of this machine does not \
             repeat it",
        ),
        _ => {
            found.add("buffered bytes, discarded when the kernel reseeds");
            // Always present here: without a signal the rating is not `Good`.
            found.add(clone_signal(status).unwrap_or_default());
        }
    }
}
