//! Set-up: from nothing to a published arena, once in a process.
//!
//! It may run in a signal handler that interrupted another set-up, and in several threads at once: each
//! builds an arena of its own, one compare-exchange publishes the first that is done, and the losers give
//! theirs back. So no once-lock, on which a handler would wait for the frame it interrupted. It allocates
//! nothing and opens nothing that stays open.

#![allow(unsafe_code)]

use super::arena::{Arena, Facts, Line, Memory};
use super::cell::layout::{STATE, STATE_ROOM};
use super::cipher::Backend;
use super::cpu::{self, CpuHint, Rseq};
use super::features::Features;
use super::force::{Point, hook};
use super::guard::epoch::BANKS;
use super::guard::vmclock::Clock;
use super::guard::word::KernelWord;
use super::guard::{hardware, vmgenid};
use super::races::published::Published;
use super::source::vdso::Vdso;
use super::source::vgetrandom::Vgetrandom;
use super::{hwrng, memory, raw, source};
use crate::status::{CpuRng, Hardware, Vmgenid};
use crate::{Config, Error, Mode};
use core::sync::atomic::{AtomicPtr, AtomicU64};

static ARENA: Published<Arena> = Published(AtomicPtr::new(none_yet()));
/// Stands for "not set up": nobody draws from it, and no null has to be compared at each draw.
static NONE_YET: Arena = Arena::destitute();
static DESTITUTE: Arena = Arena::destitute();

const fn none_yet() -> *mut Arena {
    (&raw const NONE_YET).cast_mut()
}

/// At most this many slots; CPUs beyond half of it share. Sixteen banks of them are 8,192: an epoch has room
/// for the index.
const MOST_SLOTS: usize = 512;
const _: () = assert!(BANKS * MOST_SLOTS <= 1 << 16);

/// The arena, if set-up is done.
#[inline]
pub(crate) fn published() -> Option<&'static Arena> {
    let arena = quick_arena();
    (!core::ptr::eq(arena, &NONE_YET)).then_some(arena)
}

/// The arena, or one that is not quick.
#[inline(always)]
pub(crate) fn quick_arena() -> &'static Arena {
    // SAFETY: a static, or an arena that is complete and lives for ever.
    unsafe { &*ARENA.get() }
}

/// The arena, setting it up first where that is not done. `NOT_READY` if the kernel is not seeded and
/// `wait` is false.
#[cold]
#[inline(never)]
pub(crate) fn arena(wait: bool) -> Result<&'static Arena, Error> {
    set_up(Config { mode: Mode::Auto, vmclock: true }, true, wait)
}

/// As [`arena`], with this configuration instead of the environment's.
pub(crate) fn arena_with(config: Config) -> Result<&'static Arena, Error> {
    set_up(config, false, true)
}

fn set_up(config: Config, environment: bool, wait: bool) -> Result<&'static Arena, Error> {
    if let Some(arena) = published() {
        return Ok(arena);
    }
    // Nothing is buffered, and no slot held, before the kernel's generator is seeded.
    let mut byte = 0;
    // SAFETY: one byte.
    unsafe { source::fill(&raw mut byte, 1, wait) }?;
    let (mode, unknown) = if environment { mode_from_environment() } else { (config.mode, false) };
    let len = size_of::<Arena>().next_multiple_of(raw::page_size());
    let Ok(place) = memory::reserve(len) else {
        return Ok(publish(&DESTITUTE).unwrap_or_else(|theirs| theirs));
    };
    let place: *mut Arena = place.cast();
    // SAFETY: fresh, zeroed, page-aligned memory of at least that size, never unmapped once published.
    let arena = unsafe {
        place.write(Arena::new(gather(config.vmclock, mode, unknown)));
        (*place).rseq = (*place).cpu_hint.rseq().unwrap_or(Rseq::NONE);
        &*place
    };
    #[cfg(feature = "pools")]
    if arena.memory.slots > 0 {
        arena.handles.prepare(arena.memory.stride());
    }
    arena.settle_in();
    arena.choose_mode();
    hook(Point::SetUp);
    // No closure: it would hold `arena` as an argument, for which the memory may not go before it returns.
    if let Err(theirs) = publish(arena) {
        discard(arena);
        // SAFETY: nobody else has seen it, and `discard` was the last use.
        unsafe { raw::munmap(place.cast(), len) };
        return Ok(theirs);
    }
    Ok(arena)
}

/// Makes `arena` everyone's; the one that was published before, if any.
fn publish(arena: &'static Arena) -> Result<&'static Arena, &'static Arena> {
    let mine = core::ptr::from_ref(arena).cast_mut();
    // SAFETY: published before, so complete.
    ARENA.publish(none_yet(), mine).map(|()| arena).map_err(|theirs| unsafe { &*theirs })
}

