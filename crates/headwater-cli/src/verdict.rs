//! One sentence on what the armed parts amount to.

use crate::facts::Facts;
use headwater::{CpuRng, Hardware, Mode, Page, Status, Vmclock, Vmgenid, Word};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// Nothing is missing.
    Good,
    /// Safe as far as it goes, and something is weaker than it could be.
    Weaker,
    /// Something is wrong with this machine.
    Wrong,
}

impl Level {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Level::Good => "good",
            Level::Weaker => "weaker",
            Level::Wrong => "wrong",
        }
    }
}

pub(crate) struct Verdict {
    pub(crate) level: Level,
    pub(crate) text: String,
}

impl Verdict {
    pub(crate) fn of(facts: &Facts) -> Verdict {
        if !facts.seeded() {
            // Nothing is armed before, so that there is nothing more to say.
            return Verdict { level: Level::Wrong, text: NOT_SEEDED.to_string() };
        }
        let status = &facts.status;
        let wrong = wrong(status);
        let weak = weak(status);
        let (level, text) = if !wrong.is_empty() {
            (Level::Wrong, [wrong, weak].concat().join("; "))
        } else if !weak.is_empty() {
            (Level::Weaker, weak.join("; "))
        } else {
            (Level::Good, good(status))
        };
        Verdict { level, text }
    }
}

const NOT_SEEDED: &str = "the kernel's generator is not seeded yet, and requests wait until it is; \
                          in a VM, RDRAND or a virtio-rng device ends such waits";

/// What must not be on any machine.
fn wrong(status: &Status) -> Vec<&'static str> {
    let mut found = Vec::new();
    if status.counters.tripwires > 0 {
        found.push(
            "a page held zeros where random bytes belong, which chance does not do: it was thrown \
             away, and the memory or the kernel of this machine is at fault",
        );
    }
    if status.cpu_rng == CpuRng::Broken {
        found
            .push("the CPU's random instruction gives values that are not random, and is not used");
    }
    if status.word == Word::Retired {
        found.push("the kernel's word stopped agreeing with the kernel, and is not used");
    }
    found
}

/// What could be stronger.
fn weak(status: &Status) -> Vec<&'static str> {
    let mut found = Vec::new();
    if status.unknown_mode_requested {
        found.push("HEADWATER_MODE names no mode, so that strict is used");
    }
    if status.mode == Mode::Kernel {
        found.push("nothing is buffered, and every request costs a system call");
    }
    if !clones_differ(status) {
        found.push(match status.mode {
            Mode::Hedged | Mode::Strict => {
                "nothing here tells of a clone of this VM, and without a CPU random instruction only \
                 the cycle counter makes a clone's bytes differ"
            }
            _ => {
                "nothing here tells of a clone of this VM, which may repeat bytes until its kernel \
                 reseeds"
            }
        });
    }
    if status.page == Page::WipeOnFork {
        found.push("buffered bytes may reach swap (raise RLIMIT_MEMLOCK)");
    }
    found
}

/// Whether two clones of this machine give different bytes.
fn clones_differ(status: &Status) -> bool {
    let mixes_cpu = matches!(status.mode, Mode::Hedged | Mode::Strict)
        && matches!(status.cpu_rng, CpuRng::Good | CpuRng::Slow);
    mixes_cpu || clone_signal(status).is_some()
}

/// What tells of a clone, or that there is none, as a clause.
fn clone_signal(status: &Status) -> Option<&'static str> {
    let vmclock = matches!(status.vmclock, Vmclock::Mapped { .. });
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

fn good(status: &Status) -> String {
    match status.mode {
        Mode::Hedged => {
            "buffered bytes, and fresh bits of the CPU mixed into every request: a clone \
                         of this machine does not repeat them"
                .to_string()
        }
        Mode::Strict => "every request has a key of its own, drawn from the kernel and the CPU: a \
                         clone of this machine does not repeat it"
            .to_string(),
        _ => {
            let signal = clone_signal(status).unwrap_or_default(); // there is one, or it is not good
            format!("buffered bytes, thrown away when the kernel reseeds; {signal}")
        }
    }
}
