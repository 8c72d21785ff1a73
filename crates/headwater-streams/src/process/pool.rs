//! The pool of a process: where it is, how it is set up, and how a draw finds out that it is the parent's.
//!
//! A pool lies in memory that the kernel clears in a child, and so does the only pointer to it. So a child finds no
//! pool and makes one of its own, at another address, since the parent's stays mapped. A frame that the fork
//! interrupted, and which goes on in the child, works on the parent's pool, where nobody else in the child does; its
//! last look finds the pointer changed, and it draws again. So nothing that such a frame reads, stores or frees
//! reaches what the child uses, however many forks are stacked on it.
//!
//! Set-up may run in a handler that interrupted a set-up, and in several threads at once: each makes a pool in
//! private, and one compare-exchange publishes one of them. What it exchanges is a mark that this set-up alone has put
//! there before it drew its seed; so a set-up that was forked in the middle publishes in the parent, and not in the
//! child, where the same seed would make the same pool.

#![allow(unsafe_code)]

use super::hook::{Point, hook};
use super::memory;
use super::races::{Place, TRIES};
use super::slot::{Held, Slot};
use crate::generators::{Lanes, Xoshiro256pp, rng};
use core::cell::UnsafeCell;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering, compiler_fence};

/// Two for each of so many CPUs; CPUs beyond share. Virtual space only: what is not touched is not resident.
const SLOTS: usize = 2 * 256;

/// All states of a process, in memory that the kernel clears in a child.
#[repr(C, align(128))]
struct Pool {
    /// Where slot 0 begins. Written before the pool is published.
    start: UnsafeCell<[u64; 4]>,
    slots: [Slot; SLOTS],
}

// SAFETY: `start` is not written once others can see it; slots have locks.
unsafe impl Sync for Pool {}

/// Where the pool is; in memory that the kernel clears in a child.
type Current = Place<Pool>;

/// Stands for a process that has set up nothing; always null.
static NONE_YET: Current = Place(AtomicPtr::new(null_mut()));
static CURRENT: AtomicPtr<Current> = AtomicPtr::new((&raw const NONE_YET).cast_mut());

/// Set where memory that a fork clears cannot be had.
static UNAVAILABLE: AtomicBool = AtomicBool::new(false);

/// Marks given out so far, in memory that a child keeps.
static MARKS: AtomicUsize = AtomicUsize::new(0);

/// Where the states of a slot begin.
#[derive(Clone, Copy)]
pub(crate) struct At<'a> {
    pool: &'a Pool,
    index: usize,
}

impl At<'_> {
    /// Each slot is 2^192 words behind the one before, and begins with its own state.
    #[cold]
    #[inline(never)]
    pub(crate) fn state(self) -> [u64; 4] {
        self.first().map_or([0; 4], |first| first.state())
    }

    /// Its lanes follow, 2^128 words apart.
    #[cold]
    #[inline(never)]
    pub(crate) fn lanes(self) -> Lanes {
        self.first().map_or(Lanes::ZERO, |mut first| {
            first.jump();
            Lanes::from_jumps(&first)
        })
    }

    /// None if a fork has cleared the pool under this frame: zeros, which `draw` throws away.
    fn first(self) -> Option<Xoshiro256pp> {
        // SAFETY: not written since the pool was published.
        let start = Xoshiro256pp::from_state(unsafe { *self.pool.start.get() })?;
        Some(start.node(self.index as u64))
    }
}

/// Draws from a slot that is free. None if none is, or if there is no pool and none can be made.
#[inline(always)]
pub(crate) fn draw<T>(mut from: impl FnMut(&Held, At) -> T) -> Option<T> {
    match draw_once(current().get(), &mut from) {
        Ok(drawn) => Some(drawn),
        Err(Miss::Busy) => None,
        Err(Miss::NotOurs) => draw_slowly(from),
    }
}

#[cold]
#[inline(never)]
fn draw_slowly<T>(mut from: impl FnMut(&Held, At) -> T) -> Option<T> {
    for _ in 0..TRIES {
        match draw_once(Some(set_up()?), &mut from) {
            Ok(drawn) => return Some(drawn),
            Err(Miss::Busy) => return None,
            Err(Miss::NotOurs) => {}
        }
    }
    None
}

