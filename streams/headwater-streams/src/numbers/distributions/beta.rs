//! Beta numbers: the share of one gamma number in the sum of two.

use super::functions::{exp, exp_of_parts, exp_parts, ln, select};
use super::gamma::{Parts, exponentials};
use super::positive;
#[cfg(feature = "std")]
use super::private::MASK;
use super::private::{
    By, CHUNK, Domain, FEW, LAST, Rejection, Sampler, Source, TILE, accepted, is_few, map,
    real_samplers,
};
use crate::Error;
use crate::numbers::path::Kernel;
use crate::numbers::polynomials::{minus_ln_of_parts, minus_ln_parts};
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
        let [a, b] = scaled([positive("a", a)?, positive("b", b)?]);
        Ok(Beta(if a <= 1.0 && b <= 1.0 {
            Method::Small(Joehnk { a, b })
        } else {
            Method::Gammas { first: Parts::new(a), second: Parts::new(b) }
        }))
    }

    fn numbers<W: Words>(&self, source: &Source<'_, W>, out: &mut [f64]) {
        match is_few(out.len()) {
            true => self.numbers_of::<W, FEW>(source, out),
            false => self.numbers_of::<W, CHUNK>(source, out),
        }
    }

    fn numbers_of<W: Words, const N: usize>(&self, source: &Source<'_, W>, out: &mut [f64]) {
        let (first, second) = match &self.0 {
            Method::Small(joehnk) => return accepted(source, Domain::BetaFirst, joehnk, out),
            Method::Gammas { first, second } => (first, second),
        };
        let many = out.len().min(N);
        let mut others = [0.0; N];
        let others = &mut others[..many];
        first.factors(source, Domain::BetaFirst, out);
        second.factors(source, Domain::BetaSecond, others);
        if first.boost.is_none() && second.boost.is_none() {
            return source.path.run(Quotients { out, others });
        }
        let (mut e1, mut e2) = ([0.0; N], [0.0; N]);
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

/// Returns shapes that are in the same ratio, if the exponents of these would be infinite for both.
/// With shapes as small as that, all numbers are 0 or 1 anyway, and the ratio alone decides.
#[inline(always)]
fn scaled([a, b]: [f64; 2]) -> [f64; 2] {
    const TINY: f64 = power_of_two(-200);
    let scale = select((a < TINY) & (b < TINY), power_of_two(100), 1.0);
    [a * scale, b * scale]
}

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
    fn quick(&self, blocks: &[[u64; 2]], out: &mut [f64]) {
        for (out, blocks) in out.chunks_mut(TILE).zip(blocks.chunks(TILE)) {
            joehnk(blocks, [&[self.a; TILE], &[self.b; TILE]], out);
        }
    }

    fn fallback(&self, _: usize) -> f64 {
        0.5
    }
}

/// Writes the numbers of at most [`TILE`] blocks, or NaN for those that are rejected.
#[inline(always)]
fn joehnk(blocks: &[[u64; 2]], [a, b]: [&[f64; TILE]; 2], out: &mut [f64]) {
    let (mut halvings, mut quotients) = ([[0.0; TILE]; 2], [[0.0; TILE]; 2]);
    let many = out.len().min(TILE);
    let ([h1, h2], [q1, q2]) = (&mut halvings, &mut quotients);
    let first = h1.iter_mut().zip(&mut *q1).zip(h2.iter_mut().zip(&mut *q2));
    for (((h1, q1), (h2, q2)), &[w0, w1]) in first.zip(blocks) {
        (*h1, *q1) = minus_ln_parts(w0);
        (*h2, *q2) = minus_ln_parts(w1);
    }
    let exponents = h1[..many].iter_mut().zip(&q1[..many]).zip(a);
    let others = h2[..many].iter_mut().zip(&q2[..many]).zip(b);
    for (((h1, &q1), &a), ((h2, &q2), &b)) in exponents.zip(others) {
        *h1 = minus_ln_of_parts(*h1, q1) / a;
        *h2 = minus_ln_of_parts(*h2, q2) / b;
    }
    // The smaller power over the larger one, whose exponent is the smaller.
    let exponents = h1[..many].iter().zip(&h2[..many]);
    for ((n, r), (&e1, &e2)) in q1.iter_mut().zip(&mut *q2).zip(exponents) {
        (*n, *r) = exp_parts(-(e1 - e2).abs());
    }
    for (&mut n, r) in q1[..many].iter_mut().zip(&mut q2[..many]) {
        *r = exp_of_parts(n, *r);
    }
    for (((out, &e1), &e2), &ratio) in out.iter_mut().zip(&*h1).zip(&*h2).zip(&*q2) {
        let sum = 1.0 + ratio;
        let accepted = ln(sum) <= select(e1 <= e2, e1, e2);
        *out = select(accepted, select(e1 <= e2, 1.0, ratio) / sum, f64::NAN);
    }
}

