//! Small requests: bytes of a page.
//!
//! Where the machine has restartable sequences, the page is this CPU's and the draw is a section
//! (`section`); whoever finds nothing to draw makes a page ([`make`]). Elsewhere the page is a slot's, taken by
//! a try-lock. That path has a quick half, which is all that runs as long as this CPU's slot is free, its page
//! full and every guard in place, and a cold half that handles whatever else there is.

#![allow(unsafe_code)]

use super::arena::{Arena, Tally};
use super::cell::layout::ROUND_KEYS;
use super::cell::{Cell, Miss, Owner};
use super::cipher::{hedge, wipe};
use super::copy::Words;
use super::guard::epoch::Epoch;
use super::slots::{Quick, Slot, count};
use super::{keyed, section, slots};
use crate::Error;
use crate::status::CpuRng;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Above this many bytes a request gets a key of its own: the copy out of the page, its erasure and its
/// share of the refill would cost more than a key schedule. Measured: DESIGN.md, "Why 1 KiB".
pub(crate) const LIMIT: usize = 1024;

/// One word or two, buffered, if nothing stands in the way. This is the path that everything else is kept
/// out of: no call, no loop, and as few instructions as the guards allow.
#[inline(always)]
pub(crate) fn quick_words<W: Words>(arena: &Arena) -> Result<W, Miss> {
    let slot = Quick::take(arena, W::BYTES)?;
    let words = slot.cell().copy_words(slot.owner(), slot.left);
    slot.settle(W::BYTES, words.map_err(Some))
}

/// 17 to [`LIMIT`] bytes, buffered, if nothing stands in the way.
///
/// # Safety
///
/// `dst` is valid for writes of `len` bytes.
#[inline(always)]
pub(crate) unsafe fn quick_blocks(arena: &Arena, dst: *mut u8, len: usize) -> Result<(), Miss> {
    let bytes = (len as u32).next_multiple_of(8);
    // SAFETY: the caller's promise.
    let (slot, copied) = unsafe {
        touch(dst, len);
        let slot = Quick::take(arena, bytes)?;
        let copied = slot.cell().copy_blocks(slot.owner(), slot.left, dst, len);
        (slot, copied)
    };
    slot.settle(bytes, copied.map_err(Some))
}

/// Draws 16 bytes to `dst`, buffered, if nothing stands in the way. `dst` holds void bytes on a miss.
///
/// # Safety
///
/// `dst` is valid for writes of 16 bytes.
#[inline(always)]
pub(crate) unsafe fn quick_block(arena: &Arena, dst: *mut u8) -> Result<(), Miss> {
    let slot = Quick::take(arena, 16)?;
    // SAFETY: the caller's promise.
    let copied = unsafe { slot.cell().copy_block(slot.owner(), slot.left, dst) };
    slot.settle(16, copied.map_err(Some))
}

/// Draws 1 to 16 bytes, hedged, if nothing stands in the way. `dst` is written only if they may leave.
///
/// # Safety
///
/// `dst` is valid for writes of `len` bytes, and the CPU has AES instructions.
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "aes,sse4.1"))]
#[cfg_attr(target_arch = "aarch64", target_feature(enable = "neon,aes"))]
#[inline(never)]
pub(crate) unsafe fn quick_hedged(arena: &Arena, dst: *mut u8, len: usize) -> Result<(), Miss> {
    arena.clean_registers();
    // The CPU's words before the lock, so that nobody waits for them.
    let Some(r) = words(arena, len) else {
        return Err(Miss::Stuck);
    };
    let bytes = if len > 8 { 16 } else { 8 };
    let slot = Quick::take(arena, bytes)?;
    let (cell, owner, left) = (slot.cell(), slot.owner(), slot.left);
    // SAFETY: the caller's promise, for all; a block is 16 bytes.
    unsafe {
        let mask = match cell.mask(r, len) {
            Ok(mask) => mask,
            // No hedge key yet, or a stuck instruction: the slower path deals with either.
            Err(miss) => return slot.settle(bytes, Err(None)).map_err(|_: Miss| miss),
        };
        if len > 8 {
            let mut block = [0u8; 16];
            let copied = cell.copy_block(owner, left, block.as_mut_ptr());
            slot.settle(bytes, copied.map_err(Some))?;
            hedge::xor(&mask, block.as_mut_ptr(), 16);
            dst.copy_from_nonoverlapping(block.as_ptr(), len);
            wipe(block.as_mut_ptr(), 16);
        } else {
            let word = cell.copy_words::<u64>(owner, left);
            slot.settle(bytes, word.map_err(Some))?.masked(mask).put(dst, len);
        }
    }
    Ok(())
}

