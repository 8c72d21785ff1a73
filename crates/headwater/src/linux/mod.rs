//! The Linux half: how a request is served, and what is armed.

mod arena;
mod atomic;
mod cipher;
#[cfg_attr(not(feature = "pools"), allow(dead_code))]
mod cpu;
mod features;
mod force;
mod hwrng;
mod keyed;
mod memory;
#[cfg_attr(miri, path = "raw_miri.rs")]
mod raw;
#[cfg_attr(
    not(all(target_arch = "x86_64", feature = "pools", not(any(miri, sanitized)))),
    path = "section_none.rs"
)]
mod section;
#[cfg_attr(not(feature = "pools"), allow(dead_code))]
mod sections;
mod setup;
mod source;

// Without pools these give the arena its shape, and most of what they can do is not asked for.
#[cfg_attr(not(feature = "pools"), allow(dead_code, unused_variables, unused_mut))]
mod cell;
#[cfg_attr(not(feature = "pools"), allow(dead_code))]
mod copy;
#[cfg_attr(not(feature = "pools"), allow(dead_code))]
mod guard;
#[cfg_attr(not(feature = "pools"), allow(dead_code))]
mod ledger;
#[cfg_attr(not(feature = "pools"), allow(dead_code))]
mod races;
#[cfg_attr(not(feature = "pools"), allow(dead_code))]
mod slots;

#[cfg(feature = "pools")]
mod handle;
#[cfg(not(feature = "pools"))]
#[path = "handle_strict.rs"]
mod handle;
#[cfg(feature = "pools")]
mod refill;
#[cfg(feature = "pools")]
mod small;
#[cfg(feature = "testing")]
pub mod testing;

pub(crate) use handle::Handle;
#[cfg(feature = "uuid")]
pub(crate) use raw::since_1970;
pub(crate) use setup::mode_from_environment;

use crate::status::{self, Counters, Page, Path, Pools, Source, Status};
use crate::{Config, Error, Mode};
use arena::Arena;
use cell::Miss;
use copy::Words;
use core::mem::MaybeUninit;
use core::num::NonZeroU64;
use core::sync::atomic::{AtomicU64, Ordering};

/// Returns the place of `cpu_id` for other crates' sections, where this process uses sections.
pub(crate) fn rseq_of_sections() -> Option<isize> {
    let arena = setup::published()?;
    arena.sections.missing().is_none().then(|| arena.rseq.offset())
}

/// The arena, set up if need be.
#[inline(always)]
fn arena(wait: bool) -> Result<&'static Arena, Error> {
    match setup::published() {
        Some(arena) => Ok(arena),
        None => setup::arena(wait),
    }
}

/// Fills `buf`, every byte of it, or returns an error and leaves it zero.
///
/// Part of its caller, where the length often is a constant. So is the draw of 16 bytes, the most common length
/// (keys, nonces, UUIDs): as a call it takes a tenth longer.
#[inline(always)]
pub(crate) fn fill(buf: &mut [MaybeUninit<u8>], wait: bool) -> Result<(), Error> {
    match buf.len() {
        16 => fill_block(buf, wait),
        1..=15 => fill_short(buf, wait),
        _ => fill_longer(buf, wait),
    }
}

/// Fills 16 bytes.
#[inline(always)]
fn fill_block(buf: &mut [MaybeUninit<u8>], wait: bool) -> Result<(), Error> {
    #[cfg(feature = "pools")]
    {
        let (arena, dst) = (setup::quick_arena(), buf.as_mut_ptr().cast());
        let drawn = if arena.is_section() {
            #[allow(unsafe_code)]
            // SAFETY: `buf` is 16 bytes long; the arena was asked.
            unsafe {
                section::take_block(arena, dst)
            }
        } else if section::AVAILABLE {
            return fill_block_by_slot(buf, wait);
        } else {
            locked_block(arena, dst)
        };
        match drawn {
            Ok(()) => Ok(()),
            Err(Miss::Empty) => fill_slowly(buf, wait),
            Err(miss) => fill_after(miss, buf, wait),
        }
    }
    #[cfg(not(feature = "pools"))]
    fill_slowly(buf, wait)
}

/// Fills 16 bytes where the draw takes a slot's lock. Apart from a caller that has sections as well.
#[cfg(feature = "pools")]
#[inline(never)]
fn fill_block_by_slot(buf: &mut [MaybeUninit<u8>], wait: bool) -> Result<(), Error> {
    match locked_block(setup::quick_arena(), buf.as_mut_ptr().cast()) {
        Ok(()) => Ok(()),
        Err(Miss::Empty) => fill_slowly(buf, wait),
        Err(miss) => fill_after(miss, buf, wait),
    }
}

