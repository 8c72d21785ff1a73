//! The numbers of a stream, by several threads.

use super::bounded::{Bounded32, Bounded64};
use super::exponential::ExponentialF64;
use super::integer::Integer;
use super::normal::{NormalF32, NormalF64};
use super::uniform::{UniformF32, UniformF64};
use super::{Number, stream};
use crate::{Error, Par};
use core::ops::RangeInclusive;

/// Numbers, the same ones as from one thread.
///
/// # Errors
///
/// The errors are those of [`Stream`](crate::Stream)'s functions of the same names.
impl Par {
    /// Fills `out` like [`Stream::fill_f64`](crate::Stream::fill_f64).
    pub fn fill_f64(&self, start: u64, out: &mut [f64]) -> Result<(), Error> {
        self.numbers(&UniformF64, start, out)
    }

    /// Fills `out` like [`Stream::fill_f32`](crate::Stream::fill_f32).
    pub fn fill_f32(&self, start: u64, out: &mut [f32]) -> Result<(), Error> {
        self.numbers(&UniformF32, start, out)
    }

    /// Fills `out` like [`Stream::fill_normal_f64`](crate::Stream::fill_normal_f64).
    pub fn fill_normal_f64(&self, start: u64, out: &mut [f64]) -> Result<(), Error> {
        self.numbers(&NormalF64, start, out)
    }

    /// Fills `out` like [`Stream::fill_normal_f32`](crate::Stream::fill_normal_f32).
    pub fn fill_normal_f32(&self, start: u64, out: &mut [f32]) -> Result<(), Error> {
        self.numbers(&NormalF32, start, out)
    }

    /// Fills `out` like [`Stream::fill_exponential_f64`](crate::Stream::fill_exponential_f64).
    pub fn fill_exponential_f64(&self, start: u64, out: &mut [f64]) -> Result<(), Error> {
        self.numbers(&ExponentialF64, start, out)
    }

    /// Fills `out` like [`Stream::fill_bounded_u64`](crate::Stream::fill_bounded_u64).
    pub fn fill_bounded_u64(&self, bound: u64, start: u64, out: &mut [u64]) -> Result<(), Error> {
        self.numbers(&Bounded64::below(bound)?, start, out)
    }

    /// Fills `out` like [`Stream::fill_bounded_u32`](crate::Stream::fill_bounded_u32).
    pub fn fill_bounded_u32(&self, bound: u32, start: u64, out: &mut [u32]) -> Result<(), Error> {
        self.numbers(&Bounded32::below(bound)?, start, out)
    }

    /// Fills `out` like [`Stream::fill_range`](crate::Stream::fill_range).
    pub fn fill_range<T: Integer>(
        &self,
        range: RangeInclusive<T>,
        start: u64,
        out: &mut [T],
    ) -> Result<(), Error> {
        self.numbers(&T::range(&range).ok_or(Error::EmptyRange)?, start, out)
    }

    pub(super) fn numbers<N: Number>(
        &self,
        number: &N,
        start: u64,
        out: &mut [N::Value],
    ) -> Result<(), Error> {
        // Once for all pieces: the last one alone may have words that do not exist.
        stream::check::<N>(start, out.len())?;
        self.fill(start, out, |stream, start, out| stream.fill(number, start, out))
    }
}
