//! Owned handles: a page without a lock.

#![allow(unsafe_code)]

mod registry;

pub(crate) use registry::Registry;

use crate::linux::per_request;
use crate::linux::pool::copy::{Block, Words};
use crate::linux::pool::draw;
use crate::linux::pool::layout::{CAPACITY, PAGE};
use crate::linux::pool::mask::{CpuWords, Mask, Plain};
use crate::linux::pool::page::{ForkCheck, PageRef};
use crate::linux::pool::page_state::PageState;
use crate::linux::pool::refused::{Refused, Served};
use crate::linux::process::Process;
use crate::linux::serve::{self, Word, word_at};
use crate::linux::sys::memory;
use crate::status::Page;
use crate::{Error, Mode};
use core::cell::UnsafeCell;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::sync::atomic::Ordering;
use registry::Place;

/// The page of handles without one: their states stay empty, so it is neither read nor written.
#[repr(align(4096))]
struct NoPage(UnsafeCell<[u8; PAGE]>);
static NO_PAGE: NoPage = NoPage(UnsafeCell::new([0; PAGE]));

// SAFETY: never read nor written.
unsafe impl Sync for NoPage {}

pub(crate) struct Handle {
    process: &'static Process,
    page_state: PageState,
    /// The handle's page; a page of zeros, from which nothing is drawn, if no page was left.
    page: *mut u8,
    /// The place of the page; None if no page was left, or nothing is buffered: the slots serve
    /// instead.
    place: Option<Place<'static>>,
    not_sync: PhantomData<core::cell::Cell<()>>,
}

impl Drop for Handle {
    /// Erases the page. From unserved bytes, the vDSO's state or the hedge key a later reader of
    /// the memory could compute earlier or later bytes. A page that was never filled is not
    /// touched, or it would become resident.
    fn drop(&mut self) {
        let refills = self.page_state.number.load(Ordering::Relaxed) as u32;
        if self.place.is_some() && refills != 0 {
            // SAFETY: the page is this handle's until `place` is dropped, after this function.
            // Zeros are what a page with an empty state may hold.
            unsafe { memory::erase(self.page, PAGE) };
        }
    }
}

// SAFETY: a handle owns its page; the raw pointer in it leads to memory that no thread is bound to.
// Two threads use it one after the other, ordered by whatever moved it.
unsafe impl Send for Handle {}

impl Handle {
    pub(crate) fn new() -> Result<Handle, Error> {
        let process = crate::linux::process(true)?;
        let place = (process.memory.page != Page::None)
            .then(|| process.handles.take(process.memory.stride()))
            .flatten();
        Ok(Handle {
            process,
            page_state: PageState::starting_at(process.handles.first_number()),
            page: place.as_ref().map_or(NO_PAGE.0.get().cast(), |place| place.page),
            place,
            not_sync: PhantomData,
        })
    }

    #[inline(always)]
    pub(crate) fn u64(&mut self) -> Result<u64, Error> {
        match self.word() {
            (word, None) => Ok(word),
            (_, Some(error)) => Err(error),
        }
    }

    #[inline(always)]
    pub(crate) fn u32(&mut self) -> Result<u32, Error> {
        // Eight bytes are taken for four: a page is cheap, and words stay aligned.
        match self.word() {
            (word, None) => Ok(word as u32),
            (_, Some(error)) => Err(error),
        }
    }

    #[inline(always)]
    fn word(&mut self) -> Word {
        match self.quick() {
            Ok(word) => (word, None),
            Err(refused) => self.after(refused),
        }
    }

    #[inline]
    pub(crate) fn fill(&mut self, buf: &mut [MaybeUninit<u8>]) -> Result<(), Error> {
        let (dst, len) = (buf.as_mut_ptr().cast::<u8>(), buf.len());
        // SAFETY: `buf` is valid for writes of its length.
        unsafe {
            match len {
                0 => Ok(()),
                1..=8 => self.fill_words::<u64>(dst, len),
                16 => match self.quick_block(dst) {
                    Ok(()) => Ok(()),
                    Err(refused) => self.fill_after(refused, dst, len),
                },
                9..16 => self.fill_words::<Block>(dst, len),
                17..=draw::LIMIT => match self.quick_blocks(dst, len) {
                    Ok(()) => Ok(()),
                    Err(refused) => self.fill_after(refused, dst, len),
                },
                _ => self.fill_slowly(dst, len),
            }
        }
    }

    /// # Safety
    ///
    /// `dst` is valid for writes of `len` bytes, for which the words suffice.
    #[inline(always)]
    unsafe fn fill_words<W: Words>(&mut self, dst: *mut u8, len: usize) -> Result<(), Error> {
        // SAFETY: `dst` has room for `len` bytes, and `W` was chosen by `len`, so the words have
        // that many.
        unsafe {
            match self.quick::<W>() {
                Ok(words) => {
                    words.put(dst, len);
                    Ok(())
                }
                Err(refused) => self.fill_after(refused, dst, len),
            }
        }
    }

