//! Slots: one for each CPU and some that all share, in a bank for each epoch.
//!
//! A slot is taken by a try-lock; nothing here waits. Its holder may be preempted for a whole slice of the
//! scheduler, and with many threads on few CPUs most holders are. A thread that finds its CPU's slot taken
//! therefore turns to a shared one, beginning at a place of its own.
//!
//! Where draws go through restartable sequences, a slot's page is the place that refills work in: it has the
//! vDSO's state and, for a moment, the round keys.

#![allow(unsafe_code)]

use super::arena::{Arena, Line, Tally};
use super::cell::Cell;
#[cfg(feature = "pools")]
use super::cell::{Miss, Owner, layout};
use super::force::{Point, hook};
use super::guard::epoch::Epoch;
use super::setup::SHARED_SLOTS;
#[cfg(feature = "pools")]
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering;

/// This CPU's first slot, taken by the quick path, and the number of bytes that are left in it. To be
/// [settled](Quick::settle): nothing else frees it.
#[cfg(feature = "pools")]
pub(crate) struct Quick<'a> {
    arena: &'a Arena,
    line: &'a Line,
    page: *mut u8,
    epoch: Epoch,
    pub(crate) left: u32,
}

#[cfg(feature = "pools")]
impl<'a> Quick<'a> {
    /// Takes the slot, if it is free and `bytes` are left in it. The arena [is quick](Arena::is_quick).
    ///
    /// Everything that can stand in the way ends in a miss, and is left to the slower path.
    #[inline(always)]
    pub(crate) fn take(arena: &'a Arena, bytes: u32) -> Result<Quick<'a>, Miss> {
        let Some(epoch) = arena.settled_epoch() else {
            return Err(Miss::Empty);
        };
        let cpu = arena.rseq.get();
        if cpu >= arena.memory.cpus {
            return Err(Miss::Empty);
        }
        let (mut line, mut page) = place(arena, epoch, cpu as usize);
        if line.lock.is_taken() {
            // Its holder has been preempted, most likely for a whole slice: not even asked.
            (line, page) = place(arena, epoch, (arena.memory.cpus + thread_place()) as usize);
        }
        let Some(left) = line.lock.take_with(bytes, layout::CAPACITY as u32) else {
            return Err(Miss::Empty);
        };
        hook(Point::Locked);
        Ok(Quick { arena, line, page, epoch, left })
    }

    #[inline(always)]
    pub(crate) fn cell(&self) -> Cell<'a> {
        Cell { arena: self.arena, ledger: &self.line.ledger, page: self.page }
    }

    #[inline(always)]
    pub(crate) fn owner(&self) -> Owner {
        Owner::Slot { epoch: self.epoch }
    }

    /// Frees the slot after `bytes` were taken; after none if they are `Err(None)`, and without what is left if
    /// they may not leave.
    #[inline(always)]
    pub(crate) fn settle<T>(self, bytes: u32, taken: Result<T, Option<bool>>) -> Result<T, Miss> {
        let (answer, now) = match taken {
            Ok(answer) => (Ok(answer), self.left - bytes),
            Err(None) => (Err(Miss::Empty), self.left),
            Err(Some(zeros)) => (Err(self.cell().miss(zeros, self.left - bytes)), 0),
        };
        self.line.lock.free(now);
        answer
    }
}

/// A slot that is ours until it is dropped.
pub(crate) struct Slot<'a> {
    arena: &'a Arena,
    line: &'a Line,
    page: *mut u8,
}

impl<'a> Slot<'a> {
    /// Takes a slot of this epoch's bank: this CPU's, a shared one, else none.
    ///
    /// A slot whose holder was killed, or left by siglongjmp, stays taken. It is never stolen: its holder may
    /// only be asleep.
    #[inline]
    pub(crate) fn take(arena: &'a Arena, epoch: Epoch) -> Option<Slot<'a>> {
        Slot::take_first(arena, epoch).or_else(|| Slot::take_other(arena, epoch))
    }

    /// Takes this CPU's slot, if it is free.
    #[inline]
    pub(crate) fn take_first(arena: &'a Arena, epoch: Epoch) -> Option<Slot<'a>> {
        Slot::take_at(arena, epoch, cpu(arena))
    }

    /// Takes a shared slot, if one is free.
    #[cold]
    pub(crate) fn take_other(arena: &'a Arena, epoch: Epoch) -> Option<Slot<'a>> {
        count(arena, |tally| Tally::add(&tally.busy, 1));
        let begin = thread_place();
        (0..SHARED_SLOTS as u32).find_map(|step| {
            let index = arena.memory.cpus + (begin + step) % SHARED_SLOTS as u32;
            Slot::take_at(arena, epoch, index)
        })
    }

    /// Takes the slot with this index, below the number of slots.
    #[inline(always)]
    fn take_at(arena: &'a Arena, epoch: Epoch, index: u32) -> Option<Slot<'a>> {
        hook(Point::EpochLoaded);
        let (line, page) = place(arena, epoch, index as usize);
        let left = line.lock.take()?;
        line.ledger.remaining.store(left, Ordering::Relaxed);
        hook(Point::Locked);
        Some(Slot { arena, line, page })
    }

    #[inline(always)]
    pub(crate) fn cell(&self) -> Cell<'a> {
        Cell { arena: self.arena, ledger: &self.line.ledger, page: self.page }
    }
}

impl Drop for Slot<'_> {
    /// Gives the slot back. A frame that a fork interrupted frees a slot of its own bank, which nobody in
    /// the child uses.
    #[inline(always)]
    fn drop(&mut self) {
        self.line.lock.free(self.line.ledger.remaining.load(Ordering::Relaxed));
    }
}

/// This thread's CPU, or a number that stands for it.
fn cpu(arena: &Arena) -> u32 {
    let (hint, cpus) = (arena.cpu_hint.get(), arena.memory.cpus);
    if hint < cpus { hint } else { hint % cpus.max(1) }
}

/// Returns a number that differs between threads, and mostly stays the same for each of them.
fn thread_place() -> u32 {
    let here = 0u8;
    // Stacks lie megabytes apart, or 64 KiB at the least; the multiplier spreads their distances.
    let stack = ((&raw const here).addr() >> 16) as u64;
    (stack.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 58) as u32
}

/// Line and page of a slot. `index` is below the number of slots, which is not 0.
#[inline(always)]
fn place(arena: &Arena, epoch: Epoch, index: usize) -> (&Line, *mut u8) {
    let memory = &arena.memory;
    let at = epoch.first_slot() + index;
    // SAFETY: both reservations hold BANKS * slots elements and live for ever; lines are atomics only.
    unsafe { (&*memory.lines.add(at), memory.pages.add(at * memory.stride())) }
}

/// Counts something at this CPU's first slot, taken or not.
pub(crate) fn count(arena: &Arena, add: impl FnOnce(&Tally)) {
    if arena.memory.slots > 0 {
        add(&place(arena, arena.epoch(), cpu(arena) as usize).0.tally);
    }
}

/// Returns the place where draws in sections compare their masks, at this CPU's slot.
#[cfg(feature = "pools")]
pub(crate) fn last_mask(arena: &Arena) -> &AtomicU64 {
    &place(arena, arena.epoch(), cpu(arena) as usize).0.ledger.last_mask
}

/// The lines of the current epoch's bank.
pub(crate) fn lines(arena: &Arena) -> impl Iterator<Item = &Line> {
    let epoch = arena.epoch();
    (0..arena.memory.slots).map(move |index| place(arena, epoch, index as usize).0)
}