/// Draws 1 to [`LIMIT`] bytes in a section, buffered. `dst` may hold void bytes on a miss.
///
/// # Safety
///
/// `dst` is valid for writes of `len` bytes, and the arena has sections.
#[inline]
pub(crate) unsafe fn sectioned(arena: &Arena, dst: *mut u8, len: usize) -> Result<(), Miss> {
    // SAFETY: the caller's promise; a block is 16 bytes.
    unsafe {
        match len {
            16 => section::take_block(arena, dst),
            9..16 => {
                let mut block = [0u8; 16];
                section::take_block(arena, block.as_mut_ptr())?;
                dst.copy_from_nonoverlapping(block.as_ptr(), len);
                wipe(block.as_mut_ptr(), 16);
                Ok(())
            }
            17.. => section::take_blocks(arena, dst, len),
            _ => {
                section::take_word(arena)?.put(dst, len);
                Ok(())
            }
        }
    }
}

/// Draws 1 to [`LIMIT`] bytes in a section, hedged. `dst` may hold void bytes on a miss.
///
/// The mask is made outside the section, with the hedge key that this CPU's page has at that time. If the
/// page is put again in between, mask and bytes belong to different pages, which weakens neither: the bytes
/// are unserved ones of a page that passed its guards, and the mask is one-way in fresh words of the CPU
/// under any key.
///
/// # Safety
///
/// `dst` is valid for writes of `len` bytes, the arena has sections, and the CPU has AES instructions.
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "aes,sse4.1"))]
#[cfg_attr(target_arch = "aarch64", target_feature(enable = "neon,aes"))]
#[inline(never)]
pub(crate) unsafe fn sectioned_hedged(arena: &Arena, dst: *mut u8, len: usize) -> Result<(), Miss> {
    arena.clean_registers();
    let Some(r) = words(arena, len) else {
        return Err(Miss::Stuck);
    };
    let cpu = arena.rseq.get();
    if !arena.sections.line(cpu).is_some_and(section::Line::has_hedge_key) {
        return Err(Miss::Empty);
    }
    // SAFETY: the page of a CPU that has one; the rest is the caller's promise.
    unsafe {
        let keys = arena.sections.page(cpu).add(ROUND_KEYS);
        if len > 16 {
            section::take_blocks(arena, dst, len)?;
            hedge::mask_in_place(keys, r, dst, len);
            return Ok(());
        }
        let mask = hedge::mask_one(keys, r);
        if len > 8 {
            let mut block = [0u8; 16];
            section::take_block(arena, block.as_mut_ptr())?;
            hedge::xor(&mask, block.as_mut_ptr(), 16);
            dst.copy_from_nonoverlapping(block.as_ptr(), len);
            wipe(block.as_mut_ptr(), 16);
        } else {
            if !arena.is_new(slots::last_mask(arena), mask[1]) {
                return Err(Miss::Stuck);
            }
            section::take_word(arena)?.masked(mask).put(dst, len);
        }
    }
    Ok(())
}

