//! Normal numbers between two ends.
//!
//! Method: one of three proposals, so that at least 0.49 of them are accepted for any ends: normal
//! numbers, uniform ones between the ends, or exponential ones from an end in the tail (C. P.
//! Robert, "Simulation of Truncated Normal Variables", Statistics and Computing 5, 1995).

use super::functions::{coordinate, open_uniform, select};
use super::private::{Domain, LAST, Rejection, Sampler, Source, TILE, accepted, real_samplers};
use super::{checked, positive};
use crate::Error;
use crate::numbers::polynomials::minus_ln;
use crate::numbers::root::sqrt_f64;
use crate::words::Words;

/// The normal distribution between two ends. [Not for secrets](crate).
///
/// Ends may be infinite, and may lie any number of deviations from the mean. An `f32` is the `f64`
/// rounded, so it may lie beyond an end that no `f32` equals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TruncatedNormal(Method);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Method {
    Normal(Normal),
    Uniform(Uniform),
    Exponential(Exponential),
}

impl TruncatedNormal {
    /// Returns the distribution of a normal number of this mean and standard deviation, given that
    /// it is from `low` to `high`.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] unless `mean` is finite, `deviation` finite and above 0, and `low`
    /// below `high`.
    pub fn new(mean: f64, deviation: f64, low: f64, high: f64) -> Result<TruncatedNormal, Error> {
        let mean = checked("mean", "a finite number", mean, |_| true)?;
        let deviation = positive("deviation", deviation)?;
        // An end that is a NaN is in no order with the other.
        if low.partial_cmp(&high) != Some(core::cmp::Ordering::Less) {
            return Err(Error::Parameter { name: "low", need: "a number below high" });
        }
        let (mut a, b) = ((low - mean) / deviation, (high - mean) / deviation);
        let (mut from, mut width) = (low, high - low);
        let h = width / deviation;
        let ends = Ends { low, high };
        if a < 0.0 && b > 0.0 {
            return Ok(TruncatedNormal(if h < 2.5 {
                Method::Uniform(Uniform { ends, from, width, h, a, least: (a * a) / 2.0 })
            } else {
                Method::Normal(Normal { ends, mean, deviation, a, b })
            }));
        }
        // In the left tail everything is counted from the right end, downwards.
        let mut deviation = deviation;
        if a < 0.0 {
            (a, from, width, deviation) = (-b, high, -width, -deviation);
        }
        let root = sqrt_f64(a * a + 4.0);
        let rate = (a + root) / 2.0;
        // Infinite rates are right: the numbers are at the end then.
        Ok(TruncatedNormal(if h * rate < 1.0 {
            Method::Uniform(Uniform { ends, from, width, h, a, least: 0.0 })
        } else {
            let centre = 2.0 / (a + root);
            Method::Exponential(Exponential { ends, from, deviation, h, rate, centre })
        }))
    }

    fn numbers<W: Words>(&self, source: &Source<'_, W>, out: &mut [f64]) {
        match &self.0 {
            Method::Normal(method) => accepted(source, Domain::TruncatedNormal, method, out),
            Method::Uniform(method) => accepted(source, Domain::TruncatedNormal, method, out),
            Method::Exponential(method) => accepted(source, Domain::TruncatedNormal, method, out),
        }
    }
}

real_samplers!(TruncatedNormal);

#[derive(Clone, Copy, Debug, PartialEq)]
struct Ends {
    low: f64,
    high: f64,
}

impl Ends {
    /// Returns the number, moved to the end that its rounding may have crossed.
    #[inline(always)]
    fn within(&self, x: f64) -> f64 {
        let x = select(x < self.low, self.low, x);
        select(x > self.high, self.high, x)
    }
}

/// Normal numbers, of which those between the ends are accepted.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Normal {
    ends: Ends,
    mean: f64,
    deviation: f64,
    a: f64,
    b: f64,
}

impl Rejection for Normal {
    const ATTEMPTS: u16 = LAST + 1;
    const QUICK_DECIDES: bool = true;

    #[inline(always)]
    fn quick(&self, blocks: &[[u64; 2]], out: &mut [f64]) {
        let mut seconds = [0; TILE];
        for (out, blocks) in out.chunks_mut(TILE).zip(blocks.chunks(TILE)) {
            for ((out, second), &[w0, w1]) in out.iter_mut().zip(&mut seconds).zip(blocks) {
                *out = 2.0 * minus_ln(w0);
                *second = w1;
            }
            for (out, &w1) in out.iter_mut().zip(&seconds) {
                let x = sqrt_f64(*out) * coordinate(w1);
                let inside = (x >= self.a) & (x <= self.b);
                let number = self.ends.within(self.mean + self.deviation * x);
                *out = select(inside, number, f64::NAN);
            }
        }
    }

    fn fallback(&self, _: usize) -> f64 {
        self.mean
    }
}

/// Uniform numbers between two ends near each other.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Uniform {
    ends: Ends,
    /// The end from which numbers are counted, and the way to the other end, with its sign.
    from: f64,
    width: f64,
    /// The width in deviations, and the first end in deviations from the mean.
    h: f64,
    a: f64,
    /// Half of the first end's square if the mean is between the ends: the density's largest value
    /// is the mean's then, and the first end's otherwise.
    least: f64,
}

impl Rejection for Uniform {
    const ATTEMPTS: u16 = LAST + 1;
    const QUICK_DECIDES: bool = true;

    #[inline(always)]
    fn quick(&self, blocks: &[[u64; 2]], out: &mut [f64]) {
        for (out, &[w0, w1]) in out.iter_mut().zip(blocks) {
            let u = open_uniform(w0);
            let t = self.h * u;
            let accepted = t * (self.a + t / 2.0) + self.least <= minus_ln(w1);
            let number = self.ends.within(self.from + self.width * u);
            *out = select(accepted, number, f64::NAN);
        }
    }

    fn fallback(&self, _: usize) -> f64 {
        self.from
    }
}

/// Exponential numbers, added to an end in the tail.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Exponential {
    ends: Ends,
    from: f64,
    /// Negative in the left tail.
    deviation: f64,
    h: f64,
    rate: f64,
    /// The rate less the end: the place where every proposal is accepted, from the end.
    centre: f64,
}

impl Rejection for Exponential {
    const ATTEMPTS: u16 = LAST + 1;
    const QUICK_DECIDES: bool = true;

    #[inline(always)]
    fn quick(&self, blocks: &[[u64; 2]], out: &mut [f64]) {
        let mut seconds = [0; TILE];
        for (out, blocks) in out.chunks_mut(TILE).zip(blocks.chunks(TILE)) {
            for ((out, second), &[w0, w1]) in out.iter_mut().zip(&mut seconds).zip(blocks) {
                *out = minus_ln(w0) / self.rate;
                *second = w1;
            }
            for (out, &w1) in out.iter_mut().zip(&seconds) {
                let t = *out;
                let d = t - self.centre;
                let accepted = (t <= self.h) & ((d * d) / 2.0 <= minus_ln(w1));
                let number = self.ends.within(self.from + self.deviation * t);
                *out = select(accepted, number, f64::NAN);
            }
        }
    }

    fn fallback(&self, _: usize) -> f64 {
        self.from
    }
}
