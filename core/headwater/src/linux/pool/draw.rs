//! Small requests under a slot's lock.
//!
//! The draw has a hot half and a cold half. The hot half (`quick_*`) runs as long as this CPU's
//! slot is free, its page has enough bytes and every guard is unchanged. Everything else ends in
//! [`Refused`], and the cold half goes down a ladder, which every request leaves with bytes or with
//! the kernel's error:
//!
//! 1. [`plain`] or [`hedged`]: this CPU's slot, as it is.
//! 2. [`refilled`]: the same slot with a new page.
//! 3. [`other`]: a shared slot, in place of 1, if this CPU's is taken. A new page follows as well.
//! 4. [`again`]: any free slot, twice at most, if a guard changed during the copy.
//! 5. [`alone`]: a key for this request. It is slow, so it is counted, but needs no slot.
//!
//! Machines with restartable sequences use [`draw_section`] instead, whose ladder has two rungs: a
//! refill for this CPU, and [`alone`].

#![allow(unsafe_code)]

use crate::Error;
use crate::linux::cipher::{hedge, wipe};
use crate::linux::guards::fork::Epoch;
use crate::linux::per_request;
use crate::linux::pool::copy::Words;
use crate::linux::pool::draw_section;
use crate::linux::pool::mask::{CpuWords, Mask, Plain};
use crate::linux::pool::page::{ForkCheck, PageRef};
use crate::linux::pool::refused::{Refused, Served};
use crate::linux::pool::slot::{QuickSlot, Slot, count, shared_by_thread};
use crate::linux::pool::slot_line::SlotCounters;
use crate::linux::process::Process;

/// Above this many bytes a request gets a key of its own: the copy out of the page, its erasure and
/// its share of the refill would cost more than a key schedule. Measured: DESIGN.md, "Why 1 KiB".
pub(crate) const LIMIT: usize = 1024;

/// Draws one or two words, unmasked, on the hot path: no call, no loop, and only the instructions
/// that the guards need. A call added here costs every small draw the saving of registers.
#[inline(always)]
pub(crate) fn quick_words<W: Words>(process: &Process) -> Result<W, Refused> {
    let slot = QuickSlot::take(process, W::BYTES)?;
    let words = slot.page_ref().copy_words(slot.fork_check(), slot.left);
    slot.release(W::BYTES, words)
}

/// Draws 17 to [`LIMIT`] bytes, unmasked, on the hot path. `dst` may hold void bytes on an error.
///
/// # Safety
///
/// `dst` is valid for writes of `len` bytes.
#[inline(always)]
pub(crate) unsafe fn quick_blocks(
    process: &Process,
    dst: *mut u8,
    len: usize,
) -> Result<(), Refused> {
    let bytes = (len as u32).next_multiple_of(8);
    // SAFETY: `dst` has room for `len` bytes, of which there are 17 at least; the slot has as many
    // left, or `take` refuses.
    let (slot, copied) = unsafe {
        touch(dst, len);
        let slot = QuickSlot::take(process, bytes)?;
        let copied = slot.page_ref().copy_blocks(slot.fork_check(), slot.left, dst, len);
        (slot, copied)
    };
    slot.release(bytes, copied)
}

/// Draws 16 bytes to `dst`, unmasked, on the hot path. `dst` holds void bytes on an error.
///
/// Writes in place: a two-word return value goes through the stack, which doubles the time of the
/// draw.
///
/// # Safety
///
/// `dst` is valid for writes of 16 bytes.
#[inline(always)]
pub(crate) unsafe fn quick_block(process: &Process, dst: *mut u8) -> Result<(), Refused> {
    let slot = QuickSlot::take(process, 16)?;
    // SAFETY: `dst` has room for 16 bytes, and the slot has as many left, or `take` refuses.
    let copied = unsafe { slot.page_ref().copy_block(slot.fork_check(), slot.left, dst) };
    slot.release(16, copied)
}

