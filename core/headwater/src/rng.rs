//! An owned generator.

use crate::bounded::below;
use crate::{Error, as_uninit, linux};
use core::fmt;
use core::mem::MaybeUninit;
use core::num::{NonZeroU32, NonZeroU64};

/// An owned handle with a page of its own: the fastest way to draw, under the same guards as
/// [`fill`](crate::fill).
///
/// It takes no lock, so it is `Send` and not `Sync`: make one for each thread or task that draws
/// much. But not for every task, because each handle keeps one page (4 KiB) of memory once it has
/// drawn; pages come 64 to a mapping, and the first 64 handles need no system call to be made. A
/// forked child may continue to use its copy: it draws afresh.
///
/// With the feature `rand_core` it has the traits of rand_core 0.10, so that `rand`'s
/// distributions, shuffles and samples work on it.
pub struct Rng(linux::Handle);

impl Rng {
    /// Returns a new handle. More than 64 handles map memory; up to 64 need no system call.
    ///
    /// # Errors
    ///
    /// The errors of [`fill`](crate::fill).
    pub fn new() -> Result<Rng, Error> {
        linux::Handle::new().map(Rng)
    }

    /// Fills `buf` with random bytes.
    ///
    /// # Errors
    ///
    /// The errors of the function [`fill`](crate::fill).
    #[inline]
    pub fn fill(&mut self, buf: &mut [u8]) -> Result<(), Error> {
        self.0.fill(as_uninit(buf))
    }

    /// Fills `buf` with random bytes and returns it as initialised.
    ///
    /// # Errors
    ///
    /// The errors of [`fill`](Rng::fill).
    #[inline]
    pub fn fill_uninit<'b>(
        &mut self,
        buf: &'b mut [MaybeUninit<u8>],
    ) -> Result<&'b mut [u8], Error> {
        self.0.fill(buf)?;
        #[expect(unsafe_code)]
        // SAFETY: it returned Ok, and its contract is that every byte of `buf` is then written.
        let filled = unsafe { &mut *(core::ptr::from_mut(buf) as *mut [u8]) };
        Ok(filled)
    }

    /// Returns a random `u32`. Async-signal-safe.
    ///
    /// # Panics
    ///
    /// Panics if the kernel has taken getrandom(2) and /dev/urandom away since the handle was made.
    /// Use [`fill`](Rng::fill) where that must not end the thread.
    #[inline]
    pub fn next_u32(&mut self) -> u32 {
        self.0.u32().unwrap_or_else(|error| refused(error))
    }

    /// Returns a random `u64`. Async-signal-safe.
    ///
    /// # Panics
    ///
    /// The panics of [`next_u32`](Rng::next_u32).
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.0.u64().unwrap_or_else(|error| refused(error))
    }

    /// Returns an unbiased draw from `0..bound`.
    ///
    /// # Errors
    ///
    /// The errors of [`fill`](Rng::fill).
    #[inline(always)]
    pub fn u32_below(&mut self, bound: NonZeroU32) -> Result<u32, Error> {
        below!(bound, u32, u64, self.0.u32())
    }

    /// Returns an unbiased draw from `0..bound`.
    ///
    /// # Errors
    ///
    /// The errors of [`fill`](Rng::fill).
    #[inline(always)]
    pub fn u64_below(&mut self, bound: NonZeroU64) -> Result<u64, Error> {
        below!(bound, u64, u128, self.0.u64())
    }
}

impl fmt::Debug for Rng {
    /// Shows nothing of what it holds.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Rng { .. }")
    }
}

#[cold]
#[inline(never)]
fn refused(error: Error) -> ! {
    panic!("headwater: {error}")
}

#[cfg(feature = "rand_core")]
impl rand_core::TryRng for Rng {
    type Error = rand_core::Infallible;

    #[inline]
    fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
        Ok(self.next_u32())
    }

    #[inline]
    fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
        Ok(self.next_u64())
    }

    #[inline]
    fn try_fill_bytes(&mut self, dst: &mut [u8]) -> Result<(), Self::Error> {
        self.fill(dst).map_err(|error| refused(error))
    }
}

#[cfg(feature = "rand_core")]
impl rand_core::TryCryptoRng for Rng {}
