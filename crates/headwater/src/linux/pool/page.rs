//! A cell: a page of random bytes, and the page_state that says what of it may leave.
//!
//! The page may be dropped by the kernel at any instant, and while it is, two CPUs can see two different
//! pages at its address. So nothing that orders draws lies in it: the count of bytes left, the number of
//! the refill and the generations are in the page_state, and the page holds a copy of the number, by which
//! page_state and page are known to belong together. Bytes leave if they do, before and after the copy.
//!
//! Whoever calls in here owns the cell: by a slot's lock, or because it is the page of an `Rng`.

#![allow(unsafe_code)]

use crate::linux::failpoint::{Point, hook};
use crate::linux::guards::fork::Epoch;
use crate::linux::pool::copy::{Block, Words, is_zero, take_block, take_plain, take_rest};
use crate::linux::pool::mask::Mask;
use crate::linux::pool::page_state::PageState;
use crate::linux::pool::slot::count;
use crate::linux::pool::slot_line::SlotCounters;
use crate::linux::process::Process;
use crate::linux::sync::seqlock::{Void, seqlock_read};
use core::sync::atomic::{AtomicU64, Ordering, fence};

/// What lies where in a page. Larger hardware pages leave the rest unused.
pub(crate) mod layout {
    /// The number of the refill: equal to the page_state's, or the page is not the page_state's.
    pub(crate) const TAG: usize = 0;
    /// The vDSO's state, which keys the refills of this page.
    pub(crate) const STATE: usize = 64;
    pub(crate) const STATE_ROOM: usize = 192;
    /// The hedge key, expanded.
    pub(crate) const ROUND_KEYS: usize = 256;
    /// From here to the end: the keystream of a refill. Its first 32 bytes become the hedge key. Before that
    /// the seed of the refill's key lies here.
    pub(crate) const STREAM: usize = 512;
    /// Where a refill for a section keeps the expanded hedge key until the put.
    pub(crate) const STAGED_KEYS: usize = 1024;
    pub(crate) const DATA: usize = STREAM + 32;
    /// Bytes that are served; 16 more stay behind, so that a window of 16 bytes can be read at any of them.
    pub(crate) const CAPACITY: usize = PAGE - DATA - 16;
    pub(crate) const PAGE: usize = 4096;

    const _: () = assert!(STATE + STATE_ROOM <= ROUND_KEYS);
    const _: () = assert!(ROUND_KEYS + 240 <= STREAM && ROUND_KEYS.is_multiple_of(16));
    const _: () =
        assert!((PAGE - STREAM).is_multiple_of(512), "the cipher works in strips of 512 bytes");
    const _: () = assert!(CAPACITY.is_multiple_of(8) && DATA.is_multiple_of(16));
}
use layout::{CAPACITY, DATA, TAG};

/// Reads a field of a page_state that the caller owns, as memory and not as an atomic: the compiler may then make
/// it an operand of the comparison, which saves an instruction and a register.
#[inline(always)]
fn owned(field: &AtomicU64) -> u64 {
    // SAFETY: the owner alone writes the field, so this read can race with no write; others only read.
    unsafe { *field.as_ptr() }
}

/// Why nothing left. To be [counted](Refused::count), which needs no lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Refused {
    /// Not enough bytes, or a guard says that they are void: refill.
    Empty,
    /// A guard moved while bytes were copied; what was copied is void, and so many bytes of the page.
    Torn(u32),
    /// 16 bytes that were never served were zero: the page is not what the page_state says.
    Zeros(u32),
    /// The CPU gave a word again that it had given before, and is not asked any more.
    Stuck,
}

/// Who owns a cell, which decides how a fork in the middle of a draw is told.
#[derive(Clone, Copy)]
pub(crate) enum ForkCheck {
    /// A slot, which a handler may use in the child before the frame that the fork interrupted goes on: the
    /// frame has to compare the epoch it began in.
    Epoch(Epoch),
    /// A handle. Nobody else fills its page, so in a child the page stays cleared, and its tag tells.
    TagOnly,
}

/// A cell that the caller owns.
#[derive(Clone, Copy)]
pub(crate) struct PageRef<'a> {
    pub(crate) process: &'a Process,
    pub(crate) page_state: &'a PageState,
    pub(crate) page: *mut u8,
}

