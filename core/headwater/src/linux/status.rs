//! The status of this process, and its change counter.

use super::guards;
use super::pool::{layout, slot};
use super::process::Process;
use super::{process, setup, source};
use crate::Mode;
use crate::status::{self, Counters, Page, Path, Pools, Source, Status};
use core::num::NonZeroU64;
use core::sync::atomic::{AtomicU64, Ordering};

/// The public change counter.
pub(crate) struct Changes {
    pub(crate) number: NonZeroU64,
    /// True if every event changes the number. Otherwise a clone of the machine may not.
    pub(crate) is_complete: bool,
}

/// Returns the public change counter; None if nothing can be set up yet.
#[inline]
pub(crate) fn changes() -> Option<Changes> {
    let process = process(false).ok()?;
    // Without a clone signal "nothing happened" would be a guess. A report is enough here, although
    // mode `buffered` asks for more: the counter says that something happened, not what is drawn
    // next.
    let watched = process.watch.now();
    let reports_copies = process.clone_signal().is_some() || watched.reports_copies();
    let is_complete = process.generation.is_live() && reports_copies;
    let number = process.guards().mix(process.epoch(), process.page_losses(), watched.number());
    Some(Changes { number, is_complete })
}

/// Returns the status. Set-up is done first where possible, so that the answer is the one that the
/// next draw would find; it does not wait for an unseeded kernel.
pub(crate) fn status() -> Status {
    let Ok(process) = process(false) else {
        return not_set_up();
    };
    // Read without locks while other threads draw: a sum may lag, but never counts an event twice.
    let puts = Counters { refills: process.sections.puts(), ..Counters::default() };
    let counters = slot::lines(process).fold(puts, |sum, line| {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let counters = &line.counters;
        Counters {
            refills: sum.refills + read(&counters.refills),
            discarded_bytes: sum.discarded_bytes + read(&counters.discarded_bytes),
            retries: sum.retries + read(&counters.retries),
            busy: sum.busy + read(&counters.busy),
            fallbacks: sum.fallbacks + read(&counters.fallbacks),
            tripwires: sum.tripwires + read(&counters.tripwires),
        }
    });
    // Only the current epoch's bank: the other banks belong to frames that forks interrupted.
    let buffering = process.memory.slots > 0;
    let used =
        slot::lines(process).filter(|line| line.page_state.number.load(Ordering::Relaxed) != 0);
    Status {
        mode: process.mode(),
        requested: process.requested(),
        unknown_mode_requested: process.unknown_requested(),
        reason: process.reason(),
        source: source::answered(process.vgetrandom().is_some() && process.mode() != Mode::Kernel),
        reseed_generation: process.generation.status(),
        vmclock: process.clock.status(),
        vmgenid: process.vmgenid,
        watch_page: process.watch.status(),
        hardware: process.hardware,
        cpu_rng: process.cpu_rng(),
        path: path(process),
        cipher: if process.mode() == Mode::Kernel { "none" } else { process.backend.name() },
        page: page(process),
        fork_detection: process.detects_forks(),
        generation: crate::generation(),
        pools: Pools {
            slots: process.memory.slots_of(process.epoch()),
            used: used.count() as u32 + process.sections.used(),
            taken: slot::lines(process).filter(|line| line.lock.is_taken()).count() as u32,
            handles: handles(process),
            page_bytes: if buffering { layout::CAPACITY as u32 } else { 0 },
        },
        counters,
    }
}

/// Returns the path of small draws, with the reason where sections are not used.
fn path(process: &Process) -> Path {
    match (process.mode(), process.sections.missing()) {
        (Mode::Buffered | Mode::Hedged, None) => Path::Sections,
        (Mode::Buffered | Mode::Hedged, Some(missing)) => Path::Slots(missing.reason()),
        _ => Path::Unbuffered,
    }
}

fn handles(process: &Process) -> u32 {
    process.handles.alive()
}

/// Returns the kind of the pages' memory, which may be weaker than at set-up.
fn page(process: &Process) -> Page {
    // A child inherits no memory locks, so its pages may reach swap although set-up had locked
    // them.
    if process.memory.page == Page::WipeOnForkLocked
        && (process.handles.is_unlocked() || !process.is_home())
    {
        return Page::WipeOnFork;
    }
    process.memory.page
}

/// Returns the status of a process in which no byte can be drawn yet.
fn not_set_up() -> Status {
    let (requested, unknown_mode_requested) = setup::mode_from_environment();
    Status {
        mode: Mode::Kernel,
        requested,
        unknown_mode_requested,
        reason: "nothing is set up: the kernel is not seeded yet, or refuses random bytes",
        source: Source::None,
        reseed_generation: status::ReseedGeneration::Absent("nothing is set up"),
        vmclock: status::Vmclock::Off,
        vmgenid: guards::vmgenid::look(),
        watch_page: status::WatchPage::Off,
        hardware: status::Hardware::NotAsked,
        cpu_rng: status::CpuRng::NotAsked,
        path: Path::Unbuffered,
        cipher: "none",
        page: Page::None,
        fork_detection: false,
        generation: None,
        pools: Pools::default(),
        counters: Counters::default(),
    }
}
