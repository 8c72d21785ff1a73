//! Small requests: bytes of a page.
//!
//! Where the machine has restartable sequences, the page is this CPU's and the draw is a section
//! (`section`); whoever finds nothing to draw makes a page ([`make`]). Elsewhere the page is a slot's, taken by
//! a try-lock. That path has a quick half, which is all that runs as long as this CPU's slot is free, its page
//! full and every guard in place, and a cold half that handles whatever else there is.

#![allow(unsafe_code)]

use crate::Error;
use crate::linux::cipher::{hedge, wipe};
use crate::linux::guards::fork::Epoch;
use crate::linux::per_request;
use crate::linux::pool::copy::Words;
use crate::linux::pool::page::layout::ROUND_KEYS;
use crate::linux::pool::page::{ForkCheck, PageRef, Refused};
use crate::linux::pool::section;
use crate::linux::pool::slot;
use crate::linux::pool::slot::{QuickSlot, Slot, count};
use crate::linux::process::{Process, SlotCounters};
use crate::status::CpuRng;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Above this many bytes a request gets a key of its own: the copy out of the page, its erasure and its
/// share of the refill would cost more than a key schedule. Measured: DESIGN.md, "Why 1 KiB".
pub(crate) const LIMIT: usize = 1024;

/// One word or two, buffered, if nothing stands in the way. This is the path that everything else is kept
/// out of: no call, no loop, and as few instructions as the guards allow.
#[inline(always)]
pub(crate) fn quick_words<W: Words>(process: &Process) -> Result<W, Refused> {
    let slot = QuickSlot::take(process, W::BYTES)?;
    let words = slot.page_ref().copy_words(slot.fork_check(), slot.left);
    slot.release(W::BYTES, words.map_err(Some))
}

/// 17 to [`LIMIT`] bytes, buffered, if nothing stands in the way.
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
    // SAFETY: the caller's promise.
    let (slot, copied) = unsafe {
        touch(dst, len);
        let slot = QuickSlot::take(process, bytes)?;
        let copied = slot.page_ref().copy_blocks(slot.fork_check(), slot.left, dst, len);
        (slot, copied)
    };
    slot.release(bytes, copied.map_err(Some))
}

/// Draws 16 bytes to `dst`, buffered, if nothing stands in the way. `dst` holds void bytes on a refused.
///
/// # Safety
///
/// `dst` is valid for writes of 16 bytes.
#[inline(always)]
pub(crate) unsafe fn quick_block(process: &Process, dst: *mut u8) -> Result<(), Refused> {
    let slot = QuickSlot::take(process, 16)?;
    // SAFETY: the caller's promise.
    let copied = unsafe { slot.page_ref().copy_block(slot.fork_check(), slot.left, dst) };
    slot.release(16, copied.map_err(Some))
}

/// Draws 1 to 16 bytes, hedged, if nothing stands in the way. `dst` is written only if they may leave.
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
    process.clean_registers();
    // The CPU's words before the lock, so that nobody waits for them.
    let Some(r) = words(process, len) else {
        return Err(Refused::Stuck);
    };
    let bytes = if len > 8 { 16 } else { 8 };
    let slot = QuickSlot::take(process, bytes)?;
    let (cell, fork_check, left) = (slot.page_ref(), slot.fork_check(), slot.left);
    // SAFETY: the caller's promise, for all; a block is 16 bytes.
    unsafe {
        let mask = match cell.mask(r, len) {
            Ok(mask) => mask,
            // No hedge key yet, or a stuck instruction: the slower path deals with either.
            Err(refused) => return slot.release(bytes, Err(None)).map_err(|_: Refused| refused),
        };
        if len > 8 {
            let mut block = [0u8; 16];
            let copied = cell.copy_block(fork_check, left, block.as_mut_ptr());
            slot.release(bytes, copied.map_err(Some))?;
            hedge::xor(&mask, block.as_mut_ptr(), 16);
            dst.copy_from_nonoverlapping(block.as_ptr(), len);
            wipe(block.as_mut_ptr(), 16);
        } else {
            let word = cell.copy_words::<u64>(fork_check, left);
            slot.release(bytes, word.map_err(Some))?.masked(mask).put(dst, len);
        }
    }
    Ok(())
}

