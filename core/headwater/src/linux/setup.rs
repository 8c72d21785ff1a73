//! Set-up: builds and publishes the state of the process, once.
//!
//! Set-up may run in a signal handler that interrupted another set-up, and in several threads at
//! once. A once-lock, which is the usual answer to the second, would deadlock in the first: the
//! handler would wait for the frame that it interrupted. So each builds a state of its own, one
//! compare-exchange publishes the first, and the losers unmap theirs. Therefore set-up must be free
//! of traces: it allocates nothing and leaves nothing open.

#![allow(unsafe_code)]

use crate::linux::cipher::Backend;
use crate::linux::cpu::current::{self, CpuHint, Rseq};
use crate::linux::cpu::features::Features;
use crate::linux::cpu::random;
use crate::linux::failpoint::{Force, Point, forced, hook};
use crate::linux::guards::age::CoarseClock;
use crate::linux::guards::fork::BANKS;
use crate::linux::guards::generation::KernelGeneration;
use crate::linux::guards::vmclock::Clock;
use crate::linux::guards::watch_page::WatchGuard;
use crate::linux::guards::{bare_metal, vmgenid};
use crate::linux::pool::layout::{STATE, STATE_ROOM};
use crate::linux::pool::owned::Registry;
use crate::linux::pool::reservation::Memory;
use crate::linux::pool::section;
use crate::linux::pool::section_switch::NoSections;
use crate::linux::pool::slot_line::SlotLine;
use crate::linux::process::{Facts, Process};
use crate::linux::source;
use crate::linux::source::vdso::Vdso;
use crate::linux::source::vgetrandom::Vgetrandom;
use crate::linux::sync::once_ptr::OncePtr;
use crate::linux::sys;
use crate::linux::sys::memory;
use crate::status::{CpuRng, Hardware, Page, Vmgenid};
use crate::{Config, Error, Mode};
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};

static PROCESS: OncePtr<Process> = OncePtr(AtomicPtr::new(none_yet()));
/// Stands for "not set up". A null pointer would say the same, but each draw would have to compare
/// it; this state has a mode that serves nothing quickly, so the comparison of modes is enough.
static NONE_YET: Process = Process::destitute();
static DESTITUTE: Process = Process::destitute();

/// No memory for handles is mapped at set-up. Relaxed: nothing else is read by it.
static NO_HANDLES: AtomicBool = AtomicBool::new(false);

/// Implements [`crate::internal::expect_no_handles`].
pub(crate) fn expect_no_handles() {
    NO_HANDLES.store(true, Ordering::Relaxed);
}

const fn none_yet() -> *mut Process {
    (&raw const NONE_YET).cast_mut()
}

/// CPUs that have a slot and a page of their own; further ones share. The number can be generous,
/// because only virtual space grows with it.
const MOST_CPUS: usize = 1024;
/// Slots that all CPUs share under contention, in each bank.
const SHARED_SLOTS: usize = 64;
/// Slots of the first bank, where they are not locked (DESIGN.md, "Why are there 512 slots?").
const SLOTS_FOR_A_CROWD: usize = 512;
// An epoch has room for the index of a slot.
const _: () = assert!(BANKS * (MOST_CPUS + SHARED_SLOTS) <= 1 << 16);

/// Returns the state, if set-up is done.
#[inline]
pub(crate) fn published() -> Option<&'static Process> {
    let process = current();
    (!core::ptr::eq(process, &NONE_YET)).then_some(process)
}

/// Returns the state, or [`NONE_YET`], whose mode serves nothing quickly.
#[inline(always)]
pub(crate) fn current() -> &'static Process {
    // SAFETY: a static, or a process that is complete and lives for ever.
    unsafe { &*PROCESS.get() }
}

/// Returns the state, and sets it up first if need be. `NOT_READY` if the kernel is not seeded and
/// `wait` is false.
#[inline(always)]
pub(crate) fn process(wait: bool) -> Result<&'static Process, Error> {
    match published() {
        Some(process) => Ok(process),
        None => first_process(wait),
    }
}

/// Sets the state up by the environment. A function of its own, so that [`process`] costs a draw
/// one comparison and no frame.
#[cold]
#[inline(never)]
fn first_process(wait: bool) -> Result<&'static Process, Error> {
    set_up(Config { mode: Mode::Auto, vmclock: true }, true, wait)
}