/// Draws 16 bytes by the quick path of the CPU's slot, if it may be tried.
#[cfg(feature = "pools")]
#[inline(always)]
fn locked_block(arena: &Arena, dst: *mut u8) -> Result<(), Miss> {
    if !arena.is_quick() {
        return Err(Miss::Empty);
    }
    #[allow(unsafe_code)]
    // SAFETY: both callers have 16 bytes.
    unsafe {
        small::quick_block(arena, dst)
    }
}

#[inline(never)]
fn fill_short(buf: &mut [MaybeUninit<u8>], wait: bool) -> Result<(), Error> {
    match buf.len() {
        9.. => fill_words::<copy::Block>(buf, wait),
        _ => fill_words::<u64>(buf, wait),
    }
}

#[inline(always)]
fn fill_words<W: Words>(buf: &mut [MaybeUninit<u8>], wait: bool) -> Result<(), Error> {
    #[cfg(feature = "pools")]
    if setup::quick_arena().is_section() {
        let (dst, len) = (buf.as_mut_ptr().cast(), buf.len());
        #[allow(unsafe_code)]
        // SAFETY: `buf` is valid for writes of its length; the arena was asked.
        return match unsafe { small::sectioned(setup::quick_arena(), dst, len) } {
            Ok(()) => Ok(()),
            Err(Miss::Empty) => fill_slowly(buf, wait),
            Err(miss) => fill_after(miss, buf, wait),
        };
    }
    match quick::<W>() {
        Ok(words) => {
            #[allow(unsafe_code)]
            // SAFETY: `buf` is valid for writes of its length.
            unsafe {
                words.put(buf.as_mut_ptr().cast(), buf.len());
            }
            Ok(())
        }
        Err(Miss::Empty) => fill_slowly(buf, wait),
        Err(miss) => fill_after(miss, buf, wait),
    }
}

/// As [`fill`], for what does not fit into two words. Apart from it, so that no register has to be saved there
/// for a call that is made here.
#[inline(never)]
fn fill_longer(buf: &mut [MaybeUninit<u8>], wait: bool) -> Result<(), Error> {
    #[cfg(feature = "pools")]
    if (17..=small::LIMIT).contains(&buf.len()) {
        let (arena, dst) = (setup::quick_arena(), buf.as_mut_ptr().cast());
        #[allow(unsafe_code)]
        // SAFETY: `buf` is valid for writes of its length; the arena was asked.
        let drawn = unsafe {
            if arena.is_section() {
                section::take_blocks(arena, dst, buf.len())
            } else if arena.is_quick() {
                arena.clean_registers();
                small::quick_blocks(arena, dst, buf.len())
            } else {
                return fill_slowly(buf, wait);
            }
        };
        return match drawn {
            Ok(()) => Ok(()),
            Err(Miss::Empty) => fill_slowly(buf, wait),
            Err(miss) => fill_after(miss, buf, wait),
        };
    }
    fill_slowly(buf, wait)
}

/// A random word.
#[inline]
pub(crate) fn u64() -> Result<u64, Error> {
    match quick_word() {
        Ok(word) => Ok(word),
        Err(miss) => after(miss).map(u64::from_ne_bytes),
    }
}

/// Half a random word; a whole one is taken for it.
#[inline]
pub(crate) fn u32() -> Result<u32, Error> {
    match quick_word() {
        Ok(word) => Ok(word as u32),
        Err(miss) => after(miss).map(u32::from_ne_bytes),
    }
}

/// One word, in a section or by the slot's quick path.
#[inline(always)]
fn quick_word() -> Result<u64, Miss> {
    #[cfg(feature = "pools")]
    {
        let arena = setup::quick_arena();
        if arena.is_section() {
            return section::take_word(arena);
        }
        if section::AVAILABLE {
            return word_by_slot();
        }
    }
    quick()
}

/// One word by the slot's quick path. Apart from a caller that has sections as well.
#[cfg(feature = "pools")]
#[inline(never)]
fn word_by_slot() -> Result<u64, Miss> {
    quick()
}

/// One word or two, where nothing stands in the way of a buffered draw.
#[inline(always)]
fn quick<W: Words>() -> Result<W, Miss> {
    #[cfg(feature = "pools")]
    {
        let arena = setup::quick_arena();
        if arena.is_quick() {
            return small::quick_words(arena);
        }
    }
    Err(Miss::Empty)
}

#[cold]
#[inline(never)]
fn after<const N: usize>(miss: Miss) -> Result<[u8; N], Error> {
    let mut bytes = [0; N];
    fill_after(miss, crate::as_uninit(&mut bytes), true)?;
    Ok(bytes)
}

/// Any request that could not be served quickly.
#[cold]
#[inline(never)]
fn fill_after(miss: Miss, buf: &mut [MaybeUninit<u8>], wait: bool) -> Result<(), Error> {
    if let Some(arena) = setup::published() {
        miss.count(arena);
    }
    fill_slowly(buf, wait)
}