/// Joehnk's method for shapes that each element has for itself, both up to 1.
#[cfg(feature = "std")]
pub(super) struct Joehnks([[f64; CHUNK]; 2]);

#[cfg(feature = "std")]
impl Joehnks {
    /// Returns the method of these shapes. Elements with other shapes have 1 in their place.
    pub(super) fn new(a: &[f64], b: &[f64]) -> Joehnks {
        let mut shapes = [[1.0; CHUNK]; 2];
        let [first, second] = &mut shapes;
        for ((first, second), (&a, &b)) in first.iter_mut().zip(second).zip(a.iter().zip(b)) {
            let is_small = is_small(a, b);
            [*first, *second] = scaled([select(is_small, a, 1.0), select(is_small, b, 1.0)]);
        }
        Joehnks(shapes)
    }
}

/// Returns true for shapes whose numbers Joehnk's method makes.
#[cfg(feature = "std")]
#[inline(always)]
pub(super) fn is_small(a: f64, b: f64) -> bool {
    (a <= 1.0) & (b <= 1.0)
}

#[cfg(feature = "std")]
impl Rejection for Joehnks {
    const ATTEMPTS: u16 = LAST + 1;
    const QUICK_DECIDES: bool = true;

    #[inline(always)]
    fn quick(&self, blocks: &[[u64; 2]], out: &mut [f64]) {
        let [a, b] = &self.0;
        let shapes = a.as_chunks().0.iter().zip(b.as_chunks().0);
        for ((out, blocks), (a, b)) in out.chunks_mut(TILE).zip(blocks.chunks(TILE)).zip(shapes) {
            joehnk(blocks, [a, b], out);
        }
    }

    #[inline(always)]
    fn full(&self, blocks: &[[u64; 2]], places: &[u16], out: &mut [f64]) {
        let chunks = out.chunks_mut(TILE).zip(blocks.chunks(TILE)).zip(places.chunks(TILE));
        for ((out, blocks), places) in chunks {
            let (mut a, mut b) = ([1.0; TILE], [1.0; TILE]);
            for ((a, b), &place) in a.iter_mut().zip(&mut b).zip(places) {
                let place = usize::from(place) & MASK;
                (*a, *b) = (self.0[0][place], self.0[1][place]);
            }
            joehnk(blocks, [&a, &b], out);
        }
    }

    fn fallback(&self, _: usize) -> f64 {
        0.5
    }
}

/// The exponent of a number's second part.
pub(super) struct Exponent {
    pub(super) shape: f64,
}

impl By for Exponent {
    #[inline(always)]
    fn by(&self, blocks: &[[u64; 2]], out: &mut [f64]) {
        for (out, blocks) in out.chunks_mut(TILE).zip(blocks.chunks(TILE)) {
            exponentials(blocks, &[self.shape; TILE], out);
        }
    }
}

/// The share of the first number, computed from the parts of both: one exponent is 0 after the
/// smaller one is taken from both, so no sum is 0.
pub(super) struct Share<'a> {
    pub(super) out: &'a mut [f64],
    pub(super) others: &'a [f64],
    pub(super) e1: &'a [f64],
    pub(super) e2: &'a [f64],
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

/// The same where both exponents are 0.
pub(super) struct Quotients<'a> {
    pub(super) out: &'a mut [f64],
    pub(super) others: &'a [f64],
}

impl Kernel for Quotients<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (out, &other) in self.out.iter_mut().zip(self.others) {
            *out = 1.0 / (1.0 + other / *out);
        }
    }
}