/// Returns the state as [`process`] does, set up with this configuration instead of the
/// environment's.
pub(crate) fn process_with(config: Config) -> Result<&'static Process, Error> {
    set_up(config, false, true)
}

fn set_up(config: Config, environment: bool, wait: bool) -> Result<&'static Process, Error> {
    if let Some(process) = published() {
        return Ok(process);
    }
    // Nothing is buffered, and no slot held, before the kernel's generator is seeded.
    let mut byte = 0;
    // SAFETY: one byte.
    unsafe { source::fill(&raw mut byte, 1, wait) }?;
    let (mode, unknown) = if environment { mode_from_environment() } else { (config.mode, false) };
    let len = (size_of::<Process>() + HANDLES).next_multiple_of(sys::page_size());
    let Ok(place) = memory::reserve(len) else {
        return Ok(publish(&DESTITUTE).unwrap_or_else(|theirs| theirs));
    };
    let place: *mut Process = place.cast();
    // SAFETY: fresh, zeroed, page-aligned memory of at least that size, never unmapped once
    // published.
    let process = unsafe {
        gather(place, config.vmclock, mode, unknown);
        (*place).rseq = (*place).cpu_hint.rseq().unwrap_or(Rseq::NONE);
        &*place
    };
    if process.memory.slots > 0 && !NO_HANDLES.load(Ordering::Relaxed) {
        process.handles.prepare(process.memory.stride());
    }
    process.choose_first_epoch();
    process.choose_mode();
    hook(Point::SetUp);
    core::hint::black_box(crate::VERSION_MARK.as_ptr());
    // A closure would still borrow `process` when its mapping is unmapped (undefined behaviour,
    // found by miri).
    if let Err(theirs) = publish(process) {
        discard(process);
        // SAFETY: no other thread has seen it, and `discard` was the last use.
        unsafe { sys::munmap(place.cast(), len) };
        return Ok(theirs);
    }
    Ok(process)
}

/// Publishes `process`; an error holds the state that was published before.
fn publish(process: &'static Process) -> Result<&'static Process, &'static Process> {
    let mine = core::ptr::from_ref(process).cast_mut();
    // SAFETY: published before, so complete.
    PROCESS.publish(none_yet(), mine).map(|()| process).map_err(|theirs| unsafe { &*theirs })
}

/// Returns the mode that the environment requests, and whether it requests an unknown one.
pub(crate) fn mode_from_environment() -> (Mode, bool) {
    let Some(value) = sys::environment(c"HEADWATER_MODE") else {
        return (Mode::Auto, false);
    };
    match Mode::ALL.into_iter().find(|mode| mode.name().as_bytes() == value.as_bytes()) {
        Some(mode) => (mode, false),
        None if value.as_bytes().is_empty() => (Mode::Auto, false),
        None => (Mode::Strict, true),
    }
}

/// The size of the registry of handles, which lies after the state.
const HANDLES: usize = size_of::<Registry>();
const _: () = assert!(size_of::<Process>().is_multiple_of(align_of::<Registry>()));

/// Examines the machine, and builds the state from the facts.
///
/// A function of its own, so that the facts' part of the stack is free again when bytes are drawn.
///
/// # Safety
///
/// `place` is fresh, zeroed memory for a process and the registry after it.
#[inline(never)]
unsafe fn gather(place: *mut Process, vmclock: bool, requested: Mode, unknown_requested: bool) {
    // SAFETY: `set_up` has just mapped memory for both, and nothing else refers to it. It is
    // zeroed, and zeros are a registry without handles.
    unsafe {
        let handles = &*place.add(1).cast::<Registry>();
        let facts = Facts { handles, ..facts(vmclock, requested, unknown_requested) };
        place.write(Process::new(facts));
    }
}

