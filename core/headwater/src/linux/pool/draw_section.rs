//! Small requests in restartable sequences: from this CPU's own page, without a lock.
//!
//! A draw that finds nothing fills a page ([`refill_and_draw`]), and answers its request with bytes
//! of the same key.

#![allow(unsafe_code)]

use crate::linux::cipher::{hedge, wipe};
use crate::linux::failpoint::{Point, hook};
use crate::linux::guards::fork::Epoch;
use crate::linux::pool::copy::Words;
use crate::linux::pool::draw::{alone, touch};
use crate::linux::pool::layout::ROUND_KEYS;
use crate::linux::pool::mask::{CpuWords, Mask};
use crate::linux::pool::refused::{Refused, Served};
use crate::linux::pool::section;
use crate::linux::pool::slot::{Slot, count};
use crate::linux::pool::slot_line::SlotCounters;
use crate::linux::process::Process;
use crate::{Error, Mode};
use core::mem::ManuallyDrop;
use core::sync::atomic::Ordering::Relaxed;

/// Draws 1 to `draw::LIMIT` unmasked bytes. `dst` may hold void bytes on an error.
///
/// # Safety
///
/// `dst` is valid for writes of `len` bytes, and the process has sections.
#[inline]
pub(crate) unsafe fn unmasked(process: &Process, dst: *mut u8, len: usize) -> Result<(), Refused> {
    // SAFETY: each caller has asked `has_sections`, and sections that were switched off since then
    // leave by themselves. `dst` has room for `len` bytes, and the block is 16 bytes of our own.
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
/// # Safety
///
/// `dst` is valid for writes of `len` bytes, the process has sections, and the CPU has AES
/// instructions.
#[inline(always)]
pub(crate) unsafe fn hedged(process: &Process, dst: *mut u8, len: usize) -> Result<(), Refused> {
    // SAFETY: all is passed on as it came.
    unsafe {
        match len {
            17.. => masked_blocks(process, dst, len),
            9..17 => masked_block_part(process, dst, len),
            _ => masked_word_part(process, dst, len),
        }
    }
}

/// Returns the hedge key of this CPU's page and fresh words of the CPU, from which the mask of a
/// request of `len` bytes is made. Refuses before any word is drawn if too few bytes are left, so
/// that an empty page costs no words that nothing is made of.
///
/// The mask is made outside the section, with the hedge key that this CPU's page has at that time.
/// If the page is exchanged in between, mask and bytes belong to different pages, and the key may
/// even be read while a refill writes another over it. This weakens neither, because the bytes are
/// unserved ones of a page that passed its guards, and the mask is one-way in fresh words of the
/// CPU under any key.
#[inline(always)]
fn material(process: &Process, len: usize) -> Result<(*const u8, [u64; 2]), Refused> {
    process.clean_registers();
    process.expire();
    let line = process.sections.line(process.rseq.get());
    let is_ready = |line: &&section::CpuLine| line.has_hedge_key() && line.left() as usize >= len;
    let Some(page) = line.filter(is_ready).and_then(section::CpuLine::page) else {
        return Err(Refused::Empty);
    };
    let Some(words) = CpuWords::of_now(process) else {
        return Err(Refused::Stuck);
    };
    // SAFETY: a page that a line has stays mapped, and the round keys lie within it, aligned.
    Ok((unsafe { page.as_ptr().add(ROUND_KEYS) }, words.words()))
}

/// Draws 16 masked bytes to `dst`, which is written only if they may leave.
///
/// # Safety
///
/// The promises of [`hedged`], for 16 bytes.
#[inline(always)]
pub(crate) unsafe fn masked_block(process: &Process, dst: *mut u8) -> Result<(), Refused> {
    let (keys, r) = material(process, 16)?;
    // SAFETY: `dst` has room for 16 bytes; process, CPU and keys are as both functions ask.
    unsafe {
        section::take_block(process, dst)?;
        hedge::mask_block(keys, r, dst);
    }
    Ok(())
}

/// Draws a masked word.
///
/// The mask comes first here: the word would otherwise wait for it in the compiler's hands,
/// unmasked.
///
/// # Safety
///
/// The promises of [`hedged`], without a place for bytes.
#[inline(always)]
pub(crate) unsafe fn masked_word(process: &Process) -> Result<u64, Refused> {
    let (keys, r) = material(process, 8)?;
    // SAFETY: process, CPU and keys are as both functions ask.
    unsafe {
        let mask = hedge::mask(keys, r);
        Ok(section::take_word(process)?.masked(mask))
    }
}

/// Draws 9 to 16 masked bytes to `dst`: a block, whose excess is dropped.
///
/// Three functions for three lengths and not one, so that the short ones save no registers for the
/// long one.
///
/// # Safety
///
/// The promises of [`hedged`], for up to 16 bytes.
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "aes,sse4.1"))]
#[cfg_attr(target_arch = "aarch64", target_feature(enable = "neon,aes"))]
#[inline(never)]
unsafe fn masked_block_part(process: &Process, dst: *mut u8, len: usize) -> Result<(), Refused> {
    let mut block = [0u8; 16];
    // SAFETY: 16 bytes of our own, of which `len` go to as many at `dst`; the rest is passed on.
    unsafe {
        masked_block(process, block.as_mut_ptr())?;
        dst.copy_from_nonoverlapping(block.as_ptr(), len);
        wipe(block.as_mut_ptr(), 16);
    }
    Ok(())
}

