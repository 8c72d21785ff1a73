//! Logarithms, and points of the unit circle, out of random words.
//!
//! A C library's `log` and `sin` differ from machine to machine. So we use only `+ - * /` of IEEE
//! 754 and integers, in an order that is part of the specification, because reordering a sum, or
//! fusing it with a multiplication, changes bits. There are no branches, so compilers make vector
//! code of loops over these functions. The coefficients are our own: `polynomials.sollya`, beside
//! this file, prints them and their errors.
//!
//! Both functions use all bits of their word, and compute as if the word were a point in the middle
//! of its interval. So no word leads to ln 0, and numbers near both ends have all the bits that a
//! float can hold.

use core::f32::consts::{FRAC_PI_2 as FRAC_PI_2_F32, LN_2 as LN_2_F32};
use core::f64::consts::{FRAC_PI_2, LN_2};

/// sqrt(1/2) rounded up, as bits: subtracted from a float's bits, so that its exponent counts from
/// there.
pub(super) const SQRT_HALF: u64 = 0x3FE6_A09E_667F_3BCD;
const SQRT_HALF_F32: u32 = 0x3F35_04F4;
/// 2^52 and 2^23: integers below them, put into their mantissas, are converted without an
/// instruction for it.
pub(super) const TWO_52: f64 = 4_503_599_627_370_496.0;
const TWO_23: f32 = 8_388_608.0;
const TWO_POW_MINUS_64: f64 = 1.0 / (1u128 << 64) as f64;
const TWO_POW_MINUS_65: f64 = TWO_POW_MINUS_64 / 2.0;
const TWO_POW_MINUS_31: f32 = 1.0 / (1u32 << 31) as f32;
const TWO_POW_MINUS_32: f32 = TWO_POW_MINUS_31 / 2.0;

/// The coefficients of (2 artanh s - 2 s) / s^3 in s^2, for s up to 0.1716.
pub(super) const LOGARITHM: [f64; 7] = [
    0.6666666666666734,
    0.3999999999941708,
    0.28571428741882043,
    0.22222198622870856,
    0.18183561836640963,
    0.15314112225295762,
    0.14795350288838463,
];

/// Returns `-ln u` for the u in (0, 1) that is the word with its lowest bit set, over 2^64: from
/// 5.4e-20 to 44.4. The error is below 3.5 ulp (largest of 400,000 random and awkward words: 3.39).
#[inline(always)]
pub(super) fn minus_ln(word: u64) -> f64 {
    let (halvings, s) = minus_ln_parts(word);
    minus_ln_of_parts(halvings, s)
}

/// Returns the first half of [`minus_ln`], for a loop of its own: a number of halvings, and a
/// quotient.
#[inline(always)]
pub(super) fn minus_ln_parts(word: u64) -> (f64, f64) {
    // 2^64 u and 2^64 (1 - u) as floats. Above sqrt(1/2), u is near 1 and only the second one is
    // precise.
    let (low, high) = ((word | 1) as f64, (!word | 1) as f64);
    // low = f 2^exponent, with f between sqrt(1/2) and sqrt(2).
    let exponent = (low.to_bits() - SQRT_HALF) >> 52;
    let f = f64::from_bits(low.to_bits() - (exponent << 52));
    let d = if exponent == 64 { -(high * TWO_POW_MINUS_64) } else { f - 1.0 };
    let halvings = (TWO_52 + 64.0) - f64::from_bits(TWO_52.to_bits() | exponent);
    (halvings, d / (d + 2.0))
}

/// Returns the second half of [`minus_ln`].
#[inline(always)]
pub(super) fn minus_ln_of_parts(halvings: f64, s: f64) -> f64 {
    let z = s * s;
    let p = polynomial(z, LOGARITHM);
    halvings * LN_2 - (s * z * p + (s + s))
}

