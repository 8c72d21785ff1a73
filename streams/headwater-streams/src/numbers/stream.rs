//! The numbers of a stream, as its users ask for them.

use super::bounded::{Bounded32, Bounded64};
use super::exponential::ExponentialF64;
use super::integer::Integer;
use super::normal::{NormalF32, NormalF64};
use super::path::Path;
use super::uniform::{UniformF32, UniformF64};
use super::{Number, fill};
use crate::{Error, Stream};
use core::ops::RangeInclusive;

/// Numbers.
///
/// Element `e` is a function of the key, the stream and `e` alone: a range may be cut anywhere, and
/// its parts filled in any order, by any threads or machines, with the same result, to the last
/// bit, on every CPU. Kinds of numbers share the stream's words, so two arrays that must be
/// independent need two streams.
///
/// Every `fill_` writes elements `start..start + out.len()`, and its `_at` the elements that
/// `indices` lists.
///
/// # Errors
///
/// All of them: [`Error::RangeTooLong`] if an element's words end past 2^64 - 1, and
/// [`Error::Lengths`] if there is not one place for each index. Nothing is written then.
impl Stream {
    /// Writes uniform numbers in [0, 1): a multiple of 2^-53, never 1. From word `e`.
    pub fn fill_f64(&self, start: u64, out: &mut [f64]) -> Result<(), Error> {
        self.fill(&UniformF64, start, out)
    }

    /// Writes the elements of [`fill_f64`](Stream::fill_f64) with these numbers.
    pub fn f64_at(&self, indices: &[u64], out: &mut [f64]) -> Result<(), Error> {
        self.at(&UniformF64, indices, out)
    }

    /// Writes uniform numbers in [0, 1): a multiple of 2^-24, never 1. From the `e`-th `u32`.
    pub fn fill_f32(&self, start: u64, out: &mut [f32]) -> Result<(), Error> {
        self.fill(&UniformF32, start, out)
    }

    /// Writes the elements of [`fill_f32`](Stream::fill_f32) with these numbers.
    pub fn f32_at(&self, indices: &[u64], out: &mut [f32]) -> Result<(), Error> {
        self.at(&UniformF32, indices, out)
    }

    /// Writes normal numbers, mean 0 and standard deviation 1; tails up to 9.41. From word `e` and
    /// its neighbour, by Box and Muller's method.
    pub fn fill_normal_f64(&self, start: u64, out: &mut [f64]) -> Result<(), Error> {
        self.fill(&NormalF64, start, out)
    }

    /// Writes the elements of [`fill_normal_f64`](Stream::fill_normal_f64) with these numbers.
    pub fn normal_f64_at(&self, indices: &[u64], out: &mut [f64]) -> Result<(), Error> {
        self.at(&NormalF64, indices, out)
    }

    /// Writes normal numbers, mean 0 and standard deviation 1; tails up to 6.66, beyond which lies
    /// one number in 3.6e10. From `u32` number `e` and its neighbour.
    pub fn fill_normal_f32(&self, start: u64, out: &mut [f32]) -> Result<(), Error> {
        self.fill(&NormalF32, start, out)
    }

    /// Writes the elements of [`fill_normal_f32`](Stream::fill_normal_f32) with these numbers.
    pub fn normal_f32_at(&self, indices: &[u64], out: &mut [f32]) -> Result<(), Error> {
        self.at(&NormalF32, indices, out)
    }

    /// Writes exponential numbers, mean 1: never 0, at most 44.4. From word `e`.
    pub fn fill_exponential_f64(&self, start: u64, out: &mut [f64]) -> Result<(), Error> {
        self.fill(&ExponentialF64, start, out)
    }

    /// Writes the elements of [`fill_exponential_f64`](Stream::fill_exponential_f64) with these
    /// numbers.
    pub fn exponential_f64_at(&self, indices: &[u64], out: &mut [f64]) -> Result<(), Error> {
        self.at(&ExponentialF64, indices, out)
    }

