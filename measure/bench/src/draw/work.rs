//! The timed calls: a generator's draws, in batches.

use crate::case::{Case, Numbers};
use crate::draw::crowd::Stretch;
use crate::draw::upper_halves::{self, Halves};
use crate::system::clock::Clock;
use std::fmt;
use std::hint::black_box;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use uuid::{Builder, Uuid, fmt::Hyphenated};

/// The generator gave no random bytes. Without content, so that checking for it costs what a
/// careful caller pays and no more.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Refused;

/// The outcome of a draw.
pub(crate) type Drawn = Result<(), Refused>;

/// One thread's handle on one generator. The defaults are what its callers do where it offers no
/// more than bytes.
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

    fn uuid_v7(&mut self) -> Result<Uuid, Refused> {
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut bytes = [0; 10];
        self.fill(&mut bytes)?;
        let milliseconds = since_1970.as_millis() as u64;
        Ok(Builder::from_unix_timestamp_millis(milliseconds, &bytes).into_uuid())
    }

    /// Draws the values that protect a resolver from forged answers: a query's id, and a source
    /// port that needs no privilege.
    fn dns_query(&mut self) -> Result<(u16, u16), Refused> {
        loop {
            let word = self.u32()?;
            let (id, port) = ((word >> 16) as u16, word as u16);
            // One word in 64 is drawn again, so that every port is as likely as any other.
            if port >= FIRST_FREE_PORT {
                return Ok((id, port));
            }
        }
    }

    /// Returns the number of bytes that the generator has drawn and thrown away unserved until now,
    /// if the generator counts them.
    fn discarded_bytes(&self) -> Option<u64> {
        None
    }

    /// Returns a note for readers of the figures, if the name does not say enough.
    fn note(&self) -> Option<&'static str> {
        None
    }
}

/// Ports below it belong to the system's services.
const FIRST_FREE_PORT: u16 = 1024;

/// The secrets of one encrypted session, each its own draw: a key, an initialisation vector, the
/// random value of a hello, and the session's name. Their lengths are known to the compiler, as in
/// a program.
#[derive(Clone, Copy)]
struct Session {
    key: [u8; 32],
    iv: [u8; 12],
    hello: [u8; 32],
    id: [u8; 16],
}

impl Session {
    const LEN: usize = 32 + 12 + 32 + 16;

    #[inline]
    fn draw(generator: &mut impl Generator) -> Result<Session, Refused> {
        let mut session = Session { key: [0; 32], iv: [0; 12], hello: [0; 32], id: [0; 16] };
        generator.fill(&mut session.key)?;
        generator.fill(&mut session.iv)?;
        generator.fill(&mut session.hello)?;
        generator.fill(&mut session.id)?;
        Ok(session)
    }
}

/// The work of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    Fill,
    /// A call fills, after an instruction that leaves upper halves of vector registers so.
    FillAfter(Halves),
    U32,
    U64,
    /// A version 4 UUID as its 36 characters of text.
    UuidV4,
    /// A version 7 UUID as text.
    UuidV7,
    /// A DNS query's id and source port.
    DnsQuery,
    /// The secrets of a session.
    Session,
    /// An array, by a stream.
    Stream(Numbers),
}

impl Work {
    /// Returns the number of bytes of output of one call, if the length is not up to the caller.
    pub(crate) const fn output_len(self) -> Option<usize> {
        match self {
            Work::Fill | Work::FillAfter(_) | Work::Stream(_) => None,
            Work::U32 => Some(4),
            Work::U64 => Some(8),
            Work::UuidV4 | Work::UuidV7 => Some(Hyphenated::LENGTH),
            Work::DnsQuery => Some(4),
            Work::Session => Some(Session::LEN),
        }
    }
}

/// Why a generator that is present takes no part in a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Declined {
    /// It offers nothing that this case is about.
    Case,
    /// It cannot be drawn from by so many threads.
    Threads,
    /// The CPU has nothing that this case is about.
    Cpu,
}

impl fmt::Display for Declined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Declined::Case => "it has no call for any of these cases",
            Declined::Threads => "it is measured on one thread only",
            Declined::Cpu => "this CPU has no registers of 256 bits",
        })
    }
}

/// A generator that one pointer stands for. Its loops are compiled for each generator, so that a
/// call in them is the call that a program would make.
pub(crate) trait Worker {
    /// Makes one call and leaves its output in `buf`.
    fn draw(&mut self, work: Work, buf: &mut [u8]) -> Drawn;

    /// Makes `calls` calls. The optimiser sees neither what is asked for nor what becomes of it.
    fn batch(&mut self, work: Work, calls: u64, buf: &mut [u8]) -> Drawn;

    /// Fills `buf` once for each place in `ticks`, and notes there how long that took by `clock`.
    fn fill_timed(&mut self, clock: &Clock, ticks: &mut [u64], buf: &mut [u8]) -> Drawn;

    /// Returns [`Generator::discarded_bytes`].
    fn discarded_bytes(&self) -> Option<u64>;

    /// Returns [`Generator::note`].
    fn note(&self) -> Option<&'static str>;

    /// Returns the reason why the generator takes no part in this case on so many threads. Returns
    /// `None` if the generator takes part.
    fn declines(&self, case: Case, _: usize) -> Option<Declined> {
        case.is_of_streams().then_some(Declined::Case)
    }

