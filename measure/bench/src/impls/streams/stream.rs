//! The interface of a stream, and its adapter to the harness.

use crate::case::{Case, Numbers};
use crate::draw::work::{Declined, Drawn, Refused, Work, Worker};
use crate::impls::implementation::Opened;
use crate::system::clock::Clock;
use std::hint::black_box;

/// One thread's handle on one stream.
pub(super) trait Stream {
    /// The numbers that it has a call for.
    const HAS: &[Numbers];

    /// Makes an array of the numbers that come next, or does to it what `numbers` says; `None` if
    /// it cannot.
    fn next(&mut self, numbers: Numbers, out: &mut [u64]) -> Option<()>;
}

/// A [`Stream`] as the harness calls it.
pub(super) struct Array<S>(S);

pub(super) fn ready(stream: impl Stream + 'static) -> Opened {
    Ok(Box::new(Array(stream)))
}

/// Returns `buf` as 64-bit words, for which the harness has aligned `buf`.
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
