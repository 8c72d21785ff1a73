//! Functions that methods share: logarithms, exponentials, and parts of factorials.
//!
//! Only `+ - * /` of IEEE 754 and integers, in the order of STREAMS.md, and without branches, as in
//! [`polynomials`](crate::numbers::polynomials).

use crate::numbers::polynomials::{LOGARITHM, SQRT_HALF, TWO_52, polynomial};
use core::f64::consts::{LN_2, LOG2_E, TAU};

/// Added to and subtracted from a number, it leaves the nearest integer, whose bits are then the
/// lowest ones of the sum.
const MAGIC: f64 = 1.5 * TWO_52;
const LN_2_HIGH: f64 = f64::from_bits(0x3FE6_2E42_FEE0_0000);
const LN_2_LOW: f64 = f64::from_bits(0x3DEA_39EF_3579_3C76);
const _: () = assert!(LOG2_E.to_bits() == 0x3FF7_1547_652B_82FE);

/// 1 / n!
const FACTORIALS: [f64; 14] = {
    let mut all = [1.0; 14];
    let (mut n, mut factorial) = (1, 1u64);
    while n < 14 {
        factorial *= n as u64;
        all[n] = 1.0 / factorial as f64;
        n += 1;
    }
    all
};

/// ln k! of 0 to 9 without its leading terms.
const STIRLING: [f64; 10] = [
    0.0,
    0.08106146679532726,
    0.0413406959554093,
    0.02767792568499834,
    0.020790672103765093,
    0.016644691189821193,
    0.013876128823070748,
    0.01189670994589177,
    0.010411265261972096,
    0.009255462182712733,
];

/// Returns `x` where the condition holds, otherwise `y`: one instruction, and no branch.
#[inline(always)]
pub(super) fn select(condition: bool, x: f64, y: f64) -> f64 {
    if condition { x } else { y }
}

/// Returns `s^3 * (2/3 + ...)`, which is 2 artanh s - 2 s, for s up to 0.1716.
#[inline(always)]
pub(super) fn artanh_tail(s: f64) -> f64 {
    let z = s * s;
    s * z * polynomial(z, LOGARITHM)
}

/// Returns the exponent of a positive normal number, as a float, and its significand between
/// sqrt(1/2) and sqrt(2).
#[inline(always)]
pub(super) fn split(x: f64) -> (f64, f64) {
    const BIAS: u64 = 1024;
    let above = x.to_bits().wrapping_sub(SQRT_HALF).wrapping_add(BIAS << 52);
    let biased = above >> 52;
    let f = f64::from_bits(x.to_bits().wrapping_sub(biased.wrapping_sub(BIAS) << 52));
    (f64::from_bits(TWO_52.to_bits() | biased) - (TWO_52 + BIAS as f64), f)
}

/// Returns ln x of a positive normal number, and something of other numbers.
#[inline(always)]
pub(super) fn ln(x: f64) -> f64 {
    let (exponent, quotient) = ln_parts(x);
    ln_of_parts(exponent, quotient)
}

/// Returns the first half of [`ln`], for loops of their own: an exponent and a quotient.
#[inline(always)]
pub(super) fn ln_parts(x: f64) -> (f64, f64) {
    let (exponent, f) = split(x);
    let d = f - 1.0;
    (exponent, d / (d + 2.0))
}

/// Returns the second half of [`ln`].
#[inline(always)]
pub(super) fn ln_of_parts(exponent: f64, s: f64) -> f64 {
    exponent * LN_2 + (artanh_tail(s) + (s + s))
}

/// Returns the integer n nearest to x / ln 2, as the lowest bits of a word, as a float, and the
/// rest of x.
#[inline(always)]
fn reduced(x: f64) -> (u64, f64, f64) {
    let sum = x * LOG2_E + MAGIC;
    let n = sum - MAGIC;
    (sum.to_bits().wrapping_sub(MAGIC.to_bits()), n, (x - n * LN_2_HIGH) - n * LN_2_LOW)
}

/// Returns 2^(exponent - 1023) of an exponent with its bias, from 1 to 2046.
#[inline(always)]
fn power_of_two(biased: u64) -> f64 {
    f64::from_bits(biased << 52)
}

/// Returns e^x: 0 and infinity where floats end.
#[inline(always)]
pub(super) fn exp(x: f64) -> f64 {
    let (n, r) = exp_parts(x);
    exp_of_parts(n, r)
}

/// Returns the first half of [`exp`], for a loop of its own: a number of doublings, and the rest of
/// the exponent.
#[inline(always)]
pub(super) fn exp_parts(x: f64) -> (f64, f64) {
    let x = select(x < -746.0, -746.0, x);
    let x = select(x > 710.0, 710.0, x);
    let (_, n, r) = reduced(x);
    (n, r)
}

