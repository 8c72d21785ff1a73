//! Laplace's numbers: an exponential number on either side of the mean.
//!
//! Method: the inverse of the distribution function (L. Devroye, "Non-Uniform Random Variate
//! Generation", 1986, chapter II.2): s ln 2u below the median, and -s ln 2(1 - u) above. One word
//! for each number, whose highest bit is the side, so that the number is a monotone function of the
//! word, and the number of an element is enough to compute it. The difference of two exponential
//! numbers has the same distribution, but takes two words and two logarithms.

use super::{Real, checked};
use crate::Error;
use crate::numbers::Number;
use crate::numbers::exponential::ExponentialF64;
use core::marker::PhantomData;

/// Laplace's distribution. [Not for secrets](crate).
///
/// Element e comes from word e. No number is farther than 44.4 scales from the mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Laplace {
    mean: f64,
    scale: f64,
}

impl Laplace {
    /// Returns the distribution with this mean, from which `scale` is the mean distance.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] unless both are finite and `scale` is not below 0.
    pub fn new(mean: f64, scale: f64) -> Result<Laplace, Error> {
        let mean = checked("mean", "a finite number", mean, |_| true)?;
        let scale = checked("scale", "a finite number from 0", scale, |x| x >= 0.0)?;
        Ok(Laplace { mean, scale })
    }
}

/// The numbers of one precision.
pub(super) struct Of<T> {
    mean: f64,
    scale: f64,
    value: PhantomData<fn() -> T>,
}

impl<T> Of<T> {
    pub(super) fn new(&Laplace { mean, scale }: &Laplace) -> Of<T> {
        Of { mean, scale, value: PhantomData }
    }
}

impl<T: Real> Number for Of<T> {
    type Value = T;
    const WORDS: usize = 1;
    const VALUES: usize = 1;

    #[inline(always)]
    fn convert(&self, words: &[u64], out: &mut [T]) -> bool {
        const TILE: usize = 64;
        for (out, words) in out.chunks_mut(TILE).zip(words.chunks(TILE)) {
            let (mut distances, mut made) = ([0; TILE], [0.0; TILE]);
            let (distances, made) = (&mut distances[..words.len()], &mut made[..words.len()]);
            for (distance, &word) in distances.iter_mut().zip(words) {
                // All bits are turned above the median. Without a branch, as a mask of the sign.
                *distance = word << 1 ^ ((word as i64) >> 63) as u64;
            }
            ExponentialF64.convert(distances, made);
            for ((out, made), &word) in out.iter_mut().zip(made).zip(words) {
                let side = f64::from_bits(made.to_bits() | !word & 1 << 63);
                *out = T::rounded(self.mean + self.scale * side);
            }
        }
        false
    }
}