/// Any request, in any state of the process.
#[inline(never)]
fn fill_slowly(buf: &mut [MaybeUninit<u8>], wait: bool) -> Result<(), Error> {
    let (dst, len) = (buf.as_mut_ptr().cast::<u8>(), buf.len());
    if len == 0 {
        return Ok(());
    }
    #[cfg(feature = "pools")]
    if len <= 16 && setup::quick_arena().is_quick_hedged() {
        let arena = setup::quick_arena();
        #[allow(unsafe_code)]
        // SAFETY: `hedged` is armed only on CPUs with AES; `buf` is valid for writes of its length.
        unsafe {
            match small::quick_hedged(arena, dst, len) {
                Ok(()) => return Ok(()),
                Err(miss) => miss.count(arena),
            }
        }
    }
    #[allow(unsafe_code)]
    // SAFETY: `buf` is valid for writes of its length.
    let result = arena(wait).and_then(|arena| unsafe { serve(arena, dst, len) });
    if result.is_err() {
        buf.fill(MaybeUninit::new(0));
    }
    result
}

/// Any request, under keys that getrandom(2) gives for it alone.
pub(crate) fn fill_fresh(buf: &mut [MaybeUninit<u8>]) -> Result<(), Error> {
    let (dst, len) = (buf.as_mut_ptr().cast::<u8>(), buf.len());
    #[allow(unsafe_code)]
    // SAFETY: `buf` is valid for writes of its length.
    let result = arena(true).and_then(|arena| unsafe {
        match arena.mode() {
            Mode::Kernel => keyed::kernel(arena, dst, len),
            _ => keyed::fill(arena, dst, len),
        }
    });
    if result.is_err() {
        buf.fill(MaybeUninit::new(0));
    }
    result
}

/// Serves one request in the mode that is armed. On an error `dst` may hold part of it.
///
/// # Safety
///
/// `dst` is valid for writes of `len` bytes, at least 1.
#[inline(always)]
#[allow(unsafe_code)]
unsafe fn serve(arena: &Arena, dst: *mut u8, len: usize) -> Result<(), Error> {
    // SAFETY: the caller's promise. `buffered` and `hedged` are only ever armed with slots, and `hedged`
    // only on CPUs with AES.
    unsafe {
        match arena.mode() {
            #[cfg(feature = "pools")]
            Mode::Buffered if len <= small::LIMIT => small::plain(arena, dst, len),
            #[cfg(feature = "pools")]
            Mode::Hedged if len <= small::LIMIT => small::hedged(arena, dst, len),
            #[cfg(feature = "pools")]
            Mode::Buffered | Mode::Hedged => keyed::large(arena, dst, len),
            Mode::Kernel => keyed::kernel(arena, dst, len),
            _ => keyed::strict(arena, dst, len),
        }
    }
}

pub(crate) fn init(config: Option<Config>) -> Result<(), Error> {
    let Some(config) = config else {
        return arena(true).map(drop);
    };
    let arena = setup::arena_with(config)?;
    // Set up before, perhaps with something else.
    arena.request(config.mode);
    if config.vmclock {
        arena.clock.map_device();
    } else {
        arena.clock.unmap(status::Vmclock::Off)?;
    }
    if arena.is_quiesced() {
        // What a request that was under way at the checkpoint left in a page is in every image made of it.
        drop_contents(arena)?;
        arena.come_back_to_kernel();
        arena.set_quiesced(false);
    }
    arena.choose_mode();
    Ok(())
}

pub(crate) fn quiesce() -> Result<(), Error> {
    let arena = arena(true)?;
    arena.clock.unmap(status::Vmclock::Quiesced)?;
    arena.set_quiesced(true);
    arena.choose_mode();
    arena.leave_kernel();
    Ok(drop_contents(arena)?)
}

pub(crate) fn discard() -> Result<(), Error> {
    // A page whose refill is under way loses its tag with its contents, and a refill that sets the tag later
    // draws its key later still: either way nothing keyed before is served.
    Ok(drop_contents(arena(true)?)?)
}

#[cfg(feature = "pools")]
/// Drops the contents of every page: of the slots' as well where the handles' could not be dropped.
fn drop_contents(arena: &Arena) -> Result<(), raw::Errno> {
    let memory = &arena.memory;
    // Before the contents go: a put that passed its comparison of the stamp has written tag and bytes before
    // they go, and one that comes to it later finds another stamp.
    arena.sections.void_keys();
    let handles = arena.handles.drop_contents(memory.stride());
    let (pages, len) = memory.all_pages();
    let slots = if memory.slots > 0 {
        #[allow(unsafe_code)]
        // SAFETY: a page of zeros is what a slot finds after a drop by the kernel, too.
        unsafe {
            memory::drop_contents(pages, len, memory.locked_len())
        }
    } else {
        Ok(memory::Lock::Kept)
    };
    if slots == Ok(memory::Lock::Lost) {
        arena.handles.note_unlocked();
    }
    handles.and(slots.map(drop))
}

