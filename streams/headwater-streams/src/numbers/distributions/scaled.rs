//! Uniform, normal and exponential numbers, moved and scaled.
//!
//! The numbers without parameters are the fastest, and a caller could scale an array by itself. But
//! a second pass over an array takes as long as the first, and each caller would round in another
//! order; so here the scale is part of the loop, and of the specification.

use super::words::Shaped;
use super::{Real, checked};
use crate::Error;
use crate::numbers::Number;
use crate::numbers::normal::NormalF64;
use core::marker::PhantomData;

/// Uniform numbers between two ends. [Not for secrets](crate).
///
/// Element e is `low + (high - low) * x`, with element e of
/// [`fill_f64`](crate::Stream::fill_f64) as x. By rounding, a number may equal `high`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScaledUniform {
    low: f64,
    width: f64,
}

impl ScaledUniform {
    /// Returns the distribution of the numbers from `low` to `high`.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] unless both are finite, and `high - low` is finite and not below 0.
    pub fn new(low: f64, high: f64) -> Result<ScaledUniform, Error> {
        let high = checked("high", "a finite number at a finite distance", high, |_| true)?;
        let low = checked("low", "a finite number up to high", low, |low| low <= high)?;
        checked("high", "a finite number at a finite distance", high - low, |_| true)?;
        Ok(ScaledUniform::of(low, high))
    }

    /// Returns the distribution of ends that [`new`](ScaledUniform::new) takes.
    #[inline(always)]
    pub(super) fn of(low: f64, high: f64) -> ScaledUniform {
        ScaledUniform { low, width: high - low }
    }
}

impl Shaped for ScaledUniform {
    const EXPONENTIAL: bool = false;

    #[inline(always)]
    fn number(&self, word: u64, _: f64, _: f64) -> f64 {
        const STEP: f64 = 1.0 / (1u128 << 64) as f64;
        // The upper 53 bits stay where they are, as in `UniformF64`.
        self.low + self.width * ((word & !((1 << 11) - 1)) as f64 * STEP)
    }
}

/// Exponential numbers of any mean. [Not for secrets](crate).
///
/// Element e is element e of [`fill_exponential_f64`](crate::Stream::fill_exponential_f64) times
/// the mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScaledExponential {
    scale: f64,
}

impl ScaledExponential {
    /// Returns the distribution of this mean.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] unless `scale` is finite and not below 0.
    pub fn new(scale: f64) -> Result<ScaledExponential, Error> {
        let scale = checked("scale", "a finite number from 0", scale, |x| x >= 0.0)?;
        Ok(ScaledExponential { scale })
    }
}

impl Shaped for ScaledExponential {
    #[inline(always)]
    fn number(&self, _: u64, exponential: f64, _: f64) -> f64 {
        self.scale * exponential
    }
}

/// Normal numbers of any mean and standard deviation. [Not for secrets](crate).
///
/// Element e is `mean + deviation * x`, with element e of
/// [`fill_normal_f64`](crate::Stream::fill_normal_f64) as x, from the same words.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScaledNormal {
    mean: f64,
    deviation: f64,
}

impl ScaledNormal {
    /// Returns the distribution of this mean and standard deviation.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] unless both are finite and `deviation` is not below 0.
    pub fn new(mean: f64, deviation: f64) -> Result<ScaledNormal, Error> {
        let mean = checked("mean", "a finite number", mean, |_| true)?;
        let deviation = checked("deviation", "a finite number from 0", deviation, |x| x >= 0.0)?;
        Ok(ScaledNormal { mean, deviation })
    }
}

/// The normal numbers of one precision.
pub(super) struct Moved<T> {
    mean: f64,
    deviation: f64,
    value: PhantomData<fn() -> T>,
}

impl<T> Moved<T> {
    pub(super) fn new(&ScaledNormal { mean, deviation }: &ScaledNormal) -> Moved<T> {
        Moved { mean, deviation, value: PhantomData }
    }
}

impl<T: Real> Number for Moved<T> {
    type Value = T;
    const WORDS: usize = 2;
    const VALUES: usize = 2;

    #[inline(always)]
    fn convert(&self, words: &[u64], out: &mut [T]) -> bool {
        const TILE: usize = 64;
        for (out, words) in out.chunks_mut(TILE).zip(words.chunks(TILE)) {
            let mut normals = [0.0; TILE];
            let normals = &mut normals[..out.len()];
            NormalF64.convert(words, normals);
            for (out, &mut normal) in out.iter_mut().zip(normals) {
                *out = T::rounded(self.mean + self.deviation * normal);
            }
        }
        false
    }
}