/// Returns the second half of [`exp`].
#[inline(always)]
pub(super) fn exp_of_parts(n: f64, r: f64) -> f64 {
    let n = (n + MAGIC).to_bits().wrapping_sub(MAGIC.to_bits());
    // n / 2 rounded down, and the rest: from -538 to 512. Both with a bias, since vectors of AVX2
    // cannot shift a signed word.
    let up = n.wrapping_add(2048);
    let half = up >> 1;
    let rest = up.wrapping_sub(half);
    let p = polynomial(r, FACTORIALS);
    (p * power_of_two(half.wrapping_sub(1))) * power_of_two(rest.wrapping_sub(1))
}

/// Returns `sqrt(factor * (e^x - 1))` for x and factor above 0, by the root function that is
/// passed. Infinite only if the root is.
#[inline(always)]
pub(super) fn root_of_expm1(x: f64, factor: f64, root: impl Fn(f64) -> f64) -> f64 {
    let x = select(x > 1500.0, 1500.0, x);
    let (n, _, r) = reduced(x);
    let [_, tail @ ..] = FACTORIALS;
    // From 2^-54 on the power changes no bit of the difference.
    let small = if n < 1000 { n } else { 1000 };
    let m = r * polynomial(r, tail) + (1.0 - power_of_two(1023u64.wrapping_sub(small)));
    let half = n >> 1;
    let quarter = half >> 1;
    let odd = power_of_two(1023u64.wrapping_add(n & 1));
    let root = root((factor * m) * odd);
    let rest = half.wrapping_sub(quarter);
    (root * power_of_two(1023u64.wrapping_add(quarter))) * power_of_two(1023u64.wrapping_add(rest))
}

/// Returns e^x - 1, with all bits of a small one: -1 and infinite where floats end.
#[inline(always)]
pub(super) fn expm1(x: f64) -> f64 {
    let (n, r) = exp_parts(x);
    let [_, tail @ ..] = FACTORIALS;
    let part = r * polynomial(r, tail); // e^r - 1
    // e^x - 1 = (part + (1 - 2^-n)) 2^n. Where 2^-n is large, 1 is added last instead, because the
    // difference would hide what the sum has to keep; and where it is small it changes no bit.
    let up = (n + MAGIC).to_bits().wrapping_sub(MAGIC.to_bits()).wrapping_add(2048);
    let half = up >> 1;
    let rest = up.wrapping_sub(half);
    let (p, q) = (power_of_two(half.wrapping_sub(1)), power_of_two(rest.wrapping_sub(1)));
    let inverse = (1.0 / p) * (1.0 / q);
    let positive = ((part + (1.0 - inverse)) * p) * q;
    let negative = (part * p) * q + (p * q - 1.0);
    select(n < 0.0, negative, positive)
}

/// Returns a uniform number strictly between 0 and 1: the middle of one of 2^52 intervals.
#[inline(always)]
pub(super) fn open_uniform(word: u64) -> f64 {
    const HALF_STEP: f64 = 1.0 / (1u64 << 53) as f64;
    (f64::from_bits(1.0f64.to_bits() | word >> 12) - 1.0) + HALF_STEP
}

/// Returns `-ln(1 - p)` of a p from 0 to 1.
#[inline(always)]
pub(super) fn minus_ln_1_minus(p: f64) -> f64 {
    let s = -p / (2.0 - p);
    let near = -(artanh_tail(s) + (s + s));
    select(p == 1.0, f64::INFINITY, select(p > 0.25, -ln(1.0 - p), near))
}

/// Returns the largest integer up to x.
#[inline(always)]
pub(super) fn floor(x: f64) -> f64 {
    // Not the standard library's, because `core` has none. From 2^52 on all floats are integers.
    let size = x.abs();
    let near = ((size + TWO_52) - TWO_52).copysign(x);
    let down = near - select(near > x, 1.0, 0.0);
    select(size < TWO_52, down, x)
}

/// Returns the first coordinate of a random point of the unit circle: the sine of less than a
/// quarter of a turn, and a sign.
#[inline(always)]
pub(super) fn coordinate(word: u64) -> f64 {
    let s = open_uniform(word << 1);
    let x = s * half_turn_sine_factor(s);
    f64::from_bits(x.to_bits() | word & 1 << 63)
}