/// Examines the machine. Mode `kernel` examines only its own needs: no vDSO, no device.
fn facts(vmclock: bool, requested: Mode, unknown_requested: bool) -> Facts {
    let (canary, memory) = reserve(requested);
    let mut facts = Facts {
        generation: KernelGeneration::absent("not looked for in mode kernel"),
        clock: Clock::off(),
        canary,
        cpu_hint: CpuHint::Stack,
        memory,
        backend: Backend::ChaCha,
        vgetrandom: None,
        no_sections: Some(NoSections::NothingBuffered),
        avx: false,
        coarse_clock: CoarseClock::NONE,
        cpu_rng: CpuRng::NotAsked,
        requested,
        unknown_requested,
        vmgenid: Vmgenid::NotAsked,
        hardware: Hardware::NotAsked,
        watch: WatchGuard::off(),
        handles: &crate::linux::process::NO_HANDLES,
    };
    if requested == Mode::Kernel || canary.is_none() {
        return facts;
    }
    let features = Features::detect();
    facts.backend = Backend::choose(features);
    facts.cpu_rng = random::assess(features, bare_metal::random_instruction_is_slow);
    let vdso = Vdso::find();
    facts.cpu_hint = CpuHint::find(vdso.as_ref());
    facts.avx = features.avx;
    facts.coarse_clock = CoarseClock::find(vdso.as_ref());
    facts.no_sections = missing_for_sections(features, &facts);
    (facts.vgetrandom, facts.generation) = find_generation(vdso.as_ref(), &facts.memory);
    empty(&facts.memory);
    facts.vmgenid = vmgenid::look();
    if vmclock {
        facts.clock.map_device();
        facts.watch.map();
    }
    if facts.generation.is_live()
        && facts.vmgenid != Vmgenid::Bound
        && !facts.clock.reports_clones()
    {
        facts.hardware = bare_metal::look(features);
    }
    facts
}

/// Returns what is missing for draws in restartable sequences. Only facts count, so that all
/// processes of a machine choose alike; the one exception serves tools that move code.
fn missing_for_sections(features: Features, facts: &Facts) -> Option<NoSections> {
    let no_rdpid = !features.rdpid || forced(Force::NoRdpid);
    let missing = [
        (facts.memory.slots == 0, NoSections::NothingBuffered),
        (cfg!(not(target_arch = "x86_64")), NoSections::OtherCpu),
        (!section::AVAILABLE, NoSections::Instrumented),
        (facts.memory.sections == 0, NoSections::NoRoom),
        (facts.cpu_hint.rseq().is_none(), NoSections::NoRseq),
        (no_rdpid, NoSections::NoRdpid),
        (!no_rdpid && is_rdpid_wrong(facts), NoSections::WrongRdpid),
        (!features.avx2, NoSections::NoAvx2),
        (!facts.backend.is_aes(), NoSections::NoAes),
        (forbids_sections() || forced(Force::NoSections), NoSections::Forbidden),
    ];
    missing.into_iter().find_map(|(is_missing, reason)| is_missing.then_some(reason))
}

/// Returns whether RDPID does not return the number of the CPU. A hypervisor, or a kernel in user
/// space, may set its register otherwise.
///
/// Each section compares the two, so if they disagreed it would leave each time: slow, and for
/// ever. The rseq area is asked first, which takes no call. But if it disagrees, that proves
/// nothing yet: this thread may be a child in shared memory, whose area is its parent's. So then
/// getcpu(2) decides. The thread may also move between two reads, so each is compared several
/// times.
fn is_rdpid_wrong(facts: &Facts) -> bool {
    let Some(rseq) = facts.cpu_hint.rseq() else { return false };
    let differs = |number: &dyn Fn() -> Option<u32>| {
        (0..16).all(|_| matches!((number(), current::rdpid()), (Some(a), Some(b)) if a != b))
    };
    forced(Force::WrongRdpid) || differs(&|| Some(rseq.get())) && differs(&sys::getcpu)
}

/// Returns whether `HEADWATER_NO_RSEQ` is set to a value other than the empty one and 0.
fn forbids_sections() -> bool {
    sys::environment(c"HEADWATER_NO_RSEQ")
        .is_some_and(|value| !matches!(value.as_bytes(), b"" | b"0"))
}

/// Reserves the canary and, with pools, lines and pages. Virtual space only: it is resident where
/// touched.
///
/// Slots for a crowd are made of droppable memory alone, because any other is locked. Locked pages
/// count in full against RLIMIT_MEMLOCK, touched or not, and programs that lock their own secrets
/// need that room. If a limit on memory leaves no room for a crowd, there may be room for the rest;
/// and if not, for slots without the pages of sections, which take as much again where future
/// memory is locked.
fn reserve(requested: Mode) -> (Option<*const AtomicU64>, Memory) {
    let cpus = current::configured().clamp(1, MOST_CPUS);
    let slots = cpus + SHARED_SLOTS;
    let crowd = SLOTS_FOR_A_CROWD.saturating_sub(slots);
    let sections = if section::AVAILABLE { cpus } else { 0 };
    let none = Memory { page_size: sys::page_size(), ..Memory::NONE };
    let memory = |crowd: usize, sections: usize| Memory {
        cpus: cpus as u32,
        slots: slots as u32,
        crowd: crowd as u32,
        sections: sections as u32,
        ..none
    };
    [(crowd, sections), (0, sections), (0, 0)]
        .into_iter()
        .filter(|_| requested != Mode::Kernel)
        .find_map(|(crowd, sections)| with_pages(memory(crowd, sections)))
        .or_else(|| with_lines(none))
        .map_or((None, Memory::NONE), |(canary, memory)| (Some(canary), memory))
}

