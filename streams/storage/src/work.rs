//! Pieces of a range for several threads, in order, so that a low-water mark exists.

use crate::error::Error;
use crate::pace::Pace;
use crate::ring::{DEPTH, Ring};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of a piece that passes the page cache by: enough for any device's queue.
const DIRECT_PIECE: u64 = 1 << 20;
/// Bytes of a piece that the kernel copies: the copy finds it in the second-level cache.
const BUFFERED_PIECE: u64 = 256 << 10;

/// A range of a target to write or verify.
#[derive(Debug)]
pub struct Job<'a> {
    /// Offset of the first byte.
    pub from: u64,
    /// Offset after the last byte.
    pub to: u64,
    /// Number of threads.
    pub threads: usize,
    /// Highest rate in bytes a second.
    pub limit: Option<u64>,
    /// Use io_uring where the kernel allows it and data passes the page cache by.
    pub ring: bool,
    /// The number of bytes done, which other threads read, and the request to stop.
    pub progress: &'a Progress,
}

/// The state of a run, for the threads that watch it.
#[derive(Debug, Default)]
pub struct Progress {
    /// Bytes done so far, of all targets.
    pub done: AtomicU64,
    /// Set to end the run early, as a signal handler does.
    pub stop: Arc<AtomicBool>,
}

impl Job<'_> {
    /// Returns the number of threads that keep a device busy: without rings each waits for one
    /// request at a time. Where the kernel copies, every CPU is at work.
    pub fn default_threads(is_direct: bool) -> usize {
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        if is_direct && !Ring::is_available() { (2 * cpus).clamp(4, 16) } else { cpus.min(16) }
    }

    /// Reports whether the threads use rings.
    pub(crate) fn has_rings(&self, is_direct: bool) -> bool {
        self.ring && is_direct && Ring::is_available()
    }

    pub(crate) fn piece(&self, is_direct: bool) -> u64 {
        let piece = if is_direct { DIRECT_PIECE } else { BUFFERED_PIECE };
        // At a low rate, large pieces would make progress and stops jerky.
        let tenth = self.limit.map_or(piece, |limit| (limit / 10).max(4096).next_power_of_two());
        piece.min(tenth)
    }
}

/// The shared state of the threads of one job.
pub(crate) struct Work<'a> {
    to: u64,
    piece: u64,
    claims: Mutex<Claims>,
    pace: Pace,
    progress: &'a Progress,
    /// Set by the first error.
    failed: AtomicBool,
    error: Mutex<Option<(u64, Error)>>,
}

struct Claims {
    next: u64,
    /// The beginning of each slot's piece.
    open: Vec<Option<u64>>,
}

impl<'a> Work<'a> {
    pub(crate) fn new(job: &Job<'a>, piece: u64) -> Work<'a> {
        Work {
            to: job.to,
            piece,
            claims: Mutex::new(Claims { next: job.from, open: vec![None; job.threads * DEPTH] }),
            pace: Pace::new(job.limit),
            progress: job.progress,
            failed: AtomicBool::new(false),
            error: Mutex::new(None),
        }
    }

    /// Returns the next piece for a slot, whose last piece is done. Pieces end at multiples of
    /// their size, so that all but the first and last are aligned.
    pub(crate) fn claim(&self, slot: usize) -> Option<Range<u64>> {
        let range = {
            let mut claims = lock(&self.claims);
            claims.open[slot] = None;
            if self.is_stopped() || claims.next >= self.to {
                return None;
            }
            let start = claims.next;
            let end = (start + 1).next_multiple_of(self.piece).min(self.to);
            claims.next = end;
            claims.open[slot] = Some(start);
            start..end
        };
        self.pace.wait((range.end - range.start) as usize, &self.progress.stop);
        Some(range)
    }

    pub(crate) fn done(&self, bytes: u64) {
        self.progress.done.fetch_add(bytes, Relaxed);
    }

    /// Returns the offset below which every piece is done.
    pub(crate) fn low_water(&self) -> u64 {
        let claims = lock(&self.claims);
        claims.open.iter().flatten().copied().min().unwrap_or(claims.next).min(claims.next)
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.progress.stop.load(Relaxed) || self.failed.load(Relaxed)
    }

    /// Ends the job. Several threads may fail, so the error at the lowest offset is the one that is
    /// reported. The slot's piece stays open, because otherwise the low-water mark would pass it,
    /// and the piece would count as done.
    pub(crate) fn fail(&self, offset: u64, error: Error) {
        let mut first = lock(&self.error);
        if first.as_ref().is_none_or(|(at, _)| offset < *at) {
            *first = Some((offset, error));
        }
        self.failed.store(true, Relaxed);
    }

    pub(crate) fn into_error(self) -> Option<(u64, Error)> {
        self.error.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Locks; a thread that panicked leaves nothing that another could misread.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cover_the_range_and_the_mark_waits_for_the_slowest() {
        let progress = Progress::default();
        let job =
            Job { from: 100, to: 2500, threads: 2, limit: None, ring: true, progress: &progress };
        let work = Work::new(&job, 1024);
        assert_eq!(work.low_water(), 100);
        assert_eq!(work.claim(0), Some(100..1024));
        assert_eq!(work.claim(1), Some(1024..2048));
        assert_eq!(work.low_water(), 100);
        assert_eq!(work.claim(1), Some(2048..2500));
        assert_eq!(work.low_water(), 100, "thread 0 is not done");
        assert_eq!(work.claim(0), None);
        assert_eq!(work.low_water(), 2048, "thread 1 is not done");
        assert_eq!(work.claim(1), None);
        assert_eq!(work.low_water(), 2500);
    }

    #[test]
    fn the_mark_stays_before_a_failed_piece() {
        let progress = Progress::default();
        let job =
            Job { from: 0, to: 4096, threads: 2, limit: None, ring: true, progress: &progress };
        let work = Work::new(&job, 1024);
        work.claim(0);
        work.claim(1);
        work.fail(1024, Error::refused("later"));
        work.fail(0, Error::refused("first"));
        assert_eq!(work.claim(1), None);
        assert_eq!(work.low_water(), 0);
        assert_eq!(work.into_error().unwrap().0, 0);
    }
}