    #[inline(always)]
    fn page_ref(&self) -> PageRef<'_> {
        PageRef { process: self.process, page_state: &self.page_state, page: self.page }
    }

    /// Draws one or two words, if bytes are left and every guard is unchanged.
    #[inline(always)]
    fn quick<W: Words>(&mut self) -> Result<W, Refused> {
        if !self.process.is_buffered() {
            return Err(Refused::Empty);
        }
        self.page_ref().draw_words(ForkCheck::TagOnly)
    }

    /// Draws 16 bytes, if they are left and every guard is unchanged; else `dst` may hold void
    /// bytes.
    ///
    /// # Safety
    ///
    /// `dst` is valid for writes of 16 bytes.
    #[inline(always)]
    unsafe fn quick_block(&mut self, dst: *mut u8) -> Result<(), Refused> {
        if !self.process.is_buffered() {
            return Err(Refused::Empty);
        }
        // SAFETY: `dst` has room for 16 bytes, and the page is this handle's alone.
        unsafe { self.page_ref().draw_block(ForkCheck::TagOnly, dst) }
    }

    /// Draws 17 to `draw::LIMIT` bytes, if they are left and every guard is unchanged.
    ///
    /// # Safety
    ///
    /// `dst` is valid for writes of `len` bytes.
    #[inline(never)]
    unsafe fn quick_blocks(&mut self, dst: *mut u8, len: usize) -> Result<(), Refused> {
        if !self.process.is_buffered() {
            return Err(Refused::Empty);
        }
        self.process.clean_registers();
        // SAFETY: `dst` has room for `len` bytes, and no mask asks for a CPU with AES instructions.
        unsafe { self.page_ref().draw(ForkCheck::TagOnly, Plain, dst, len) }
    }

    /// Draws one word after a refusal, and erases the bytes for the reason that `serve::after` has.
    #[cold]
    #[inline(never)]
    fn after(&mut self, refused: Refused) -> Word {
        let mut bytes = [0; 16];
        // SAFETY: the first 8 of our own 16 bytes.
        let drawn = unsafe { self.fill_after(refused, bytes.as_mut_ptr(), 8) };
        (word_at(&mut bytes), drawn.err())
    }

    /// # Safety
    ///
    /// The promises of [`fill_slowly`](Self::fill_slowly).
    #[cold]
    #[inline(never)]
    unsafe fn fill_after(
        &mut self,
        refused: Refused,
        dst: *mut u8,
        len: usize,
    ) -> Result<(), Error> {
        refused.count(self.process);
        // SAFETY: counting a refusal changes nothing about `dst` and `len`.
        unsafe { self.fill_slowly(dst, len) }
    }

    /// # Safety
    ///
    /// `dst` is valid for writes of `len` bytes, at least 1.
    #[inline(never)]
    unsafe fn fill_slowly(&mut self, dst: *mut u8, len: usize) -> Result<(), Error> {
        self.process.clean_registers();
        // SAFETY: `dst` has room for `len` bytes. `own` gets at most LIMIT of them, and masks only
        // in mode `hedged`, which is not chosen without AES instructions.
        let result = unsafe {
            match self.process.mode() {
                Mode::Buffered | Mode::Hedged if self.place.is_none() => {
                    serve::serve(self.process, dst, len)
                }
                Mode::Buffered | Mode::Hedged if len > draw::LIMIT => self.large(dst, len),
                Mode::Buffered => self.own::<Plain>(dst, len),
                Mode::Hedged => self.own::<CpuWords>(dst, len),
                _ => serve::serve(self.process, dst, len),
            }
        };
        if result.is_err() {
            // SAFETY: the same `len` bytes that were to be filled.
            unsafe { dst.write_bytes(0, len) };
        }
        result
    }

    /// Draws from the handle's own page, up to two times, and then under a key for this request
    /// alone.
    ///
    /// # Safety
    ///
    /// `dst` is valid for writes of `len` bytes, 1 to `draw::LIMIT`; with masks, the process can
    /// hedge.
    #[inline(never)]
    unsafe fn own<M: Mask>(&mut self, dst: *mut u8, len: usize) -> Result<(), Error> {
        const { assert!(draw::LIMIT <= CAPACITY) };
        let page = self.page_ref();
        let drawn = draw::retry(self.process, |_, mask: M| {
            // SAFETY: `dst` has room for `len` bytes, of which a page has enough (asserted above).
            Some(unsafe { page.draw_or_refill(ForkCheck::TagOnly, mask, dst, len) })
        })?;
        if drawn == Served::Yes {
            return Ok(());
        }
        // SAFETY: `dst` has room for `len` bytes; what void draws left there is overwritten.
        unsafe { per_request::fill(self.process, dst, len) }
    }

    /// Serves a large request as `per_request::large` does, with keys from the handle's own page.
    ///
    /// # Safety
    ///
    /// `dst` is valid for writes of `len` bytes.
    #[inline(never)]
    unsafe fn large(&mut self, dst: *mut u8, len: usize) -> Result<(), Error> {
        let process = self.process;
        // SAFETY: `dst` has room for `len` bytes; `expand` hands out 32 bytes of its own for each
        // key.
        unsafe {
            per_request::expand(process, dst, len, |at| {
                per_request::mixed(process, at, |at| self.own::<Plain>(at, 32))
            })
        }
    }
}