enum Miss {
    /// This is no pool, or not this process's.
    NotOurs,
    /// Every slot that was tried is taken.
    Busy,
}

#[inline(always)]
fn draw_once<T>(pool: Option<*mut Pool>, from: &mut impl FnMut(&Held, At) -> T) -> Result<T, Miss> {
    let pool = pool.ok_or(Miss::NotOurs)?;
    // SAFETY: what is published is complete, and is never unmapped.
    let ours = unsafe { &*pool };
    let (slot, index) = take(ours).ok_or(Miss::Busy)?;
    let drawn = from(&slot, At { pool: ours, index });
    drop(slot);
    hook(Point::Drawn);
    // The states were read before this look, so a frame that read a parent's states in the child sees here that it
    // did. Only a handler on this thread can come in between, so it is the compiler's order that counts.
    compiler_fence(Ordering::SeqCst);
    if current().holds(pool) { Ok(drawn) } else { Err(Miss::NotOurs) }
}

/// The first of a CPU's two slots.
#[inline(always)]
pub(super) fn first_slot(cpu: libc::c_int) -> usize {
    2 * (cpu as usize % (SLOTS / 2))
}

/// Takes this CPU's first slot, its second, or one of the next CPU's.
#[inline(always)]
fn take(pool: &Pool) -> Option<(Held<'_>, usize)> {
    // SAFETY: takes no arguments. One load, where the C library knows the CPU (glibc 2.35), else a call of the vDSO.
    // Where it fails (-1) one slot serves as well as another.
    let first = first_slot(unsafe { libc::sched_getcpu() });
    match pool.slots[first].take() {
        Some(slot) => Some((slot, first)),
        None => take_other(pool, first),
    }
}

#[cold]
#[inline(never)]
fn take_other(pool: &Pool, first: usize) -> Option<(Held<'_>, usize)> {
    (1..4).map(|next| (first + next) % SLOTS).find_map(|index| {
        let slot = pool.slots[index].take()?;
        Some((slot, index))
    })
}

#[inline(always)]
fn current() -> &'static Current {
    // Acquire: pairs with the release in `canary`; what it points to is mapped for ever, or a static.
    // SAFETY: as said.
    unsafe { &*CURRENT.load(Ordering::Acquire) }
}

/// This process's pool, made now if need be. None if another set-up is quicker, time and again, or if it cannot be
/// made.
fn set_up() -> Option<*mut Pool> {
    // SAFETY: nobody else has seen what is discarded.
    let discard = |pool: *mut Pool| unsafe { memory::release(pool.cast(), size_of::<Pool>()) };
    canary()?.set_up(&MARKS, make, discard)
}

/// The word that the kernel clears in a child, mapped now if need be.
fn canary() -> Option<&'static Current> {
    let none_yet = (&raw const NONE_YET).cast_mut();
    if core::ptr::eq(current(), none_yet) {
        let mine = reserve::<Current>()?;
        let (release, relaxed) = (Ordering::Release, Ordering::Relaxed);
        if CURRENT.compare_exchange(none_yet, mine, release, relaxed).is_err() {
            // SAFETY: nobody else has seen it.
            unsafe { memory::release(mine.cast(), size_of::<Current>()) };
        }
    }
    Some(current())
}

/// A pool with a seed, unpublished.
fn make() -> Option<*mut Pool> {
    let pool = reserve::<Pool>()?;
    let mut seed = [0; 32];
    if headwater::fill(&mut seed).is_err() {
        // SAFETY: nobody else has seen it.
        unsafe { memory::release(pool.cast(), size_of::<Pool>()) };
        return None;
    }
    // Once in 2^256 processes the seed is zero, which the generator would never leave.
    let start = Xoshiro256pp::from_state(rng::words(&seed)).unwrap_or(Xoshiro256pp::from_u64(0));
    // SAFETY: fresh memory of this size, where zeros are a pool without a start.
    unsafe { (*pool).start.get().write(start.state()) };
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
