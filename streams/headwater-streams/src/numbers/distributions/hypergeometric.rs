//! Hypergeometric numbers: good items in a sample that is drawn without replacement.
//!
//! Method: inversion for means below 10; from there on HRUA of E. Stadlober, "The Ratio of Uniforms
//! Approach for Generating Discrete Random Variates", Journal of Computational and Applied
//! Mathematics 31(1), 1990. He compares logarithms of factorials, which would lose all bits of a
//! large population, so the test has the form without cancellation of [`poisson`](super::poisson).
//! And it has a squeeze of its own: the logarithm of the probability is concave, so it lies above
//! its chords, which are quick to compute.

use super::counts::{Thresholds, ToCounts};
use super::functions::{deviance, exp, factor, floor, ln, open_uniform, select, stirling};
#[cfg(feature = "std")]
use super::near::{Near, Products};
use super::private::{Domain, LAST, Rejection, Sampler, Source, accepted};
use crate::Error;
use crate::numbers::path::Path;
use crate::numbers::root::sqrt_f64;
use crate::words::Words;

/// The largest population: in it every count is a double.
pub(super) const MOST: u64 = 1 << 53;

/// The hypergeometric distribution: good items in a sample without replacement.
/// [Not for secrets](crate).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hypergeometric {
    good: u64,
    /// The items that are counted: those of the sample, or those that the sample leaves.
    drawn: u64,
    /// Bad items are counted instead, because they are fewer.
    bad: bool,
    /// The items that the sample leaves are counted instead, because they are fewer.
    left: bool,
    method: Method,
}

// The table stays in the value, because a stream never allocates.
#[expect(clippy::large_enum_variant)]
#[derive(Clone, Copy, Debug, PartialEq)]
enum Method {
    Inversion(Thresholds),
    Rejection(Hrua, Chords),
}

impl Hypergeometric {
    /// Returns the distribution of good items in a sample of `sample` items, drawn from `good` and
    /// `bad` ones.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if the population is above 2^53, or the sample above the population.
    pub fn new(good: u64, bad: u64, sample: u64) -> Result<Hypergeometric, Error> {
        let population = good.checked_add(bad).filter(|&all| all <= MOST);
        let Some(population) = population else {
            let need = "part of a population of at most 2^53";
            return Err(Error::Parameter { name: "good", need });
        };
        let Some(rest) = population.checked_sub(sample) else {
            return Err(Error::Parameter { name: "sample", need: "at most the population" });
        };
        let (few, drawn) = (good.min(bad), sample.min(rest));
        let hrua = Hrua::new(population as f64, few as f64, drawn as f64);
        let method = if hrua.mean < 10.0 {
            Method::Inversion(hrua.thresholds())
        } else {
            let hrua = hrua.whole();
            Method::Rejection(hrua, Chords::new(&hrua))
        };
        Ok(Hypergeometric { good, drawn, bad: good > bad, left: sample > rest, method })
    }
}

impl Sampler<u64> for Hypergeometric {
    fn chunk<W: Words>(&self, source: &Source<'_, W>, out: &mut [f64]) {
        match &self.method {
            Method::Inversion(thresholds) => thresholds.chunk(source, Domain::Hypergeometric, out),
            Method::Rejection(hrua, chords) => {
                accepted(source, Domain::Hypergeometric, &Squeezed { hrua, chords }, out);
            }
        }
    }

    fn values(&self, path: Path, made: &[f64], out: &mut [u64]) {
        path.run(ToCounts { made, out });
        for k in out {
            // No count is above what it is taken from; the operation only shows it.
            let among = if self.bad { self.drawn.saturating_sub(*k) } else { *k };
            *k = if self.left { self.good.saturating_sub(among) } else { among };
        }
    }
}

