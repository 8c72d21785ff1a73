//! Small requests: bytes of a slot's page.
//!
//! The path has a quick half, which is all that runs as long as the first slot is free, its page full and
//! every guard in place, and a cold half that handles whatever else there is.

#![allow(unsafe_code)]

use super::arena::{Arena, Tally};
use super::cell::{Cell, Miss, Owner};
use super::copy::Words;
use super::guard::epoch::Epoch;
use super::keyed;
use super::slots::{Quick, Slot, count};
use crate::Error;
use core::sync::atomic::Ordering::Relaxed;

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

/// One word or two, hedged, if nothing stands in the way: the first `len` bytes of them. `dst` is written only if
/// they may leave.
///
/// # Safety
///
/// `dst` is valid for writes of `len` bytes, for which the words suffice, and the CPU has AES instructions.
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "aes,sse4.1"))]
#[cfg_attr(target_arch = "aarch64", target_feature(enable = "neon,aes"))]
#[inline(never)]
pub(crate) unsafe fn quick_hedged<W: Words>(
    arena: &Arena,
    dst: *mut u8,
    len: usize,
) -> Result<(), Miss> {
    // The CPU's word before the lock, so that nobody waits for it, and before any byte of the page is in a
    // register, so that a bad instruction cannot cancel it.
    let Some(r) = arena.cpu_word(0) else {
        return Err(Miss::Empty);
    };
    let slot = Quick::take(arena, W::BYTES)?;
    let cell = slot.cell();
    let last = &cell.ledger.last_word;
    // SAFETY: the caller's promise.
    let mask = unsafe { cell.mask(r, len) }.filter(|_| last.load(Relaxed) != r);
    let Some(mask) = mask else {
        // No hedge key yet, or a stuck instruction: the slower path sees the same, and deals with it.
        return slot.settle(W::BYTES, Err(None));
    };
    last.store(r, Relaxed);
    let words = cell.copy_words::<W>(slot.owner(), slot.left);
    let words = slot.settle(W::BYTES, words.map_err(Some))?;
    // Not returned, which for two words is by way of memory.
    // SAFETY: the caller's promise.
    unsafe { words.masked(mask).put(dst, len) };
    Ok(())
}

/// 1 to [`LIMIT`] bytes, buffered.
///
/// # Safety
///
/// `dst` is valid for writes of `len` bytes, and the arena has slots.
#[inline(never)]
pub(super) unsafe fn plain(arena: &Arena, dst: *mut u8, len: usize) -> Result<(), Error> {
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
    // The CPU's words before the lock, so that nobody waits for them, and before any byte of the page is in a
    // register, so that a bad instruction cannot cancel it.
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
        if is_stuck(arena, slot.cell(), r) {
            drop(slot);
            return fall_back(arena, dst, len);
        }
        let owner = Owner::Slot { epoch };
        let drawn = if len <= 16 {
            slot.cell().draw_masked(owner, r[0], dst, len)
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

/// One word for up to 16 bytes, two above.
#[inline(always)]
pub(super) fn words(arena: &Arena, len: usize) -> Option<[u64; 2]> {
    let first = arena.cpu_word(0)?;
    if len <= 16 { Some([first, 0]) } else { Some([first, arena.cpu_word(first)?]) }
}

/// Whether the CPU gave the word again that it gave for the last draw of this cell: a stuck instruction shows
/// at the second draw. A sound one does so with probability 2^-64.
#[inline(always)]
pub(super) fn is_stuck(arena: &Arena, cell: Cell<'_>, r: [u64; 2]) -> bool {
    let last = &cell.ledger.last_word;
    if last.load(Relaxed) == r[0] {
        arena.distrust_cpu_rng();
        return true;
    }
    last.store(r[0], Relaxed);
    false
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
        if let (Some(r), Some(slot)) = (r, Slot::take_other(arena, epoch))
            && !(HEDGED && is_stuck(arena, slot.cell(), r))
        {
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
        if HEDGED && is_stuck(arena, cell, r) {
            break;
        }
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
