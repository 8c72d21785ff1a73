//! Numbers by the inverse of their distribution function, one word each.
//!
//! Method: L. Devroye, "Non-Uniform Random Variate Generation", 1986, chapter II.2. A reader would
//! expect u in the formulas. But -ln u has all of its bits at both ends of the range, where the
//! tails of these distributions are, so they are written with it; and no number is infinite unless
//! the exact one is beyond all floats.

use super::functions::{exp, expm1, half_turn_sine_factor, ln, open_uniform, select};
use super::words::{Shaped, distance, on_side};
use super::{checked, positive};
use crate::Error;
use crate::numbers::root::sqrt_f64;

const FINITE: &str = "a finite number";
const FROM_0: &str = "a finite number from 0";

/// Returns a mean or another place, and the scale of the distances from it.
fn place_and_scale(name: &'static str, place: f64, scale: f64) -> Result<(f64, f64), Error> {
    let place = checked(name, FINITE, place, |_| true)?;
    Ok((place, checked("scale", FROM_0, scale, |x| x >= 0.0)?))
}

/// Rayleigh's distribution: distances of normal points of the plane. [Not for secrets](crate).
///
/// Element e is `scale * sqrt(2 E)`, with E the exponential number of word e.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rayleigh {
    scale: f64,
}

impl Rayleigh {
    /// Returns the distribution with this mode.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] unless `scale` is finite and not below 0.
    pub fn new(scale: f64) -> Result<Rayleigh, Error> {
        Ok(Rayleigh { scale: checked("scale", FROM_0, scale, |x| x >= 0.0)? })
    }
}

impl Shaped for Rayleigh {
    #[inline(always)]
    fn number(&self, _: u64, exponential: f64, _: f64) -> f64 {
        self.scale * sqrt_f64(2.0 * exponential)
    }
}

/// Weibull's distribution of scale 1. [Not for secrets](crate).
///
/// Element e is `E^(1 / shape)`, with E the exponential number of word e.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weibull {
    shape: f64,
}

impl Weibull {
    /// Returns the distribution of this shape.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] unless `shape` is finite and above 0.
    pub fn new(shape: f64) -> Result<Weibull, Error> {
        Ok(Weibull::of(positive("shape", shape)?))
    }

    /// Returns the distribution of a shape that is finite and above 0.
    #[inline(always)]
    pub(super) fn of(shape: f64) -> Weibull {
        Weibull { shape }
    }
}

impl Shaped for Weibull {
    const HALVES: bool = true;

    #[inline(always)]
    fn half(&self, exponential: f64) -> f64 {
        ln(exponential) / self.shape
    }

    #[inline(always)]
    fn number(&self, _: u64, _: f64, half: f64) -> f64 {
        exp(half)
    }
}

/// Pareto's distribution of the second kind, or Lomax's, from 0. [Not for secrets](crate).
///
/// Element e is `e^(E / shape) - 1`, with E the exponential number of word e. Add 1, and multiply
/// by the smallest number, for Pareto's classical distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pareto {
    shape: f64,
}

impl Pareto {
    /// Returns the distribution of this shape.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] unless `shape` is finite and above 0.
    pub fn new(shape: f64) -> Result<Pareto, Error> {
        Ok(Pareto::of(positive("shape", shape)?))
    }

    /// Returns the distribution of a shape that is finite and above 0.
    #[inline(always)]
    pub(super) fn of(shape: f64) -> Pareto {
        Pareto { shape }
    }
}

impl Shaped for Pareto {
    #[inline(always)]
    fn number(&self, _: u64, exponential: f64, _: f64) -> f64 {
        expm1(exponential / self.shape)
    }
}

/// Numbers from 0 to 1 whose density is a power. [Not for secrets](crate).
///
/// Element e is `e^(-E / shape)`, with E the exponential number of word e: a power of a uniform
/// number. Its density at x is `shape * x^(shape - 1)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Power {
    shape: f64,
}

impl Power {
    /// Returns the distribution of this shape.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] unless `shape` is finite and above 0.
    pub fn new(shape: f64) -> Result<Power, Error> {
        Ok(Power::of(positive("shape", shape)?))
    }

    /// Returns the distribution of a shape that is finite and above 0.
    #[inline(always)]
    pub(super) fn of(shape: f64) -> Power {
        Power { shape }
    }
}

impl Shaped for Power {
    #[inline(always)]
    fn number(&self, _: u64, exponential: f64, _: f64) -> f64 {
        exp(-(exponential / self.shape))
    }
}

/// Gumbel's distribution of largest values. [Not for secrets](crate).
///
/// Element e is `mode - scale * ln E`, with E the exponential number of word e. E is from 5.4e-20
/// to 44.4, so the number is from 3.8 scales below the mode to 44.4 above it, and never infinite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gumbel {
    mode: f64,
    scale: f64,
}

impl Gumbel {
    /// Returns the distribution with this mode and scale.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] unless both are finite and `scale` is not below 0.
    pub fn new(mode: f64, scale: f64) -> Result<Gumbel, Error> {
        let (mode, scale) = place_and_scale("mode", mode, scale)?;
        Ok(Gumbel { mode, scale })
    }
}

impl Shaped for Gumbel {
    #[inline(always)]
    fn number(&self, _: u64, exponential: f64, _: f64) -> f64 {
        self.mode - self.scale * ln(exponential)
    }
}

/// The logistic distribution. [Not for secrets](crate).
///
/// The highest bit of word e is the side, and the distance is `E + ln(2 - e^-E)`, with E the
/// exponential number of the other bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Logistic {
    mean: f64,
    scale: f64,
}

