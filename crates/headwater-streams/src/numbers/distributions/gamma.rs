//! Gamma and chi-square numbers.
//!
//! Method: G. Marsaglia and W. W. Tsang, "A Simple Method for Generating Gamma Variables", ACM TOMS
//! 26(3), 2000: the cube of a normal number near 1, with a rejection. One block of 128 bits makes
//! an attempt: 52 bits are the normal number's distance, 32 its direction, and 32 the uniform
//! number of the test. A shape below 1 takes the number of the next larger shape, times a power.

use super::functions::{artanh_tail, coordinate, exp, ln, open_uniform, select};
use super::positive;
use super::private::{By, Domain, LAST, Rejection, Sampler, Source, accepted, map, real_samplers};
use crate::Error;
use crate::numbers::polynomials::minus_ln;
use crate::numbers::root::sqrt_f64;
use crate::words::Words;

/// The gamma distribution with scale 1. [Not for secrets](crate).
///
/// Multiply the numbers by another scale. A number of a shape below 0.01 may underflow to 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gamma {
    pub(super) parts: Parts,
}

impl Gamma {
    /// Returns the distribution of this shape, which is also its mean and variance.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] unless the shape is finite and above 0.
    pub fn new(shape: f64) -> Result<Gamma, Error> {
        Ok(Gamma { parts: Parts::new(positive("shape", shape)?) })
    }

    fn numbers<W: Words>(&self, source: &Source<'_, W>, out: &mut [f64]) {
        self.parts.factors(source, Domain::Gamma, out);
        if let Some(by) = self.parts.boost {
            map(source, Domain::Gamma, LAST, by, out);
        }
    }
}

/// The chi-square distribution. [Not for secrets](crate).
///
/// Element e is twice element e of [`Gamma`] of half the degrees of freedom, from the same words.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChiSquare {
    gamma: Gamma,
}

impl ChiSquare {
    /// Returns the distribution of the sum of `k` squares of normal numbers; `k` need not be an
    /// integer.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] unless `k` is finite and above 0.
    pub fn new(k: f64) -> Result<ChiSquare, Error> {
        // Half of the smallest float is no float.
        let shape = (positive("k", k)? / 2.0).max(f64::from_bits(1));
        Ok(ChiSquare { gamma: Gamma { parts: Parts::new(shape) } })
    }

    fn numbers<W: Words>(&self, source: &Source<'_, W>, out: &mut [f64]) {
        self.gamma.numbers(source, out);
        for out in out {
            *out *= 2.0;
        }
    }
}

real_samplers!(Gamma, ChiSquare);

/// A gamma number is G e^-E: G from Marsaglia and Tsang's method, E from the boost of small shapes,
/// or 0. In two parts, because ratios of both exist where the numbers would underflow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Parts {
    method: Method,
    /// Present for shapes below 1.
    pub(super) boost: Option<Boost>,
}

impl Parts {
    /// Returns the parts of a shape that is finite and above 0.
    pub(super) fn new(shape: f64) -> Parts {
        let boost = (shape < 1.0).then_some(Boost { shape });
        let a = if shape < 1.0 { shape + 1.0 } else { shape };
        let d = a - THIRD;
        Parts { method: Method { d, w: THIRD / sqrt_f64(d) }, boost }
    }

    /// Writes G of each element.
    pub(super) fn factors<W: Words>(
        &self,
        source: &Source<'_, W>,
        domain: Domain,
        out: &mut [f64],
    ) {
        accepted(source, domain, &self.method, out);
    }
}

const THIRD: f64 = 1.0 / 3.0;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Method {
    d: f64,
    w: f64,
}

impl Method {
    /// Returns the square of the distance that the first word stands for.
    #[inline(always)]
    pub(super) fn distance_squared(w0: u64) -> f64 {
        -2.0 * ln(open_uniform(w0))
    }

    /// Returns the normal number at this distance, and the uniform number of the second word.
    #[inline(always)]
    pub(super) fn pair(distance_squared: f64, w1: u64) -> (f64, f64) {
        const HALF: u64 = (1 << 32) - 1;
        const TWO_POW_MINUS_32: f64 = 1.0 / (1u64 << 32) as f64;
        let x = sqrt_f64(distance_squared) * coordinate(w1 & !HALF | 1 << 31);
        // (2 h + 1) / 2^33, exactly.
        let bits = 1.0f64.to_bits() | (w1 & HALF) << 20;
        (x, (f64::from_bits(bits) - 1.0) + TWO_POW_MINUS_32 / 2.0)
    }

    /// Returns the proposal, and true if the squeeze accepts it.
    #[inline(always)]
    fn squeezed(&self, x: f64, u: f64) -> (f64, bool) {
        let t = 1.0 + self.w * x;
        let q = x * x;
        (self.d * ((t * t) * t), (t > 0.0) & (u < 1.0 - 0.0331 * (q * q)))
    }
}

impl Rejection for Method {
    const ATTEMPTS: u16 = LAST;

    const TWO_STEPS: bool = true;

    #[inline(always)]
    fn first_step(&self, [w0, _]: [u64; 2]) -> f64 {
        Method::distance_squared(w0)
    }

    #[inline(always)]
    fn quick(&self, [_, w1]: [u64; 2], distance_squared: f64) -> f64 {
        let (x, u) = Method::pair(distance_squared, w1);
        let (proposal, accepted) = self.squeezed(x, u);
        select(accepted, proposal, f64::NAN)
    }

    #[inline(always)]
    fn full(&self, [w0, w1]: [u64; 2]) -> f64 {
        let (x, u) = Method::pair(Method::distance_squared(w0), w1);
        let (proposal, accepted) = self.squeezed(x, u);
        let g = self.w * x;
        let t = 1.0 + g;
        // ln v + 1 - v. Near 1 its terms would cancel, and large shapes multiply the error.
        let s = g / (g + 2.0);
        let near = 3.0 * (artanh_tail(s) - g * s) - (g * g) * (3.0 + g);
        let far = 3.0 * ln(t) + (1.0 - (t * t) * t);
        let b = select(g.abs() <= 0.25, near, far);
        let also = (t > 0.0) & (ln(u) < 0.5 * (x * x) + self.d * b);
        select(accepted | also, proposal, f64::NAN)
    }

    fn fallback(&self) -> f64 {
        self.d
    }
}

/// Multiplies by e^-E, the exponent being an exponential number over the shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Boost {
    pub(super) shape: f64,
}

impl By for Boost {
    #[inline(always)]
    fn by(&self, block: [u64; 2], so_far: f64) -> f64 {
        so_far * exp(-(minus_ln(block[0]) / self.shape))
    }
}
