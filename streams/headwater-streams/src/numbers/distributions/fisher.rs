//! Fisher's numbers: the ratio of two chi-square numbers, each over its degrees of freedom.

use super::beta::{Exponent, power_of_two};
use super::functions::{exp, select};
use super::gamma::Parts;
use super::positive;
use super::private::{CHUNK, Domain, FEW, LAST, Sampler, Source, is_few, map, real_samplers};
use crate::Error;
use crate::numbers::path::Kernel;
use crate::words::Words;

/// Fisher's F distribution. [Not for secrets](crate).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FisherF {
    first: f64,
    second: f64,
}

impl FisherF {
    /// Returns the distribution with `first` degrees of freedom above the line, and `second` below
    /// it.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] unless both are finite and above 0.
    pub fn new(first: f64, second: f64) -> Result<FisherF, Error> {
        let (first, second) = (positive("first", first)?, positive("second", second)?);
        Ok(FisherF { first: half(first), second: half(second) })
    }

    fn numbers<W: Words>(&self, source: &Source<'_, W>, out: &mut [f64]) {
        match is_few(out.len()) {
            true => self.numbers_of::<W, FEW>(source, out),
            false => self.numbers_of::<W, CHUNK>(source, out),
        }
    }

    fn numbers_of<W: Words, const N: usize>(&self, source: &Source<'_, W>, out: &mut [f64]) {
        let many = out.len().min(N);
        let (mut others, mut e1, mut e2) = ([0.0; N], [0.0; N], [0.0; N]);
        let (others, e1, e2) = (&mut others[..many], &mut e1[..many], &mut e2[..many]);
        for (shape, domain, factors, exponents) in [
            (self.first, Domain::FisherFirst, &mut *out, &mut *e1),
            (self.second, Domain::FisherSecond, &mut *others, &mut *e2),
        ] {
            let parts = Parts::new(shape);
            parts.factors(source, domain, factors);
            if parts.boost.is_some() {
                map(source, domain, LAST, Exponent { shape }, exponents);
            }
        }
        source.path.run(Ratio { a: self.first, b: self.second, out, others, e1, e2 });
    }
}

/// Returns half of the degrees of freedom. Exponents of smaller shapes would be infinite for both
/// numbers, and their difference no number; with shapes as small as these, all numbers are 0 or
/// infinite anyway.
#[inline(always)]
pub(super) fn half(degrees: f64) -> f64 {
    const LEAST: f64 = power_of_two(-1000);
    let shape = degrees / 2.0;
    select(shape < LEAST, LEAST, shape)
}

real_samplers!(FisherF);

/// The ratio, computed from the parts of both numbers, since either may underflow by itself.
struct Ratio<'a> {
    a: f64,
    b: f64,
    out: &'a mut [f64],
    others: &'a [f64],
    e1: &'a [f64],
    e2: &'a [f64],
}

impl Kernel for Ratio<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let exponents = self.e1.iter().zip(self.e2);
        for ((out, &other), (&e1, &e2)) in self.out.iter_mut().zip(self.others).zip(exponents) {
            *out = ratio([self.a, self.b], [*out, other], [e1, e2]);
        }
    }
}

/// The same with halves of the degrees of freedom that each element has for itself.
#[cfg(feature = "std")]
pub(super) struct Ratios<'a> {
    pub(super) halves: [&'a [f64]; 2],
    pub(super) out: &'a mut [f64],
    pub(super) others: &'a [f64],
    pub(super) exponents: [&'a [f64]; 2],
}

#[cfg(feature = "std")]
impl Kernel for Ratios<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let ([first, second], [e1, e2]) = (self.halves, self.exponents);
        let parts = first.iter().zip(second).zip(e1.iter().zip(e2));
        for ((out, &other), ((&a, &b), (&e1, &e2))) in
            self.out.iter_mut().zip(self.others).zip(parts)
        {
            *out = ratio([a, b], [*out, other], [e1, e2]);
        }
    }
}

/// Returns the ratio of two gamma numbers over their shapes.
#[inline(always)]
fn ratio([a, b]: [f64; 2], [number, other]: [f64; 2], [e1, e2]: [f64; 2]) -> f64 {
    // The power first: if it is 0, so is the number, whatever the other factors are.
    ((number / a) * exp(e2 - e1)) * (b / other)
}
