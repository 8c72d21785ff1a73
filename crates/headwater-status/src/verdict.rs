//! The verdict: one sentence on the quality of the parts in use.

use crate::Facts;
use core::fmt;
use headwater::{CpuRng, Hardware, Mode, Page, ReseedGeneration, Status, Vmclock, Vmgenid};

/// The quality of the parts in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Nothing is missing.
    Good,
    /// Safe as far as it goes, and something is weaker than it could be.
    Weaker,
    /// Something is wrong with this machine.
    Wrong,
}

impl Level {
    /// A stable name.
    pub const fn name(self) -> &'static str {
        match self {
            Level::Good => "good",
            Level::Weaker => "weaker",
            Level::Wrong => "wrong",
        }
    }
}

/// More clauses than there are findings.
const MOST: usize = 10;

/// The verdict: one sentence on the quality of the parts in use.
#[derive(Clone, Copy, Debug)]
pub struct Verdict {
    /// How good that is.
    pub level: Level,
    clauses: [&'static str; MOST],
    len: usize,
}

impl Verdict {
    /// The verdict on these facts.
    pub fn of(facts: &Facts<'_>) -> Verdict {
        let mut verdict = Verdict { level: Level::Good, clauses: [""; MOST], len: 0 };
        if !facts.seeded {
            // Nothing is in use before that, so nothing more can be said.
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

    /// The parts of the sentence, with what stands between them.
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

/// What must not be on any machine.
fn wrong(status: &Status, found: &mut Verdict) {
    if status.counters.tripwires > 0 {
        found.add(
            "a page held zeros where random bytes belong, which chance does not do: it was thrown \
             away, and the memory or the kernel of this machine is at fault",
        );
    }
    if status.cpu_rng == CpuRng::Broken {
        found.add("the CPU's random instruction gives values that are not random, and is not used");
    }
    if status.reseed_generation == ReseedGeneration::Retired {
        found.add("the reseed generation stopped agreeing with the kernel, and is not used");
    }
}

/// What could be stronger.
fn weak(status: &Status, found: &mut Verdict) {
    if status.unknown_mode_requested {
        found.add("HEADWATER_MODE names no mode, so that strict is used");
    }
    if status.mode == Mode::Kernel {
        found.add("nothing is buffered, and every request costs a system call");
    }
    if !clones_differ(status) {
        found.add(match status.mode {
            Mode::Hedged | Mode::Strict if !tells_by_vmclock(status) => {
                "nothing here tells of a clone of this VM, and without a CPU random instruction only \
                 the cycle counter makes a clone's bytes differ"
            }
            _ if tells_by_vmclock(status) => {
                "VMClock tells of a clone of this VM, but without a CPU random instruction only the \
                 cycle counter makes a clone's bytes differ"
            }
            _ => {
                "nothing here tells of a clone of this VM, which may repeat bytes until its kernel \
                 reseeds"
            }
        });
    }
    if status.page == Page::WipeOnFork {
        found.add("buffered bytes may reach swap (raise RLIMIT_MEMLOCK)");
    }
}

/// Whether two clones of this machine give different bytes.
fn clones_differ(status: &Status) -> bool {
    let mixes_cpu = matches!(status.mode, Mode::Hedged | Mode::Strict) && has_cpu_words(status);
    mixes_cpu || clone_signal(status).is_some()
}

/// Whether fresh words of the CPU enter each key.
fn has_cpu_words(status: &Status) -> bool {
    matches!(status.cpu_rng, CpuRng::Good | CpuRng::Slow)
}

/// Whether VMClock's page promises to move when a snapshot is loaded.
fn tells_by_vmclock(status: &Status) -> bool {
    matches!(status.vmclock, Vmclock::Mapped { vm_generation: Some(_), .. })
}

/// What makes a clone's bytes differ, or says that there is none, as a clause. VMClock tells headwater and not the
/// kernel, so that it counts only beside the CPU's words.
fn clone_signal(status: &Status) -> Option<&'static str> {
    let vmclock = tells_by_vmclock(status) && has_cpu_words(status);
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
            "buffered bytes, and fresh bits of the CPU mixed into every request: a clone of this machine does not \
             repeat them",
        ),
        Mode::Strict => found.add(
            "every request has a key of its own, drawn from the kernel and the CPU: a clone of this machine does not \
             repeat it",
        ),
        _ => {
            found.add("buffered bytes, thrown away when the kernel reseeds");
            // There is one, or it is not good.
            found.add(clone_signal(status).unwrap_or_default());
        }
    }
}
