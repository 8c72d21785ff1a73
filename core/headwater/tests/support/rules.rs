//! The rules by which a mode is chosen, written a second time, from the documentation instead of
//! the code.

use headwater::testing::{Force, set};
use headwater::{CpuRng, Hardware, Mode, Page, ReseedGeneration, Status, Vmclock, Vmgenid};

/// Returns the number of slots on a machine with this many CPUs, where memory has no limit: 64
/// beside those of the CPUs, and 512 in all where they are made of memory that is not locked.
pub(crate) fn slots(cpus: u32, page: Page) -> u32 {
    let few = cpus + 64;
    if page == Page::Droppable { few.max(512) } else { few }
}

/// Returns the mode that this status has to show, and a part of the reason.
pub(crate) fn expected(status: &Status) -> (Mode, &'static str) {
    let word = matches!(status.reseed_generation, ReseedGeneration::Live { .. });
    let fresh = matches!(status.cpu_rng, CpuRng::Good | CpuRng::Slow);
    let clock = matches!(status.vmclock, Vmclock::Mapped { vm_generation: Some(_), .. });
    let signal = if status.vmgenid == Vmgenid::Bound {
        Some("vmgenid")
    } else if clock && fresh {
        Some("fresh bits of the CPU")
    } else if status.hardware == Hardware::BareMetal {
        Some("bare metal")
    } else {
        None
    };
    let hedge = status.cpu_rng == CpuRng::Good && status.cipher.starts_with("AES");
    let instead_of_buffered = |why| match hedge {
        true => (Mode::Hedged, why),
        false => (Mode::Strict, "this CPU cannot hedge"),
    };
    if !status.fork_detection {
        return (Mode::Kernel, "clears in a forked child");
    }
    if status.requested == Mode::Kernel {
        return (Mode::Kernel, "asked for");
    }
    if status.vmclock == Vmclock::Quiesced {
        return (Mode::Strict, "quiesced");
    }
    if status.unknown_mode_requested {
        return (Mode::Strict, "no known mode");
    }
    match status.requested {
        Mode::Strict => (Mode::Strict, "asked for"),
        _ if status.pools.slots == 0 => (Mode::Strict, "no pools"),
        Mode::Hedged if hedge => (Mode::Hedged, "asked for"),
        Mode::Hedged => (Mode::Strict, "no AES or no sound, quick random instruction"),
        _ if !word => instead_of_buffered("no live reseed generation"),
        Mode::Buffered => (Mode::Buffered, "asked for"),
        _ => match signal {
            Some(signal) => (Mode::Buffered, signal),
            None if clock => {
                (Mode::Strict, "VMClock reports clones to headwater but not to the kernel")
            }
            None => instead_of_buffered("the kernel would not notice a clone"),
        },
    }
}

/// Checks that the mode and the reason follow by the rules from the rest of the status.
pub(crate) fn assert_by_the_rules(status: &Status) {
    let (mode, reason) = expected(status);
    assert_eq!(status.mode, mode, "{status:?}");
    assert!(status.reason.contains(reason), "{reason:?} is not why: {status:?}");
}

/// Forces all of these, under which every other fact of the machine stays what it is.
pub(crate) fn force(facts: &[Force]) {
    for &fact in facts {
        set(fact, true);
    }
}
