//! Filling a range of a target.

use crate::error::Error;
use crate::pattern::Pattern;
use crate::ring::{DEPTH, Direction};
use crate::target::Target;
use crate::thread::{Hand, Task};
use crate::work::{Job, Work};
use std::io;
use std::ops::Range;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// Keeps the offset below which all data is durable, for a later process to continue from.
pub trait Checkpoint: Send {
    /// Records that all data below `done` is on the device.
    ///
    /// # Errors
    ///
    /// If the record cannot be kept.
    fn save(&mut self, done: u64) -> Result<(), Error>;
}

/// The way in which a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Every byte of the range is done.
    Complete,
    /// A request to stop came before; every byte below this offset is done.
    Stopped(u64),
}

/// The first checkpoint comes early, because an early kill is the most likely.
const FIRST_CHECKPOINT: Duration = Duration::from_secs(1);
const CHECKPOINTS: Duration = Duration::from_secs(5);

/// Fills the range with the pattern and makes it durable.
///
/// # Errors
///
/// If a write fails, or if the device reports at the end that it lost one. Data below the last
/// checkpoint is on the device then.
pub fn write(
    target: &Target,
    pattern: &Pattern,
    job: &Job<'_>,
    checkpoint: &mut dyn Checkpoint,
) -> Result<End, Error> {
    let channel = &target.channel;
    let piece = job.piece(channel.is_direct());
    let has_rings = job.has_rings(channel.is_direct());
    let work = Work::new(job, piece);
    let name = target.path.display();
    let sync = || {
        let failed = |error| Error::io(format!("cannot make the data of {name} durable"), error);
        channel.sync().map_err(failed)
    };
    thread::scope(|scope| {
        // Nothing is ever sent: the receiver wakes when the last thread drops its sender.
        let (running, ended) = mpsc::channel::<()>();
        for thread in 0..job.threads {
            let (work, running) = (&work, running.clone());
            scope.spawn(move || {
                let _running = running;
                let task = Fill { target, pattern, work };
                let hand = Hand { task, channel, work, first: thread * DEPTH };
                hand.run(piece as usize, has_rings);
            });
        }
        drop(running);
        let mut due = Instant::now() + FIRST_CHECKPOINT;
        loop {
            let wait = due.saturating_duration_since(Instant::now());
            if ended.recv_timeout(wait) == Err(RecvTimeoutError::Disconnected) {
                return;
            }
            // The mark is read before the data is synchronised: what comes after is not durable.
            let done = work.low_water();
            if let Err(error) = sync().and_then(|()| checkpoint.save(done)) {
                work.fail(done, error);
            }
            due = Instant::now() + CHECKPOINTS;
        }
    });
    let done = work.low_water();
    let durable = sync();
    if let Some((_, error)) = work.into_error() {
        if durable.is_ok() {
            let _ = checkpoint.save(done);
        }
        return Err(error);
    }
    durable?;
    if !channel.is_direct() {
        // A verification that follows must read the device and not the page cache.
        target.forget(job.from, done);
    }
    if done < job.to {
        checkpoint.save(done)?;
        return Ok(End::Stopped(done));
    }
    Ok(End::Complete)
}

struct Fill<'a> {
    target: &'a Target,
    pattern: &'a Pattern,
    work: &'a Work<'a>,
}

impl Task for Fill<'_> {
    const DIRECTION: Direction = Direction::Write;

    fn prepare(&mut self, range: &Range<u64>, bytes: &mut [u8]) {
        self.pattern.fill(range.start, bytes);
    }

    fn finish(
        &mut self,
        range: &Range<u64>,
        bytes: &mut [u8],
        is_transferred: bool,
    ) -> Result<(), (u64, io::Error)> {
        if is_transferred { Ok(()) } else { self.target.channel.write(range.start, bytes) }
    }

    fn fail(&self, offset: u64, error: io::Error) {
        let action = format!("cannot write {} at byte {offset}", self.target.path.display());
        let error = match error.raw_os_error() {
            // The kernel sees an end before the end: a disk that was pulled out has no bytes.
            Some(libc::ENOSPC) if self.target.is_device() => Error::shrunk(action, error),
            _ => Error::io(action, error),
        };
        self.work.fail(offset, error);
    }
}
