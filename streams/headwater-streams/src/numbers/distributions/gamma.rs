//! Gamma and chi-square numbers.
//!
//! Method: G. Marsaglia and W. W. Tsang, "A Simple Method for Generating Gamma Variables", ACM TOMS
//! 26(3), 2000: the cube of a normal number near 1, with a rejection. One block of 128 bits is
//! enough for an attempt: 52 bits are the normal number's distance, 32 its direction, and 32 the
//! uniform number of the test. But the method needs a shape of 1 or more, so a smaller one takes
//! the number of the next larger shape, times a power.

use super::functions::{
    artanh_tail, coordinate, exp_of_parts, exp_parts, ln, ln_of_parts, ln_parts, open_uniform,
    select, split,
};
use super::positive;
use super::private::{
    By, CHUNK, Domain, LAST, MASK, Rejection, Sampler, Source, TILE, accepted, map, real_samplers,
};
use crate::Error;
use crate::numbers::path::{Kernel, Path};
use crate::numbers::polynomials::{minus_ln_of_parts, minus_ln_parts};
use crate::numbers::root::sqrt_f64;
use crate::words::Words;
use core::f64::consts::LN_2;

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
        Parts { method: Method::of_shape(shape), boost }
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
const HALF: u64 = (1 << 32) - 1;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Method {
    d: f64,
    w: f64,
    /// The factor of the squeeze.
    c: f64,
}

impl Method {
    /// Returns the method of d and w, which is 1 / (3 sqrt(d)).
    #[inline(always)]
    fn new(d: f64, w: f64) -> Method {
        // The whole test accepts with probability exp(-x^4 / (108 d)) near 0, and less for negative
        // x. From shape 1 on, 1 - c x^4 is below it everywhere, by 0.5 % of c or more.
        Method { d, w, c: (0.0884 + 0.2727 * w) * (w * w) }
    }

    /// Returns the method of a shape that is finite and above 0.
    #[inline(always)]
    fn of_shape(shape: f64) -> Method {
        let d = select(shape < 1.0, shape + 1.0, shape) - THIRD;
        Method::new(d, THIRD / sqrt_f64(d))
    }

    /// Returns the coordinate that the upper half of the second word determines.
    #[inline(always)]
    fn direction(w1: u64) -> f64 {
        coordinate(w1 & !HALF | 1 << 31)
    }

    /// Writes the normal number of each block, at most [`TILE`] of them, and the second words.
    #[inline(always)]
    pub(super) fn normals(blocks: &[[u64; 2]], out: &mut [f64], seconds: &mut [u64; TILE]) {
        let mut quotients = [0.0; TILE];
        let places = out.iter_mut().zip(&mut quotients).zip(&mut *seconds);
        for (((out, quotient), second), &[w0, w1]) in places.zip(blocks) {
            (*out, *quotient) = ln_parts(open_uniform(w0));
            *second = w1;
        }
        for (out, &quotient) in out.iter_mut().zip(&quotients) {
            *out = sqrt_f64(-2.0 * ln_of_parts(*out, quotient));
        }
        for (out, &w1) in out.iter_mut().zip(&*seconds) {
            *out *= Method::direction(w1);
        }
    }

    /// Returns the uniform number of the second word.
    #[inline(always)]
    pub(super) fn uniform(w1: u64) -> f64 {
        const TWO_POW_MINUS_32: f64 = 1.0 / (1u64 << 32) as f64;
        // (2 h + 1) / 2^33, exactly.
        let bits = 1.0f64.to_bits() | (w1 & HALF) << 20;
        (f64::from_bits(bits) - 1.0) + TWO_POW_MINUS_32 / 2.0
    }

    /// Returns the gamma number of this normal number if the squeeze accepts it, otherwise NaN.
    #[inline(always)]
    fn squeezed(&self, x: f64, u: f64) -> f64 {
        let t = 1.0 + self.w * x;
        let q = x * x;
        let accepted = (t > 0.0) & (u < 1.0 - self.c * (q * q));
        select(accepted, self.d * ((t * t) * t), f64::NAN)
    }