impl Refused {
    /// Counts what happened.
    #[cold]
    #[inline(never)]
    pub(crate) fn count(self, process: &Process) {
        let (left, zeros) = match self {
            Refused::Empty | Refused::Stuck => return,
            Refused::Torn(left) => (left, 0),
            Refused::Zeros(left) => (left, 1),
        };
        count(process, |counters| {
            SlotCounters::add(&counters.discarded_bytes, u64::from(left));
            SlotCounters::add(&counters.retries, 1);
            SlotCounters::add(&counters.tripwires, zeros);
        });
    }
}

impl<'a> PageRef<'a> {
    /// The number that the page carries; 0 if it was dropped, or cleared by a fork.
    #[inline(always)]
    fn tag(self) -> &'a AtomicU64 {
        // SAFETY: an aligned u64 at the start of a page that stays mapped; only ever used as an atomic.
        unsafe { AtomicU64::from_ptr(self.page.add(TAG).cast()) }
    }

    /// Whether the page still is what the last refill made.
    #[inline(always)]
    pub(super) fn is_present(self) -> bool {
        self.tag().load(Ordering::Relaxed) == owned(&self.page_state.number)
    }

    pub(super) fn set_tag(self, number: u64) {
        self.tag().store(number, Ordering::Relaxed);
    }

    /// Whether page_state, page and guards agree. A refill leaves bytes only under a number and a generation that
    /// are not zero, so a dropped page and a cleared word do not pass.
    ///
    /// One page_state can say that bytes are left and be zero otherwise: the one to which a frame that a fork
    /// interrupted gives its slot back, in a bank that nobody uses. No word is 0, so it does not pass either.
    #[inline(always)]
    fn agrees(self) -> bool {
        // One after the other: each comparison needs two registers for a moment, all at once need eight, and
        // what does not fit is spilled to the stack, for which the next slot's lock would wait.
        let (page_state, process) = (self.page_state, self.process);
        process.generation.get().load(Ordering::Relaxed) == owned(&page_state.generation)
            && process.clock.marker().load(Ordering::Relaxed) == owned(&page_state.marker)
            && self.is_present()
    }

    /// Where the first of `remaining` bytes lies; `remaining` is at most [`CAPACITY`].
    #[inline(always)]
    fn source(self, remaining: u32) -> *mut u8 {
        // SAFETY: within the page.
        unsafe { self.page.add(DATA + CAPACITY).sub(remaining as usize) }
    }

    /// Whether what was copied may leave: no guard has moved since the page was filled.
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

    /// Copies and erases the first one or two words of `remaining` bytes. `Err(zeros)` if they may not leave.
    ///
    /// The word, the marker and the canary are compared once, after the copy. That is enough: each of them,
    /// once it has moved, stays moved until the page is filled again, which only its owner does. The page's
    /// tag is compared before as well: while a dropped page leaves the CPUs' translations, this CPU can see
    /// the old page first and the new one, with the right tag, afterwards.
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

    /// Copies and erases the first 16 of `remaining` bytes to `dst`. `Err(zeros)` if they may not leave; `dst`
    /// holds void bytes then.
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
            // SAFETY: at least 16 bytes before the page's end; the process knows the CPU; `dst` is the caller's.
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
        // SAFETY: the caller's promise.
        unsafe { self.copy_block(fork_check, remaining, dst) }.map_err(|void| self.discard(void))
    }

    /// Voids what is left of the page.
    #[inline(always)]
    fn discard(self, void: Void) -> Refused {
        let left = self.page_state.remaining.swap(0, Ordering::Relaxed);
        self.refused(void, left)
    }

    /// What to call a draw that may not leave. A page that was dropped is full of zeros, and its tag says so;
    /// a fork clears the page_state with the page. Zeros in a page that is there are the tripwire's.
    #[inline(always)]
    pub(crate) fn refused(self, void: Void, left: u32) -> Refused {
        let filled = owned(&self.page_state.number) != 0;
        if void == Void::Zeros && filled && self.is_present() {
            Refused::Zeros(left)
        } else {
            Refused::Torn(left)
        }
    }

    /// Draws `len` bytes (more than 0, at most [`CAPACITY`]) to `dst`. If `HEDGED`, each block is masked
    /// by `r` (see `cipher::hedge`), in the caller's buffer.
    ///
    /// On a refused `dst` may hold void bytes: the caller wipes them or draws again.
    ///
    /// # Safety
    ///
    /// `dst` is valid for writes of `len` bytes. If `HEDGED`, the CPU has AES instructions.
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
            // SAFETY: the caller's promise; the hedge key was looked for above.
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
            true, // just looked at
            // SAFETY: the caller's promise.
            unsafe { self.take_blocks(source, dst, len) },
            self.may_leave(fork_check)
        );
        copied.map_err(|void| self.discard(void))?;
        #[cfg(feature = "pools")]
        if M::HEDGED {
            // SAFETY: the page holds an expanded key, aligned; the CPU has AES; `dst` is the caller's promise.
            unsafe {
                let keys = self.page.add(layout::ROUND_KEYS);
                crate::linux::cipher::hedge::mask_in_place(keys, mask.words(), dst, len);
            }
        }
        Ok(())
    }

    /// Copies and erases the first `len` (17 and more) of `remaining` bytes to `dst`. `Err(zeros)` if they may not
    /// leave; what `dst` holds is void then.
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
            // SAFETY: the caller's promise.
            unsafe { self.take_blocks(self.source(remaining), dst, len) },
            self.may_leave(fork_check)
        )
    }

    /// Draws up to 16 bytes to `dst`.
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
        // SAFETY: the caller's promise.
        unsafe {
            match len {
                16 => self.draw_block(fork_check, dst)?,
                9.. => self.draw_words::<Block>(fork_check)?.put(dst, len),
                _ => self.draw_words::<u64>(fork_check)?.put(dst, len),
            }
        }
        Ok(())
    }

    /// Draws up to 16 bytes as [`draw_plain`](Self::draw_plain) does, masked by `r`. The mask is made before the
    /// guards are compared: its key lies in the page, too. If that page is not the page_state's, the words are
    /// refused.
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
        // SAFETY: the caller's promise.
        unsafe {
            let mask = self.mask(r, len)?;
            match len {
                9.. => {
                    let mut block = [0u8; 16];
                    self.draw_block(fork_check, block.as_mut_ptr())?;
                    #[cfg(feature = "pools")]
                    crate::linux::cipher::hedge::xor(&mask, block.as_mut_ptr(), 16);
                    dst.copy_from_nonoverlapping(block.as_ptr(), len);
                    crate::linux::cipher::wipe(block.as_mut_ptr(), 16);
                }
                _ => self.draw_words::<u64>(fork_check)?.masked(mask).put(dst, len),
            }
        }
        Ok(())
    }

    /// Returns the mask of a request of up to 16 bytes.
    ///
    /// # Safety
    ///
    /// The CPU has AES instructions.
    #[inline(always)]
    pub(crate) unsafe fn mask(self, r: [u64; 2], len: usize) -> Result<[u64; 2], Refused> {
        if self.page_state.hedge_key.load(Ordering::Relaxed) == 0 {
            return Err(Refused::Empty);
        }
        #[cfg(feature = "pools")]
        {
            // SAFETY: the page holds an expanded key (zeros, if it was dropped), aligned; the CPU has AES.
            let mask = unsafe {
                crate::linux::cipher::hedge::mask_one(self.page.add(layout::ROUND_KEYS), r)
            };
            if len > 8 || self.process.is_new(&self.page_state.last_mask, mask[1]) {
                return Ok(mask);
            }
        }
        let _ = (r, len);
        Err(Refused::Stuck)
    }

    /// Copies and erases more than 16 bytes. None if the first or the last 16 of them were zero: a page that
    /// vanished is zero in one of the two.
    ///
    /// # Safety
    ///
    /// As [`draw`](Self::draw); `source` has `len` bytes, and 16 readable ones behind them.
    #[inline(always)]
    unsafe fn take_blocks(self, source: *mut u8, dst: *mut u8, len: usize) -> Option<()> {
        let whole = len & !15;
        // SAFETY: `whole` is at most `len`, and the rest of `len` below 16.
        unsafe {
            take_plain(source, dst, whole, self.process.is_wide());
            // What was copied is looked at, not the page again, which may be another by now.
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