/// Takes this CPU's slot for a request of 8 or 16 masked bytes, and makes its mask.
///
/// # Safety
///
/// The CPU has AES instructions.
#[inline(always)]
unsafe fn quick_masked(
    process: &Process,
    bytes: u32,
) -> Result<(QuickSlot<'_>, [u64; 2]), Refused> {
    process.clean_registers();
    // RDRAND takes 20 ns and more; inside the lock, other threads of this CPU would find the slot
    // taken.
    let Some(words) = CpuWords::draw(process) else {
        return Err(Refused::Stuck);
    };
    let slot = QuickSlot::take(process, bytes)?;
    // SAFETY: the CPU has AES instructions, as this function asks.
    match unsafe { slot.page_ref().mask(words.words()) } {
        Ok(mask) => Ok((slot, mask)),
        // The page has no hedge key yet; nothing was taken.
        Err(refused) => {
            slot.release_untouched();
            Err(refused)
        }
    }
}

/// Draws 16 masked bytes to `dst` on the hot path. `dst` holds void bytes on an error.
///
/// # Safety
///
/// `dst` is valid for writes of 16 bytes, and the CPU has AES instructions.
#[inline(always)]
pub(crate) unsafe fn masked_block(process: &Process, dst: *mut u8) -> Result<(), Refused> {
    // SAFETY: the CPU and `dst` are as this function asks, and the slot has 16 bytes left.
    unsafe {
        let (slot, mask) = quick_masked(process, 16)?;
        let copied = slot.page_ref().copy_block(slot.fork_check(), slot.left, dst);
        slot.release(16, copied)?;
        hedge::xor_block(mask, dst);
    }
    Ok(())
}

/// Draws a masked word on the hot path.
///
/// # Safety
///
/// The CPU has AES instructions.
#[inline(always)]
pub(crate) unsafe fn masked_word(process: &Process) -> Result<u64, Refused> {
    // SAFETY: the CPU has AES instructions, as this function asks.
    let (slot, mask) = unsafe { quick_masked(process, 8) }?;
    let word = slot.page_ref().copy_words::<u64>(slot.fork_check(), slot.left);
    Ok(slot.release(8, word)?.masked(mask))
}

/// Draws 1 to 16 masked bytes on the hot path. `dst` is written only after the guards were
/// compared.
///
/// # Safety
///
/// `dst` is valid for writes of `len` bytes, and the CPU has AES instructions.
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "aes,sse4.1"))]
#[cfg_attr(target_arch = "aarch64", target_feature(enable = "neon,aes"))]
#[inline(never)]
pub(crate) unsafe fn quick_hedged(
    process: &Process,
    dst: *mut u8,
    len: usize,
) -> Result<(), Refused> {
    // SAFETY: `dst` has room for `len` bytes; the block is 16 bytes of our own, and the CPU is as
    // this function asks.
    unsafe {
        if len <= 8 {
            masked_word(process)?.put(dst, len);
            return Ok(());
        }
        let mut block = [0u8; 16];
        let drawn = masked_block(process, block.as_mut_ptr());
        if drawn.is_ok() {
            dst.copy_from_nonoverlapping(block.as_ptr(), len);
        }
        // Void bytes as well, which have no mask.
        wipe(block.as_mut_ptr(), 16);
        drawn
    }
}

/// Draws 1 to [`LIMIT`] bytes in mode `buffered`, from any state of the pools.
///
/// # Safety
///
/// `dst` is valid for writes of `len` bytes, and the process has slots.
#[inline(never)]
pub(crate) unsafe fn plain(process: &Process, dst: *mut u8, len: usize) -> Result<(), Error> {
    // A thread without an rseq registration, and a CPU added after set-up, have no page and take
    // slots.
    if process.has_sections() && process.sections.has(process.rseq.get()) {
        // SAFETY: `dst` has room for `len` bytes, and sections were asked for in the condition.
        return match unsafe { draw_section::unmasked(process, dst, len) } {
            Ok(()) => Ok(()),
            // SAFETY: the same buffer, and a refusal does not take the lines away.
            Err(refused) => unsafe { draw_section::refill_and_draw(process, refused, dst, len) },
        };
    }
    let epoch = process.epoch();
    // SAFETY: `dst` has room for `len` bytes, at least one and at most LIMIT, which a page has.
    unsafe {
        touch(dst, len);
        let Some(slot) = Slot::take_first(process, epoch) else {
            return other::<Plain>(process, dst, len);
        };
        match slot.page_ref().draw(ForkCheck::Epoch(epoch), Plain, dst, len) {
            Ok(()) => Ok(()),
            Err(refused) => refilled(slot, refused, epoch, Plain, dst, len),
        }
    }
}