/// Draws 1 to [`LIMIT`] bytes in a section, buffered. `dst` may hold void bytes on a refused.
///
/// # Safety
///
/// `dst` is valid for writes of `len` bytes, and the process has sections.
#[inline]
pub(crate) unsafe fn sectioned(process: &Process, dst: *mut u8, len: usize) -> Result<(), Refused> {
    // SAFETY: the caller's promise; a block is 16 bytes.
    unsafe {
        match len {
            16 => section::take_block(process, dst),
            9..16 => {
                let mut block = [0u8; 16];
                section::take_block(process, block.as_mut_ptr())?;
                dst.copy_from_nonoverlapping(block.as_ptr(), len);
                wipe(block.as_mut_ptr(), 16);
                Ok(())
            }
            17.. => section::take_blocks(process, dst, len),
            _ => {
                section::take_word(process)?.put(dst, len);
                Ok(())
            }
        }
    }
}

/// Draws 1 to [`LIMIT`] bytes in a section, hedged. `dst` may hold void bytes on a refused.
///
/// The mask is made outside the section, with the hedge key that this CPU's page has at that time. If the
/// page is put again in between, mask and bytes belong to different pages, which weakens neither: the bytes
/// are unserved ones of a page that passed its guards, and the mask is one-way in fresh words of the CPU
/// under any key.
///
/// # Safety
///
/// `dst` is valid for writes of `len` bytes, the process has sections, and the CPU has AES instructions.
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "aes,sse4.1"))]
#[cfg_attr(target_arch = "aarch64", target_feature(enable = "neon,aes"))]
#[inline(never)]
pub(crate) unsafe fn sectioned_hedged(
    process: &Process,
    dst: *mut u8,
    len: usize,
) -> Result<(), Refused> {
    process.clean_registers();
    let Some(r) = words(process, len) else {
        return Err(Refused::Stuck);
    };
    let cpu = process.rseq.get();
    if !process.sections.line(cpu).is_some_and(section::Line::has_hedge_key) {
        return Err(Refused::Empty);
    }
    // SAFETY: the page of a CPU that has one; the rest is the caller's promise.
    unsafe {
        let keys = process.sections.page(cpu).add(ROUND_KEYS);
        if len > 16 {
            section::take_blocks(process, dst, len)?;
            hedge::mask_in_place(keys, r, dst, len);
            return Ok(());
        }
        let mask = hedge::mask_one(keys, r);
        if len > 8 {
            let mut block = [0u8; 16];
            section::take_block(process, block.as_mut_ptr())?;
            hedge::xor(&mask, block.as_mut_ptr(), 16);
            dst.copy_from_nonoverlapping(block.as_ptr(), len);
            wipe(block.as_mut_ptr(), 16);
        } else {
            if !process.is_new(slot::last_mask(process), mask[1]) {
                return Err(Refused::Stuck);
            }
            section::take_word(process)?.masked(mask).put(dst, len);
        }
    }
    Ok(())
}

/// Counts what is left in this CPU's page, if a guard has made it void.
fn count_void(process: &Process) {
    let cpu = process.rseq.get();
    let Some(line) = process.sections.line(cpu) else { return };
    // SAFETY: the page of a CPU that has one, aligned; its tag is used as an atomic or in sections alone.
    let tag = unsafe { AtomicU64::from_ptr(process.sections.page(cpu).cast()) }.load(Relaxed);
    let void = line.void_bytes(process, tag);
    if void > 0 {
        count(process, |counters| SlotCounters::add(&counters.discarded_bytes, u64::from(void)));
    }
}

/// Answers a request that found nothing to draw, and puts a page for those that follow.
///
/// # Safety
///
/// `dst` is valid for writes of `len` bytes, 1 to [`LIMIT`], and the process has sections.
#[cold]
#[inline(never)]
unsafe fn make(process: &Process, refused: Refused, dst: *mut u8, len: usize) -> Result<(), Error> {
    if refused == Refused::Empty {
        // Of a page that was dropped, say: the draw left before it claimed anything.
        count_void(process);
    } else {
        refused.count(process);
    }
    // SAFETY: the caller's promise.
    unsafe { touch(dst, len) };
    let mut tries = 0;
    while tries < 3 && refused != Refused::Stuck {
        let epoch = process.epoch();
        let Some(slot) = Slot::take(process, epoch) else {
            break;
        };
        // SAFETY: the caller's promise.
        if unsafe { slot.page_ref().make(epoch, dst, len) }? {
            return Ok(());
        }
        // A fork does not count: the child begins again in its own bank.
        if process.is_epoch(epoch) {
            tries += 1;
        }
    }
    // SAFETY: the caller's promise.
    unsafe { fall_back(process, dst, len) }
}

