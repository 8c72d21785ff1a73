//! Tests of proposals for one number, without constants that take as long as the number.
//!
//! A proposal is accepted if its height is at most P(k) / P(m), where m is the likeliest number.
//! The whole tests of [`binomial`](super::binomial) and [`hypergeometric`](super::hypergeometric)
//! compute both probabilities, and that of m takes as long as that of k, which pays only for many
//! numbers of one distribution. But the ratio needs neither. It is made of quotients such as
//! k! / m!, and each is a product of |k - m| numbers in steps of one. So its logarithm is |k - m|
//! times that of the number in the middle, less what lies around the middle, which is a series; and
//! of all middles one quotient is taken, and one logarithm.
//!
//! A series that ends has an error, so the test may be open. It must be: a number is that of the
//! whole test, to the bit. The error has a side, though. All terms of the series have one sign, so
//! products above the line can only be smaller than they seem, and those below it as well. Hence
//! two bounds; and the one that rejects depends on the products that grow with the distance from m,
//! for which the series is short even far away, where most rejected proposals lie.

use super::functions::{ln, select};

/// More than all roundings of either test, and what a step of the largest populations adds to them.
const MARGIN: f64 = 1e-9;
const STEP: f64 = 1e-14;

/// A proposal, and bounds of the logarithm by which it exceeds what would be accepted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Near {
    pub(super) k: f64,
    /// The number is accepted if this is not above 0.
    pub(super) at_most: f64,
    /// The number is rejected if this is above 0.
    pub(super) at_least: f64,
}

impl Near {
    /// Returns the test of the number that is so many steps above the likeliest one, if
    /// `P(k) / P(m)` is `odds` to the power of the steps, times the falling products, by the rising
    /// ones. `proposed` is the logarithm of the proposal's height over P(m).
    #[inline(always)]
    pub(super) fn new(
        steps: f64,
        rising: &Products,
        falling: &Products,
        odds: f64,
        proposed: f64,
    ) -> Near {
        let square = steps * steps;
        let around = (rising.squares - falling.squares) * (1.0 / 24.0)
            + (3.0 * square - 7.0) * ((rising.fourths - falling.fourths) * (1.0 / 960.0));
        let middles = ln((falling.middle * odds) * rising.inverse);
        let excess = proposed - steps * (middles + (square - 1.0) * around);
        let is_up = steps > 0.0;
        let above = select(is_up, falling.squares, rising.squares);
        let below = select(is_up, rising.squares, falling.squares);
        Near {
            k: f64::NAN,
            at_most: excess + rest(steps, above),
            at_least: excess - rest(steps, below),
        }
    }

    /// Returns the test of k, which is rejected if it is not there.
    #[inline(always)]
    pub(super) fn of(self, k: f64, there: bool) -> Near {
        let (at_most, at_least) =
            (select(there, self.at_most, 1.0), select(there, self.at_least, 1.0));
        Near { k, at_most, at_least }
    }

    /// Returns a test that accepts if this one or another does.
    #[inline(always)]
    pub(super) fn or(self, accepts: bool) -> Near {
        let (at_most, at_least) =
            (select(accepts, -1.0, self.at_most), select(accepts, -1.0, self.at_least));
        Near { at_most, at_least, ..self }
    }
}

/// One product or two, each of the same number of factors in steps of one.
pub(super) struct Products {
    /// The factor in the middle, or the product of both.
    middle: f64,
    inverse: f64,
    /// 1 / x^2 of a middle x, or the sum of both.
    squares: f64,
    /// 1 / x^4 of a middle x, or the sum of both.
    fourths: f64,
}

impl Products {
    /// Returns `(from + 1) ... (from + steps)`, or what divides it if the steps are below 0.
    #[inline(always)]
    pub(super) fn of_one(steps: f64, from: f64) -> Products {
        let middle = from + (steps + 1.0) / 2.0;
        let inverse = 1.0 / middle;
        let squares = inverse * inverse;
        Products { middle, inverse, squares, fourths: squares * squares }
    }

    /// Returns the same of two numbers.
    #[inline(always)]
    pub(super) fn of_two(steps: f64, first: f64, second: f64) -> Products {
        let to_middle = (steps + 1.0) / 2.0;
        let (x, y) = (first + to_middle, second + to_middle);
        let middle = x * y;
        let inverse = 1.0 / middle;
        let (x, y, scale) = (x * x, y * y, inverse * inverse);
        let (squares, fourths) = ((x + y) * scale, (x * x + y * y) * (scale * scale));
        Products { middle, inverse, squares, fourths }
    }
}