/// Draws 1 to [`LIMIT`] bytes in mode `hedged`, from any state of the pools.
///
/// Compiled for CPUs with AES, like the functions beside it: the masks are then inlined instead of
/// called.
///
/// # Safety
///
/// The promises of [`plain`]; the CPU has AES instructions.
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "aes,sse4.1"))]
#[cfg_attr(target_arch = "aarch64", target_feature(enable = "neon,aes"))]
#[inline(never)]
pub(crate) unsafe fn hedged(process: &Process, dst: *mut u8, len: usize) -> Result<(), Error> {
    if process.has_sections() && process.sections.has(process.rseq.get()) {
        // SAFETY: as in `plain`; the CPU has AES instructions, as mode `hedged` requires.
        return match unsafe { draw_section::hedged(process, dst, len) } {
            Ok(()) => Ok(()),
            // SAFETY: the same buffer, and a refusal does not take the lines away.
            Err(refused) => unsafe { draw_section::refill_and_draw(process, refused, dst, len) },
        };
    }
    process.clean_registers();
    // Drawn before the lock is taken: RDRAND inside it would make other threads find the slot
    // taken.
    let (epoch, words) = (process.epoch(), CpuWords::draw(process));
    // SAFETY: as in `plain`; the masks find AES instructions, as mode `hedged` requires.
    unsafe {
        touch(dst, len);
        let Some(words) = words else {
            return alone(process, dst, len);
        };
        let Some(slot) = Slot::take_first(process, epoch) else {
            return other::<CpuWords>(process, dst, len);
        };
        let fork_check = ForkCheck::Epoch(epoch);
        let drawn = if len <= 16 {
            slot.page_ref().draw_masked(fork_check, words.words(), dst, len)
        } else {
            hedged_blocks(slot.page_ref(), fork_check, words, dst, len)
        };
        match drawn {
            Ok(()) => Ok(()),
            Err(refused) => refilled(slot, refused, epoch, words, dst, len),
        }
    }
}

/// Draws masked bytes as [`PageRef::draw`], in a frame of its own: the copy's registers are then
/// not saved by the draw of up to 16 bytes.
///
/// # Safety
///
/// The promises of [`PageRef::draw`].
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "aes,sse4.1"))]
#[cfg_attr(target_arch = "aarch64", target_feature(enable = "neon,aes"))]
#[inline(never)]
unsafe fn hedged_blocks(
    page: PageRef<'_>,
    fork_check: ForkCheck,
    words: CpuWords,
    dst: *mut u8,
    len: usize,
) -> Result<(), Refused> {
    // SAFETY: all arguments are passed on, and `draw` asks for what this function does.
    unsafe { page.draw(fork_check, words, dst, len) }
}

/// Fills the page of a slot that the caller holds, draws from it, and retries elsewhere if that
/// fails.
///
/// # Safety
///
/// The promises of [`plain`]; with masks those of [`hedged`].
#[cold]
#[inline(never)]
unsafe fn refilled<M: Mask>(
    slot: Slot<'_>,
    refused: Refused,
    epoch: Epoch,
    mask: M,
    dst: *mut u8,
    len: usize,
) -> Result<(), Error> {
    // SAFETY: the slot is held until its page has been drawn from, and `dst` has room for `len`
    // bytes on each rung.
    unsafe {
        let fork_check = ForkCheck::Epoch(epoch);
        let drawn = slot.page_ref().refill_and_draw(refused, fork_check, mask, dst, len)?;
        if drawn == Served::Yes {
            return Ok(());
        }
        let process = slot.page_ref().process;
        // The retry may take this very slot: held any longer, it would count as taken.
        drop(slot);
        again::<M>(process, dst, len)
    }
}

