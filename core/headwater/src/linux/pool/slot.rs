//! Slots: one for each CPU and others that all share, in a bank for each epoch.
//!
//! A slot is taken by a try-lock; no thread waits here. Its holder may be preempted for a whole
//! slice of the scheduler, and with many threads on few CPUs most holders are. A thread that finds
//! its CPU's slot taken therefore turns to a shared one. Where it begins to search decides nothing
//! but the length of the search, so it may be a guess.
//!
//! If draws go through restartable sequences, a slot's holder is the owner of a page in which its
//! refill works, and which it then exchanges for the CPU's. The slot's own page is not used for
//! that, although it would lie idle otherwise: a child in shared memory that was stopped in the
//! middle of a draw may still erase a word of a page that has left its line. Draws in sections look
//! at every word and find that; draws under the lock look at the first and the last alone.

#![allow(unsafe_code)]

use crate::linux::failpoint::{Point, hook};
use crate::linux::guards::fork::Epoch;
use crate::linux::pool::layout;
use crate::linux::pool::page::ForkCheck;
use crate::linux::pool::page::PageRef;
use crate::linux::pool::refused::Refused;
use crate::linux::pool::section::Outcome;
use crate::linux::pool::section_switch::NoSections;
use crate::linux::pool::slot_line::{SlotCounters, SlotLine};
use crate::linux::process::Process;
use crate::linux::sync::seqlock::Void;
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
        let (mut line, mut page) = place(process, epoch.first_slot() + cpu as usize);
        if line.lock.is_taken() {
            // Its holder was preempted, most likely for a whole slice. An exchange
            // would fail, and delay the holder's release.
            let shared = shared_by_thread(process, epoch) as usize;
            (line, page) = place(process, process.memory.place(epoch, shared));
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
    pub(crate) process: &'a Process,
    pub(crate) line: &'a SlotLine,
    page: *mut u8,
    /// The slot's number in its bank.
    pub(crate) index: usize,
}

