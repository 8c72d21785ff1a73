//! Noncentral chi-square and noncentral F numbers: a square of a normal number that is not around
//! 0, and squares of others.
//!
//! From one degree of freedom on, one square alone is noncentral, and the others are a chi-square
//! number (N. L. Johnson, S. Kotz and N. Balakrishnan, "Continuous Univariate Distributions" 2,
//! 1995, chapter 29). Fewer degrees have no square to spare, so there a Poisson count adds two
//! degrees a time. The sum stays in two parts: either may underflow, but their ratio to another
//! number need not.

use super::beta::{Exponent, power_of_two};
use super::checked;
use super::functions::{coordinate, exp, select};
use super::gamma::{Methods, Parts};
use super::poisson::Poisson;
use super::positive;
use super::private::{
    By, CHUNK, Domain, FEW, LAST, Sampler, Source, TILE, accepted, is_few, map, real_samplers,
};
use crate::Error;
use crate::numbers::path::Kernel;
use crate::numbers::polynomials::{minus_ln_of_parts, minus_ln_parts};
use crate::numbers::root::sqrt_f64;
use crate::words::Words;

/// The shape below which all numbers are 0 anyway, and exponents would be infinite.
const LEAST: f64 = power_of_two(-1000);

/// The noncentral chi-square distribution. [Not for secrets](crate).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoncentralChiSquare(Squares);

impl NoncentralChiSquare {
    /// Returns the distribution of the sum of `k` squares of normal numbers, whose means have
    /// squares that add up to `noncentrality`; `k` need not be an integer.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] unless `k` is finite and above 0, and `noncentrality` finite and from
    /// 0.
    pub fn new(k: f64, noncentrality: f64) -> Result<NoncentralChiSquare, Error> {
        Ok(NoncentralChiSquare(Squares::new("k", k, noncentrality)?))
    }

    fn numbers<W: Words>(&self, source: &Source<'_, W>, out: &mut [f64]) {
        match is_few(out.len()) {
            true => self.numbers_of::<W, FEW>(source, out),
            false => self.numbers_of::<W, CHUNK>(source, out),
        }
    }

    fn numbers_of<W: Words, const N: usize>(&self, source: &Source<'_, W>, out: &mut [f64]) {
        let many = out.len().min(N);
        let (mut rests, mut exponents) = ([0.0; N], [0.0; N]);
        let (rests, exponents) = (&mut rests[..many], &mut exponents[..many]);
        self.0.halves(source, CHI_SQUARE, out, exponents, rests);
        if self.0.shape >= 1.0 {
            source.path.run(Plain { out, rests });
        } else {
            source.path.run(Sum { out, exponents, rests });
        }
    }
}

/// The domains of a sum's parts in noncentral chi-square numbers, and in noncentral F numbers.
pub(super) const CHI_SQUARE: [Domain; 3] =
    [Domain::NoncentralFirst, Domain::NoncentralSecond, Domain::NoncentralThird];
pub(super) const F: [Domain; 3] =
    [Domain::NoncentralFFirst, Domain::NoncentralFSecond, Domain::NoncentralFThird];

/// The noncentral F distribution. [Not for secrets](crate).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoncentralF {
    squares: Squares,
    first: f64,
    second: f64,
}

impl NoncentralF {
    /// Returns the distribution of a noncentral chi-square number of `first` degrees of freedom
    /// over them, divided by a chi-square number of `second` degrees over these.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] unless the degrees are finite and above 0, and `noncentrality` finite
    /// and from 0.
    pub fn new(first: f64, second: f64, noncentrality: f64) -> Result<NoncentralF, Error> {
        let squares = Squares::new("first", first, noncentrality)?;
        let second = least(positive("second", second)? / 2.0);
        Ok(NoncentralF { squares, first: least(first / 2.0), second })
    }

    fn numbers<W: Words>(&self, source: &Source<'_, W>, out: &mut [f64]) {
        match is_few(out.len()) {
            true => self.numbers_of::<W, FEW>(source, out),
            false => self.numbers_of::<W, CHUNK>(source, out),
        }
    }

