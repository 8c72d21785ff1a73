//! The pool of a process: its place, its set-up, and the check by which a draw finds that the pool
//! is its parent's.
//!
//! A process id would not do for that check, because a child may get the id of an ancestor that has
//! ended. Instead a pool is in memory that the kernel clears in a child, and so is the only pointer
//! to it. So a child finds no pool and makes one of its own, at another address, since the parent's
//! stays mapped. But a frame that the fork interrupted continues in the child with the parent's
//! pool in its hands. No other frame of the child works on that pool, and the frame's last check
//! finds the pointer changed, so it draws again. So nothing that the frame reads or stores reaches
//! the child's pool, however many forks are stacked on it.
//!
//! Set-up may run in a handler that interrupted a set-up, and in several threads at once, so it
//! cannot take a lock. Each makes a pool in private, and one compare-exchange publishes one of
//! them. If the exchange replaced null, a set-up that was forked in the middle would publish in
//! parent and child, and the same seed would make the same pool. So it replaces a mark that this
//! set-up alone has put there before it drew its seed: in the child the mark is cleared, and the
//! exchange fails.

#![allow(unsafe_code)]

use super::block::{self, Keys};
use super::counters::{Claim, Counters};
use super::hook::{Point, hook};
use super::memory;
use super::races::{Place, TRIES};
use super::section;
use crate::engine::{Backend, Block, Engine, ars7_keys};
use crate::features::Features;
use core::cell::UnsafeCell;
use core::ptr::null_mut;
use core::sync::atomic::{
    AtomicBool, AtomicIsize, AtomicPtr, AtomicU32, AtomicUsize, Ordering, compiler_fence,
};

/// The number of CPUs that have counters of their own; further CPUs share them. The counters of
/// absent CPUs take address space only, because their pages are never touched.
const CPUS: usize = 256;

/// From this length on the engine's own functions are quicker than single blocks: they compute
/// several blocks with each instruction, and expand the key first.
const WIDE: usize = 128;

/// All state of a process, in memory that the kernel clears in a child.
#[repr(C, align(128))]
pub(crate) struct Pool {
    /// CPUs whose own counters sections may use; 0 where sections are off, and in a child.
    pub(super) cpus: AtomicU32,
    /// Written before the pool is published.
    start: UnsafeCell<Start>,
    pub(super) counters: [Counters; CPUS],
}

/// The function that turns counters into blocks. Zeros, which a frame may read after a fork cleared
/// the pool under it, are valid.
///
/// Aligned, so that no key lies in two cache lines.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Start {
    keys: Keys,
    /// The lower halves of counters begin here. Below 2^63, so that no claim wraps around.
    lower: u64,
    /// The upper halves begin here.
    upper: u64,
    /// 1 if `block` has a quick path for this CPU.
    quick: u32,
}

// SAFETY: `start` is written before the pool is published, with release, and not afterwards, so
// readers race with no write; all else is atomic.
unsafe impl Sync for Pool {}

/// The place of the pool, in memory that the kernel clears in a child.
type Current = Place<Pool>;

/// The place of a process that has set up nothing; always null.
static NONE_YET: Current = Place(AtomicPtr::new(null_mut()));
static CURRENT: AtomicPtr<Current> = AtomicPtr::new((&raw const NONE_YET).cast_mut());

/// Set where memory that a fork clears is unavailable.
static UNAVAILABLE: AtomicBool = AtomicBool::new(false);

/// Marks given out so far, in memory that a child keeps.
static MARKS: AtomicUsize = AtomicUsize::new(0);

/// The offset of the rseq area's `cpu_id` from the thread pointer; 0 without sections. Stored
/// before a pool is published, in memory that a child keeps: a frame in a child that read 0 in
/// cleared memory would take the thread control block for the rseq area and write to it.
static RSEQ: AtomicIsize = AtomicIsize::new(0);

impl Pool {
    /// Claims counters for this many blocks, of this CPU where possible. Never waits, never fails.
    #[inline(always)]
    fn claim(&self, blocks: u64) -> (u64, u64) {
        let rseq = RSEQ.load(Ordering::Relaxed);
        let own =
            if section::AVAILABLE && rseq != 0 { section::claim(self, rseq, blocks) } else { None };
        let Claim { first, counter } = match own {
            Some(claim) => claim,
            None => self.claim_shared(blocks),
        };
        hook(Point::Claimed);
        // SAFETY: `make` writes `start` before the pool is published, and nothing does afterwards
        // but a fork, which leaves zeros: a valid `Start`.
        let start = unsafe { &*self.start.get() };
        (start.lower.wrapping_add(first), start.upper.wrapping_add(counter))
    }

