//! Slots: one for each CPU and 64 shared ones, in a bank for each epoch.
//!
//! A slot is taken by a try-lock; no thread waits here. Its holder may be preempted for a whole
//! slice of the scheduler, and with many threads on few CPUs most holders are. A thread that finds
//! its CPU's slot taken therefore turns to a shared one, beginning at a place of its own.
//!
//! If draws go through restartable sequences, refills work in a slot's page: it has the vDSO's
//! state and, for a moment, the round keys.

#![allow(unsafe_code)]

use crate::linux::failpoint::{Point, hook};
use crate::linux::guards::fork::Epoch;
use crate::linux::pool::layout;
use crate::linux::pool::page::ForkCheck;
use crate::linux::pool::page::PageRef;
use crate::linux::pool::refused::Refused;
use crate::linux::pool::slot_line::{SlotCounters, SlotLine};
use crate::linux::process::Process;
use crate::linux::setup::SHARED_SLOTS;
use crate::linux::sync::seqlock::Void;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering;

/// This CPU's slot, taken by the hot path, and the number of bytes left in it. The caller must
/// [release](QuickSlot::release) it.
pub(crate) struct QuickSlot<'a> {
    process: &'a Process,
    line: &'a SlotLine,
    page: *mut u8,
    epoch: Epoch,
    pub(crate) left: u32,
}

impl<'a> QuickSlot<'a> {
    /// Takes the slot, if it is free and `bytes` are left in it. The process [is
    /// quick](Process::is_quick).
    ///
    /// Every obstacle ends in [`Refused::Empty`], and the cold path deals with it.
    #[inline(always)]
    pub(crate) fn take(process: &'a Process, bytes: u32) -> Result<QuickSlot<'a>, Refused> {
        let Some(epoch) = process.current_epoch() else {
            return Err(Refused::Empty);
        };
        let cpu = process.rseq.get();
        if cpu >= process.memory.cpus {
            return Err(Refused::Empty);
        }
        let (mut line, mut page) = place(process, epoch, cpu as usize);
        if line.lock.is_taken() {
            // Its holder was preempted, most likely for a whole slice. An exchange
            // would fail, and delay the holder's release.
            (line, page) = place(process, epoch, (process.memory.cpus + thread_place()) as usize);
        }
        let Some(left) = line.lock.take_with(bytes, layout::CAPACITY as u32) else {
            return Err(Refused::Empty);
        };
        hook(Point::Locked);
        Ok(QuickSlot { process, line, page, epoch, left })
    }

    #[inline(always)]
    pub(crate) fn page_ref(&self) -> PageRef<'a> {
        PageRef { process: self.process, page_state: &self.line.page_state, page: self.page }
    }

    #[inline(always)]
    pub(crate) fn fork_check(&self) -> ForkCheck {
        ForkCheck::Epoch(self.epoch)
    }

    /// Releases the slot after an attempt to take `bytes`. A void copy discards the rest of the
    /// page too, because the guard that changed has voided all of it.
    #[inline(always)]
    pub(crate) fn release<T>(self, bytes: u32, copied: Result<T, Void>) -> Result<T, Refused> {
        let left = self.left - bytes;
        let (answer, left) = match copied {
            Ok(answer) => (Ok(answer), left),
            Err(void) => (Err(self.page_ref().refused(void, left)), 0),
        };
        self.line.lock.free(left);
        answer
    }

    /// Releases the slot as it was taken, because nothing was copied.
    #[inline(always)]
    pub(crate) fn release_untouched(self) {
        self.line.lock.free(self.left);
    }
}

/// A slot held until the value is dropped.
pub(crate) struct Slot<'a> {
    process: &'a Process,
    line: &'a SlotLine,
    page: *mut u8,
}

