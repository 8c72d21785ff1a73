//! A page of random bytes, with the state that says which of them may leave.
//!
//! The kernel may drop the page at any instant, and meanwhile two CPUs can see two different pages
//! at its address. So nothing that orders draws lies in the page: the count of bytes left, the
//! number of the refill and the guards' values are in [`PageState`]. The page holds a copy of the
//! number, the tag. Bytes leave only if tag and number are equal before and after the copy.
//!
//! Every caller owns the page: by a slot's lock, or because it is the page of an `Rng`.

#![allow(unsafe_code)]

use crate::linux::cipher::{hedge, wipe};
use crate::linux::failpoint::{Point, hook};
use crate::linux::guards::fork::Epoch;
use crate::linux::pool::copy::{Words, is_zero, take_block, take_plain, take_rest, take_word};
use crate::linux::pool::layout::{CAPACITY, DATA, ROUND_KEYS, TAG};
use crate::linux::pool::mask::Mask;
use crate::linux::pool::page_state::PageState;
use crate::linux::pool::refused::Refused;
use crate::linux::process::Process;
use crate::linux::sync::seqlock::{Void, seqlock_read};
use core::sync::atomic::{AtomicU64, Ordering, fence};

/// Reads a field of a page's state that the caller owns, as plain memory. With an atomic load the
/// compiler could not fold it into the comparison, which costs an instruction and a register.
#[inline(always)]
fn owned(field: &AtomicU64) -> u64 {
    // SAFETY: the owner alone writes the field, so this read can race with no write; others only
    // read.
    unsafe { *field.as_ptr() }
}

/// The way to detect a fork in the middle of a draw.
#[derive(Clone, Copy)]
pub(crate) enum ForkCheck {
    /// A slot's page. In the child a handler may use the slot before the interrupted frame
    /// continues, so the frame must compare the epoch in which it began.
    Epoch(Epoch),
    /// A handle's page. Only the handle fills it, so in a child it stays cleared, and the tag alone
    /// shows the fork.
    TagOnly,
}

/// A page that the caller owns.
#[derive(Clone, Copy)]
pub(crate) struct PageRef<'a> {
    pub(crate) process: &'a Process,
    pub(crate) page_state: &'a PageState,
    pub(crate) page: *mut u8,
}

