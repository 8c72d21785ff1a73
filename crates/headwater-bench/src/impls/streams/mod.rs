//! Generators of numbers that come again: headwater's streams, and what else fills arrays with such numbers.
//! None of them is for secrets, so that they have cases of their own.

mod headwater;
#[cfg(feature = "peers")]
mod peers;

use super::{Implementation, Opened};
use crate::case::{Case, Numbers};
use crate::clock::Clock;
use crate::work::{Declined, Drawn, Refused, Work, Worker};
use std::hint::black_box;

/// In the order of the tables.
pub(crate) const ALL: &[&Implementation] = &[
    &headwater::ARS7,
    &headwater::ARS5,
    &headwater::PHILOX,
    &headwater::XOSHIRO,
    &headwater::XOSHIRO_X8,
    &headwater::SFC64,
    &headwater::PCG64DXSM,
    &headwater::XORSHIFT,
    #[cfg(feature = "peers")]
    &peers::XOSHIRO,
    #[cfg(feature = "peers")]
    &peers::PHILOX,
    #[cfg(feature = "peers")]
    &peers::MEMSET,
];

/// Those that need Python.
#[cfg(feature = "peers")]
pub(crate) const MORE: &[&Implementation] = super::runtimes::STREAMS;
#[cfg(not(feature = "peers"))]
pub(crate) const MORE: &[&Implementation] = &[];

/// One thread's handle on one stream.
trait Stream {
    /// What it has a call for.
    const HAS: &[Numbers];

    /// Makes an array of the numbers that come next, or does to it what `numbers` says; `None` if it cannot.
    fn next(&mut self, numbers: Numbers, out: &mut [u64]) -> Option<()>;
}

/// A [`Stream`] as the harness calls it.
struct Array<S>(S);

fn ready(stream: impl Stream + 'static) -> Opened {
    Ok(Box::new(Array(stream)))
}

/// `buf` as 64-bit words, which it is aligned for.
fn words(buf: &mut [u8]) -> Result<&mut [u64], Refused> {
    bytemuck::try_cast_slice_mut(buf).map_err(|_| Refused)
}

impl<S: Stream> Worker for Array<S> {
    fn draw(&mut self, work: Work, buf: &mut [u8]) -> Drawn {
        let Work::Stream(numbers) = work else { return Err(Refused) };
        let out = words(buf)?;
        if numbers == Numbers::Shuffle {
            // Something to put into another order.
            out.iter_mut().zip(1..).for_each(|(word, number)| *word = number);
        }
        self.0.next(numbers, out).ok_or(Refused)
    }

    fn batch(&mut self, work: Work, calls: u64, buf: &mut [u8]) -> Drawn {
        let Work::Stream(numbers) = work else { return Err(Refused) };
        let out = words(buf)?;
        for _ in 0..calls {
            self.0.next(numbers, black_box(&mut *out)).ok_or(Refused)?;
        }
        Ok(())
    }

    fn fill_timed(&mut self, _: &Clock, _: &mut [u64], _: &mut [u8]) -> Drawn {
        Err(Refused)
    }

    fn discarded_bytes(&self) -> Option<u64> {
        None
    }

    fn note(&self) -> Option<&'static str> {
        None
    }

    fn declines(&self, case: Case, _: usize) -> Option<Declined> {
        match case {
            Case::Stream(numbers) if S::HAS.contains(&numbers) => None,
            _ => Some(Declined::Case),
        }
    }
}