    /// Returns the gamma number of this normal number if the whole test accepts it, otherwise NaN.
    /// `log` is that of the uniform number.
    #[inline(always)]
    fn decided(&self, x: f64, log: f64) -> f64 {
        let g = self.w * x;
        let t = 1.0 + g;
        let v = (t * t) * t;
        // ln v + 1 - v. Near 1 its terms would cancel, and large shapes multiply the error, so
        // there we need another form. But one quotient serves both: near 1 it is made of g, which
        // has more bits than t - 1.
        let near = g.abs() <= 0.25;
        let (exponent, f) = split(t);
        let d = select(near, g, f - 1.0);
        let s = d / (d + 2.0);
        let tail = artanh_tail(s);
        let close = 3.0 * (tail - g * s) - (g * g) * (3.0 + g);
        let far = 3.0 * (exponent * LN_2 + (tail + (s + s))) + (1.0 - v);
        let accepted = (t > 0.0) & (log < 0.5 * (x * x) + self.d * select(near, close, far));
        select(accepted, self.d * v, f64::NAN)
    }
}

impl Rejection for Method {
    const ATTEMPTS: u16 = LAST;

    #[inline(always)]
    fn quick(&self, blocks: &[[u64; 2]], out: &mut [f64]) {
        let mut seconds = [0; TILE];
        for (out, blocks) in out.chunks_mut(TILE).zip(blocks.chunks(TILE)) {
            Method::normals(blocks, out, &mut seconds);
            for (out, &w1) in out.iter_mut().zip(&seconds) {
                *out = self.squeezed(*out, Method::uniform(w1));
            }
        }
    }

    #[inline(always)]
    fn full(&self, blocks: &[[u64; 2]], _: &[u16], out: &mut [f64]) {
        let (mut seconds, mut logs) = ([0; TILE], [0.0; TILE]);
        for (out, blocks) in out.chunks_mut(TILE).zip(blocks.chunks(TILE)) {
            Method::normals(blocks, out, &mut seconds);
            for (log, &w1) in logs[..out.len()].iter_mut().zip(&seconds) {
                *log = ln(Method::uniform(w1));
            }
            for (out, &log) in out.iter_mut().zip(&logs) {
                *out = self.decided(*out, log);
            }
        }
    }

    fn fallback(&self, _: usize) -> f64 {
        self.d
    }
}

/// The methods of elements that have shapes of their own.
pub(super) struct Methods {
    d: [f64; CHUNK],
    w: [f64; CHUNK],
}

impl Default for Methods {
    fn default() -> Methods {
        Methods { d: [0.0; CHUNK], w: [0.0; CHUNK] }
    }
}

impl Methods {
    /// Sets the methods to those of these shapes, times a scale, in turns. There are at most
    /// [`CHUNK`] shapes, which are finite and above 0.
    pub(super) fn set(&mut self, path: Path, shapes: &[f64], scale: f64) {
        path.run(Set { methods: self, shapes, scale });
        for numbers in [&mut self.d, &mut self.w] {
            repeat(numbers, shapes.len());
        }
    }

    /// Returns the method of the element at this place.
    #[inline(always)]
    fn at(&self, place: usize) -> Method {
        let place = place & MASK;
        Method::new(self.d[place], self.w[place])
    }
}

/// The loop of [`Methods::set`].
struct Set<'a> {
    methods: &'a mut Methods,
    shapes: &'a [f64],
    scale: f64,
}

impl Kernel for Set<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Methods { d, w } = self.methods;
        for ((d, w), &shape) in d.iter_mut().zip(w).zip(self.shapes) {
            let method = Method::of_shape(shape * self.scale);
            (*d, *w) = (method.d, method.w);
        }
    }
}

/// Repeats the first numbers of a list, up to its end.
pub(super) fn repeat(numbers: &mut [f64; CHUNK], mut first: usize) {
    // Twice as many each time, since copies of a few numbers take longer than their instructions.
    while let Some((from, to)) = numbers.split_at_mut_checked(first).filter(|_| first > 0) {
        if to.is_empty() {
            return;
        }
        to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
        first = first.saturating_mul(2).min(CHUNK);
    }
}

impl Rejection for Methods {
    const ATTEMPTS: u16 = LAST;