    fn numbers_of<W: Words, const N: usize>(&self, source: &Source<'_, W>, out: &mut [f64]) {
        let many = out.len().min(N);
        let (mut rests, mut e1, mut others, mut e2) = ([0.0; N], [0.0; N], [0.0; N], [0.0; N]);
        let (rests, e1) = (&mut rests[..many], &mut e1[..many]);
        let (others, e2) = (&mut others[..many], &mut e2[..many]);
        self.squares.halves(source, F, out, e1, rests);
        gamma(self.second, source, Domain::NoncentralFBelow, others, e2);
        let (a, b) = (self.first, self.second);
        source.path.run(Ratio { a, b, out, rests, e1, others, e2 });
    }
}

real_samplers!(NoncentralChiSquare, NoncentralF);

#[inline(always)]
pub(super) fn least(shape: f64) -> f64 {
    select(shape < LEAST, LEAST, shape)
}

/// Writes the factor and the exponent of gamma numbers: a number is the factor times e^-exponent.
fn gamma<W: Words>(
    shape: f64,
    source: &Source<'_, W>,
    domain: Domain,
    factors: &mut [f64],
    exponents: &mut [f64],
) {
    let parts = Parts::new(shape);
    parts.factors(source, domain, factors);
    if parts.boost.is_some() {
        map(source, domain, LAST, Exponent { shape }, exponents);
    }
}

/// A sum of squares, one of them noncentral, or as many as a count says.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Squares {
    /// The shape of half of the central squares' sum.
    shape: f64,
    rest: Rest,
}

// The table of counts stays in the value, because a stream never allocates.
#[expect(clippy::large_enum_variant)]
#[derive(Clone, Copy, Debug, PartialEq)]
enum Rest {
    /// The square of a normal number around this one.
    Square(f64),
    /// Two degrees of freedom for each of these counts.
    Pairs(Poisson),
}

impl Squares {
    fn new(name: &'static str, degrees: f64, noncentrality: f64) -> Result<Squares, Error> {
        let degrees = positive(name, degrees)?;
        let need = "a finite number from 0";
        let noncentrality = checked("noncentrality", need, noncentrality, |x| x >= 0.0)?;
        Ok(if degrees >= 1.0 {
            let shape = least((degrees - 1.0) / 2.0);
            Squares { shape, rest: Rest::Square(sqrt_f64(noncentrality)) }
        } else {
            let pairs = Poisson::of_mean(noncentrality / 2.0);
            Squares { shape: least(degrees / 2.0), rest: Rest::Pairs(pairs) }
        })
    }

    /// Writes half of the sum in parts: `out` e^-exponent, and `rests`.
    fn halves<W: Words>(
        &self,
        source: &Source<'_, W>,
        [first, second, third]: [Domain; 3],
        out: &mut [f64],
        exponents: &mut [f64],
        rests: &mut [f64],
    ) {
        gamma(self.shape, source, first, out, exponents);
        match &self.rest {
            Rest::Square(around) => map(source, second, 0, HalfSquare { around: *around }, rests),
            Rest::Pairs(pairs) => {
                let many = rests.len().min(CHUNK);
                let mut counts = [0.0; CHUNK];
                let counts = &mut counts[..many];
                pairs.counts(source, second, counts);
                pairs_of(source, third, counts, rests);
            }
        }
    }
}

/// Writes gamma numbers of these counts, at most [`CHUNK`] of them, and 0 for none.
pub(super) fn pairs_of<W: Words>(
    source: &Source<'_, W>,
    domain: Domain,
    counts: &[f64],
    out: &mut [f64],
) {
    // A gamma number of no pairs is 0. The method takes one pair in its place, whose number is not
    // used.
    let mut shapes = [1.0; CHUNK];
    for (shape, &count) in shapes.iter_mut().zip(counts) {
        *shape = select(count > 1.0, count, 1.0);
    }
    let mut methods = Methods::default();
    methods.set(source.path, &shapes[..counts.len().min(CHUNK)], 1.0);
    accepted(source, domain, &methods, out);
    for (number, &count) in out.iter_mut().zip(counts) {
        *number = select(count > 0.0, *number, 0.0);
    }
}

/// Half of the square of a normal number around another one.
struct HalfSquare {
    around: f64,
}

impl By for HalfSquare {
    #[inline(always)]
    fn by(&self, blocks: &[[u64; 2]], out: &mut [f64]) {
        for (out, blocks) in out.chunks_mut(TILE).zip(blocks.chunks(TILE)) {
            half_squares(blocks, &[self.around; TILE], out);
        }
    }
}

