//! Filling a page: one key, half of it the kernel's and half the CPU's, expanded and erased.

#![allow(unsafe_code)]

use super::cell::layout::{CAPACITY, PAGE, ROUND_KEYS, STATE, STATE_ROOM, STREAM};
use super::cell::{Cell, Miss, Owner};
use super::cipher::{Key, hedge, wipe};
use super::force::{Point, hook};
use super::slots::count;
use super::{arena::Tally, source};
use crate::{Error, Mode};
use core::sync::atomic::{Ordering, compiler_fence};

impl Cell<'_> {
    /// After `miss`: fills the page and draws as [`draw`](Cell::draw), twice at most. `Ok(false)` if something
    /// happened while bytes were copied: what was written to `dst` is void.
    ///
    /// # Safety
    ///
    /// As [`draw`](Cell::draw).
    pub(crate) unsafe fn refill_and_draw<const HEDGED: bool>(
        self,
        mut miss: Miss,
        owner: Owner,
        r: [u64; 2],
        dst: *mut u8,
        len: usize,
    ) -> Result<bool, Error> {
        for _ in 0..2 {
            if miss != Miss::Empty {
                break;
            }
            self.refill()?;
            // SAFETY: the caller's promise.
            match unsafe { self.draw::<HEDGED>(owner, r, dst, len) } {
                Ok(()) => return Ok(true),
                Err(again) => miss = again,
            }
        }
        miss.count(self.arena);
        Ok(false)
    }

    /// Fills the page.
    ///
    /// The order is the argument. The CPU's words first: committed before the kernel's half exists, they
    /// cannot be chosen to cancel it. Then ledger and tag: a page dropped or a fork from here on leaves a
    /// tag of 0, whatever is written later. Then the key: drawn after the word was read, it is at least as
    /// new. The count of bytes left is written last: until then nobody can draw.
    pub(super) fn refill(self) -> Result<(), Error> {
        let Cell { arena, ledger, .. } = self;
        self.count_discarded();
        let words = arena.second_half();
        let mut key = Key::empty();
        self.verified_half(&mut key, || self.number())?;
        key.mix(words);
        // A key schedule for masks is worth its time only where they are used.
        let hedging = arena.mode() == Mode::Hedged;
        // SAFETY: the stream ends with the page; the back end was found to be available, and `hedged` is armed
        // only on CPUs with AES.
        unsafe {
            let stream = self.page.add(STREAM);
            arena.backend.keystream(&key.0, [0; 16], stream, PAGE - STREAM);
            if hedging {
                let hedge_key = Key(stream.cast::<[u8; 32]>().read_volatile());
                hedge::expand(&hedge_key.0, self.page.add(ROUND_KEYS));
            }
            wipe(stream, 32);
        }
        ledger.hedge_key.store(u32::from(hedging), Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        count(arena, |tally| Tally::add(&tally.refills, 1));
        // A word of 0 (a new time namespace can put another page there) is no generation: serve nothing.
        let known = ledger.generation.load(Ordering::Relaxed) != 0;
        ledger.remaining.store(if known { CAPACITY as u32 } else { 0 }, Ordering::Relaxed);
        Ok(())
    }

    /// Writes into ledger and page what the next refill goes by: its number, and the guards as they are now.
    fn number(self) {
        let Cell { arena, ledger, .. } = self;
        let generation = arena.word.get().load(Ordering::Acquire);
        let mark = arena.clock.marker().load(Ordering::Acquire);
        let number = ledger.number.load(Ordering::Relaxed).wrapping_add(1).max(1);
        ledger.number.store(number, Ordering::Relaxed);
        ledger.generation.store(generation, Ordering::Relaxed);
        ledger.marker.store(mark, Ordering::Relaxed);
        self.set_tag(number);
        compiler_fence(Ordering::SeqCst);
    }

    /// The kernel's half of a key, drawn after `prepare`, with the kernel's word verified by it.
    pub(super) fn verified_half(self, key: &mut Key, prepare: impl Fn()) -> Result<(), Error> {
        let word = &self.arena.word;
        for last_try in [false, true] {
            let before = word.before();
            prepare();
            self.kernel_half(key)?;
            hook(Point::Keyed);
            let agrees = word.agrees(&before, self.keyed_under());
            if !agrees && !last_try {
                // A state whose owner was left by siglongjmp in the middle of the vDSO's call stays marked as in
                // use, and its generation stands still. Emptied, it is a new one; a word that then fails is wrong.
                // SAFETY: the state lies in the page that we own, and zeros are a valid, unkeyed one.
                unsafe { wipe(self.page.add(STATE), STATE_ROOM) };
                continue;
            }
            if (!agrees || word.is_undecided()) && word.verify(&before, self.keyed_under()) {
                self.arena.choose_mode();
            }
            break;
        }
        Ok(())
    }

    /// Bytes that are thrown away because a guard fired; a rest too short for a request is not counted.
    fn count_discarded(self) {
        let Cell { arena, ledger, .. } = self;
        let left = ledger.remaining.swap(0, Ordering::Relaxed);
        let moved = ledger.generation.load(Ordering::Relaxed)
            != arena.word.get().load(Ordering::Relaxed)
            || ledger.marker.load(Ordering::Relaxed)
                != arena.clock.marker().load(Ordering::Relaxed);
        if left > 0 && (moved || !self.is_present()) {
            count(arena, |tally| Tally::add(&tally.discarded_bytes, u64::from(left)));
        }
    }

    /// 32 bytes of the kernel's, by the vDSO with the state in this page, else by system call.
    fn kernel_half(self, key: &mut Key) -> Result<(), Error> {
        let dst = key.0.as_mut_ptr();
        if let Some(vgetrandom) = self.arena.vgetrandom() {
            // SAFETY: 32 bytes; the state lies in the page that we own, within its room, and is zero or
            // what this function left there.
            let answered = unsafe { vgetrandom.fill(dst, 32, self.page.add(STATE)) };
            source::note_vdso(answered);
            if answered {
                return Ok(());
            }
        }
        // SAFETY: 32 bytes.
        unsafe { source::fill(dst, 32, true) }
    }

    /// The generation that the state in this page was last keyed under; 0 if that cannot be told.
    fn keyed_under(self) -> u64 {
        // SAFETY: the state of this page.
        self.arena
            .vgetrandom()
            .map_or(0, |vgetrandom| unsafe { vgetrandom.generation(self.page.add(STATE)) })
    }
}
