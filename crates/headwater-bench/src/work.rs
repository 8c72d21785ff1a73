//! What is timed: a generator's draws, in batches.

use crate::plan::Case;
use std::fmt;
use std::hint::black_box;
use std::time::Duration;
use uuid::{Builder, Uuid, fmt::Hyphenated};

/// The generator gave no random bytes. Without content, so that checking for it costs what a careful
/// caller pays and no more.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Refused;

/// The outcome of a draw.
pub(crate) type Drawn = Result<(), Refused>;

/// One thread's handle on one generator. The defaults are what its callers do where it offers no more
/// than bytes.
pub(crate) trait Generator {
    /// Fills all of `buf`.
    fn fill(&mut self, buf: &mut [u8]) -> Drawn;

    fn u32(&mut self) -> Result<u32, Refused> {
        let mut bytes = [0; 4];
        self.fill(&mut bytes)?;
        Ok(u32::from_ne_bytes(bytes))
    }

    fn u64(&mut self) -> Result<u64, Refused> {
        let mut bytes = [0; 8];
        self.fill(&mut bytes)?;
        Ok(u64::from_ne_bytes(bytes))
    }

    fn uuid_v4(&mut self) -> Result<Uuid, Refused> {
        let mut bytes = [0; 16];
        self.fill(&mut bytes)?;
        Ok(Builder::from_random_bytes(bytes).into_uuid())
    }

    /// Bytes that it had drawn and threw away unserved, if it counts them.
    fn discarded_bytes(&self) -> Option<u64> {
        None
    }

    /// What a reader of its figures must know, if that is not in its name.
    fn note(&self) -> Option<&'static str> {
        None
    }
}

/// What one call does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    Fill,
    U32,
    U64,
    /// A version 4 UUID as its 36 characters of text.
    UuidV4,
}

impl Work {
    /// Bytes of output of one call, if that is not up to the caller.
    pub(crate) const fn output_len(self) -> Option<usize> {
        match self {
            Work::Fill => None,
            Work::U32 => Some(4),
            Work::U64 => Some(8),
            Work::UuidV4 => Some(Hyphenated::LENGTH),
        }
    }
}

/// Why a generator that is present takes no part in a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "peers"), expect(dead_code, reason = "only runtimes decline anything"))]
pub(crate) enum Declined {
    /// It offers nothing that this case is about.
    Case,
    /// It cannot be drawn from by so many threads.
    Threads,
}

impl fmt::Display for Declined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Declined::Case => "it has no call for any of these cases",
            Declined::Threads => "it is measured on one thread only",
        })
    }
}

/// A generator behind one pointer. Its loops are compiled for each generator, so that a call in them is
/// the call that a program would make.
pub(crate) trait Worker {
    /// Makes one call and leaves its output in `buf`.
    fn draw(&mut self, work: Work, buf: &mut [u8]) -> Drawn;

    /// Makes `calls` calls. The optimiser sees neither what is asked for nor what becomes of it.
    fn batch(&mut self, work: Work, calls: u64, buf: &mut [u8]) -> Drawn;

    /// As [`Generator::discarded_bytes`].
    fn discarded_bytes(&self) -> Option<u64>;

    /// As [`Generator::note`].
    fn note(&self) -> Option<&'static str>;

    /// Why it takes no part in this case on so many threads; `None` if it does.
    fn declines(&self, _: Case, _: usize) -> Option<Declined> {
        None
    }

    /// How long it must have run before its speed is the lasting one. Compiled code needs no more than
    /// the search for the number of calls gives it.
    fn warm_up(&self) -> Duration {
        Duration::ZERO
    }

    /// How long the last batch took, where that was timed by a clock closer to it than the caller's.
    fn own_time(&self) -> Option<Duration> {
        None
    }
}

impl<G: Generator> Worker for G {
    fn draw(&mut self, work: Work, buf: &mut [u8]) -> Drawn {
        match work {
            Work::Fill => self.fill(buf)?,
            Work::U32 => buf.copy_from_slice(&self.u32()?.to_ne_bytes()),
            Work::U64 => buf.copy_from_slice(&self.u64()?.to_ne_bytes()),
            Work::UuidV4 => {
                self.uuid_v4()?.hyphenated().encode_lower(buf);
            }
        }
        Ok(())
    }

    fn batch(&mut self, work: Work, calls: u64, buf: &mut [u8]) -> Drawn {
        match work {
            Work::Fill => {
                // A slice whose length the compiler does not know, the same for everybody. Arrays of
                // known length made no generator faster when they were tried.
                for _ in 0..calls {
                    self.fill(black_box(&mut *buf))?;
                }
            }
            Work::U32 => {
                for _ in 0..calls {
                    black_box(self.u32()?);
                }
            }
            Work::U64 => {
                for _ in 0..calls {
                    black_box(self.u64()?);
                }
            }
            Work::UuidV4 => {
                for _ in 0..calls {
                    let mut text = [0; Hyphenated::LENGTH];
                    self.uuid_v4()?.hyphenated().encode_lower(&mut text);
                    black_box(&text);
                }
            }
        }
        Ok(())
    }

    fn discarded_bytes(&self) -> Option<u64> {
        Generator::discarded_bytes(self)
    }

    fn note(&self) -> Option<&'static str> {
        Generator::note(self)
    }
}