/// Returns sin(s pi / 2) / s, for s up to 1.
#[inline(always)]
pub(super) fn half_turn_sine_factor(s: f64) -> f64 {
    let quarter = [
        1.5707963267948963,
        -0.6459640975062232,
        0.07969262624568337,
        -0.004681754131447062,
        0.0001604411695631063,
        -3.5988107063136794e-6,
        5.688318064017795e-8,
        -6.449471237809134e-10,
    ];
    polynomial(s * s, quarter)
}

/// Returns the number whose root is a factor of k!: 2 pi k, or 1 for 0.
#[inline(always)]
pub(super) fn factor(k: f64) -> f64 {
    select(k == 0.0, 1.0, TAU * k)
}

/// Returns `ln k! - k ln k + k - ln(factor(k)) / 2` of an integer k from 0.
#[inline(always)]
pub(super) fn stirling(k: f64) -> f64 {
    let i = 1.0 / k;
    let terms = [1.0 / 12.0, -1.0 / 360.0, 1.0 / 1260.0, -1.0 / 1680.0, 1.0 / 1188.0];
    let mut rest = i * polynomial(i * i, terms);
    // Ten selections: a table would be gathered, which is slower.
    for (small, value) in (0u8..).zip(STIRLING) {
        rest = select(k == f64::from(small), value, rest);
    }
    rest
}

/// Returns `k ln(k / mean) - (k - mean)` without cancellation; `d` is `k - mean`.
#[inline(always)]
pub(super) fn deviance(k: f64, mean: f64, d: f64) -> f64 {
    let (exponent, f) = split(k / mean);
    let g = f - 1.0;
    // One logarithm for both cases: if k and its mean are near each other, it is computed from
    // their difference, which has all its bits.
    let near = exponent == 0.0;
    let s = select(near, d, g) / select(near, k + mean, g + 2.0);
    let tail = artanh_tail(s);
    let close = d * s + k * tail;
    let far = k * (exponent * LN_2 + (tail + (s + s))) - d;
    select(k == 0.0, mean, select(near, close, far))
}

#[cfg(all(test, reference))]
mod tests {
    use super::*;
    use reference::streams::distributions as reference;

    /// Returns numbers of all sizes, and around the places where a function changes its method.
    fn numbers() -> impl Iterator<Item = f64> {
        let mut x = 0x9E37_79B9_7F4A_7C15_u64;
        (0..40_000u64).map(move |i| {
            x = x.wrapping_mul(0xDA94_2042_E4DD_58B5).wrapping_add(i | 1);
            let any = f64::from_bits(x >> 2);
            match i % 4 {
                0 => any.max(f64::MIN_POSITIVE),
                1 => 1.0 + (x as i64 as f64) * 2f64.powi(-64),
                2 => (x >> 40) as f64 + 1.0,
                _ => (x >> 11) as f64 * 2f64.powi(-43) + 1e-9,
            }
        })
    }

    #[test]
    fn functions_have_the_bits_of_the_reference() {
        for x in numbers() {
            assert_eq!(ln(x).to_bits(), reference::ln(x).to_bits(), "ln {x:e}");
            for x in [x, -x] {
                assert_eq!(exp(x).to_bits(), reference::exp(x).to_bits(), "exp {x:e}");
                assert_eq!(floor(x), x.floor(), "floor {x:e}");
                assert_eq!(expm1(x).to_bits(), reference::expm1(x).to_bits(), "expm1 {x:e}");
            }
        }
        for x in [0.0, -0.0, 709.7, 709.8, 710.0, -744.4, -745.2, -746.0, f64::MAX, f64::INFINITY] {
            assert_eq!(exp(x).to_bits(), reference::exp(x).to_bits(), "exp {x:e}");
            assert_eq!(exp(-x).to_bits(), reference::exp(-x).to_bits(), "exp {:e}", -x);
            assert_eq!(floor(x), x.floor(), "floor {x:e}");
        }
    }

    /// Two units in the last place beside the standard library, whose error is below one.
    #[test]
    fn functions_are_near_the_exact_ones() {
        let mut worst = [0f64; 2];
        for x in numbers() {
            let ulp = |ours: f64, right: f64| ((ours - right) / right).abs() * 2f64.powi(53);
            worst[0] = worst[0].max(ulp(ln(x), x.ln()));
            if (1e-300..700.0).contains(&x) {
                worst[1] = worst[1].max(ulp(exp(x), x.exp())).max(ulp(exp(-x), (-x).exp()));
                let (up, down) = (ulp(expm1(x), x.exp_m1()), ulp(expm1(-x), (-x).exp_m1()));
                worst[1] = worst[1].max(up).max(down);
            }
        }
        assert!(worst[0] < 8.0 && worst[1] < 5.0, "{worst:?}");
    }
}