/// The method for a population, of which at most half are good, and at most half are drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Hrua {
    population: f64,
    good: f64,
    drawn: f64,
    /// The share that is drawn, and the share that is left.
    p: f64,
    q: f64,
    pub(super) mean: f64,
    /// The width of the proposals.
    h: f64,
    middle: f64,
    /// The rarity of the likeliest number.
    least: f64,
}

impl Hrua {
    /// Returns all but the rarity of the likeliest number, which small means do not need.
    #[inline(always)]
    pub(super) fn new(population: f64, good: f64, drawn: f64) -> Hrua {
        const D1: f64 = 1.7155277699214135; // 2 sqrt(2 / e)
        const D2: f64 = 0.8989161620588988; // 3 - 2 sqrt(3 / e)
        let of = |x: f64| select(population > 0.0, x / population, 0.0);
        let (p, q) = (of(drawn), of(population - drawn));
        let share = of(good);
        let mean = good * p;
        let variance = ((drawn * share) * (1.0 - share))
            * select(population > 1.0, (population - drawn) / (population - 1.0), 0.0);
        let middle = floor((drawn + 1.0) * ((good + 1.0) / (population + 2.0)));
        let h = D1 * sqrt_f64(variance + 0.5) + D2;
        Hrua { population, good, drawn, p, q, mean, h, middle, least: 0.0 }
    }

    /// Returns the method with the rarity of the likeliest number.
    #[inline(always)]
    pub(super) fn whole(self) -> Hrua {
        self.with(self.least_rarity())
    }

    /// Returns the rarity of the likeliest number.
    #[inline(always)]
    pub(super) fn least_rarity(&self) -> f64 {
        self.rarity(self.middle) + ln(self.factors(self.middle)) / 2.0
    }

    /// Returns the method with this rarity of the likeliest number.
    #[inline(always)]
    pub(super) fn with(self, least: f64) -> Hrua {
        Hrua { least, ..self }
    }

    /// Returns the number of items that are neither good nor drawn if k good ones are.
    #[inline(always)]
    fn others(&self, k: f64) -> f64 {
        ((self.population - self.good) - self.drawn) + k
    }

    /// Returns -ln of the probability of k, up to a constant and the root of its factors.
    #[inline(always)]
    fn rarity(&self, k: f64) -> f64 {
        let Hrua { population, good, drawn, p, q, mean, .. } = *self;
        let bad = population - good;
        let (d, others) = (k - mean, self.others(k));
        let small = (stirling(k) + stirling(good - k)) + (stirling(drawn - k) + stirling(others));
        let kept = deviance(k, mean, d) + deviance(good - k, good * q, -d);
        small + (kept + (deviance(drawn - k, bad * p, -d) + deviance(others, bad * q, d)))
    }

    /// Returns the square of the factors of the four factorials.
    #[inline(always)]
    fn factors(&self, k: f64) -> f64 {
        (factor(k) * factor(self.good - k)) * (factor(self.drawn - k) * factor(self.others(k)))
    }

    /// Returns the probability of 0.
    #[inline(always)]
    pub(super) fn none(&self) -> f64 {
        let Hrua { population, good, drawn, p, q, mean, .. } = *self;
        let bad = population - good;
        let (others, rest) = (bad - drawn, population - drawn);
        let rarity = (mean + deviance(good, good * q, mean))
            + (deviance(drawn, bad * p, mean) + deviance(others, bad * q, -mean));
        let small = (stirling(others) - stirling(bad)) + (stirling(population) - stirling(rest));
        let factors = (factor(others) / factor(bad)) * (factor(population) / factor(rest));
        exp(-(rarity + small)) / sqrt_f64(factors)
    }

    /// Returns the table of a mean below 10.
    pub(super) fn thresholds(&self) -> Thresholds {
        let mut last = self.none();
        let probabilities = core::array::from_fn(|k| {
            if k > 0 {
                last = self.next(last, (k - 1) as f64);
            }
            last
        });
        Thresholds::new(&probabilities)
    }