/// The mode that the environment asks for, and whether it asks for one that does not exist.
pub(crate) fn mode_from_environment() -> (Mode, bool) {
    if raw::is_secure_execution() {
        return (Mode::Auto, false);
    }
    let Some(value) = raw::environment(c"HEADWATER_MODE") else {
        return (Mode::Auto, false);
    };
    match Mode::ALL.into_iter().find(|mode| mode.name().as_bytes() == value) {
        Some(mode) => (mode, false),
        None if value.is_empty() => (Mode::Auto, false),
        None => (Mode::Strict, true),
    }
}

/// Looks at the machine. In mode `kernel` only at what that mode needs: no vDSO, no device.
fn gather(vmclock: bool, requested: Mode, unknown_requested: bool) -> Facts {
    let (canary, memory) = reserve(requested);
    let mut facts = Facts {
        word: KernelWord::absent("not looked for in mode kernel"),
        clock: Clock::off(),
        canary,
        cpu_hint: CpuHint::Stack,
        memory,
        backend: Backend::ChaCha,
        vgetrandom: None,
        cpu_rng: CpuRng::NotAsked,
        requested,
        unknown_requested,
        vmgenid: Vmgenid::NotAsked,
        hardware: Hardware::NotAsked,
    };
    if requested == Mode::Kernel || canary.is_none() {
        return facts;
    }
    let features = Features::detect();
    facts.backend = Backend::choose(features);
    facts.cpu_rng = hwrng::assess(features, hardware::random_instruction_is_slow);
    let vdso = Vdso::find();
    facts.cpu_hint = CpuHint::find(vdso.as_ref());
    (facts.vgetrandom, facts.word) = find_word(vdso.as_ref(), &facts.memory);
    empty(&facts.memory);
    facts.vmgenid = vmgenid::look();
    if vmclock {
        facts.clock.arm();
    }
    if facts.word.is_live() && facts.vmgenid != Vmgenid::Bound && !facts.clock.tells_of_clones() {
        facts.hardware = hardware::look(features);
    }
    facts
}

/// Reserves the canary and, with pools, lines and pages. Virtual space only: it is resident where touched.
fn reserve(requested: Mode) -> (Option<*const AtomicU64>, Memory) {
    let cpus = cpu::configured().clamp(1, MOST_SLOTS / 2);
    let buffering = cfg!(feature = "pools") && requested != Mode::Kernel;
    let slots = if buffering { 2 * cpus } else { 0 };
    // The canary has the first line to itself: it is read at each draw, and never written but by a fork.
    let Ok(lines) = memory::reserve_wiped(size_of::<Line>() * (1 + BANKS * slots)) else {
        return (None, Memory::NONE);
    };
    let canary: *const AtomicU64 = lines.cast_const().cast();
    let page_size = raw::page_size();
    if slots > 0
        && let Ok((pages, page)) = memory::reserve_pages(page_size * BANKS * slots)
    {
        // SAFETY: the second line of the reservation.
        let lines = unsafe { lines.cast_const().cast::<Line>().add(1) };
        let (cpus, slots) = (cpus as u32, slots as u32);
        return (Some(canary), Memory { lines, pages, page_size, cpus, slots, page });
    }
    (Some(canary), Memory::NONE)
}

/// The vDSO's getrandom, and the kernel's word, for which a state in the first page is keyed for a moment.
fn find_word(vdso: Option<&Vdso>, memory: &Memory) -> (Option<Vgetrandom>, KernelWord) {
    let Some(vdso) = vdso else {
        return (None, KernelWord::absent("this process has no vDSO"));
    };
    if memory.slots == 0 {
        return (None, KernelWord::absent("nothing is buffered"));
    }
    let Some(vgetrandom) = Vgetrandom::find(vdso, STATE_ROOM) else {
        return (None, KernelWord::absent("this kernel's vDSO has no getrandom (Linux 6.11 has)"));
    };
    // SAFETY: nobody uses the pages yet; the state fits its room, and the page is emptied by `gather`.
    let word = unsafe { KernelWord::search(vdso, &vgetrandom, memory.pages.add(STATE)) };
    (Some(vgetrandom), word)
}

/// Empties the pages: the first held a state of the search. It also takes back what mlockall(MCL_FUTURE) made
/// resident, which is all of them, so it is done whether anything was searched for or not.
fn empty(memory: &Memory) {
    if memory.slots > 0 {
        let len = memory.stride() * BANKS * memory.slots as usize;
        // SAFETY: nobody uses the pages yet. If it fails, the state stays one like any other.
        let _ = unsafe { memory::drop_contents(memory.pages, len) };
    }
}

/// Gives back the reservations of an arena that another was published before.
fn discard(arena: &Arena) {
    let memory = arena.memory;
    let slots = memory.slots as usize;
    arena.clock.discard();
    // SAFETY: nobody else has seen this arena.
    unsafe {
        if let Some(canary) = arena.canary() {
            raw::munmap(canary.cast_mut().cast(), size_of::<Line>() * (1 + BANKS * slots));
        }
        if slots > 0 {
            raw::munmap(memory.pages, memory.stride() * BANKS * slots);
        }
    }
    #[cfg(feature = "pools")]
    arena.handles.discard(memory.stride());
}