/// Returns more than the terms that are left out for one product or for two, of which `squares` is
/// the sum of 1 / x^2 of their middles x.
///
/// A factor that is s away from the middle adds -ln(1 - s^2 / x^2) / 2, whose terms from the third
/// on are at most s^6 / (3 x^6) as long as s^2 is at most half of x^2. All s^6 are below
/// |steps|^7 / 448 in sum, since each is the middle of a piece of a convex function's integral.
#[inline(always)]
fn rest(steps: f64, squares: f64) -> f64 {
    let size = steps.abs();
    let spread = (steps * steps) * squares;
    let rest = (size * (1.0 / 1344.0)) * ((spread * spread) * spread);
    select(spread <= 2.0, rest + (MARGIN + STEP * size), f64::INFINITY)
}

#[cfg(test)]
mod tests {
    use super::super::binomial::{Btrs, odds};
    use super::super::hypergeometric::Hrua;
    use super::*;

    /// The test decides nothing that the whole one decides otherwise, and leaves little open.
    #[test]
    fn what_is_decided_is_decided_as_by_the_whole_test() {
        let mut x = 0x9E37_79B9_7F4A_7C15_u64;
        let mut word = || {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            x
        };
        // Populations from the smallest whose mean is large to the largest, from even ones to those
        // that lack one item of a fixed count, and all between.
        let mut populations = vec![
            (40.0, 20.0, 20.0),
            (41.0, 20.0, 20.0),
            (100.0, 11.0, 50.0),
            (1e4, 500.0, 3000.0),
            (1e6, 11.0, 5e5),
            (1e6, 5e5, 5e5),
            (9e15, 22.0, 4.1e15),
            (9e15, 1e8, 1e9),
            (9e15, 3e9, 3e15),
            (9e15, 4.5e15, 4.5e15),
            (9_007_199_254_740_992.0, 4_503_599_627_370_496.0, 4_503_599_627_370_495.0),
        ];
        for exponent in 6..53 {
            let population = (1u64 << exponent | word() & ((1 << exponent) - 1)) as f64;
            for share in [0.5, 0.3, 0.01, 1e-6] {
                let good = (population * share / 2.0).floor();
                populations.push((population, good, (population / 2.0).floor()));
                populations.push((population, good, good));
            }
        }
        populations.retain(|&(n, good, drawn)| n > 0.0 && good * (drawn / n) >= 10.0);
        assert!(populations.len() > 200, "{}", populations.len());
        let mut seen = Seen::default();
        for &(population, good, drawn) in &populations {
            let hrua = Hrua::new(population, good, drawn).whole();
            for _ in 0..4_000 {
                let block = [word(), word()];
                let at = format!("{population} {good} {drawn} {block:x?}");
                let near = hrua.near(block);
                near.holds(hrua.excess(block), &at);
                seen.compare(near, hrua.decided(block), &at);
            }
        }
        seen.are_many();
        let mut seen = Seen::default();
        for exponent in 4..=53 {
            let trials = ((1u64 << exponent) - (word() & ((1 << exponent) - 1)) / 2) as f64;
            for share in [1.0, 0.999, 0.6, 0.01, 1e-6, 1e-12] {
                let p = 0.5 * share;
                if trials * p < 10.0 {
                    continue;
                }
                let btrs = Btrs::new(trials, p);
                for _ in 0..8_000 {
                    let block = [word(), word()];
                    let at = format!("{trials} {p} {block:x?}");
                    let near = btrs.near(block, odds(p));
                    near.holds(btrs.excess(block), &at);
                    seen.compare(near, btrs.decided(block), &at);
                }
            }
        }
        seen.are_many();
    }

    impl Near {
        /// Compares the bounds with what lies between them, since few proposals are so near that
        /// a wrong bound decides one.
        fn holds(&self, excess: Option<f64>, at: &str) {
            if let Some(excess) = excess {
                let holds = self.at_least <= excess && excess <= self.at_most;
                assert!(holds, "{excess:e} {at} {self:?}");
            }
        }
    }

    #[derive(Default)]
    struct Seen {
        accepted: u32,
        rejected: u32,
        open: u32,
    }

    impl Seen {
        fn compare(&mut self, near: Near, whole: f64, at: &str) {
            if near.at_most <= 0.0 {
                assert_eq!(near.k, whole, "{at} {near:?}");
                self.accepted += 1;
            } else if near.at_least > 0.0 {
                assert!(whole.is_nan(), "{whole} {at} {near:?}");
                self.rejected += 1;
            } else {
                self.open += 1;
            }
        }

        fn are_many(&self) {
            let Seen { accepted, rejected, open } = *self;
            assert!(accepted > 500_000 && rejected > 100_000, "{accepted} {rejected}");
            assert!(open * 500 < accepted, "{open} of {accepted}");
        }
    }
}