    /// Returns the probability of k + 1, made of that of k.
    #[inline(always)]
    pub(super) fn next(&self, p: f64, k: f64) -> f64 {
        let above = (self.good - k) * (self.drawn - k);
        (p * above) / ((k + 1.0) * (self.others(k) + 1.0))
    }

    /// Returns k, its uniform number, and whether there is such a number.
    #[inline(always)]
    fn proposal(&self, [w0, w1]: [u64; 2]) -> (f64, f64, bool) {
        let (u, v) = (open_uniform(w0), open_uniform(w1));
        let k = floor((self.mean + 0.5) + (self.h * (v - 0.5)) / u);
        (k, u, (k >= 0.0) & (k <= self.good) & (k <= self.drawn))
    }

    /// Returns the proposal of a block with a test that may be open.
    #[cfg(feature = "std")]
    #[inline(always)]
    pub(super) fn near(&self, block: [u64; 2]) -> Near {
        let (k, u, there) = self.proposal(block);
        let (k, m) = (select(there, k, self.middle), self.middle);
        let steps = k - m;
        let rising = Products::of_two(steps, m, self.others(m));
        let falling = Products::of_two(-steps, self.good - m, self.drawn - m);
        Near::new(steps, &rising, &falling, 1.0, 2.0 * ln(u)).of(k, there)
    }

    /// Returns the proposal if it is accepted, otherwise NaN.
    #[inline(always)]
    pub(super) fn decided(&self, block: [u64; 2]) -> f64 {
        let (k, u, there) = self.proposal(block);
        // A number that is not there has no probability to compute.
        let at = select(there, k, self.middle);
        let square = u * u;
        let log = ln((square * square) * self.factors(at)) / 2.0;
        select(there & (log <= self.least - self.rarity(at)), k, f64::NAN)
    }

    /// Returns the logarithm by which the proposal exceeds what the whole test accepts, or None if
    /// there is no such number.
    #[cfg(test)]
    pub(super) fn excess(&self, block: [u64; 2]) -> Option<f64> {
        let (k, u, there) = self.proposal(block);
        let log = 2.0 * ln(u) + ln(self.factors(k)) / 2.0;
        there.then(|| log - (self.least - self.rarity(k)))
    }

    pub(super) fn fallback(&self) -> f64 {
        self.middle
    }
}

/// Lines below the logarithm of the probability, over that of the likeliest number.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Chords {
    first: f64,
    last: f64,
    lines: [[f64; 2]; CORNERS - 1],
}

/// The numbers of the chords' ends, and their distances from the middle in standard deviations.
const CORNERS: usize = 9;
const DISTANCES: [f64; CORNERS] = [-2.5, -1.8, -1.2, -0.6, 0.0, 0.6, 1.2, 1.8, 2.5];

impl Chords {
    fn new(hrua: &Hrua) -> Chords {
        // More than all roundings of a logarithm, which is at most 20 or so here.
        const MARGIN: f64 = 1e-9;
        // The width is that of the proposals, 1.7 deviations and a little more.
        let corner = |distance: f64| {
            let k = floor(hrua.middle + distance * (hrua.h / 1.8));
            let k = select(k > 0.0, k, 0.0);
            let k = select(k < hrua.good, k, hrua.good);
            select(k < hrua.drawn, k, hrua.drawn)
        };
        let height = |k: f64| (hrua.least - (hrua.rarity(k) + ln(hrua.factors(k)) / 2.0)) - MARGIN;
        let ends = DISTANCES.map(|distance| {
            let k = corner(distance);
            [k, height(k)]
        });
        let mut lines = [[f64::INFINITY, 0.0]; CORNERS - 1];
        for (line, ends) in lines.iter_mut().zip(ends.windows(2)) {
            if let &[[k1, y1], [k2, y2]] = ends
                && k2 > k1
            {
                let slope = (y2 - y1) / (k2 - k1);
                *line = [y1 - slope * k1, slope];
            }
        }
        let [[first, _], .., [last, _]] = ends;
        Chords { first, last, lines }
    }