    /// Writes numbers in `0..bound`, each exactly as likely as any other. From word `e`, and rarely
    /// from the same word of later draws.
    ///
    /// # Errors
    ///
    /// [`Error::ZeroBound`] as well.
    pub fn fill_bounded_u64(&self, bound: u64, start: u64, out: &mut [u64]) -> Result<(), Error> {
        self.fill(&Bounded64::below(bound)?, start, out)
    }

    /// Writes the elements of [`fill_bounded_u64`](Stream::fill_bounded_u64) with these numbers.
    ///
    /// # Errors
    ///
    /// [`Error::ZeroBound`] as well.
    pub fn bounded_u64_at(
        &self,
        bound: u64,
        indices: &[u64],
        out: &mut [u64],
    ) -> Result<(), Error> {
        self.at(&Bounded64::below(bound)?, indices, out)
    }

    /// Writes numbers in `0..bound`, each exactly as likely as any other, from the stream's `u32`s:
    /// twice as fast as 64 bits.
    ///
    /// # Errors
    ///
    /// [`Error::ZeroBound`] as well.
    pub fn fill_bounded_u32(&self, bound: u32, start: u64, out: &mut [u32]) -> Result<(), Error> {
        self.fill(&Bounded32::below(bound)?, start, out)
    }

    /// Writes the elements of [`fill_bounded_u32`](Stream::fill_bounded_u32) with these numbers.
    ///
    /// # Errors
    ///
    /// [`Error::ZeroBound`] as well.
    pub fn bounded_u32_at(
        &self,
        bound: u32,
        indices: &[u64],
        out: &mut [u32],
    ) -> Result<(), Error> {
        self.at(&Bounded32::below(bound)?, indices, out)
    }

    /// Writes numbers in `range`, both ends included, each exactly as likely as any other.
    ///
    /// ```
    /// let stream = headwater_streams::Key::from_seed(42).stream(0)?;
    /// let mut dice = [0; 5];
    /// stream.fill_range(1..=6, 0, &mut dice)?;
    /// assert!(dice.iter().all(|die| (1..=6).contains(die)));
    /// # Ok::<(), headwater_streams::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::EmptyRange`] as well.
    pub fn fill_range<T: Integer>(
        &self,
        range: RangeInclusive<T>,
        start: u64,
        out: &mut [T],
    ) -> Result<(), Error> {
        self.fill(&T::range(&range).ok_or(Error::EmptyRange)?, start, out)
    }

    /// Writes the elements of [`fill_range`](Stream::fill_range) with these numbers.
    ///
    /// # Errors
    ///
    /// [`Error::EmptyRange`] as well.
    pub fn range_at<T: Integer>(
        &self,
        range: RangeInclusive<T>,
        indices: &[u64],
        out: &mut [T],
    ) -> Result<(), Error> {
        self.at(&T::range(&range).ok_or(Error::EmptyRange)?, indices, out)
    }

    pub(super) fn fill<N: Number>(
        &self,
        number: &N,
        start: u64,
        out: &mut [N::Value],
    ) -> Result<(), Error> {
        check::<N>(start, out.len())?;
        fill::fill(Path::best(), self, number, start, out);
        Ok(())
    }

    pub(super) fn at<N: Number>(
        &self,
        number: &N,
        indices: &[u64],
        out: &mut [N::Value],
    ) -> Result<(), Error> {
        if indices.len() != out.len() {
            return Err(Error::Lengths { indices: indices.len(), out: out.len() });
        }
        indices.iter().try_for_each(|&index| check::<N>(index, 1))?;
        fill::at(Path::best(), self, number, indices, out);
        Ok(())
    }
}

/// Returns an error unless these elements' words exist: they must end at word 2^64 - 2, so that the
/// end of their range is a `u64`.
pub(super) fn check<N: Number>(start: u64, len: usize) -> Result<(), Error> {
    let end = start.checked_add(len as u64);
    let words = end.and_then(|end| end.div_ceil(N::VALUES as u64).checked_mul(N::WORDS as u64));
    words.map(drop).ok_or(Error::RangeTooLong { start, len })
}