impl<'a> Slot<'a> {
    /// Takes a slot of this epoch's bank: this CPU's, a shared one, else none.
    ///
    /// A slot whose holder was killed, or left by siglongjmp, stays taken. It is never stolen: its
    /// holder may only be asleep.
    #[inline]
    pub(crate) fn take(process: &'a Process, epoch: Epoch) -> Option<Slot<'a>> {
        Slot::take_first(process, epoch)
            .or_else(|| Slot::take_other(process, epoch, shared_by_thread(process, epoch)))
    }

    /// Takes this CPU's slot, if it is free.
    #[inline]
    pub(crate) fn take_first(process: &'a Process, epoch: Epoch) -> Option<Slot<'a>> {
        Slot::take_at(process, epoch, cpu(process))
    }

    /// Takes a slot for a refill of this CPU's sections: this CPU's, a shared one, else none.
    ///
    /// The search for a shared one begins in this CPU's part of them. The pages of a slot and of a
    /// CPU are exchanged, so that a slot which served all CPUs in turn would carry pages from one
    /// node to the other.
    pub(crate) fn take_for(process: &'a Process, epoch: Epoch, cpu: u32) -> Option<Slot<'a>> {
        let begin = || shared_by_cpu(process, epoch, cpu);
        Slot::take_first(process, epoch).or_else(|| Slot::take_other(process, epoch, begin()))
    }

    /// Takes a shared slot, if one is free: the one at `begin`, or the next. After the last comes
    /// the first.
    #[cold]
    pub(crate) fn take_other(process: &'a Process, epoch: Epoch, begin: u32) -> Option<Slot<'a>> {
        count(process, |counters| SlotCounters::add(&counters.busy, 1));
        let (first, end) = (process.memory.cpus, process.memory.slots_of(epoch));
        // A look first: an exchange takes the line away from the holder's CPU.
        (begin..end)
            .chain(first..begin)
            .filter(|&index| !line(process, epoch, index).lock.is_taken())
            .find_map(|index| Slot::take_at(process, epoch, index))
    }

    /// Takes the slot with this index, below the number of slots of the epoch.
    #[inline(always)]
    pub(crate) fn take_at(process: &'a Process, epoch: Epoch, index: u32) -> Option<Slot<'a>> {
        hook(Point::EpochLoaded);
        let (line, page) = place(process, process.memory.place(epoch, index as usize));
        let left = line.lock.take()?;
        line.page_state.remaining.store(left, Ordering::Relaxed);
        hook(Point::Locked);
        Some(Slot { process, line, page, index: index as usize })
    }

    #[inline(always)]
    pub(crate) fn page_ref(&self) -> PageRef<'a> {
        PageRef { process: self.process, page_state: &self.line.page_state, page: self.page }
    }

    /// Returns the page in which a refill for sections works. It shares the slot's state, so a draw
    /// under the lock finds the state's number changed, and refills.
    pub(crate) fn work_page(&self, epoch: Epoch) -> PageRef<'a> {
        let page = self.line.work.load(Ordering::Relaxed);
        let first = || self.process.memory.first_work_page(epoch, self.index);
        let page = if page.is_null() { first() } else { page };
        PageRef { page, ..self.page_ref() }
    }
}

impl Slot<'_> {
    /// Counts a refill for sections by what became of its page.
    ///
    /// A page that was not put served one request alone, like a fallback, and is counted as one:
    /// otherwise whatever keeps pages from being put would be slow in silence. If that continues,
    /// the locks are the faster way, so sections are switched off, which the status shows.
    ///
    /// A child in shared memory that runs on another CPU is slow as well, and is counted. But it
    /// does not end sections, because they are its parent's, too.
    pub(crate) fn count_put(&self, outcome: Outcome) {
        const IN_A_ROW: u32 = 1024;
        if matches!(outcome, Outcome::Elsewhere | Outcome::GivenUp) {
            SlotCounters::add(&self.line.counters.fallbacks, 1);
        }
        match outcome {
            Outcome::Put => self.line.unput.store(0, Ordering::Relaxed),
            Outcome::GivenUp if self.line.unput.fetch_add(1, Ordering::Relaxed) >= IN_A_ROW => {
                self.process.switch_sections_off(NoSections::NeverPut);
            }
            _ => {}
        }
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
pub(crate) fn cpu(process: &Process) -> u32 {
    let (hint, cpus) = (process.cpu_hint.get(), process.memory.cpus);
    if hint < cpus { hint } else { hint % cpus.max(1) }
}

/// Returns the shared slot at which this thread begins to search. It differs between threads, and
/// mostly stays the same for each of them.
#[inline]
pub(crate) fn shared_by_thread(process: &Process, epoch: Epoch) -> u32 {
    let here = 0u8;
    // Stacks lie megabytes apart, or 64 KiB at the least; the multiplier spreads their distances.
    let stack = ((&raw const here).addr() >> 16) as u64;
    share(process, epoch, stack.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32)
}

/// Returns the shared slot at which refills of this CPU begin to search. CPUs divide the shared
/// slots among themselves, and if there are as many, find those of another one only after their
/// own.
///
/// Its threads could begin at places of their own as well, and would meet fewer slots of preempted
/// ones. But then they would use three times as many pages, which was measured to be no faster: the
/// first free slot is the one that was used last, and its page is in the cache.
fn shared_by_cpu(process: &Process, epoch: Epoch, cpu: u32) -> u32 {
    let cpus = u64::from(process.memory.cpus.max(1));
    share(process, epoch, ((u64::from(cpu) % cpus) << 32) / cpus)
}

/// Returns the shared slot at a fraction of all of them, which is below 1 and in units of 2^-32.
#[inline(always)]
fn share(process: &Process, epoch: Epoch, fraction: u64) -> u32 {
    let memory = &process.memory;
    let shared = u64::from(memory.slots_of(epoch) - memory.cpus);
    memory.cpus + ((fraction * shared) >> 32) as u32
}

/// Returns line and page of the slot at a place, which is one of `Memory::place`.
#[inline(always)]
fn place(process: &Process, at: usize) -> (&SlotLine, *mut u8) {
    let memory = &process.memory;
    // SAFETY: each caller has the place of a slot that exists: a CPU's in a bank, or that of an
    // index below `slots_of`. Both reservations hold `all_slots` elements and live for ever; lines
    // are atomics only.
    unsafe { (&*memory.lines.add(at), memory.pages.add(at * memory.stride())) }
}

/// Returns the line of the slot with this index, below the number of slots of the epoch.
fn line(process: &Process, epoch: Epoch, index: u32) -> &SlotLine {
    place(process, process.memory.place(epoch, index as usize)).0
}

/// Counts an event at this CPU's slot, taken or not.
pub(crate) fn count(process: &Process, add: impl FnOnce(&SlotCounters)) {
    if process.memory.slots > 0 {
        add(&line(process, process.epoch(), cpu(process)).counters);
    }
}

/// Returns the lines of the current epoch.
pub(crate) fn lines(process: &Process) -> impl Iterator<Item = &SlotLine> {
    let epoch = process.epoch();
    (0..process.memory.slots_of(epoch)).map(move |index| line(process, epoch, index))
}
