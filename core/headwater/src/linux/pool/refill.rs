//! Filling a page: one key, derived from the kernel's bytes and the CPU's, expanded and erased.

#![allow(unsafe_code)]

use crate::linux::cipher::{ROUND_KEYS as ROUND_KEY_BYTES, wipe};
use crate::linux::failpoint::{Point, hook, witness};
use crate::linux::guards::Seen;
use crate::linux::guards::fork::Epoch;
use crate::linux::pool::layout::{
    CAPACITY, GENERATION, MARKER, PAGE, ROUND_KEYS, STATE, STATE_ROOM, STREAM,
};
use crate::linux::pool::mask::Mask;
use crate::linux::pool::page::{ForkCheck, PageRef};
use crate::linux::pool::refused::{Refused, Served};
use crate::linux::pool::slot::count;
use crate::linux::pool::slot_line::{SlotCounters, SlotLine};
use crate::linux::source;
use crate::{Error, Mode};
use core::sync::atomic::{AtomicU64, Ordering, compiler_fence, fence};

/// The block at which the bytes of the request that a refill answers begin: far after the page's.
const OWN_BLOCK: u64 = 1 << 20;

impl PageRef<'_> {
    /// Draws as [`draw`](PageRef::draw), from a new page if need be. Void if a guard voided the
    /// copy: what was written to `dst` is void.
    ///
    /// # Safety
    ///
    /// The promises of [`draw`](PageRef::draw).
    #[inline(always)]
    pub(crate) unsafe fn draw_or_refill<M: Mask>(
        self,
        fork_check: ForkCheck,
        mask: M,
        dst: *mut u8,
        len: usize,
    ) -> Result<Served, Error> {
        // SAFETY: `dst` and `len` are passed on as they came, and both functions ask for the same.
        unsafe {
            match self.draw(fork_check, mask, dst, len) {
                Ok(()) => Ok(Served::Yes),
                Err(refused) => self.refill_and_draw(refused, fork_check, mask, dst, len),
            }
        }
    }

    /// Fills the page after `refused`, and draws as [`draw`](PageRef::draw), twice at most.
    /// Void if a guard changed during the copy: `dst` holds void bytes then.
    ///
    /// # Safety
    ///
    /// The promises of [`draw`](PageRef::draw).
    pub(crate) unsafe fn refill_and_draw<M: Mask>(
        self,
        mut refused: Refused,
        fork_check: ForkCheck,
        mask: M,
        dst: *mut u8,
        len: usize,
    ) -> Result<Served, Error> {
        for _ in 0..2 {
            if refused != Refused::Empty {
                break;
            }
            self.refill()?;
            // SAFETY: a refill changes nothing about `dst`, `len` and the CPU, which `draw` asks
            // for.
            match unsafe { self.draw(fork_check, mask, dst, len) } {
                Ok(()) => return Ok(Served::Yes),
                Err(again) => refused = again,
            }
        }
        refused.count(self.process);
        Ok(Served::Void)
    }

    /// Fills the page.
    ///
    /// The order of the steps is the argument. State and tag come first: a drop or a fork from here
    /// on leaves a tag of 0, whatever is written later. The key comes next: drawn after the guards
    /// were read, it is at least as new as they are. The count of bytes left comes last: until then
    /// no draw can start.
    pub(crate) fn refill(self) -> Result<(), Error> {
        let PageRef { process, page_state, .. } = self;
        self.count_discarded();
        let links = self.draw_key()?;
        self.show_guards();
        self.stream();
        self.end_key(links);
        compiler_fence(Ordering::SeqCst);
        count(process, |counters| SlotCounters::add(&counters.refills, 1));
        page_state
            .remaining
            .store(if self.is_known() { CAPACITY as u32 } else { 0 }, Ordering::Relaxed);
        Ok(())
    }

    /// Draws a key under the guards as they are now, leaves its round keys in the page, and returns
    /// the number of refills that may follow it in a chain.
    ///
    /// The seed lies where the stream begins, and is erased by the derivation. So every byte from
    /// which the key could be computed is in memory that the kernel never swaps nor dumps, or in a
    /// register.
    fn draw_key(self) -> Result<u64, Error> {
        // SAFETY: the first 64 bytes of the stream's room, in a page that we own.
        let seed = unsafe { self.page.add(STREAM) };
        let links = loop {
            let expected = self.process.has_cpu_words();
            let links = match self.follow() {
                Some(links) => links,
                None => {
                    self.verified_half(seed, || self.number())?;
                    self.most_links()
                }
            };
            // SAFETY: the second half of the seed.
            if unsafe { self.process.mix(seed.add(32), expected) } {
                break links;
            }
            // Without words there is no link, neither this one nor another.
        };
        // SAFETY: the 64 bytes of the seed, and the round keys' room, which is aligned and lies
        // before the stream in the same page; the back end was chosen by what this CPU has.
        unsafe {
            self.process.backend.derive(seed, self.round_keys());
            witness(self.round_keys());
        }
        Ok(links)
    }

    /// Expands the page's key into its stream.
    fn stream(self) {
        // SAFETY: the stream ends with the page, and the round keys lie before it, in a page that
        // we own.
        unsafe {
            let stream = self.page.add(STREAM);
            self.process.backend.stream(self.round_keys(), [0, 0], stream, PAGE - STREAM);
        }
    }

    /// Erases the page's key. If masks are used, the hedge key takes its place. The first 32 bytes
    /// of the stream go as well, unless they are the next link of the page's chain.
    fn end_key(self, links: u64) {
        let hedging = self.process.mode() == Mode::Hedged;
        // SAFETY: as in `stream`; the hedge key is the first 32 bytes of the stream.
        unsafe {
            let (stream, round_keys) = (self.page.add(STREAM), self.round_keys());
            // A key schedule for masks takes 17 ns, so it is made only where masks are used.
            if hedging {
                self.process.backend.expand(stream, round_keys);
            } else {
                wipe(round_keys, ROUND_KEY_BYTES);
            }
            if hedging || links == 0 {
                wipe(stream, 32);
            } else {
                self.leave_link(links);
            }
        }
        self.page_state.hedge_key.store(u32::from(hedging), Ordering::Relaxed);
    }

    fn round_keys(self) -> *mut u8 {
        // SAFETY: within the page.
        unsafe { self.page.add(ROUND_KEYS) }
    }

    /// Returns whether the stored generation is not 0: a new time namespace can put a page of zeros
    /// in its place.
    fn is_known(self) -> bool {
        self.page_state.generation.load(Ordering::Relaxed) != 0
    }

    /// Writes `len` bytes under a key of their own to `dst`, and fills this page under the same key
    /// for draws in sections. Void if a guard changed meanwhile: `dst` holds void bytes then, and
    /// the page must not be put.
    ///
    /// # Safety
    ///
    /// `dst` is valid for writes of `len` bytes, and the caller owns the page.
    pub(crate) unsafe fn answer_and_fill(
        self,
        epoch: Epoch,
        dst: *mut u8,
        len: usize,
    ) -> Result<Served, Error> {
        let PageRef { process, page_state, .. } = self;
        // A draw under the slot's lock may have left bytes in the slot's own page, which the state
        // describes no longer.
        page_state.remaining.store(0, Ordering::Relaxed);
        let links = self.draw_key()?;
        if process.mode() == Mode::Hedged && !process.has_cpu_words() {
            // It failed in another thread, which is about to change the mode. While the mode says
            // `hedged`, no byte leaves without its words.
            return Ok(Served::Void);
        }
        self.show_guards();
        hook(Point::Keyed);
        // The page comes first. Its stores then reach the cache while the bytes of the request are
        // computed; otherwise the put's exchange, which waits for them, would wait 20 ns.
        self.stream();
        // SAFETY: the page is ours, `dst` is the caller's, and the backend is available.
        unsafe { process.backend.stream(self.round_keys(), [OWN_BLOCK, 0], dst, len) };
        hook(Point::MidCopy);
        self.end_key(links);
        hook(Point::Copied);
        // The guards are read after the bytes were made, not before. The tag: had the page been
        // dropped, the bytes would be a stream of round keys that are zero.
        fence(Ordering::Acquire);
        let may_leave = self.is_known() && self.may_leave(ForkCheck::Epoch(epoch));
        Ok(if may_leave { Served::Yes } else { Served::Void })
    }

    /// Copies the guards' values from the state into the page, where sections compare them.
    ///
    /// The tag is there already. If the page is dropped in between, they land in a page without it.
    fn show_guards(self) {
        let state = self.page_state;
        for (at, value) in [(GENERATION, &state.generation), (MARKER, &state.marker)] {
            // SAFETY: an aligned word of a page that we own; sections of other threads may read it
            // until then, and no other code writes it.
            let word = unsafe { AtomicU64::from_ptr(self.page.add(at).cast()) };
            word.store(value.load(Ordering::Relaxed), Ordering::Relaxed);
        }
    }

    /// Writes the number of the next refill and the guards' values into the state, and the number
    /// into the page, whose chain ends.
    fn number(self) {
        let number = self.state_begins(self.process.guards());
        self.end_chain();
        self.set_tag(number);
        compiler_fence(Ordering::SeqCst);
    }

    /// Writes the number of the next refill and the guards' values into the state, and returns the
    /// number.
    pub(super) fn state_begins(self, seen: Seen) -> u64 {
        let page_state = self.page_state;
        let last = page_state.number.load(Ordering::Relaxed);
        let number = if last == 0 { self.first_number() } else { last.wrapping_add(1).max(1) };
        page_state.number.store(number, Ordering::Relaxed);
        page_state.generation.store(seen.generation, Ordering::Relaxed);
        page_state.marker.store(seen.marker, Ordering::Relaxed);
        number
    }

    /// Returns the number of a slot's first refill, 2^48 away from every other slot's.
    ///
    /// Sections exchange the pages of slots, so a number must be that of one refill alone: a draw
    /// that nothing aborts would otherwise take a page that its line has lost, and that another
    /// slot fills, for the page that it knows. Handles begin elsewhere, at numbers that are not 0,
    /// and keep their pages.
    ///
    fn first_number(self) -> u64 {
        let lines = self.process.memory.lines.addr();
        let line = core::ptr::from_ref(self.page_state).addr().wrapping_sub(lines);
        ((line / size_of::<SlotLine>()) as u64 + 1) << 48 | 1
    }

    /// Draws the kernel's half of a key after `prepare`, and verifies the reseed generation by it.
    ///
    /// `dst` is the place of the first half of a seed.
    pub(crate) fn verified_half(self, dst: *mut u8, prepare: impl Fn()) -> Result<(), Error> {
        let generation = &self.process.generation;
        for last_try in [false, true] {
            let before = generation.before();
            prepare();
            self.kernel_half(dst)?;
            hook(Point::Keyed);
            let agrees = generation.agrees(&before, self.keyed_under());
            if !agrees && !last_try {
                // If siglongjmp left the middle of the vDSO's call, the state stays marked as in
                // use and its generation stands still. Emptied, it is a new state; a place that
                // fails with the new state is not the generation. SAFETY: the state lies in the
                // page that we own, and zeros are a valid, unkeyed one.
                unsafe { wipe(self.page.add(STATE), STATE_ROOM) };
                continue;
            }
            if (!agrees || generation.is_undecided())
                && generation.verify(&before, self.keyed_under())
            {
                self.process.choose_mode();
            }
            break;
        }
        Ok(())
    }

    /// Counts the bytes discarded because a guard has changed; a rest too short for a request does
    /// not count.
    fn count_discarded(self) {
        let PageRef { process, page_state, .. } = self;
        let left = page_state.remaining.swap(0, Ordering::Relaxed);
        let seen = Seen {
            generation: page_state.generation.load(Ordering::Relaxed),
            marker: page_state.marker.load(Ordering::Relaxed),
        };
        let moved = seen != process.guards();
        if left > 0 && (moved || !self.is_present()) {
            count(process, |counters| {
                SlotCounters::add(&counters.discarded_bytes, u64::from(left));
            });
        }
    }

    /// Draws 32 bytes of the kernel to `dst`, by the vDSO with the state in this page, else by
    /// system call.
    fn kernel_half(self, dst: *mut u8) -> Result<(), Error> {
        if let Some(vgetrandom) = self.process.vgetrandom() {
            // SAFETY: 32 bytes; the state lies in the page that we own, within its room, and is
            // zero or what this function left there.
            let answered = unsafe { vgetrandom.fill(dst, 32, self.page.add(STATE)) };
            source::note_vdso(answered);
            if answered {
                return Ok(());
            }
        }
        // SAFETY: 32 bytes.
        unsafe { source::fill(dst, 32, true) }
    }

    /// Returns the generation under which the state in this page was last keyed; 0 if it is
    /// unknown.
    fn keyed_under(self) -> u64 {
        // SAFETY: the state of this page.
        self.process
            .vgetrandom()
            .map_or(0, |vgetrandom| unsafe { vgetrandom.generation(self.page.add(STATE)) })
    }
}