/// Counts what is left in this CPU's page, if a guard has made it void.
fn count_void(arena: &Arena) {
    let cpu = arena.rseq.get();
    let Some(line) = arena.sections.line(cpu) else { return };
    // SAFETY: the page of a CPU that has one, aligned; its tag is used as an atomic or in sections alone.
    let tag = unsafe { AtomicU64::from_ptr(arena.sections.page(cpu).cast()) }.load(Relaxed);
    let void = line.void_bytes(arena, tag);
    if void > 0 {
        count(arena, |tally| Tally::add(&tally.discarded_bytes, u64::from(void)));
    }
}

/// Answers a request that found nothing to draw, and puts a page for those that follow.
///
/// # Safety
///
/// `dst` is valid for writes of `len` bytes, 1 to [`LIMIT`], and the arena has sections.
#[cold]
#[inline(never)]
unsafe fn make(arena: &Arena, miss: Miss, dst: *mut u8, len: usize) -> Result<(), Error> {
    if miss == Miss::Empty {
        // Of a page that was dropped, say: the draw left before it claimed anything.
        count_void(arena);
    } else {
        miss.count(arena);
    }
    // SAFETY: the caller's promise.
    unsafe { touch(dst, len) };
    let mut tries = 0;
    while tries < 3 && miss != Miss::Stuck {
        let epoch = arena.epoch();
        let Some(slot) = Slot::take(arena, epoch) else {
            break;
        };
        // SAFETY: the caller's promise.
        if unsafe { slot.cell().make(epoch, dst, len) }? {
            return Ok(());
        }
        // A fork does not count: the child begins again in its own bank.
        if arena.is_epoch(epoch) {
            tries += 1;
        }
    }
    // SAFETY: the caller's promise.
    unsafe { fall_back(arena, dst, len) }
}

/// 1 to [`LIMIT`] bytes, buffered.
///
/// # Safety
///
/// `dst` is valid for writes of `len` bytes, and the arena has slots.
#[inline(never)]
pub(super) unsafe fn plain(arena: &Arena, dst: *mut u8, len: usize) -> Result<(), Error> {
    // A thread without a registration, and a CPU that was added after set-up, have no page: they take slots.
    if arena.has_sections() && arena.sections.has(arena.rseq.get()) {
        // SAFETY: the caller's promise.
        return match unsafe { sectioned(arena, dst, len) } {
            Ok(()) => Ok(()),
            // SAFETY: the caller's promise.
            Err(miss) => unsafe { make(arena, miss, dst, len) },
        };
    }
    let epoch = arena.epoch();
    // SAFETY: the caller's promise.
    unsafe {
        touch(dst, len);
        let Some(slot) = Slot::take_first(arena, epoch) else {
            return elsewhere::<false>(arena, dst, len);
        };
        match slot.cell().draw::<false>(Owner::Slot { epoch }, [0; 2], dst, len) {
            Ok(()) => Ok(()),
            Err(miss) => refill::<false>(slot, miss, epoch, [0; 2], dst, len),
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
pub(super) unsafe fn hedged(arena: &Arena, dst: *mut u8, len: usize) -> Result<(), Error> {
    if arena.has_sections() && arena.sections.has(arena.rseq.get()) {
        // SAFETY: the caller's promise.
        return match unsafe { sectioned_hedged(arena, dst, len) } {
            Ok(()) => Ok(()),
            // SAFETY: the caller's promise.
            Err(miss) => unsafe { make(arena, miss, dst, len) },
        };
    }
    arena.clean_registers();
    // The CPU's words before the lock, so that nobody waits for them.
    let (epoch, words) = (arena.epoch(), words(arena, len));
    // SAFETY: the caller's promise.
    unsafe {
        touch(dst, len);
        let Some(r) = words else {
            return fall_back(arena, dst, len);
        };
        let Some(slot) = Slot::take_first(arena, epoch) else {
            return elsewhere::<true>(arena, dst, len);
        };
        let owner = Owner::Slot { epoch };
        let drawn = if len <= 16 {
            slot.cell().draw_masked(owner, r, dst, len)
        } else {
            hedged_blocks(slot.cell(), owner, r, dst, len)
        };
        match drawn {
            Ok(()) => Ok(()),
            Err(miss) => refill::<true>(slot, miss, epoch, r, dst, len),
        }
    }
}

/// # Safety
///
/// As [`Cell::draw`].
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "aes,sse4.1"))]
#[cfg_attr(target_arch = "aarch64", target_feature(enable = "neon,aes"))]
#[inline(never)]
unsafe fn hedged_blocks(
    cell: Cell<'_>,
    owner: Owner,
    r: [u64; 2],
    dst: *mut u8,
    len: usize,
) -> Result<(), Miss> {
    // SAFETY: the caller's promise.
    unsafe { cell.draw::<true>(owner, r, dst, len) }
}