    /// Returns a number below the logarithm of the probability of k over that of the likeliest
    /// number, for k between the ends.
    #[inline(always)]
    fn below(&self, k: f64) -> f64 {
        // A concave function over its chords: each line is above the others' chords.
        self.lines.iter().fold(f64::INFINITY, |least, &[start, slope]| {
            let y = start + slope * k;
            select(y < least, y, least)
        })
    }
}

struct Squeezed<'a> {
    hrua: &'a Hrua,
    chords: &'a Chords,
}

impl Rejection for Squeezed<'_> {
    const ATTEMPTS: u16 = LAST + 1;

    #[inline(always)]
    fn quick(&self, blocks: &[[u64; 2]], out: &mut [f64]) {
        let Squeezed { hrua, chords } = *self;
        for (out, &block) in out.iter_mut().zip(blocks) {
            let (k, u, _) = hrua.proposal(block);
            let between = (k >= chords.first) & (k <= chords.last);
            // 2 ln u is below u (4 - u) - 3.
            let accepted = between & (u * (4.0 - u) - 3.0 <= chords.below(k));
            *out = select(accepted, k, f64::NAN);
        }
    }

    #[inline(always)]
    fn full(&self, blocks: &[[u64; 2]], _: &[u16], out: &mut [f64]) {
        for (out, &block) in out.iter_mut().zip(blocks) {
            *out = self.hrua.decided(block);
        }
    }

    fn fallback(&self, _: usize) -> f64 {
        self.hrua.fallback()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The squeeze saves time and decides nothing: what it accepts, the whole test accepts as well.
    #[test]
    fn the_squeeze_accepts_nothing_that_the_whole_test_rejects() {
        let (mut accepted, mut decided) = (0, 0);
        let mut x = 0x9E37_79B9_7F4A_7C15_u64;
        for (population, good, drawn) in [
            (40.0, 20.0, 20.0),
            (100.0, 50.0, 21.0),
            (1e4, 500.0, 3000.0),
            (1e6, 5e5, 5e5),
            (1e6, 11.0, 5e5),
            (9e15, 4.5e15, 4.5e15),
            (9e15, 1e8, 1e9),
            (9e15, 3e9, 3e15),
        ] {
            let hrua = Hrua::new(population, good, drawn).whole();
            let chords = Chords::new(&hrua);
            let method = Squeezed { hrua: &hrua, chords: &chords };
            for _ in 0..200_000 {
                let mut word = || {
                    x ^= x << 13;
                    x ^= x >> 7;
                    x ^= x << 17;
                    x
                };
                let block = [[word(), word()]];
                let (mut quick, mut full) = ([0.0], [0.0]);
                method.quick(&block, &mut quick);
                method.full(&block, &[0], &mut full);
                assert!(quick[0].is_nan() || quick == full, "{population} {good} {drawn}");
                accepted += u32::from(!quick[0].is_nan());
                decided += u32::from(!full[0].is_nan());
            }
        }
        assert!(accepted > 600_000 && decided > accepted + 50_000, "{accepted} {decided}");
    }

    /// The probability of 0 beside the product of its factors.
    #[test]
    fn the_probability_of_none_is_that_of_the_product() {
        for (population, good, drawn) in
            [(1_u64, 0, 0), (2, 1, 1), (40, 19, 20), (1000, 60, 150), (MOST, 7, MOST / 2)]
        {
            let exact: f64 = (0..good)
                .map(|i| ((population - drawn - i) as f64) / ((population - i) as f64))
                .product();
            let ours = Hrua::new(population as f64, good as f64, drawn as f64).none();
            assert!((ours / exact - 1.0).abs() < 1e-13, "{population} {good} {drawn}: {ours}");
        }
    }
}
