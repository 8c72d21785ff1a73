//! Small requests in restartable sequences: from this CPU's own page, without a lock.
//!
//! A draw that finds nothing makes a page ([`make`]), and answers its request with bytes of the
//! same key.

#![allow(unsafe_code)]

use crate::Error;
use crate::linux::cipher::{hedge, wipe};
use crate::linux::pool::copy::Words;
use crate::linux::pool::draw::{fall_back, touch};
use crate::linux::pool::layout::ROUND_KEYS;
use crate::linux::pool::mask::{CpuWords, Mask};
use crate::linux::pool::refused::Refused;
use crate::linux::pool::section;
use crate::linux::pool::slot::{self, Slot, count};
use crate::linux::pool::slot_line::SlotCounters;
use crate::linux::process::Process;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Draws 1 to `draw::LIMIT` unmasked bytes. `dst` may hold void bytes on an error.
///
/// # Safety
///
/// `dst` is valid for writes of `len` bytes, and the process has sections.
#[inline]
pub(crate) unsafe fn unmasked(process: &Process, dst: *mut u8, len: usize) -> Result<(), Refused> {
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

/// Draws 1 to `draw::LIMIT` masked bytes. `dst` may hold void bytes on an error.
///
/// The mask is made outside the section, with the hedge key that this CPU's page has at that time.
/// If the page is put again in between, mask and bytes belong to different pages, which weakens
/// neither: the bytes are unserved ones of a page that passed its guards, and the mask is one-way
/// in fresh words of the CPU under any key.
///
/// # Safety
///
/// `dst` is valid for writes of `len` bytes, the process has sections, and the CPU has AES
/// instructions.
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "aes,sse4.1"))]
#[cfg_attr(target_arch = "aarch64", target_feature(enable = "neon,aes"))]
#[inline(never)]
pub(crate) unsafe fn hedged(process: &Process, dst: *mut u8, len: usize) -> Result<(), Refused> {
    process.clean_registers();
    let Some(words) = CpuWords::draw(process, len) else {
        return Err(Refused::Stuck);
    };
    let r = words.words();
    let cpu = process.rseq.get();
    if !process.sections.line(cpu).is_some_and(section::CpuLine::has_hedge_key) {
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

/// Counts the bytes left in this CPU's page, if a guard has voided them.
fn count_void(process: &Process) {
    let cpu = process.rseq.get();
    let Some(line) = process.sections.line(cpu) else { return };
    // SAFETY: the page of a CPU that has one, aligned; its tag is used as an atomic or in sections
    // alone.
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
pub(crate) unsafe fn make(
    process: &Process,
    refused: Refused,
    dst: *mut u8,
    len: usize,
) -> Result<(), Error> {
    if refused == Refused::Empty {
        // The page was dropped, for instance: the draw left before it claimed bytes.
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