/// Draws from a shared slot if one is free, because this CPU's slot is taken.
///
/// # Safety
///
/// The promises of [`plain`]; with masks those of [`hedged`].
#[cold]
#[inline(never)]
unsafe fn other<M: Mask>(process: &Process, dst: *mut u8, len: usize) -> Result<(), Error> {
    let epoch = process.epoch();
    let mask = M::draw(process);
    // SAFETY: the shared slot is held while its page is drawn from; `dst` has room for `len` bytes.
    unsafe {
        let begin = shared_by_thread(process, epoch);
        if let (Some(mask), Some(slot)) = (mask, Slot::take_other(process, epoch, begin)) {
            return match slot.page_ref().draw(ForkCheck::Epoch(epoch), mask, dst, len) {
                Ok(()) => Ok(()),
                Err(refused) => refilled(slot, refused, epoch, mask, dst, len),
            };
        }
        alone(process, dst, len)
    }
}

/// Draws from any free slot, up to two times, and then under a key for this request alone.
///
/// # Safety
///
/// The promises of [`plain`]; with masks those of [`hedged`].
unsafe fn again<M: Mask>(process: &Process, dst: *mut u8, len: usize) -> Result<(), Error> {
    let drawn = retry(process, |epoch, mask: M| {
        let slot = Slot::take(process, epoch)?;
        let fork_check = ForkCheck::Epoch(epoch);
        // SAFETY: the slot is held for the whole attempt; `dst` has room for `len` bytes, which a
        // page has as well.
        Some(unsafe { slot.page_ref().draw_or_refill(fork_check, mask, dst, len) })
    })?;
    if drawn == Served::Yes {
        return Ok(());
    }
    // SAFETY: `dst` has room for `len` bytes; what void draws left there is overwritten.
    unsafe { alone(process, dst, len) }
}

/// Calls `attempt` until a draw succeeds; void after two draws that a guard voided, or if
/// `attempt` or the CPU's instruction returns None. The caller then derives a key for the request
/// alone.
///
/// A fork in the middle of an attempt does not count: the child starts again in its own bank and
/// has one thread.
#[inline(always)]
pub(crate) fn retry<M: Mask>(
    process: &Process,
    mut attempt: impl FnMut(Epoch, M) -> Option<Result<Served, Error>>,
) -> Result<Served, Error> {
    let mut tries = 0;
    while tries < 2 {
        // Read anew for each attempt: after a fork the old epoch would void every draw of the
        // child.
        let epoch = process.epoch();
        let Some(mask) = M::draw(process) else { break };
        match attempt(epoch, mask) {
            None => break,
            Some(drawn) => {
                if drawn? == Served::Yes {
                    return Ok(Served::Yes);
                }
            }
        }
        if process.is_epoch(epoch) {
            tries += 1;
        }
    }
    Ok(Served::Void)
}

/// Serves the request under a key of its own, and counts it: a silent slow path must show in the
/// status.
///
/// # Safety
///
/// `dst` is valid for writes of `len` bytes.
#[cold]
#[inline(never)]
pub(crate) unsafe fn alone(process: &Process, dst: *mut u8, len: usize) -> Result<(), Error> {
    count(process, |counters| SlotCounters::add(&counters.fallbacks, 1));
    // SAFETY: `dst` has room for `len` bytes, which is all that a key of its own needs.
    unsafe { per_request::fill(process, dst, len) }
}

/// Writes to both ends of the caller's buffer. A bad buffer then faults before a slot is taken;
/// inside the lock, a handler that leaves the fault by siglongjmp would lose the slot for good.
///
/// # Safety
///
/// `dst` is valid for writes of `len` bytes, at least 1.
#[inline(always)]
pub(crate) unsafe fn touch(dst: *mut u8, len: usize) {
    // SAFETY: the first and the last byte.
    unsafe {
        dst.write_volatile(0);
        dst.add(len - 1).write_volatile(0);
    }
}