/// 1 to [`LIMIT`] bytes, buffered.
///
/// # Safety
///
/// `dst` is valid for writes of `len` bytes, and the process has slots.
#[inline(never)]
pub(crate) unsafe fn plain(process: &Process, dst: *mut u8, len: usize) -> Result<(), Error> {
    // A thread without a registration, and a CPU that was added after set-up, have no page: they take slots.
    if process.has_sections() && process.sections.has(process.rseq.get()) {
        // SAFETY: the caller's promise.
        return match unsafe { sectioned(process, dst, len) } {
            Ok(()) => Ok(()),
            // SAFETY: the caller's promise.
            Err(refused) => unsafe { make(process, refused, dst, len) },
        };
    }
    let epoch = process.epoch();
    // SAFETY: the caller's promise.
    unsafe {
        touch(dst, len);
        let Some(slot) = Slot::take_first(process, epoch) else {
            return elsewhere::<false>(process, dst, len);
        };
        match slot.page_ref().draw::<false>(ForkCheck::Epoch(epoch), [0; 2], dst, len) {
            Ok(()) => Ok(()),
            Err(refused) => refill::<false>(slot, refused, epoch, [0; 2], dst, len),
        }
    }
}

/// 1 to [`LIMIT`] bytes, hedged.
///
/// Compiled for CPUs with AES, as its neighbours are: the masks are then part of them and not calls.
///
/// # Safety
///
/// As [`plain`], and the CPU has AES instructions.
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "aes,sse4.1"))]
#[cfg_attr(target_arch = "aarch64", target_feature(enable = "neon,aes"))]
#[inline(never)]
pub(crate) unsafe fn hedged(process: &Process, dst: *mut u8, len: usize) -> Result<(), Error> {
    if process.has_sections() && process.sections.has(process.rseq.get()) {
        // SAFETY: the caller's promise.
        return match unsafe { sectioned_hedged(process, dst, len) } {
            Ok(()) => Ok(()),
            // SAFETY: the caller's promise.
            Err(refused) => unsafe { make(process, refused, dst, len) },
        };
    }
    process.clean_registers();
    // The CPU's words before the lock, so that nobody waits for them.
    let (epoch, words) = (process.epoch(), words(process, len));
    // SAFETY: the caller's promise.
    unsafe {
        touch(dst, len);
        let Some(r) = words else {
            return fall_back(process, dst, len);
        };
        let Some(slot) = Slot::take_first(process, epoch) else {
            return elsewhere::<true>(process, dst, len);
        };
        let fork_check = ForkCheck::Epoch(epoch);
        let drawn = if len <= 16 {
            slot.page_ref().draw_masked(fork_check, r, dst, len)
        } else {
            hedged_blocks(slot.page_ref(), fork_check, r, dst, len)
        };
        match drawn {
            Ok(()) => Ok(()),
            Err(refused) => refill::<true>(slot, refused, epoch, r, dst, len),
        }
    }
}

/// # Safety
///
/// As [`PageRef::draw`].
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "aes,sse4.1"))]
#[cfg_attr(target_arch = "aarch64", target_feature(enable = "neon,aes"))]
#[inline(never)]
unsafe fn hedged_blocks(
    cell: PageRef<'_>,
    fork_check: ForkCheck,
    r: [u64; 2],
    dst: *mut u8,
    len: usize,
) -> Result<(), Refused> {
    // SAFETY: the caller's promise.
    unsafe { cell.draw::<true>(fork_check, r, dst, len) }
}

