//! Beta numbers: the share of one gamma number in the sum of two.

use super::functions::{exp, ln, select};
use super::gamma::Parts;
use super::positive;
use super::private::{
    By, CHUNK, Domain, LAST, Rejection, Sampler, Source, accepted, map, real_samplers,
};
use crate::Error;
use crate::numbers::path::Kernel;
use crate::numbers::polynomials::minus_ln;
use crate::words::Words;

/// The beta distribution on 0 to 1. [Not for secrets](crate).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Beta(Method);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Method {
    Small(Joehnk),
    Gammas { first: Parts, second: Parts },
}

impl Beta {
    /// Returns the distribution of these shapes, whose mean is a / (a + b).
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] unless both shapes are finite and above 0.
    pub fn new(a: f64, b: f64) -> Result<Beta, Error> {
        const TINY: f64 = power_of_two(-200);
        let (a, b) = (positive("a", a)?, positive("b", b)?);
        // Exponents would be infinite for both. With shapes as small as these, all numbers are 0 or
        // 1 anyway, and the ratio alone decides.
        let scale = if a.max(b) < TINY { power_of_two(100) } else { 1.0 };
        let (a, b) = (a * scale, b * scale);
        Ok(Beta(if a <= 1.0 && b <= 1.0 {
            Method::Small(Joehnk { a, b })
        } else {
            Method::Gammas { first: Parts::new(a), second: Parts::new(b) }
        }))
    }

    fn numbers<W: Words>(&self, source: &Source<'_, W>, out: &mut [f64]) {
        let (first, second) = match &self.0 {
            Method::Small(joehnk) => return accepted(source, Domain::BetaFirst, joehnk, out),
            Method::Gammas { first, second } => (first, second),
        };
        let many = out.len().min(CHUNK);
        let mut others = [0.0; CHUNK];
        let others = &mut others[..many];
        first.factors(source, Domain::BetaFirst, out);
        second.factors(source, Domain::BetaSecond, others);
        if first.boost.is_none() && second.boost.is_none() {
            for (out, &mut other) in out.iter_mut().zip(others) {
                *out = 1.0 / (1.0 + other / *out);
            }
            return;
        }
        let (mut e1, mut e2) = ([0.0; CHUNK], [0.0; CHUNK]);
        let (e1, e2) = (&mut e1[..many], &mut e2[..many]);
        for (parts, domain, exponents) in
            [(first, Domain::BetaFirst, &mut *e1), (second, Domain::BetaSecond, &mut *e2)]
        {
            if let Some(boost) = parts.boost {
                map(source, domain, LAST, Exponent { shape: boost.shape }, exponents);
            }
        }
        source.path.run(Share { out, others, e1, e2 });
    }
}

real_samplers!(Beta);

/// Returns a power of two whose exponent a normal float has.
pub(super) const fn power_of_two(exponent: i64) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// The method for shapes up to 1: M. D. Joehnk, "Erzeugung von betaverteilten und gammaverteilten
/// Zufallszahlen", Metrika 8, 1964, with exponents in place of powers, which would underflow.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Joehnk {
    a: f64,
    b: f64,
}

impl Rejection for Joehnk {
    const ATTEMPTS: u16 = LAST + 1;
    const QUICK_DECIDES: bool = true;

    #[inline(always)]
    fn quick(&self, block: [u64; 2], _: f64) -> f64 {
        self.full(block)
    }

    #[inline(always)]
    fn full(&self, [w0, w1]: [u64; 2]) -> f64 {
        let (e1, e2) = (minus_ln(w0) / self.a, minus_ln(w1) / self.b);
        // The smaller power over the larger one, whose exponent is the smaller.
        let ratio = exp(-(e1 - e2).abs());
        let sum = 1.0 + ratio;
        let accepted = ln(sum) <= select(e1 <= e2, e1, e2);
        select(accepted, select(e1 <= e2, 1.0, ratio) / sum, f64::NAN)
    }

    fn fallback(&self) -> f64 {
        0.5
    }
}

/// The exponent of a number's second part.
pub(super) struct Exponent {
    pub(super) shape: f64,
}

impl By for Exponent {
    #[inline(always)]
    fn by(&self, block: [u64; 2], _: f64) -> f64 {
        minus_ln(block[0]) / self.shape
    }
}

/// The share of the first number, computed from the parts of both: one exponent is 0 after the
/// smaller one is taken from both, so no sum is 0.
struct Share<'a> {
    out: &'a mut [f64],
    others: &'a [f64],
    e1: &'a [f64],
    e2: &'a [f64],
}

impl Kernel for Share<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let exponents = self.e1.iter().zip(self.e2);
        for ((out, &other), (&e1, &e2)) in self.out.iter_mut().zip(self.others).zip(exponents) {
            let m = if e1 < e2 { e1 } else { e2 };
            *out = 1.0 / (1.0 + (other * exp(m - e2)) / (*out * exp(m - e1)));
        }
    }
}