impl<'a> PageRef<'a> {
    /// Returns the number that the page carries; 0 if the page was dropped, or cleared by a fork.
    #[inline(always)]
    pub(super) fn tag(self) -> &'a AtomicU64 {
        // SAFETY: an aligned u64 at the start of a page that stays mapped; only ever used as an
        // atomic.
        unsafe { AtomicU64::from_ptr(self.page.add(TAG).cast()) }
    }

    /// Returns whether the page is still the one of the last refill.
    #[inline(always)]
    pub(super) fn is_present(self) -> bool {
        self.tag().load(Ordering::Relaxed) == owned(&self.page_state.number)
    }

    pub(super) fn set_tag(self, number: u64) {
        self.tag().store(number, Ordering::Relaxed);
    }

    /// Returns whether state, page and guards agree. A refill leaves bytes only under a number and
    /// a generation that are not 0, so a dropped page and a cleared generation fail here.
    ///
    /// Special case: after a fork, an interrupted frame may release a slot of a dead bank. The
    /// state then has `remaining > 0` and every other field 0. It fails here, because no generation
    /// is 0.
    #[inline(always)]
    fn agrees(self) -> bool {
        // Compared one after the other: each comparison needs two registers. All at once need
        // eight, and the spills to the stack would delay the next slot's lock.
        let (page_state, process) = (self.page_state, self.process);
        process.generation.get().load(Ordering::Relaxed) == owned(&page_state.generation)
            && process.clock.marker().load(Ordering::Relaxed) == owned(&page_state.marker)
            && self.is_present()
    }

    /// Returns the address of the first of `remaining` bytes, at most [`CAPACITY`].
    #[inline(always)]
    fn source(self, remaining: u32) -> *mut u8 {
        // SAFETY: within the page.
        unsafe { self.page.add(DATA + CAPACITY).sub(remaining as usize) }
    }

    /// Returns whether a copy may leave: no guard has changed since the page was filled.
    #[inline(always)]
    pub(super) fn may_leave(self, fork_check: ForkCheck) -> bool {
        self.agrees()
            && match fork_check {
                ForkCheck::Epoch(epoch) => self.process.is_epoch(epoch),
                ForkCheck::TagOnly => true,
            }
    }

    /// Draws one word or two.
    #[inline(always)]
    pub(crate) fn draw_words<W: Words>(self, fork_check: ForkCheck) -> Result<W, Refused> {
        let remaining = self.page_state.withdraw(W::BYTES).ok_or(Refused::Empty)?;
        self.copy_words(fork_check, remaining).map_err(|void| self.discard(void))
    }

    /// Copies and erases the first one or two words of `remaining` bytes; an error if they may not
    /// leave.
    ///
    /// Generation, marker and canary are compared once, after the copy, and before it such a
    /// comparison would prove nothing. Once a guard has changed, it stays changed until the owner
    /// fills the page again. The tag is compared before the copy too: while a dropped page leaves
    /// the CPUs' translations, this CPU can see the old page first and then the new one, with the
    /// right tag.
    #[inline(always)]
    pub(crate) fn copy_words<W: Words>(
        self,
        fork_check: ForkCheck,
        remaining: u32,
    ) -> Result<W, Void> {
        seqlock_read!(
            self.is_present(),
            // SAFETY: at least 16 bytes before the page's end, and aligned to 8.
            unsafe { W::take(self.source(remaining)) },
            self.may_leave(fork_check)
        )
    }

    /// Copies and erases the first 16 of `remaining` bytes to `dst`. On an error the bytes may not
    /// leave, and `dst` holds void bytes.
    ///
    /// # Safety
    ///
    /// `dst` is valid for writes of 16 bytes.
    #[inline(always)]
    pub(crate) unsafe fn copy_block(
        self,
        fork_check: ForkCheck,
        remaining: u32,
        dst: *mut u8,
    ) -> Result<(), Void> {
        seqlock_read!(
            self.is_present(),
            // SAFETY: at least 16 bytes before the page's end; the process knows the CPU; `dst` is
            // the caller's.
            unsafe { take_block(self.source(remaining), dst, self.process.avx) },
            self.may_leave(fork_check)
        )
    }

    /// Draws 16 bytes to `dst`.
    ///
    /// # Safety
    ///
    /// `dst` is valid for writes of 16 bytes.
    #[inline(always)]
    pub(crate) unsafe fn draw_block(
        self,
        fork_check: ForkCheck,
        dst: *mut u8,
    ) -> Result<(), Refused> {
        let remaining = self.page_state.withdraw(16).ok_or(Refused::Empty)?;
        // SAFETY: 16 bytes were withdrawn, so that many lie before the page's end; `dst` has room
        // for them.
        unsafe { self.copy_block(fork_check, remaining, dst) }.map_err(|void| self.discard(void))
    }

    /// Discards the rest of the page.
    #[inline(always)]
    fn discard(self, void: Void) -> Refused {
        let left = self.page_state.remaining.swap(0, Ordering::Relaxed);
        self.refused(void, left)
    }

    /// Classifies a draw that may not leave. A dropped page is full of zeros and has tag 0; a fork
    /// clears the state with the page. Zeros in a page that is present are a fault of memory or
    /// kernel: the tripwire.
    #[inline(always)]
    pub(crate) fn refused(self, void: Void, left: u32) -> Refused {
        let filled = owned(&self.page_state.number) != 0;
        if void == Void::Zeros && filled && self.is_present() {
            Refused::Zeros(left)
        } else {
            Refused::Torn(left)
        }
    }

    /// Draws `len` bytes (more than 0, at most [`CAPACITY`]) to `dst`. With a mask, each block is
    /// masked in the caller's buffer (see `cipher::hedge`).
    ///
    /// On an error `dst` may hold void bytes: the caller wipes them or draws again.
    ///
    /// # Safety
    ///
    /// `dst` is valid for writes of `len` bytes. With a mask, the CPU has AES instructions.
    #[inline(always)]
    pub(crate) unsafe fn draw<M: Mask>(
        self,
        fork_check: ForkCheck,
        mask: M,
        dst: *mut u8,
        len: usize,
    ) -> Result<(), Refused> {
        if !self.agrees() || (M::HEDGED && self.page_state.hedge_key.load(Ordering::Relaxed) == 0) {
            return Err(Refused::Empty);
        }
        if len <= 16 {
            // SAFETY: `dst` has room for `len` bytes; a mask comes from a CPU with AES
            // instructions, and its key was looked for above.
            return unsafe {
                if M::HEDGED {
                    fence(Ordering::Acquire); // the tag is loaded before the mask's key
                    self.draw_masked(fork_check, mask.words(), dst, len)
                } else {
                    self.draw_plain(fork_check, dst, len)
                }
            };
        }
        let withdrawn = self.page_state.withdraw((len as u32).next_multiple_of(8));
        let source = self.source(withdrawn.ok_or(Refused::Empty)?);
        let copied = seqlock_read!(
            true, // `agrees` has compared the tag
            // SAFETY: as many bytes were withdrawn as `len` takes in whole words, so they lie
            // before the page's end; `dst` has room for `len`.
            unsafe { self.take_blocks(source, dst, len) },
            self.may_leave(fork_check)
        );
        copied.map_err(|void| self.discard(void))?;
        if M::HEDGED {
            // SAFETY: the page holds an expanded key, aligned; the CPU has AES; the `len`
            // bytes at `dst` were written just now.
            unsafe {
                let keys = self.page.add(ROUND_KEYS);
                hedge::mask_in_place(keys, mask.words(), dst, len);
            }
        }
        Ok(())
    }

    /// Copies and erases the first `len` (17 and more) of `remaining` bytes to `dst`. On an error
    /// the bytes may not leave, and `dst` holds void bytes.
    ///
    /// # Safety
    ///
    /// `dst` is valid for writes of `len` bytes, at most `remaining`.
    #[inline(always)]
    pub(crate) unsafe fn copy_blocks(
        self,
        fork_check: ForkCheck,
        remaining: u32,
        dst: *mut u8,
        len: usize,
    ) -> Result<(), Void> {
        seqlock_read!(
            self.is_present(),
            // SAFETY: `len` is at most `remaining`, which lie before the page's end; `dst` has room
            // for `len` bytes.
            unsafe { self.take_blocks(self.source(remaining), dst, len) },
            self.may_leave(fork_check)
        )
    }

    /// Draws up to 16 bytes to `dst`. On an error the bytes may not leave, and `dst` holds void
    /// bytes.
    ///
    /// The bytes go to `dst` in assembly. They would otherwise pass through registers that the next
    /// function saves in its frame, so that 1 of 400 served words stayed there.
    ///
    /// # Safety
    ///
    /// `dst` is valid for writes of `len` bytes, 1 to 16.
    #[inline(always)]
    unsafe fn draw_plain(
        self,
        fork_check: ForkCheck,
        dst: *mut u8,
        len: usize,
    ) -> Result<(), Refused> {
        if len == 16 {
            // SAFETY: `dst` has `len` bytes, as the caller says.
            return unsafe { self.draw_block(fork_check, dst) };
        }
        let withdrawn = self.page_state.withdraw(if len > 8 { 16 } else { 8 });
        let source = self.source(withdrawn.ok_or(Refused::Empty)?);
        let copied = seqlock_read!(
            self.is_present(),
            // SAFETY: at least 16 bytes before the page's end, and aligned to 8; `dst` has `len`
            // bytes, fewer than 16.
            unsafe {
                match len {
                    8 => take_word(source, dst),
                    _ => take_rest(source, dst, len),
                }
            },
            self.may_leave(fork_check)
        );
        copied.map_err(|void| self.discard(void))
    }

    /// Draws up to 16 bytes as [`draw_plain`](Self::draw_plain) does, masked by `r`. The mask is
    /// made before the guards are compared: its key lies in the page, too. If that page is not the
    /// one that the state describes, the words are refused.
    ///
    /// # Safety
    ///
    /// The promises of [`draw_plain`](Self::draw_plain); the CPU has AES instructions.
    #[inline(always)]
    pub(crate) unsafe fn draw_masked(
        self,
        fork_check: ForkCheck,
        r: [u64; 2],
        dst: *mut u8,
        len: usize,
    ) -> Result<(), Refused> {
        let bytes = if len > 8 { 16 } else { 8 };
        // SAFETY: the CPU has AES, as the caller says. Whole words are drawn to `dst`, if it has
        // room for them, and else to the 16 bytes of `block`, of which `len` are copied to `dst`.
        unsafe {
            let mask = self.mask(r)?;
            // With constants, so that no loop and no copy of the mask remains.
            if len == 8 {
                self.draw_plain(fork_check, dst, 8)?;
                hedge::xor(&mask, dst, 8);
                return Ok(());
            }
            if len == 16 {
                self.draw_plain(fork_check, dst, 16)?;
                hedge::xor_block(mask, dst);
                return Ok(());
            }
            let mut block = [0u8; 16];
            let drawn = self.draw_plain(fork_check, block.as_mut_ptr(), bytes);
            if drawn.is_ok() {
                hedge::xor_block(mask, block.as_mut_ptr());
                dst.copy_from_nonoverlapping(block.as_ptr(), len);
            }
            // Void bytes as well, which have no mask.
            wipe(block.as_mut_ptr(), 16);
            drawn
        }
    }

    /// Returns the mask of a request of up to 16 bytes.
    ///
    /// # Safety
    ///
    /// The CPU has AES instructions.
    #[inline(always)]
    pub(crate) unsafe fn mask(self, r: [u64; 2]) -> Result<[u64; 2], Refused> {
        if self.page_state.hedge_key.load(Ordering::Relaxed) == 0 {
            return Err(Refused::Empty);
        }
        // SAFETY: the page holds an expanded key (zeros, if it was dropped), aligned; the CPU has
        // AES.
        Ok(unsafe { hedge::mask(self.page.add(ROUND_KEYS), r) })
    }

    /// Copies and erases more than 16 bytes; returns None if the first or the last 16 were zero. A
    /// page that vanished during the copy is zero in one of the two.
    ///
    /// # Safety
    ///
    /// The promises of [`draw`](Self::draw); `source` has `len` bytes, and 16 readable ones after
    /// them.
    #[inline(always)]
    unsafe fn take_blocks(self, source: *mut u8, dst: *mut u8, len: usize) -> Option<()> {
        let whole = len & !15;
        // SAFETY: `whole` is at most `len`, and the rest of `len` below 16.
        unsafe {
            take_plain(source, dst, whole, self.process.is_wide());
            // The test reads the copy, because the page may be another one by now.
            let mut zeros = is_zero(dst) || is_zero(dst.add(whole - 16));
            hook(Point::MidCopy);
            if len > whole {
                let (source, dst, len) = (source.add(whole), dst.add(whole), len - whole);
                zeros |= take_rest(source, dst, len).is_none();
            }
            (!zeros).then_some(())
        }
    }
}
