//! Functions of gamma numbers: their logarithms, and Maxwell's numbers.

use super::beta::{Exponent, power_of_two};
use super::checked;
use super::functions::ln;
use super::gamma::{Gamma, Parts};
use super::positive;
use super::private::{CHUNK, Domain, FEW, LAST, Sampler, Source, is_few, map, real_samplers};
use crate::Error;
use crate::numbers::path::Kernel;
use crate::numbers::root::sqrt_f64;
use crate::words::Words;

/// The logarithms of gamma numbers. [Not for secrets](crate).
///
/// They are finite for every shape, whereas a gamma number of a small shape may underflow to 0 and
/// have no logarithm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogGamma {
    shape: f64,
}

impl LogGamma {
    /// Returns the distribution of the logarithms of gamma numbers of this shape and scale 1.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] unless the shape is finite and above 0.
    pub fn new(shape: f64) -> Result<LogGamma, Error> {
        // With smaller shapes the exponents would be infinite.
        const LEAST: f64 = power_of_two(-1000);
        let shape = positive("shape", shape)?;
        Ok(LogGamma { shape: if shape < LEAST { LEAST } else { shape } })
    }

    fn numbers<W: Words>(&self, source: &Source<'_, W>, out: &mut [f64]) {
        match is_few(out.len()) {
            true => self.numbers_of::<W, FEW>(source, out),
            false => self.numbers_of::<W, CHUNK>(source, out),
        }
    }

    fn numbers_of<W: Words, const N: usize>(&self, source: &Source<'_, W>, out: &mut [f64]) {
        let mut exponents = [0.0; N];
        let exponents = &mut exponents[..out.len().min(N)];
        let parts = Parts::new(self.shape);
        parts.factors(source, Domain::LogGamma, out);
        if parts.boost.is_some() {
            map(source, Domain::LogGamma, LAST, Exponent { shape: self.shape }, exponents);
        }
        source.path.run(Logarithm { out, exponents });
    }
}

/// Maxwell's distribution: the length of a vector of three normal numbers.
/// [Not for secrets](crate).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Maxwell {
    gamma: Gamma,
    scale: f64,
}

impl Maxwell {
    /// Returns the distribution of the length of a vector of three normal numbers with this
    /// standard deviation.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] unless the scale is finite and from 0.
    pub fn new(scale: f64) -> Result<Maxwell, Error> {
        let scale = checked("scale", "a finite number from 0", scale, |x| x >= 0.0)?;
        Ok(Maxwell { gamma: Gamma { parts: Parts::new(1.5) }, scale })
    }

    fn numbers<W: Words>(&self, source: &Source<'_, W>, out: &mut [f64]) {
        self.gamma.parts.factors(source, Domain::Maxwell, out);
        source.path.run(Root { scale: self.scale, out });
    }
}

real_samplers!(LogGamma, Maxwell);

pub(super) struct Logarithm<'a> {
    pub(super) out: &'a mut [f64],
    pub(super) exponents: &'a [f64],
}

impl Kernel for Logarithm<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (out, &exponent) in self.out.iter_mut().zip(self.exponents) {
            *out = ln(*out) - exponent;
        }
    }
}

struct Root<'a> {
    scale: f64,
    out: &'a mut [f64],
}

impl Kernel for Root<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for out in self.out {
            *out = self.scale * sqrt_f64(2.0 * *out);
        }
    }
}
