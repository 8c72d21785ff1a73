//! The test of a proposal for one number, without constants that take as long as the number.
//!
//! A proposal is accepted if `2 ln u` is at most the logarithm of P(k) / P(m), where m is the
//! likeliest number. The whole test computes both probabilities, and that of m takes as long as
//! that of k, which pays only for many numbers of one distribution. But the ratio needs neither. It
//! is made of four quotients such as k! / m!, and each is a product of |d| numbers in even steps,
//! with d = k - m. So its logarithm is |d| times that of the number in the middle, less what lies
//! around the middle, which is a series; and of the four middles one quotient is taken, and one
//! logarithm.
//!
//! A series that ends has an error, so the test may be open. It must be: a number is that of the
//! whole test, to the bit. The error has a side, though. All terms of the series have one sign, so
//! products above the line can only be smaller than they seem, and those below it as well. Hence
//! two bounds; and the one that rejects depends on the products that grow with the distance from m,
//! for which the series is short even far away, where most rejected proposals lie.

use super::Hrua;
use crate::numbers::distributions::functions::{ln, select};

/// More than all roundings of either test, and what a step of the largest populations adds to them.
const MARGIN: f64 = 1e-9;
const STEP: f64 = 1e-14;

/// A proposal, and bounds of the logarithm by which it exceeds what would be accepted.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Near {
    pub(in super::super) k: f64,
    /// The number is accepted if this is not above 0.
    pub(in super::super) at_most: f64,
    /// The number is rejected if this is above 0.
    pub(in super::super) at_least: f64,
}

impl Hrua {
    /// Returns the proposal of a block with its test.
    #[inline(always)]
    pub(in super::super) fn near(&self, block: [u64; 2]) -> Near {
        let (k, u, there) = self.proposal(block);
        let k = select(there, k, self.middle);
        let d = k - self.middle;
        let (up, down) = ((d + 1.0) / 2.0, (1.0 - d) / 2.0);
        let rising = Pair::new(self.middle + up, self.others(self.middle) + up);
        let falling =
            Pair::new((self.good - self.middle) + down, (self.drawn - self.middle) + down);
        let square = d * d;
        let around = (rising.squares - falling.squares) * (1.0 / 24.0)
            + (3.0 * square - 7.0) * ((rising.fourths - falling.fourths) * (1.0 / 960.0));
        let middles = ln(falling.product * rising.inverse);
        let excess = 2.0 * ln(u) - d * (middles + (square - 1.0) * around);
        let is_up = d > 0.0;
        let above = select(is_up, falling.squares, rising.squares);
        let below = select(is_up, rising.squares, falling.squares);
        Near {
            k,
            at_most: select(there, excess + rest(d, above), 1.0),
            at_least: select(there, excess - rest(d, below), 1.0),
        }
    }
}

/// The middles x and y of two products.
struct Pair {
    product: f64,
    inverse: f64,
    /// 1 / x^2 + 1 / y^2
    squares: f64,
    /// 1 / x^4 + 1 / y^4
    fourths: f64,
}

impl Pair {
    #[inline(always)]
    fn new(x: f64, y: f64) -> Pair {
        let product = x * y;
        let inverse = 1.0 / product;
        let (x, y, scale) = (x * x, y * y, inverse * inverse);
        let (squares, fourths) = ((x + y) * scale, (x * x + y * y) * (scale * scale));
        Pair { product, inverse, squares, fourths }
    }
}

/// Returns more than the terms that are left out for both products of |d| factors, of which
/// `squares` is 1 / x^2 + 1 / y^2 of their middles.
///
/// A factor that is s away from the middle x adds -ln(1 - s^2 / x^2) / 2, whose terms from the
/// third on are at most s^6 / (3 x^6) as long as s^2 is at most half of x^2. All s^6 are below
/// |d|^7 / 448 in sum, since each is the middle of a piece of a convex function's integral.
#[inline(always)]
fn rest(d: f64, squares: f64) -> f64 {
    let size = d.abs();
    let spread = (d * d) * squares;
    let rest = (size * (1.0 / 1344.0)) * ((spread * spread) * spread);
    select(spread <= 2.0, rest + (MARGIN + STEP * size), f64::INFINITY)
}

#[cfg(test)]
mod tests {
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
        let (mut accepted, mut rejected, mut open) = (0, 0, 0);
        for &(population, good, drawn) in &populations {
            let hrua = Hrua::new(population, good, drawn).whole();
            for _ in 0..4_000 {
                let block = [word(), word()];
                let (near, whole) = (hrua.near(block), hrua.decided(block));
                let at = format!("{population} {good} {drawn} {block:x?} {near:?}");
                if near.at_most <= 0.0 {
                    assert_eq!(near.k, whole, "{at}");
                    accepted += 1;
                } else if near.at_least > 0.0 {
                    assert!(whole.is_nan(), "{whole} {at}");
                    rejected += 1;
                } else {
                    open += 1;
                }
            }
        }
        assert!(accepted > 500_000 && rejected > 100_000, "{accepted} {rejected}");
        assert!(open * 500 < accepted, "{open} of {accepted}");
    }
}