impl<'a> Slot<'a> {
    /// Takes a slot of this epoch's bank: this CPU's, a shared one, else none.
    ///
    /// A slot whose holder was killed, or left by siglongjmp, stays taken. It is never stolen: its
    /// holder may only be asleep.
    #[inline]
    pub(crate) fn take(process: &'a Process, epoch: Epoch) -> Option<Slot<'a>> {
        Slot::take_first(process, epoch).or_else(|| Slot::take_other(process, epoch))
    }

    /// Takes this CPU's slot, if it is free.
    #[inline]
    pub(crate) fn take_first(process: &'a Process, epoch: Epoch) -> Option<Slot<'a>> {
        Slot::take_at(process, epoch, cpu(process))
    }

    /// Takes a shared slot, if one is free.
    #[cold]
    pub(crate) fn take_other(process: &'a Process, epoch: Epoch) -> Option<Slot<'a>> {
        count(process, |counters| SlotCounters::add(&counters.busy, 1));
        let begin = thread_place();
        (0..SHARED_SLOTS as u32).find_map(|step| {
            let index = process.memory.cpus + (begin + step) % SHARED_SLOTS as u32;
            Slot::take_at(process, epoch, index)
        })
    }

    /// Takes the slot with this index, below the number of slots.
    #[inline(always)]
    fn take_at(process: &'a Process, epoch: Epoch, index: u32) -> Option<Slot<'a>> {
        hook(Point::EpochLoaded);
        let (line, page) = place(process, epoch, index as usize);
        let left = line.lock.take()?;
        line.page_state.remaining.store(left, Ordering::Relaxed);
        hook(Point::Locked);
        Some(Slot { process, line, page })
    }

    #[inline(always)]
    pub(crate) fn page_ref(&self) -> PageRef<'a> {
        PageRef { process: self.process, page_state: &self.line.page_state, page: self.page }
    }
}

impl Drop for Slot<'_> {
    /// Releases the slot. A frame that a fork interrupted releases a slot of its own bank, which
    /// the child does not use.
    #[inline(always)]
    fn drop(&mut self) {
        self.line.lock.free(self.line.page_state.remaining.load(Ordering::Relaxed));
    }
}

/// Returns this thread's CPU, or a number that stands for it.
fn cpu(process: &Process) -> u32 {
    let (hint, cpus) = (process.cpu_hint.get(), process.memory.cpus);
    if hint < cpus { hint } else { hint % cpus.max(1) }
}

/// Returns a number that differs between threads, and mostly stays the same for each of them.
fn thread_place() -> u32 {
    let here = 0u8;
    // Stacks lie megabytes apart, or 64 KiB at the least; the multiplier spreads their distances.
    let stack = ((&raw const here).addr() >> 16) as u64;
    (stack.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 58) as u32
}

/// Returns line and page of a slot. `index` is below the number of slots, which is not 0.
#[inline(always)]
fn place(process: &Process, epoch: Epoch, index: usize) -> (&SlotLine, *mut u8) {
    let memory = &process.memory;
    let at = epoch.first_slot() + index;
    // SAFETY: both reservations hold BANKS * slots elements and live for ever; lines are atomics
    // only.
    unsafe { (&*memory.lines.add(at), memory.pages.add(at * memory.stride())) }
}

/// Counts an event at this CPU's slot, taken or not.
pub(crate) fn count(process: &Process, add: impl FnOnce(&SlotCounters)) {
    if process.memory.slots > 0 {
        add(&place(process, process.epoch(), cpu(process) as usize).0.counters);
    }
}

/// Returns the place where draws in sections compare their masks, at this CPU's slot.
pub(crate) fn last_mask(process: &Process) -> &AtomicU64 {
    &place(process, process.epoch(), cpu(process) as usize).0.page_state.last_mask
}

/// Returns the lines of the current epoch's bank.
pub(crate) fn lines(process: &Process) -> impl Iterator<Item = &SlotLine> {
    let epoch = process.epoch();
    (0..process.memory.slots).map(move |index| place(process, epoch, index as usize).0)
}