/// Maps pages and lines of this many slots.
///
/// The pages come first, because they are what fails: an older kernel has no droppable memory.
fn with_pages(memory: Memory) -> Option<(*const AtomicU64, Memory)> {
    let len = memory.all_pages().1;
    let (start, page) = if memory.crowd > 0 {
        (memory::reserve_droppable_pages(len).ok()?, Page::Droppable)
    } else {
        memory::reserve_pages(len, memory.locked()).ok()?
    };
    let pages = start.wrapping_add(memory.before_pages());
    let mapped = with_lines(Memory { pages, page, ..memory });
    if mapped.is_none() {
        // SAFETY: no other thread has seen the pages.
        unsafe { sys::munmap(start, len) };
    }
    mapped
}

/// Maps the control line, the lines of sections and those of slots, as many as `memory` says, and
/// returns the canary.
fn with_lines(memory: Memory) -> Option<(*const AtomicU64, Memory)> {
    let before_slots = 1 + memory.sections as usize;
    let lines_len = size_of::<SlotLine>() * (before_slots + memory.all_slots());
    let control = memory::reserve_wiped(lines_len).ok()?;
    // The canary has the first line, beside the switch of sections: both are read often, and
    // written by a fork alone. SAFETY: fresh, zeroed memory of at least a line. The first access is
    // a write, because a page that is read and then written faults twice.
    unsafe { control.write_volatile(0) };
    let lines = control.cast_const().cast::<SlotLine>().wrapping_add(before_slots);
    Some((control.cast_const().cast(), Memory { lines, lines_len, ..memory }))
}

/// Returns the vDSO's getrandom and the reseed generation, for which a state in the first page is
/// keyed for a moment.
fn find_generation(vdso: Option<&Vdso>, memory: &Memory) -> (Option<Vgetrandom>, KernelGeneration) {
    let Some(vdso) = vdso else {
        return (None, KernelGeneration::absent("this process has no vDSO"));
    };
    if memory.slots == 0 {
        return (None, KernelGeneration::absent("nothing is buffered"));
    }
    let Some(vgetrandom) = Vgetrandom::find(vdso, STATE_ROOM) else {
        return (
            None,
            KernelGeneration::absent("this kernel's vDSO has no getrandom (Linux 6.11 has)"),
        );
    };
    // SAFETY: the pages are not in use yet; the state fits its room, and `facts` empties the page
    // after this.
    let word = unsafe {
        let state = memory.pages.add(STATE);
        // A write, because the vDSO reads the state first: a page that is read and then written
        // faults twice, and the second fault copies it.
        state.write_volatile(0);
        KernelGeneration::search(vdso, &vgetrandom, state)
    };
    (Some(vgetrandom), word)
}

/// Empties the pages: the first held a state of the search. It also takes back what
/// mlockall(MCL_FUTURE) made resident, which is all of them, so it is done whether anything was
/// searched for or not.
fn empty(memory: &Memory) {
    if memory.slots > 0 {
        let (pages, len) = memory.all_pages();
        // SAFETY: the pages are not in use yet. If it fails, the state stays in the page, like any
        // later state.
        let _ = unsafe { memory::drop_contents(pages, len, memory.locked()) };
    }
}

/// Unmaps the reservations of a state that lost the race for publication.
fn discard(process: &Process) {
    let memory = process.memory;
    process.clock.discard();
    process.watch.discard();
    // SAFETY: no other thread has seen this state.
    unsafe {
        if let Some(canary) = process.canary() {
            sys::munmap(canary.cast_mut().cast(), memory.lines_len);
        }
        if memory.slots > 0 {
            let (pages, len) = memory.all_pages();
            sys::munmap(pages, len);
        }
    }
    process.handles.discard(memory.stride());
}