    #[inline(never)]
    fn claim_shared(&self, blocks: u64) -> Claim {
        // SAFETY: takes no arguments. One load, where the C library knows the CPU (glibc 2.35),
        // else a call of the vDSO. If it fails (-1), or the thread moves, another CPU's counter
        // serves as well.
        let index = index_of(unsafe { libc::sched_getcpu() });
        self.counters[index].claim_shared(index, blocks)
    }

    #[inline(always)]
    fn keys(&self) -> *const Keys {
        // SAFETY: a place in the pool; nothing is read here.
        unsafe { &raw const (*self.start.get()).keys }
    }

    #[inline(always)]
    fn is_quick(&self) -> bool {
        // SAFETY: as in `claim`, not written since the pool was published.
        section::AVAILABLE && unsafe { (*self.start.get()).quick != 0 }
    }

    /// Returns the next word.
    #[inline(always)]
    pub(super) fn word(&self) -> u64 {
        let (lower, upper) = self.claim(1);
        if self.is_quick() {
            // SAFETY: `quick` says that the CPU has the instructions, and the keys are in the pool,
            // which stays mapped.
            unsafe { block::word(self.keys(), lower, upper) }
        } else {
            u128::from_le_bytes(self.block(lower, upper)) as u64
        }
    }

    /// Returns the next 16 bytes.
    #[inline(always)]
    pub(super) fn bytes(&self) -> Block {
        let (lower, upper) = self.claim(1);
        if self.is_quick() {
            // SAFETY: `quick` says that the CPU has the instructions, and the keys are in the pool,
            // which stays mapped.
            unsafe { block::bytes(self.keys(), lower, upper) }
        } else {
            self.block(lower, upper)
        }
    }

    /// Fills `out` with the next blocks; the rest of the last one is discarded.
    #[inline(never)]
    pub(super) fn fill(&self, out: &mut [u8]) {
        let (lower, upper) = self.claim(out.len().div_ceil(16) as u64);
        if self.is_quick() && out.len() < WIDE {
            let block = |i: usize| {
                // SAFETY: `quick` says that the CPU has the instructions, and the keys are in the
                // pool, which stays mapped.
                unsafe { block::bytes(self.keys(), lower.wrapping_add(i as u64), upper) }
            };
            // Whole blocks by one store each: a copy of any length is a call of memcpy.
            let (blocks, rest) = out.as_chunks_mut();
            let whole = blocks.len();
            for (i, out) in blocks.iter_mut().enumerate() {
                *out = block(i);
            }
            if !rest.is_empty() {
                let last = block(whole);
                if let Ok(half) = <&mut [u8; 8]>::try_from(&mut *rest) {
                    half.copy_from_slice(&last[..8]);
                } else {
                    rest.copy_from_slice(&last[..rest.len()]);
                }
            }
            return;
        }
        let (blocks, rest) = out.as_chunks_mut();
        self.blocks(lower, upper, blocks);
        if !rest.is_empty() {
            let last = self.block(lower.wrapping_add(blocks.len() as u64), upper);
            rest.copy_from_slice(&last[..rest.len()]);
        }
    }

    #[inline(never)]
    fn block(&self, lower: u64, upper: u64) -> Block {
        let mut block = [Block::default()];
        self.blocks(lower, upper, &mut block);
        block[0]
    }

    fn blocks(&self, lower: u64, upper: u64, out: &mut [Block]) {
        let features = Features::detect();
        // With any engine no number repeats, so speed decides: without AES instructions ars7 is
        // slow.
        let engine = if features.aes { Engine::Ars7 } else { Engine::Philox4x32 };
        // SAFETY: as in `claim`, not written since the pool was published.
        let key = unsafe { (*self.start.get()).keys[0] };
        Backend::choose(engine, features).fill(engine, key, upper, lower, out);
    }
}

/// Draws from this process's pool. Returns `None` if there is no pool and none can be made.
#[inline(always)]
pub(crate) fn draw<T>(mut from: impl FnMut(&Pool) -> T) -> Option<T> {
    match draw_once(current().get(), &mut from) {
        Some(drawn) => Some(drawn),
        None => draw_slowly(from),
    }
}

