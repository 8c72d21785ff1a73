//! One thread of a job: it claims pieces, with several of them in flight where a ring can be had.

use crate::buffer::Buffer;
use crate::io::Channel;
use crate::ring::{Completion, Direction, Ring};
use crate::work::Work;
use std::io;
use std::ops::Range;

/// The work of a thread on a piece, before and after its data is transferred.
pub(crate) trait Task {
    const DIRECTION: Direction;

    /// Makes the bytes that are to be written, if any.
    fn prepare(&mut self, range: &Range<u64>, bytes: &mut [u8]);

    /// Completes a piece. Unless it `is_transferred`, no byte of it is, as far as the task knows.
    ///
    /// # Errors
    ///
    /// With the offset at which reading or writing failed.
    fn finish(
        &mut self,
        range: &Range<u64>,
        bytes: &mut [u8],
        is_transferred: bool,
    ) -> Result<(), (u64, io::Error)>;

    /// Ends the job with an error at this offset.
    fn fail(&self, offset: u64, error: io::Error);
}

/// A thread at work.
pub(crate) struct Hand<'a, T> {
    pub(crate) task: T,
    pub(crate) channel: &'a Channel,
    pub(crate) work: &'a Work<'a>,
    /// The first of the thread's slots in the job.
    pub(crate) first: usize,
}

impl<T: Task> Hand<'_, T> {
    /// Works until no piece is left or the job has ended.
    pub(crate) fn run(mut self, piece: usize, with_ring: bool) {
        // A limit of memory may refuse the ring of this thread alone.
        match with_ring.then(|| Ring::new(piece)) {
            Some(Ok(mut ring)) => self.run_ahead(&mut ring),
            _ => self.run_one_by_one(piece),
        }
    }

    fn run_one_by_one(&mut self, piece: usize) {
        let mut buffer = Buffer::new(piece);
        while let Some(range) = self.work.claim(self.first) {
            let bytes = buffer.at(range.start, (range.end - range.start) as usize);
            self.task.prepare(&range, bytes);
            if !self.finish(&range, bytes, false) {
                return;
            }
        }
    }

    fn run_ahead(&mut self, ring: &mut Ring) {
        let mut idle: Vec<usize> = (0..ring.depth()).collect();
        loop {
            // Before the next claim, which may wait for the rate limit while pieces are done.
            while let Some(ended) = ring.ended() {
                idle.extend(self.complete(ring, &ended));
            }
            if let Some(slot) = idle.pop() {
                self.start_next(ring, slot);
            } else if let Some(ended) = ring.wait() {
                idle.extend(self.complete(ring, &ended));
            } else {
                return;
            }
        }
    }

    /// Completes a piece, and returns its slot if the slot may take another one. After a failure
    /// the slot's piece stays open, and the other slots run empty.
    fn complete(&mut self, ring: &mut Ring, ended: &Completion) -> Option<usize> {
        let bytes = ring.bytes(ended.slot, &ended.range);
        self.finish(&ended.range, bytes, ended.is_whole).then_some(ended.slot)
    }

    /// Claims pieces for a slot until one of them is in flight.
    fn start_next(&mut self, ring: &mut Ring, slot: usize) {
        while let Some(range) = self.work.claim(self.first + slot) {
            self.task.prepare(&range, ring.bytes(slot, &range));
            let file = self.channel.direct_for(&range);
            if file.is_some_and(|file| ring.start(slot, &range, file, T::DIRECTION).is_ok()) {
                return;
            }
            if !self.finish(&range, ring.bytes(slot, &range), false) {
                return;
            }
        }
    }

    /// Completes a piece, and reports whether the job may continue.
    fn finish(&mut self, range: &Range<u64>, bytes: &mut [u8], is_transferred: bool) -> bool {
        match self.task.finish(range, bytes, is_transferred) {
            Ok(()) => self.work.done(range.end - range.start),
            Err((at, error)) => {
                self.task.fail(at, error);
                return false;
            }
        }
        true
    }
}