/// Returns fresh words of the CPU for a mask: one for up to 8 bytes, beside the constant that tells such
/// masks apart from longer ones, else two that differ. None if the instruction is not believed.
#[inline(always)]
pub(crate) fn words(process: &Process, len: usize) -> Option<[u64; 2]> {
    if process.cpu_rng() != CpuRng::Good {
        return None;
    }
    process.expire();
    let first = process.cpu_word(0)?;
    Some([first, if len <= 8 { 8 } else { process.cpu_word(first)? }])
}

/// The slot is ours, and has nothing that can be served.
///
/// # Safety
///
/// As [`plain`]; if `HEDGED`, as [`hedged`].
#[cold]
#[inline(never)]
unsafe fn refill<const HEDGED: bool>(
    slot: Slot<'_>,
    refused: Refused,
    epoch: Epoch,
    r: [u64; 2],
    dst: *mut u8,
    len: usize,
) -> Result<(), Error> {
    // SAFETY: the caller's promise.
    unsafe {
        if slot.page_ref().refill_and_draw::<HEDGED>(
            refused,
            ForkCheck::Epoch(epoch),
            r,
            dst,
            len,
        )? {
            return Ok(());
        }
        let process = slot.page_ref().process;
        drop(slot);
        again::<HEDGED>(process, dst, len)
    }
}

/// The first slot is taken: another one, or a key of its own.
///
/// # Safety
///
/// As [`plain`]; if `HEDGED`, as [`hedged`].
#[cold]
#[inline(never)]
unsafe fn elsewhere<const HEDGED: bool>(
    process: &Process,
    dst: *mut u8,
    len: usize,
) -> Result<(), Error> {
    let epoch = process.epoch();
    let r = if HEDGED { words(process, len) } else { Some([0; 2]) };
    // SAFETY: the caller's promise.
    unsafe {
        if let (Some(r), Some(slot)) = (r, Slot::take_other(process, epoch)) {
            return match slot.page_ref().draw::<HEDGED>(ForkCheck::Epoch(epoch), r, dst, len) {
                Ok(()) => Ok(()),
                Err(refused) => refill::<HEDGED>(slot, refused, epoch, r, dst, len),
            };
        }
        fall_back(process, dst, len)
    }
}

/// A draw was torn: twice more, then a key of its own. A fork does not count: the child starts again in its
/// own bank, and has one thread.
///
/// # Safety
///
/// As [`plain`]; if `HEDGED`, as [`hedged`].
unsafe fn again<const HEDGED: bool>(
    process: &Process,
    dst: *mut u8,
    len: usize,
) -> Result<(), Error> {
    let mut tries = 0;
    while tries < 2 {
        let epoch = process.epoch();
        let r = if HEDGED { words(process, len) } else { Some([0; 2]) };
        let (Some(r), Some(slot)) = (r, Slot::take(process, epoch)) else {
            break;
        };
        let cell = slot.page_ref();
        // SAFETY: the caller's promise.
        unsafe {
            match cell.draw::<HEDGED>(ForkCheck::Epoch(epoch), r, dst, len) {
                Ok(()) => return Ok(()),
                Err(refused) => {
                    if cell.refill_and_draw::<HEDGED>(
                        refused,
                        ForkCheck::Epoch(epoch),
                        r,
                        dst,
                        len,
                    )? {
                        return Ok(());
                    }
                }
            }
        }
        if process.is_epoch(epoch) {
            tries += 1;
        }
    }
    // SAFETY: the caller's promise.
    unsafe { fall_back(process, dst, len) }
}

/// # Safety
///
/// `dst` is valid for writes of `len` bytes.
#[cold]
#[inline(never)]
unsafe fn fall_back(process: &Process, dst: *mut u8, len: usize) -> Result<(), Error> {
    count(process, |counters| SlotCounters::add(&counters.fallbacks, 1));
    // SAFETY: the caller's promise.
    unsafe { per_request::fill(process, dst, len) }
}

/// Writes to both ends of the caller's buffer: if that faults, it does so before a slot is taken.
///
/// # Safety
///
/// `dst` is valid for writes of `len` bytes, at least 1.
#[inline(always)]
unsafe fn touch(dst: *mut u8, len: usize) {
    // SAFETY: the first and the last byte.
    unsafe {
        dst.write_volatile(0);
        dst.add(len - 1).write_volatile(0);
    }
}