    /// Returns the time after which the generator's speed is the lasting one. For compiled code,
    /// the search for the number of calls takes long enough.
    fn warm_up(&self) -> Duration {
        Duration::ZERO
    }

    /// Reports whether another process makes the calls, where their instructions cannot be seen.
    fn is_elsewhere(&self) -> bool {
        false
    }

    /// Lets `threads` threads of another process draw together for so long. Returns `None` for a
    /// generator of this process.
    fn crowd(&mut self, threads: usize, lasting: Duration) -> Option<Result<Stretch, String>> {
        let _ = (threads, lasting);
        None
    }

    /// Returns the time of the last batch, if a clock closer to the batch than the caller's
    /// measured it.
    fn own_time(&self) -> Option<Duration> {
        None
    }
}

impl<G: Generator> Worker for G {
    fn draw(&mut self, work: Work, buf: &mut [u8]) -> Drawn {
        match work {
            Work::Fill | Work::FillAfter(_) => self.fill(buf)?,
            Work::U32 => buf.copy_from_slice(&self.u32()?.to_ne_bytes()),
            Work::U64 => buf.copy_from_slice(&self.u64()?.to_ne_bytes()),
            Work::UuidV4 => {
                self.uuid_v4()?.hyphenated().encode_lower(buf);
            }
            Work::UuidV7 => {
                self.uuid_v7()?.hyphenated().encode_lower(buf);
            }
            Work::DnsQuery => {
                let (id, port) = self.dns_query()?;
                buf[..2].copy_from_slice(&id.to_be_bytes());
                buf[2..].copy_from_slice(&port.to_be_bytes());
            }
            Work::Session => {
                let session = Session::draw(self)?;
                let parts: [&[u8]; 4] = [&session.key, &session.iv, &session.hello, &session.id];
                buf.copy_from_slice(&parts.concat());
            }
            Work::Stream(_) => return Err(Refused),
        }
        Ok(())
    }

    fn batch(&mut self, work: Work, calls: u64, buf: &mut [u8]) -> Drawn {
        match work {
            Work::Fill => {
                // The compiler does not know the length of the slice, for any implementation.
                // Arrays of known length made no generator faster when they were tried.
                for _ in 0..calls {
                    self.fill(black_box(&mut *buf))?;
                }
            }
            Work::FillAfter(Halves::Clean) => {
                for _ in 0..calls {
                    upper_halves::clean();
                    self.fill(black_box(&mut *buf))?;
                }
            }
            Work::FillAfter(Halves::Dirty) => {
                for _ in 0..calls {
                    upper_halves::make_dirty();
                    self.fill(black_box(&mut *buf))?;
                }
                upper_halves::clean();
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
            Work::UuidV7 => {
                for _ in 0..calls {
                    let mut text = [0; Hyphenated::LENGTH];
                    self.uuid_v7()?.hyphenated().encode_lower(&mut text);
                    black_box(&text);
                }
            }
            Work::DnsQuery => {
                for _ in 0..calls {
                    black_box(self.dns_query()?);
                }
            }
            Work::Session => {
                for _ in 0..calls {
                    black_box(&Session::draw(self)?);
                }
            }
            Work::Stream(_) => return Err(Refused),
        }
        Ok(())
    }

    fn fill_timed(&mut self, clock: &Clock, ticks: &mut [u64], buf: &mut [u8]) -> Drawn {
        for ticks in ticks {
            let start = clock.now();
            self.fill(black_box(&mut *buf))?;
            *ticks = clock.now().saturating_sub(start);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands out given bytes in turn.
    struct Script(std::vec::IntoIter<u8>);

    impl Generator for Script {
        fn fill(&mut self, buf: &mut [u8]) -> Drawn {
            for byte in buf {
                *byte = self.0.next().ok_or(Refused)?;
            }
            Ok(())
        }
    }

    fn script(bytes: impl IntoIterator<Item = u8>) -> Script {
        Script(bytes.into_iter().collect::<Vec<_>>().into_iter())
    }

    #[test]
    fn a_query_never_leaves_from_a_port_of_the_system() {
        let words = [0xABCD_03FF_u32, 0x1234_0400, 0xFFFF_FFFF];
        let mut generator = script(words.into_iter().flat_map(u32::to_ne_bytes));
        assert_eq!(generator.dns_query().ok(), Some((0x1234, 0x0400)));
        assert_eq!(generator.dns_query().ok(), Some((0xFFFF, 0xFFFF)));
        assert!(generator.dns_query().is_err());
    }

    #[test]
    fn a_session_is_four_draws_in_order() {
        let mut generator = script(0..92);
        let mut bytes = [0; Session::LEN];
        assert!(generator.draw(Work::Session, &mut bytes).is_ok());
        assert!(bytes.iter().copied().eq(0..92));
        assert!(generator.draw(Work::Session, &mut bytes).is_err());
    }

    #[test]
    fn version_7_by_fill_has_the_time_and_the_marks() {
        let uuid = script([0xFF; 10]).uuid_v7().ok().unwrap();
        let milliseconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
        assert!(milliseconds - (uuid.as_u128() >> 80) < 10_000);
        assert_eq!((uuid.get_version_num(), uuid.get_variant()), (7, uuid::Variant::RFC4122));
    }
}