    #[inline(always)]
    fn quick(&self, blocks: &[[u64; 2]], out: &mut [f64]) {
        let mut seconds = [0; TILE];
        let methods = self.d.chunks(TILE).zip(self.w.chunks(TILE));
        for ((out, blocks), (d, w)) in out.chunks_mut(TILE).zip(blocks.chunks(TILE)).zip(methods) {
            Method::normals(blocks, out, &mut seconds);
            for ((out, &w1), (&d, &w)) in out.iter_mut().zip(&seconds).zip(d.iter().zip(w)) {
                *out = Method::new(d, w).squeezed(*out, Method::uniform(w1));
            }
        }
    }

    #[inline(always)]
    fn full(&self, blocks: &[[u64; 2]], places: &[u16], out: &mut [f64]) {
        let (mut seconds, mut logs) = ([0; TILE], [0.0; TILE]);
        let places = places.chunks(TILE);
        for ((out, blocks), places) in out.chunks_mut(TILE).zip(blocks.chunks(TILE)).zip(places) {
            Method::normals(blocks, out, &mut seconds);
            for (log, &w1) in logs[..out.len()].iter_mut().zip(&seconds) {
                *log = ln(Method::uniform(w1));
            }
            for ((out, &log), &place) in out.iter_mut().zip(&logs).zip(places) {
                *out = self.at(place.into()).decided(*out, log);
            }
        }
    }

    fn fallback(&self, place: usize) -> f64 {
        self.at(place).d
    }
}

/// Multiplies by e^-E, the exponent being an exponential number over the shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Boost {
    pub(super) shape: f64,
}

impl By for Boost {
    #[inline(always)]
    fn by(&self, blocks: &[[u64; 2]], out: &mut [f64]) {
        let (mut doublings, mut rests) = ([0.0; TILE], [0.0; TILE]);
        for (out, blocks) in out.chunks_mut(TILE).zip(blocks.chunks(TILE)) {
            let exponents = &mut rests[..out.len()];
            exponentials(blocks, &[self.shape; TILE], exponents);
            for (n, rest) in doublings.iter_mut().zip(exponents) {
                (*n, *rest) = exp_parts(-*rest);
            }
            for ((out, &n), &rest) in out.iter_mut().zip(&doublings).zip(&rests) {
                *out *= exp_of_parts(n, rest);
            }
        }
    }
}

/// Writes the exponential number of each block's first word over its shape, at most [`TILE`]
/// numbers.
#[inline(always)]
pub(super) fn exponentials<'a>(
    blocks: &[[u64; 2]],
    shapes: impl IntoIterator<Item = &'a f64>,
    out: &mut [f64],
) {
    let mut quotients = [0.0; TILE];
    for ((out, quotient), &[w0, _]) in out.iter_mut().zip(&mut quotients).zip(blocks) {
        (*out, *quotient) = minus_ln_parts(w0);
    }
    for ((out, &quotient), &shape) in out.iter_mut().zip(&quotients).zip(shapes) {
        *out = minus_ln_of_parts(*out, quotient) / shape;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The squeeze saves time and decides nothing: what it accepts, the whole test accepts as well.
    #[test]
    fn the_squeeze_accepts_nothing_that_the_whole_test_rejects() {
        let (mut accepted, mut decided) = (0, 0);
        let shapes = (0..60).map(|i| 1.0 + 1e-3 * 1.5f64.powi(i));
        for shape in shapes.chain([1.0, 1e12, 1e100, 1e300]) {
            let method = Parts::new(shape).method;
            for i in -8600..=8600 {
                let x = f64::from(i) * 1e-3;
                // The uniform numbers around the squeeze's bound, and the largest one.
                let bound = (1.0 - method.c * (x * x) * (x * x)) * 2f64.powi(32);
                for half in (-2..=1).map(|d| bound.floor() + f64::from(d)).chain([4294967295.0]) {
                    if !(0.0..=4294967295.0).contains(&half) {
                        continue;
                    }
                    let u = Method::uniform(half as u64);
                    let whole = method.decided(x, ln(u));
                    let squeezed = method.squeezed(x, u);
                    assert!(squeezed.is_nan() || squeezed == whole, "{shape} {x} {u}");
                    accepted += u32::from(!squeezed.is_nan());
                    decided += u32::from(!whole.is_nan());
                }
            }
        }
        // Both sides of the bound were met.
        assert!(accepted > 1_000_000 && decided > accepted + 500_000, "{accepted} {decided}");
    }
}