#[cold]
#[inline(never)]
fn draw_slowly<T>(mut from: impl FnMut(&Pool) -> T) -> Option<T> {
    for _ in 0..TRIES {
        let drawn = draw_once(Some(set_up()?), &mut from);
        if drawn.is_some() {
            return drawn;
        }
    }
    None
}

/// Draws once. Returns `None` if `pool` is `None`, or is not this process's pool any more.
#[inline(always)]
fn draw_once<T>(pool: Option<*mut Pool>, from: &mut impl FnMut(&Pool) -> T) -> Option<T> {
    let pool = pool?;
    // SAFETY: a published pool is complete, and is never unmapped.
    let drawn = from(unsafe { &*pool });
    hook(Point::Drawn);
    // Counters and keys were read before this check. So a frame that a fork interrupted, and that
    // read its parent's pool in the child, finds another pointer here. Only a handler on this
    // thread can come in between, so the compiler's order is enough.
    compiler_fence(Ordering::SeqCst);
    current().holds(pool).then_some(drawn)
}

/// Returns the index of a CPU's counters.
#[inline(always)]
pub(super) fn index_of(cpu: libc::c_int) -> usize {
    cpu as usize % CPUS
}

#[inline(always)]
fn current() -> &'static Current {
    // Acquire: pairs with the release in `canary`.
    // SAFETY: `CURRENT` points to a static, or to memory that stays mapped for ever.
    unsafe { &*CURRENT.load(Ordering::Acquire) }
}

/// Returns this process's pool, and makes it if there is none. Returns `None` after `TRIES` lost
/// races with other set-ups, or if no pool can be made.
fn set_up() -> Option<*mut Pool> {
    // SAFETY: a discarded pool was never published, so no other code has its address.
    let discard = |pool: *mut Pool| unsafe { memory::release(pool.cast(), size_of::<Pool>()) };
    canary()?.set_up(&MARKS, make, discard)
}

/// Returns the place of the pool, which the kernel clears in a child. Maps it if it is not mapped.
fn canary() -> Option<&'static Current> {
    let none_yet = (&raw const NONE_YET).cast_mut();
    if core::ptr::eq(current(), none_yet) {
        let mine = reserve::<Current>()?;
        let (release, relaxed) = (Ordering::Release, Ordering::Relaxed);
        if CURRENT.compare_exchange(none_yet, mine, release, relaxed).is_err() {
            // SAFETY: `mine` was not published, so no other code has its address.
            unsafe { memory::release(mine.cast(), size_of::<Current>()) };
        }
    }
    Some(current())
}

/// Makes a pool with a seed, and does not publish it.
fn make() -> Option<*mut Pool> {
    let pool = reserve::<Pool>()?;
    let mut seed = [0; 32];
    if headwater::fill(&mut seed).is_err() {
        // SAFETY: the pool is not published, so no other code has its address.
        unsafe { memory::release(pool.cast(), size_of::<Pool>()) };
        return None;
    }
    let half = |at: usize| -> u64 { u64::from_le_bytes(core::array::from_fn(|i| seed[at + i])) };
    let features = Features::detect();
    let start = Start {
        keys: ars7_keys(core::array::from_fn(|i| seed[i])),
        lower: half(16) >> 1,
        upper: half(24),
        quick: u32::from(features.aes && features.avx2),
    };
    // SAFETY: fresh memory of this size and a page's alignment, which no other code knows. The rest
    // of it stays zeros, which are counters, and a pool without sections.
    unsafe { (*pool).start.get().write(start) };
    if let Some(rseq) = headwater::internal::rseq_of_sections() {
        RSEQ.store(rseq, Ordering::Relaxed);
        // SAFETY: the pool is fresh memory of this size, and not published.
        unsafe { (*pool).cpus.store(CPUS as u32, Ordering::Relaxed) };
    }
    Some(pool)
}

fn reserve<T>() -> Option<*mut T> {
    if UNAVAILABLE.load(Ordering::Relaxed) {
        return None;
    }
    let at = memory::reserve_wiped(size_of::<T>());
    if at.is_none() {
        UNAVAILABLE.store(true, Ordering::Relaxed);
    }
    at.map(<*mut u8>::cast)
}