#[cfg(not(feature = "pools"))]
fn drop_contents(_: &Arena) -> Result<(), raw::Errno> {
    Ok(())
}

impl From<raw::Errno> for Error {
    fn from(raw::Errno(errno): raw::Errno) -> Error {
        Error::from_errno(errno)
    }
}

#[inline]
pub(crate) fn generation() -> Option<NonZeroU64> {
    let arena = arena(false).ok()?;
    // Where nothing would tell of a clone, "nothing happened" cannot be said. Being told is enough here, though
    // mode `buffered` asks for more: a stamp says that something happened, and promises nothing about what is
    // drawn next.
    if !arena.generation.is_live() || arena.clone_signal().is_none() {
        return None;
    }
    // Odd multipliers (from the digits of pi, e and the golden ratio), so that one counter's step is never
    // another's.
    let word = arena.generation.get().load(Ordering::Acquire).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let marker = arena.clock.marker().load(Ordering::Acquire).wrapping_mul(0x2B7E_1516_28AE_D2A7);
    let epoch = arena.epoch().get().wrapping_mul(0x243F_6A88_85A3_08D3);
    let mix = word.wrapping_add(marker).wrapping_add(epoch);
    NonZeroU64::new(mix).or(Some(NonZeroU64::MIN))
}

pub(crate) fn status() -> Status {
    let Ok(arena) = arena(false) else {
        return not_set_up();
    };
    let counters = slots::lines(arena).fold(Counters::default(), |sum, line| {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let tally = &line.tally;
        Counters {
            refills: sum.refills + read(&tally.refills),
            discarded_bytes: sum.discarded_bytes + read(&tally.discarded_bytes),
            retries: sum.retries + read(&tally.retries),
            busy: sum.busy + read(&tally.busy),
            fallbacks: sum.fallbacks + read(&tally.fallbacks),
            tripwires: sum.tripwires + read(&tally.tripwires),
        }
    });
    let buffering = arena.memory.slots > 0;
    let used = slots::lines(arena).filter(|line| line.ledger.number.load(Ordering::Relaxed) != 0);
    Status {
        mode: arena.mode(),
        requested: arena.requested(),
        unknown_mode_requested: arena.unknown_requested(),
        reason: arena.reason(),
        source: source::answered(arena.vgetrandom().is_some() && arena.mode() != Mode::Kernel),
        reseed_generation: arena.generation.status(),
        vmclock: arena.clock.status(),
        vmgenid: arena.vmgenid,
        hardware: arena.hardware,
        cpu_rng: arena.cpu_rng(),
        path: path(arena),
        cipher: if arena.mode() == Mode::Kernel { "none" } else { arena.backend.name() },
        page: page(arena),
        fork_detection: arena.detects_forks(),
        generation: generation(),
        pools: Pools {
            slots: arena.memory.slots,
            used: used.count() as u32 + arena.sections.used(),
            taken: slots::lines(arena).filter(|line| line.lock.is_taken()).count() as u32,
            handles: handles(arena),
            page_bytes: if buffering { cell::layout::CAPACITY as u32 } else { 0 },
        },
        counters,
    }
}

fn path(arena: &Arena) -> Path {
    match (arena.mode(), arena.sections.missing()) {
        (Mode::Buffered | Mode::Hedged, None) => Path::Sections,
        (Mode::Buffered | Mode::Hedged, Some(missing)) => Path::Slots(missing.reason()),
        _ => Path::Unbuffered,
    }
}

#[cfg(feature = "pools")]
fn handles(arena: &Arena) -> u32 {
    arena.handles.alive()
}

#[cfg(not(feature = "pools"))]
fn handles(_: &Arena) -> u32 {
    0
}

fn page(arena: &Arena) -> Page {
    #[cfg(feature = "pools")]
    if arena.memory.page == Page::WipeOnForkLocked
        && (arena.handles.is_unlocked() || !arena.is_home())
    {
        return Page::WipeOnFork;
    }
    arena.memory.page
}

/// The status of a process in which nothing can be drawn yet.
fn not_set_up() -> Status {
    let (requested, unknown_mode_requested) = mode_from_environment();
    Status {
        mode: Mode::Kernel,
        requested,
        unknown_mode_requested,
        reason: "nothing is set up: the kernel is not seeded yet, or refuses random bytes",
        source: Source::None,
        reseed_generation: status::ReseedGeneration::Absent("nothing is set up"),
        vmclock: status::Vmclock::Off,
        vmgenid: guard::vmgenid::look(),
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