/// Returns fresh words of the CPU for a mask: one for up to 8 bytes, beside the constant that tells such
/// masks apart from longer ones, else two that differ. None if the instruction is not believed.
#[inline(always)]
pub(super) fn words(arena: &Arena, len: usize) -> Option<[u64; 2]> {
    if arena.cpu_rng() != CpuRng::Good {
        return None;
    }
    arena.expire();
    let first = arena.cpu_word(0)?;
    Some([first, if len <= 8 { 8 } else { arena.cpu_word(first)? }])
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
    miss: Miss,
    epoch: Epoch,
    r: [u64; 2],
    dst: *mut u8,
    len: usize,
) -> Result<(), Error> {
    // SAFETY: the caller's promise.
    unsafe {
        if slot.cell().refill_and_draw::<HEDGED>(miss, Owner::Slot { epoch }, r, dst, len)? {
            return Ok(());
        }
        let arena = slot.cell().arena;
        drop(slot);
        again::<HEDGED>(arena, dst, len)
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
    arena: &Arena,
    dst: *mut u8,
    len: usize,
) -> Result<(), Error> {
    let epoch = arena.epoch();
    let r = if HEDGED { words(arena, len) } else { Some([0; 2]) };
    // SAFETY: the caller's promise.
    unsafe {
        if let (Some(r), Some(slot)) = (r, Slot::take_other(arena, epoch)) {
            return match slot.cell().draw::<HEDGED>(Owner::Slot { epoch }, r, dst, len) {
                Ok(()) => Ok(()),
                Err(miss) => refill::<HEDGED>(slot, miss, epoch, r, dst, len),
            };
        }
        fall_back(arena, dst, len)
    }
}

/// A draw was torn: twice more, then a key of its own. A fork does not count: the child starts again in its
/// own bank, and has one thread.
///
/// # Safety
///
/// As [`plain`]; if `HEDGED`, as [`hedged`].
unsafe fn again<const HEDGED: bool>(arena: &Arena, dst: *mut u8, len: usize) -> Result<(), Error> {
    let mut tries = 0;
    while tries < 2 {
        let epoch = arena.epoch();
        let r = if HEDGED { words(arena, len) } else { Some([0; 2]) };
        let (Some(r), Some(slot)) = (r, Slot::take(arena, epoch)) else {
            break;
        };
        let cell = slot.cell();
        // SAFETY: the caller's promise.
        unsafe {
            match cell.draw::<HEDGED>(Owner::Slot { epoch }, r, dst, len) {
                Ok(()) => return Ok(()),
                Err(miss) => {
                    if cell.refill_and_draw::<HEDGED>(miss, Owner::Slot { epoch }, r, dst, len)? {
                        return Ok(());
                    }
                }
            }
        }
        if arena.is_epoch(epoch) {
            tries += 1;
        }
    }
    // SAFETY: the caller's promise.
    unsafe { fall_back(arena, dst, len) }
}

/// # Safety
///
/// `dst` is valid for writes of `len` bytes.
#[cold]
#[inline(never)]
unsafe fn fall_back(arena: &Arena, dst: *mut u8, len: usize) -> Result<(), Error> {
    count(arena, |tally| Tally::add(&tally.fallbacks, 1));
    // SAFETY: the caller's promise.
    unsafe { keyed::fill(arena, dst, len) }
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
