//! Filling by several threads, with the same result as by one.

use crate::stream::check;
use crate::{Error, Stream};
use core::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Bytes that are worth a thread. A thread takes some ten microseconds to start, and another one
/// would fill twice as many bytes in that time.
const WORTH_A_THREAD: usize = 256 << 10;
/// Pieces that each thread gets if none is interrupted.
const PIECES: usize = 4;
/// Pieces are multiples of so many elements, so that no two threads write to one page if the array
/// begins at a page.
const PAGE: usize = 4096;

/// A [`Stream`] that is filled from by several threads; see [`Stream::par`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Par {
    stream: Stream,
    workers: Workers,
}

/// The threads that fill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Workers {
    /// At most so many, which are started for each call.
    Threads(NonZeroUsize),
    /// The threads of the rayon pool that the caller is in.
    #[cfg(feature = "rayon")]
    Rayon,
}

impl Stream {
    /// Returns the same stream for arrays so large that several threads fill them. `threads` is
    /// their number, and 0 means one thread per CPU that this process may use.
    ///
    /// The values do not depend on that number, because each thread takes parts of the range.
    /// Threads are started for each call and end with it, so small arrays take fewer. If no thread
    /// can be started, the caller's does the work.
    pub fn par(&self, threads: usize) -> Par {
        let cpus = || thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        let threads = NonZeroUsize::new(threads).unwrap_or_else(cpus);
        Par { stream: *self, workers: Workers::Threads(threads) }
    }

    /// Returns the same stream for arrays that the threads of a rayon pool fill: the pool that the
    /// caller is in, or the global one. The values do not depend on the pool.
    #[cfg(feature = "rayon")]
    pub fn on_rayon(&self) -> Par {
        Par { stream: *self, workers: Workers::Rayon }
    }
}

impl Par {
    /// Fills `out` like [`Stream::fill_u8`].
    ///
    /// # Errors
    ///
    /// The errors of [`Stream::fill_u8`].
    pub fn fill_u8(&self, start: u64, out: &mut [u8]) -> Result<(), Error> {
        self.fill(start, out, Stream::fill_u8)
    }

    /// Fills `out` like [`Stream::fill_u32`].
    ///
    /// # Errors
    ///
    /// The errors of [`Stream::fill_u32`].
    pub fn fill_u32(&self, start: u64, out: &mut [u32]) -> Result<(), Error> {
        self.fill(start, out, Stream::fill_u32)
    }

    /// Fills `out` like [`Stream::fill_u64`].
    ///
    /// # Errors
    ///
    /// The errors of [`Stream::fill_u64`].
    pub fn fill_u64(&self, start: u64, out: &mut [u64]) -> Result<(), Error> {
        self.fill(start, out, Stream::fill_u64)
    }

    /// Has the threads take pieces of `out` and call `fill` for each. The range is checked as a
    /// whole first, so that nothing is written if it is wrong. Any other error of `fill` must occur
    /// for every piece or for none.
    pub(crate) fn fill<T: Send>(
        &self,
        start: u64,
        out: &mut [T],
        fill: impl Fn(&Stream, u64, &mut [T]) -> Result<(), Error> + Sync,
    ) -> Result<(), Error> {
        check(start, out.len())?;
        self.share(1, start, out, fill)
    }

    /// Does the same for rows of `width` elements, which exist.
    pub(crate) fn fill_rows<T: Send>(
        &self,
        width: usize,
        start: u64,
        out: &mut [T],
        fill: impl Fn(&Stream, u64, &mut [T]) + Sync,
    ) -> Result<(), Error> {
        let fill = |stream: &Stream, start, out: &mut [T]| {
            fill(stream, start, out);
            Ok(())
        };
        self.share(width, start, out, fill)
    }

    fn share<T: Send>(
        &self,
        width: usize,
        start: u64,
        out: &mut [T],
        fill: impl Fn(&Stream, u64, &mut [T]) -> Result<(), Error> + Sync,
    ) -> Result<(), Error> {
        let threads = match self.workers {
            Workers::Threads(threads) => threads.get().min(size_of_val(out) / WORTH_A_THREAD),
            #[cfg(feature = "rayon")]
            Workers::Rayon => {
                return crate::rayon::share(&self.stream, PAGE, width, start, out, fill);
            }
        };
        if threads < 2 {
            return fill(&self.stream, start, out);
        }
        // Several pieces for each thread: one that is interrupted leaves its share to the others.
        let rows = (out.len() / width / (threads * PIECES)).max(1).next_multiple_of(PAGE);
        let pieces = Mutex::new(out.chunks_mut(rows * width).zip(0..));
        let work = || {
            loop {
                let next = pieces.lock().unwrap_or_else(PoisonError::into_inner).next();
                let Some((part, i)) = next else { return Ok(()) };
                fill(&self.stream, start + i * rows as u64, part)?;
            }
        };
        thread::scope(|scope| {
            let start = |_| thread::Builder::new().spawn_scoped(scope, work).ok();
            let others: Vec<_> = (1..threads).filter_map(start).collect();
            let mine = work();
            others.into_iter().fold(mine, |done, thread| {
                done.and(thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
            })
        })
    }
}
