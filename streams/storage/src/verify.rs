//! Reading a range of a target again and comparing it with the pattern.

use crate::classify::{Judge, SECTOR, Suspects};
use crate::error::Error;
use crate::extent::{Extent, ExtentKind, Extents};
use crate::ring::{DEPTH, Direction};
use crate::target::Target;
use crate::thread::{Hand, Task};
use crate::work::{Job, Work, lock};
use crate::write::End;
use std::io;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// The result of a verification.
#[derive(Debug)]
pub struct Found {
    /// The wrong extents, by offset.
    pub extents: Vec<Extent>,
    /// Number and bytes of further extents of each kind, which are too many to be kept.
    pub(crate) uncounted: [(u64, u64); ExtentKind::COUNT],
    /// The way in which the run ended.
    pub end: End,
    /// The size of a file that became shorter in the meantime.
    pub shrank_to: Option<u64>,
}

/// Bytes that are generated and compared at a time: what was read stays in the second-level cache
/// and what is generated in the first.
const WINDOW: usize = 16 << 10;

/// Reads the range and names each wrong extent.
///
/// # Errors
///
/// If the device is gone. Parts that it cannot read are extents of [`ExtentKind::Unreadable`].
pub fn verify(target: &Target, suspects: &Suspects, job: &Job<'_>) -> Result<Found, Error> {
    let channel = &target.channel;
    let piece = job.piece(channel.is_direct());
    // The page cache would show what was written, and not what the device kept.
    target.forget(job.from, job.to);
    let has_rings = job.has_rings(channel.is_direct());
    let work = Work::new(job, piece);
    let extents = Mutex::new(Extents::default());
    thread::scope(|scope| {
        for thread in 0..job.threads {
            let (work, extents) = (&work, &extents);
            scope.spawn(move || {
                let judge = Judge::new(suspects);
                let expected = vec![0; WINDOW];
                let task = Reader { target, suspects, judge, expected, extents, work };
                let hand = Hand { task, channel, work, first: thread * DEPTH };
                hand.run(piece as usize, has_rings);
            });
        }
    });
    let done = work.low_water();
    if let Some((_, error)) = work.into_error() {
        return Err(error);
    }
    let size = target.current_size();
    let mut extents = extents.into_inner().unwrap_or_else(PoisonError::into_inner);
    let uncounted = std::mem::take(&mut extents.uncounted);
    Ok(Found {
        extents: extents.into_vec(),
        uncounted,
        end: if done < job.to { End::Stopped(done) } else { End::Complete },
        shrank_to: (size < target.size).then_some(size),
    })
}

struct Reader<'a> {
    target: &'a Target,
    suspects: &'a Suspects,
    judge: Judge<'a>,
    expected: Vec<u8>,
    extents: &'a Mutex<Extents>,
    work: &'a Work<'a>,
}

impl Task for Reader<'_> {
    const DIRECTION: Direction = Direction::Read;

    fn prepare(&mut self, _range: &Range<u64>, _bytes: &mut [u8]) {}

    fn finish(
        &mut self,
        range: &Range<u64>,
        bytes: &mut [u8],
        is_transferred: bool,
    ) -> Result<(), (u64, io::Error)> {
        if is_transferred {
            self.read(range.start, bytes);
            return Ok(());
        }
        match self.target.channel.read(range.start, bytes) {
            Ok(read) => {
                self.read(range.start, &bytes[..read]);
                self.missing(range.start + read as u64..range.end);
                Ok(())
            }
            Err((at, error)) if is_gone(&error) => Err((at, error)),
            Err(_) => self.probe(range, bytes),
        }
    }

    fn fail(&self, offset: u64, error: io::Error) {
        let action = format!("cannot read {} at byte {offset}", self.target.path.display());
        self.work.fail(offset, Error::io(action, error));
    }
}

impl Reader<'_> {
    /// Reads a piece that has an unreadable part again, by the device's physical sectors.
    fn probe(&mut self, range: &Range<u64>, bytes: &mut [u8]) -> Result<(), (u64, io::Error)> {
        let step = self.target.physical_sector;
        let mut start = range.start;
        while start < range.end {
            let end = (start + 1).next_multiple_of(step).min(range.end);
            let bytes = &mut bytes[(start - range.start) as usize..(end - range.start) as usize];
            match self.target.channel.read(start, bytes) {
                Ok(read) => {
                    self.read(start, &bytes[..read]);
                    self.missing(start + read as u64..end);
                }
                Err((at, error)) if is_gone(&error) => return Err((at, error)),
                Err(_) => self.add(Extent { from: start, to: end, kind: ExtentKind::Unreadable }),
            }
            start = end;
        }
        Ok(())
    }

    fn read(&mut self, offset: u64, found: &[u8]) {
        let mut at = 0;
        while at < found.len() {
            let start = offset + at as u64;
            // Windows end where sectors do, because a sector is judged as a whole.
            let end = (start + 1).next_multiple_of(WINDOW as u64);
            let len = ((end - start) as usize).min(found.len() - at);
            let expected = &mut self.expected[..len];
            self.suspects.expected.fill(start, expected);
            let found = &found[at..][..len];
            if expected != found {
                let extents = self.extents;
                let add = &mut |extent| lock(extents).add(extent);
                self.judge.compare(start, expected, found, add);
            }
            at += len;
        }
    }

    fn missing(&self, range: Range<u64>) {
        if !range.is_empty() {
            self.add(Extent { from: range.start, to: range.end, kind: ExtentKind::Missing });
        }
    }

    fn add(&self, extent: Extent) {
        lock(self.extents).add(extent);
    }
}

const _: () = assert!(WINDOW.is_multiple_of(SECTOR));

/// Reports whether no later read can succeed.
fn is_gone(error: &io::Error) -> bool {
    let gone = [libc::ENODEV, libc::ENXIO, libc::ESTALE, libc::EACCES, libc::EPERM];
    error.raw_os_error().is_some_and(|code| gone.contains(&code))
}
