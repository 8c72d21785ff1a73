//! Slots: two for each CPU, in a bank for each epoch. Taken by a try-lock; nothing here waits.

#![allow(unsafe_code)]

use super::arena::{Arena, Line, Tally};
use super::cell::Cell;
use super::force::{Point, hook};
use super::guard::epoch::BANKS;
use core::sync::atomic::Ordering;

/// A slot that is ours until it is dropped.
pub(crate) struct Slot<'a> {
    arena: &'a Arena,
    line: &'a Line,
    page: *mut u8,
}

impl<'a> Slot<'a> {
    /// Takes a slot of this epoch's bank: this CPU's first, its second, a neighbour's; else none.
    ///
    /// A slot whose holder was killed, or left by siglongjmp, stays taken. It is never stolen: its holder may
    /// only be asleep.
    #[inline]
    pub(crate) fn take(arena: &'a Arena, epoch: u64) -> Option<Slot<'a>> {
        Slot::take_first(arena, epoch).or_else(|| Slot::take_other(arena, epoch))
    }

    /// Takes this CPU's first slot, if it is free.
    #[inline]
    pub(crate) fn take_first(arena: &'a Arena, epoch: u64) -> Option<Slot<'a>> {
        Slot::take_at(arena, epoch, 2 * cpu(arena))
    }

    /// Takes this CPU's first slot, if it is free and one load tells the CPU.
    #[cfg(feature = "pools")]
    #[inline(always)]
    pub(crate) fn take_quickly(arena: &'a Arena, epoch: u64) -> Option<Slot<'a>> {
        let cpu = arena.cpu_hint.get_quickly()?;
        if cpu >= arena.memory.cpus {
            return None;
        }
        Slot::take_at(arena, epoch, 2 * cpu)
    }

    /// Takes another slot than the first.
    #[cold]
    pub(crate) fn take_other(arena: &'a Arena, epoch: u64) -> Option<Slot<'a>> {
        let cpu = cpu(arena);
        let neighbour = (cpu + 1) % arena.memory.cpus;
        count(arena, |tally| Tally::add(&tally.busy, 1));
        Slot::take_at(arena, epoch, 2 * cpu + 1)
            .or_else(|| Slot::take_at(arena, epoch, 2 * neighbour))
    }

    /// Takes the slot with this index, below the number of slots.
    #[inline(always)]
    pub(crate) fn take_at(arena: &'a Arena, epoch: u64, index: u32) -> Option<Slot<'a>> {
        let (line, page) = place(arena, epoch, index);
        // Acquire: pairs with the release in `drop`, and orders ledger, page and vDSO state between holders.
        if line.lock.swap(1, Ordering::Acquire) != 0 {
            return None;
        }
        hook(Point::Locked);
        Some(Slot { arena, line, page })
    }

    #[inline(always)]
    pub(crate) fn cell(&self) -> Cell<'a> {
        Cell {
            arena: self.arena,
            ledger: &self.line.ledger,
            page: self.page,
        }
    }
}

impl Drop for Slot<'_> {
    /// Gives the slot back. A frame that a fork interrupted frees a slot of its own bank, which nobody in
    /// the child uses.
    #[inline(always)]
    fn drop(&mut self) {
        self.line.lock.store(0, Ordering::Release);
    }
}

/// This thread's CPU, or a number that stands for it.
fn cpu(arena: &Arena) -> u32 {
    arena.cpu_hint.get() % arena.memory.cpus.max(1)
}

/// Line and page of a slot. `index` is below the number of slots, which is not 0.
#[inline(always)]
fn place(arena: &Arena, epoch: u64, index: u32) -> (&Line, *mut u8) {
    let memory = &arena.memory;
    let bank = epoch as usize % BANKS;
    let at = bank * memory.slots as usize + index as usize;
    // SAFETY: both reservations hold BANKS * slots elements and live for ever; lines are atomics only.
    unsafe {
        (
            &*memory.lines.add(at),
            memory.pages.add(at * memory.stride()),
        )
    }
}

/// Counts something at this CPU's first slot, taken or not.
pub(crate) fn count(arena: &Arena, add: impl FnOnce(&Tally)) {
    if arena.memory.slots > 0 {
        add(&place(arena, arena.epoch(), 2 * cpu(arena)).0.tally);
    }
}

/// The lines of the current epoch's bank.
pub(crate) fn lines(arena: &Arena) -> impl Iterator<Item = &Line> {
    let epoch = arena.epoch();
    (0..arena.memory.slots).map(move |index| place(arena, epoch, index).0)
}
