//! Wald's numbers, or those of the inverse Gaussian distribution.
//!
//! Method: J. R. Michael, W. R. Schucany and R. W. Haas, "Generating Random Variates Using
//! Transformations with Multiple Roots", The American Statistician 30(2), 1976: the square of a
//! normal number has two roots, and a uniform number chooses one. One block is enough for both, as
//! in an attempt of a gamma number. The authors' formula of the smaller root subtracts two numbers
//! that are nearly equal in the tail. Their product is the square of the mean, so here the larger
//! root is computed, and the smaller one is a quotient.

use super::functions::select;
use super::gamma::Method;
use super::positive;
use super::private::{By, Domain, Sampler, Source, TILE, map, real_samplers};
use crate::Error;
use crate::numbers::root::sqrt_f64;
use crate::words::Words;

/// Wald's distribution. [Not for secrets](crate).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wald {
    mean: f64,
    /// Half of the mean over the scale.
    half: f64,
}

impl Wald {
    /// Returns the distribution of this mean, whose variance is `mean^3 / scale`.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] unless both are finite and above 0.
    pub fn new(mean: f64, scale: f64) -> Result<Wald, Error> {
        Ok(Wald::of(positive("mean", mean)?, positive("scale", scale)?))
    }

    /// Returns the distribution of a mean and a scale that are finite and above 0.
    #[inline(always)]
    pub(super) fn of(mean: f64, scale: f64) -> Wald {
        Wald { mean, half: (mean / 2.0) / scale }
    }

    /// Returns the number of a normal number and a block's second word.
    #[inline(always)]
    pub(super) fn number(&self, x: f64, w1: u64) -> f64 {
        let h = self.half * (x * x);
        // The root is of normal numbers and 0 only.
        let h = select(h < f64::MIN_POSITIVE, 0.0, h);
        let d = (1.0 + h) + sqrt_f64(h) * sqrt_f64(h + 2.0);
        let smaller = Method::uniform(w1) * (1.0 + 1.0 / d) <= 1.0;
        select(smaller, self.mean / d, self.mean * d)
    }

    fn numbers<W: Words>(&self, source: &Source<'_, W>, out: &mut [f64]) {
        map(source, Domain::Wald, 0, *self, out);
    }
}

real_samplers!(Wald);

impl By for Wald {
    #[inline(always)]
    fn by(&self, blocks: &[[u64; 2]], out: &mut [f64]) {
        let mut seconds = [0; TILE];
        for (out, blocks) in out.chunks_mut(TILE).zip(blocks.chunks(TILE)) {
            Method::normals(blocks, out, &mut seconds);
            for (out, &w1) in out.iter_mut().zip(&seconds) {
                *out = self.number(*out, w1);
            }
        }
    }
}