/// Draws 1 to 8 masked bytes to `dst`: a word, whose excess is dropped.
///
/// # Safety
///
/// The promises of [`hedged`], for up to 8 bytes.
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "aes,sse4.1"))]
#[cfg_attr(target_arch = "aarch64", target_feature(enable = "neon,aes"))]
#[inline(never)]
unsafe fn masked_word_part(process: &Process, dst: *mut u8, len: usize) -> Result<(), Refused> {
    // SAFETY: `dst` has room for `len` bytes, which are at most a word; the rest is passed on.
    unsafe { masked_word(process)?.put(dst, len) };
    Ok(())
}

/// Draws 17 to `draw::LIMIT` masked bytes to `dst`, which may hold void bytes on an error.
///
/// # Safety
///
/// The promises of [`hedged`], for 17 bytes and more.
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "aes,sse4.1"))]
#[cfg_attr(target_arch = "aarch64", target_feature(enable = "neon,aes"))]
#[inline(never)]
unsafe fn masked_blocks(process: &Process, dst: *mut u8, len: usize) -> Result<(), Refused> {
    let (keys, r) = material(process, len)?;
    // SAFETY: `dst` has room for `len` bytes; process, CPU and keys are as both functions ask.
    unsafe {
        section::take_blocks(process, dst, len)?;
        hedge::mask_in_place(keys, r, dst, len);
    }
    Ok(())
}

/// Counts the bytes left in this CPU's page, if a guard has voided them.
fn count_void(process: &Process) {
    let Some(line) = process.sections.line(process.rseq.get()) else { return };
    let void = line.void_bytes(process);
    if void > 0 {
        count(process, |counters| SlotCounters::add(&counters.discarded_bytes, u64::from(void)));
    }
}

/// Answers a request that found nothing to draw, and puts a page for those that follow.
///
/// # Safety
///
/// `dst` is valid for writes of `len` bytes, 1 to `draw::LIMIT`, and the process has sections.
#[cold]
#[inline(never)]
pub(crate) unsafe fn refill_and_draw(
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
    // SAFETY: `dst` is writable for `len` bytes, of which there is at least one.
    unsafe { touch(dst, len) };
    let mut tries = 0;
    while tries < 3 && refused != Refused::Stuck {
        let (epoch, cpu) = (process.epoch(), process.rseq.get());
        let Some(slot) = Slot::take_for(process, epoch, cpu) else {
            break;
        };
        // A forced unwinding (pthread_exit in a handler, asynchronous cancellation) must not drop
        // the slot: between the exchange and the note of the page that came back, its next holder
        // would take the page that the line has. So the slot is lost then, as by siglongjmp.
        let slot = ManuallyDrop::new(slot);
        // SAFETY: `dst` is writable for `len` bytes, and the process has sections, as this function
        // asks.
        let answered = unsafe { refill_and_put(&slot, epoch, cpu, dst, len) };
        drop(ManuallyDrop::into_inner(slot));
        if answered? == Served::Yes {
            return Ok(());
        }
        // A fork does not count: the child begins again in its own bank.
        if process.is_epoch(epoch) {
            tries += 1;
        }
    }
    // SAFETY: `dst` is writable for `len` bytes.
    unsafe { alone(process, dst, len) }
}

/// Fills the slot's work page and the caller's buffer under one key, and puts the page for later
/// draws of this CPU. Void if a guard changed meanwhile: `dst` holds void bytes then.
///
/// Each refill answers its own request, whether its page is put or not. So a thread that was
/// preempted in the middle of a refill makes no other thread wait.
///
/// # Safety
///
/// `dst` is valid for writes of `len` bytes, and the process has sections.
unsafe fn refill_and_put(
    slot: &Slot<'_>,
    epoch: Epoch,
    cpu: u32,
    dst: *mut u8,
    len: usize,
) -> Result<Served, Error> {
    let process = slot.process;
    // Before the key is drawn: a `discard` that comes later voids the page by another stamp.
    let stamp = process.sections.stamp_or_switch_on();
    // A page that was put before the mode became `hedged` is replaced, however much is left of it.
    let lacks_key = process.mode() == Mode::Hedged && !process.has_hedge_key();
    let page = slot.work_page(epoch);
    // SAFETY: `dst` is writable for `len` bytes; the slot's holder owns its work page.
    if unsafe { page.answer_and_fill(epoch, dst, len) }? == Served::Void {
        return Ok(Served::Void);
    }
    hook(Point::Complete);
    let order = section::Put {
        stamp,
        number: page.page_state.number.load(Relaxed),
        need: if lacks_key { u32::MAX } else { len as u32 },
        hedge_key: page.page_state.hedge_key.load(Relaxed),
        cpu,
    };
    // SAFETY: the page is complete, its tag is the state's number, and the slot's holder owns it.
    let put = unsafe { section::put(process, page.page, &order) };
    hook(Point::Exchanged);
    // In a child that a handler forked meanwhile, the slot is one of the parent's bank: it is left
    // alone, in case that bank ever comes round.
    if put.page != page.page && process.is_epoch(epoch) {
        // The CPU's first put returns no page, and the holder gets the page for which an empty
        // line stands. A line is empty once in a process, so this page is given away once.
        let is_first = put.page.is_null();
        let owned = if is_first { process.memory.first_page(epoch, cpu) } else { put.page };
        slot.line.work.store(owned, Relaxed);
    }
    slot.count_put(put.outcome);
    // Again, because a handler may have forked in the put, and the child has the same bytes. The
    // other guards were compared when the bytes were complete, and the page may belong to another
    // refill by now.
    Ok(if process.is_epoch(epoch) { Served::Yes } else { Served::Void })
}