/// Returns the same as [`minus_ln`] for a word of 32 bits: from 2.3e-10 to 22.2.
#[inline(always)]
pub(super) fn minus_ln_f32(word: u32) -> f32 {
    let (low, high) = ((word | 1) as f32, (!word | 1) as f32);
    let exponent = (low.to_bits() - SQRT_HALF_F32) >> 23;
    let f = f32::from_bits(low.to_bits() - (exponent << 23));
    let d = if exponent == 32 { -(high * TWO_POW_MINUS_32) } else { f - 1.0 };
    let halvings = (TWO_23 + 32.0) - f32::from_bits(TWO_23.to_bits() | exponent);
    let s = d / (d + 2.0);
    let z = s * s;
    let p = polynomial_f32(z, [0.66666776, 0.3997759, 0.29870573]);
    halvings * LN_2_F32 - (s * z * p + (s + s))
}

/// Returns a point of the unit circle, every direction as likely as any other. The error is below 3
/// ulp of each coordinate (largest seen: 2.83).
///
/// Two bits are the coordinates' signs, one exchanges them, and the others are an angle within an
/// eighth of the circle.
#[inline(always)]
pub(super) fn direction(word: u64) -> (f64, f64) {
    // The angle is in quarters of a turn, below 1/2. Its bits are the upper ones of a word: of a
    // word whose highest bit is known to be zero, the compiler makes a signed conversion, which
    // AVX2 has for single numbers only.
    let angle = (word << 3 | 4) as f64 * TWO_POW_MINUS_65;
    let z = angle * angle;
    let mut sin = polynomial(
        z,
        [
            FRAC_PI_2,
            -0.6459640975062381,
            0.07969262624584415,
            -0.004681754129625158,
            0.0001604411326945897,
            -3.598585748498499e-6,
            5.626858907924295e-8,
        ],
    );
    sin *= angle;
    let cos = polynomial(
        z,
        [
            1.0,
            -1.2337005501361697,
            0.25366950790104287,
            -0.02086348076322718,
            0.0009192602732998637,
            -2.520203194041353e-5,
            4.710477243016975e-7,
            -6.306848163316639e-9,
        ],
    );
    let (x, y) = if word & 1 << 61 == 0 { (cos, sin) } else { (sin, cos) };
    const SIGN: u64 = 1 << 63;
    (f64::from_bits(x.to_bits() ^ word & SIGN), f64::from_bits(y.to_bits() ^ (word << 1) & SIGN))
}

/// Returns the same as [`direction`] for a word of 32 bits.
#[inline(always)]
pub(super) fn direction_f32(word: u32) -> (f32, f32) {
    let angle = ((word << 1 | 1) & ((1 << 30) - 1)) as f32 * TWO_POW_MINUS_31;
    let z = angle * angle;
    let mut sin = polynomial_f32(z, [FRAC_PI_2_F32, -0.645965, 0.079692006, -0.004628752]);
    sin *= angle;
    let cos = polynomial_f32(z, [1.0, -1.2337005, 0.25366867, -0.02085681, 0.0008974423]);
    let (x, y) = if word & 1 << 29 == 0 { (cos, sin) } else { (sin, cos) };
    const SIGN: u32 = 1 << 31;
    (f32::from_bits(x.to_bits() ^ word & SIGN), f32::from_bits(y.to_bits() ^ (word << 1) & SIGN))
}

/// The polynomial with these coefficients, up to 16, the constant one first. It is evaluated as
/// a tree, not as a chain, because the vectors of older CPUs then wait a tenth less (G. Estrin,
/// "Organization of Computer Systems", WJCC 1960).
macro_rules! polynomial {
    ($name:ident, $float:ty) => {
        #[inline(always)]
        pub(super) fn $name<const N: usize>(z: $float, c: [$float; N]) -> $float {
            let z2 = z * z;
            let z4 = z2 * z2;
            let z8 = z4 * z4;
            let two = |i: usize| if i + 1 < N { c[i] + c[i + 1] * z } else { c[i] };
            let four = |i: usize| if i + 2 < N { two(i) + two(i + 2) * z2 } else { two(i) };
            let eight = |i: usize| if i + 4 < N { four(i) + four(i + 4) * z4 } else { four(i) };
            if N > 8 { eight(0) + eight(8) * z8 } else { eight(0) }
        }
    };
}

polynomial!(polynomial, f64);
polynomial!(polynomial_f32, f32);