impl Logistic {
    /// Returns the distribution with this mean and scale.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] unless both are finite and `scale` is not below 0.
    pub fn new(mean: f64, scale: f64) -> Result<Logistic, Error> {
        let (mean, scale) = place_and_scale("mean", mean, scale)?;
        Ok(Logistic { mean, scale })
    }
}

impl Shaped for Logistic {
    const HALVES: bool = true;

    #[inline(always)]
    fn exponent(word: u64) -> u64 {
        distance(word)
    }

    #[inline(always)]
    fn half(&self, exponential: f64) -> f64 {
        2.0 - exp(-exponential)
    }

    #[inline(always)]
    fn number(&self, word: u64, exponential: f64, half: f64) -> f64 {
        let x = exponential + ln(half);
        self.mean + self.scale * on_side(word, x)
    }
}

/// Cauchy's distribution. [Not for secrets](crate).
///
/// Element e is the tangent of an angle, whose sign is the highest bit of word e. No number is
/// farther than 5.8e15 scales from the median.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cauchy {
    median: f64,
    scale: f64,
}

impl Cauchy {
    /// Returns the distribution with this median, from which half of the numbers are farther than
    /// `scale`.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] unless both are finite and `scale` is not below 0.
    pub fn new(median: f64, scale: f64) -> Result<Cauchy, Error> {
        let (median, scale) = place_and_scale("median", median, scale)?;
        Ok(Cauchy { median, scale })
    }
}

impl Shaped for Cauchy {
    const EXPONENTIAL: bool = false;

    #[inline(always)]
    fn number(&self, word: u64, _: f64, _: f64) -> f64 {
        // A quarter of a turn times s; the cosine is the sine of the rest, which is exact.
        let s = open_uniform(word << 1);
        let rest = 1.0 - s;
        let x = (s * half_turn_sine_factor(s)) / (rest * half_turn_sine_factor(rest));
        self.median + self.scale * on_side(word, x)
    }
}

/// The triangular distribution. [Not for secrets](crate).
///
/// Element e comes from word e, by the root of a uniform number on either side of the mode.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Triangular {
    left: f64,
    right: f64,
    width: f64,
    /// The share of numbers to the left of the mode.
    share: f64,
}

impl Triangular {
    /// Returns the distribution from `left` to `right` whose density is highest at `mode`.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] unless all are finite, `left <= mode <= right`, and `right - left` is
    /// finite and above 0.
    pub fn new(left: f64, mode: f64, right: f64) -> Result<Triangular, Error> {
        const RIGHT: &str = "a finite number above left, at a finite distance";
        let right = checked("right", RIGHT, right, |_| true)?;
        let mode = checked("mode", "a finite number up to right", mode, |x| x <= right)?;
        let left = checked("left", "a finite number up to mode", left, |x| x <= mode)?;
        checked("right", RIGHT, right - left, |x| x > 0.0)?;
        Ok(Triangular::of(left, mode, right))
    }

    /// Returns the distribution of numbers that [`new`](Triangular::new) takes.
    #[inline(always)]
    pub(super) fn of(left: f64, mode: f64, right: f64) -> Triangular {
        let width = right - left;
        Triangular { left, right, width, share: (mode - left) / width }
    }
}

impl Shaped for Triangular {
    const EXPONENTIAL: bool = false;

    #[inline(always)]
    fn number(&self, word: u64, _: f64, _: f64) -> f64 {
        let u = open_uniform(word);
        let below = u <= self.share;
        let (a, b) = (select(below, u, 1.0 - u), select(below, self.share, 1.0 - self.share));
        // Not below 2^-106, because a is at most b.
        let distance = self.width * sqrt_f64(a * b);
        select(below, self.left + distance, self.right - distance)
    }
}

#[cfg(test)]
mod tests {
    use super::super::words::Of;
    use super::*;
    use crate::numbers::Number;

    /// Returns the numbers of words that a draw meets once in 2^64 times, between others.
    fn extremes<D: Shaped>(made: Result<D, Error>) -> [f64; 8] {
        let words = [0, 1, 1 << 32, (1 << 63) - 1, 1 << 63, (1 << 63) + 1, u64::MAX - 1, u64::MAX];
        let mut out = [0.0; 8];
        Of::<D, f64>::new(&made.unwrap()).convert(&words, &mut out);
        out
    }

    /// Gumbel noise that is infinite breaks the choice of a token, which adds it to logarithms.
    #[test]
    fn no_word_makes_an_infinite_number() {
        let gumbel = extremes(Gumbel::new(0.0, 1.0));
        assert!(gumbel.iter().all(|x| (-3.9..44.5).contains(x)), "{gumbel:?}");
        for numbers in [
            extremes(Logistic::new(0.0, 1.0)),
            extremes(Cauchy::new(0.0, 1.0)),
            extremes(Pareto::new(1.0)),
            extremes(Weibull::new(0.5)),
            extremes(Rayleigh::new(1.0)),
        ] {
            assert!(numbers.iter().all(|x| x.is_finite()), "{numbers:?}");
        }
        for numbers in [extremes(Power::new(0.5)), extremes(Triangular::new(0.0, 0.5, 1.0))] {
            assert!(numbers.iter().all(|x| (0.0..=1.0).contains(x)), "{numbers:?}");
        }
    }

    /// Logistic numbers are a monotone function of the word, as an inverse is.
    #[test]
    fn logistic_numbers_rise_with_their_words() {
        let numbers = extremes(Logistic::new(0.0, 1.0));
        assert!(numbers.windows(2).all(|pair| pair[0] <= pair[1]), "{numbers:?}");
        assert!(numbers[3] <= 0.0 && numbers[4] >= 0.0, "{numbers:?}");
    }
}