/// Half squares around numbers that each element has for itself.
#[cfg(feature = "std")]
pub(super) struct HalfSquares<'a> {
    /// The squares of those numbers.
    pub(super) noncentralities: &'a [f64],
}

#[cfg(feature = "std")]
impl By for HalfSquares<'_> {
    #[inline(always)]
    fn by(&self, blocks: &[[u64; 2]], out: &mut [f64]) {
        let squares = self.noncentralities.chunks(TILE);
        for ((out, blocks), squares) in out.chunks_mut(TILE).zip(blocks.chunks(TILE)).zip(squares) {
            let mut around = [0.0; TILE];
            for (around, &square) in around.iter_mut().zip(squares) {
                *around = sqrt_f64(square);
            }
            half_squares(blocks, &around, out);
        }
    }
}

/// Writes the half squares of at most [`TILE`] blocks.
#[inline(always)]
fn half_squares(blocks: &[[u64; 2]], around: &[f64; TILE], out: &mut [f64]) {
    let (mut quotients, mut seconds) = ([0.0; TILE], [0; TILE]);
    let places = out.iter_mut().zip(&mut quotients).zip(&mut seconds);
    for (((out, quotient), second), &[w0, w1]) in places.zip(blocks) {
        (*out, *quotient) = minus_ln_parts(w0);
        *second = w1;
    }
    for (out, &quotient) in out.iter_mut().zip(&quotients) {
        *out = sqrt_f64(2.0 * minus_ln_of_parts(*out, quotient));
    }
    for ((out, &w1), &around) in out.iter_mut().zip(&seconds).zip(around) {
        let x = around + *out * coordinate(w1);
        *out = (x * x) / 2.0;
    }
}

/// The sum of both parts.
pub(super) struct Sum<'a> {
    pub(super) out: &'a mut [f64],
    pub(super) exponents: &'a [f64],
    pub(super) rests: &'a [f64],
}

impl Kernel for Sum<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for ((out, &e), &rest) in self.out.iter_mut().zip(self.exponents).zip(self.rests) {
            *out = 2.0 * (*out * exp(-e) + rest);
        }
    }
}

/// The same where all exponents are 0.
pub(super) struct Plain<'a> {
    pub(super) out: &'a mut [f64],
    pub(super) rests: &'a [f64],
}

impl Kernel for Plain<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (out, &rest) in self.out.iter_mut().zip(self.rests) {
            *out = 2.0 * (*out + rest);
        }
    }
}

/// The ratio of the sum to a gamma number, each over its degrees of freedom.
struct Ratio<'a> {
    a: f64,
    b: f64,
    out: &'a mut [f64],
    rests: &'a [f64],
    e1: &'a [f64],
    others: &'a [f64],
    e2: &'a [f64],
}

impl Kernel for Ratio<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let above = self.out.iter_mut().zip(self.rests).zip(self.e1);
        for (((out, &rest), &e1), (&other, &e2)) in above.zip(self.others.iter().zip(self.e2)) {
            *out = ratio([self.a, self.b], [*out, other], rest, [e1, e2]);
        }
    }
}

/// The same with halves of the degrees of freedom that each element has for itself.
#[cfg(feature = "std")]
pub(super) struct Ratios<'a> {
    pub(super) halves: [&'a [f64]; 2],
    pub(super) out: &'a mut [f64],
    pub(super) rests: &'a [f64],
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
        let above = self.out.iter_mut().zip(self.rests).zip(self.others);
        for (((out, &rest), &other), ((&a, &b), (&e1, &e2))) in above.zip(parts) {
            *out = ratio([a, b], [*out, other], rest, [e1, e2]);
        }
    }
}

/// Returns the ratio of the sum to a gamma number, each over its shape.
#[inline(always)]
fn ratio([a, b]: [f64; 2], [number, other]: [f64; 2], rest: f64, [e1, e2]: [f64; 2]) -> f64 {
    // No rest stays none, even if the power is infinite.
    let rest = select(rest == 0.0, 0.0, rest * exp(e2));
    ((number * exp(e2 - e1) + rest) / a) * (b / other)
}
