//! Exponential and normal numbers to the last bit: the operations of STREAMS.md's definitions in
//! their order, one number at a time.
//!
//! [`numbers`](crate::streams::numbers) defines the exact values that these numbers approximate.
//! This module defines the rounding: each `+ - * /` and square root is rounded once, to nearest, as
//! IEEE 754 has it, and nothing is fused. The coefficients are part of the specification.

/// sqrt(1/2), rounded up.
pub(super) const SQRT_HALF: f64 = f64::from_bits(0x3FE6_A09E_667F_3BCD);
const SQRT_HALF_F32: f32 = f32::from_bits(0x3F35_04F4);

/// The coefficients of the logarithm in double precision.
pub(super) const LOGARITHM: [f64; 7] = [
    0.6666666666666734,
    0.3999999999941708,
    0.28571428741882043,
    0.22222198622870856,
    0.18183561836640963,
    0.15314112225295762,
    0.14795350288838463,
];

/// Evaluates `c[0] + c[1] z + c[2] z^2 + ...`: neighbours are put together, then neighbours of
/// these, and so on.
macro_rules! polynomial {
    ($name:ident, $float:ty) => {
        pub(super) fn $name(z: $float, c: &[$float]) -> $float {
            let mut terms = c.to_vec();
            let mut power = z;
            while terms.len() > 1 {
                terms = terms
                    .chunks(2)
                    .map(|two| if two.len() == 2 { two[0] + two[1] * power } else { two[0] })
                    .collect();
                power *= power;
            }
            terms[0]
        }
    };
}

polynomial!(polynomial, f64);
polynomial!(polynomial_f32, f32);

/// Returns `-ln u` of the u that is the word with its lowest bit set, over 2^64.
pub fn exponential_f64(word: u64) -> f64 {
    let (mut f, mut exponent) = ((word | 1) as f64, 0);
    while f >= 2.0 * SQRT_HALF {
        f /= 2.0;
        exponent += 1;
    }
    // u is f 2^(exponent - 64). Near 1 its distance from 1 says more.
    let d = if exponent == 64 { -((!word | 1) as f64 / 2f64.powi(64)) } else { f - 1.0 };
    let s = d / (d + 2.0);
    let z = s * s;
    let p = polynomial(z, &LOGARITHM);
    let ln_f = (s * z) * p + (s + s);
    f64::from(64 - exponent) * core::f64::consts::LN_2 - ln_f
}

/// Does the same for 32 bits, in single precision.
fn exponential_f32(word: u32) -> f32 {
    let (mut f, mut exponent) = ((word | 1) as f32, 0u8);
    while f >= 2.0 * SQRT_HALF_F32 {
        f /= 2.0;
        exponent += 1;
    }
    let d = if exponent == 32 { -((!word | 1) as f32 / 2f32.powi(32)) } else { f - 1.0 };
    let s = d / (d + 2.0);
    let z = s * s;
    let p = polynomial_f32(z, &[0.66666776, 0.3997759, 0.29870573]);
    let ln_f = (s * z) * p + (s + s);
    f32::from(32 - exponent) * core::f32::consts::LN_2 - ln_f
}

/// Returns a pair of normal numbers: a distance from the first word, a direction from the second.
pub fn normal_pair_f64(words: [u64; 2]) -> [f64; 2] {
    let distance = (2.0 * exponential_f64(words[0])).sqrt();
    let bit = |i: u32| words[1] >> (64 - i) & 1 == 1;
    let angle = ((words[1] << 1 | 1) % (1 << 62)) as f64 / 2f64.powi(63);
    let z = angle * angle;
    let sin = polynomial(
        z,
        &[
            core::f64::consts::FRAC_PI_2,
            -0.6459640975062381,
            0.07969262624584415,
            -0.004681754129625158,
            0.0001604411326945897,
            -3.598585748498499e-6,
            5.626858907924295e-8,
        ],
    ) * angle;
    let cos = polynomial(
        z,
        &[
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
    let (x, y) = if bit(3) { (sin, cos) } else { (cos, sin) };
    let signed = |x: f64, negative: bool| if negative { -x } else { x };
    [distance * signed(x, bit(1)), distance * signed(y, bit(2))]
}

/// Does the same for the two `u32`s of a word, in single precision.
pub fn normal_pair_f32(words: [u32; 2]) -> [f32; 2] {
    let distance = (2.0 * exponential_f32(words[0])).sqrt();
    let bit = |i: u32| words[1] >> (32 - i) & 1 == 1;
    let angle = ((words[1] << 1 | 1) % (1 << 30)) as f32 / 2f32.powi(31);
    let z = angle * angle;
    let sin =
        polynomial_f32(z, &[core::f32::consts::FRAC_PI_2, -0.645965, 0.079692006, -0.004628752])
            * angle;
    let cos = polynomial_f32(z, &[1.0, -1.2337005, 0.25366867, -0.02085681, 0.0008974423]);
    let (x, y) = if bit(3) { (sin, cos) } else { (cos, sin) };
    let signed = |x: f32, negative: bool| if negative { -x } else { x };
    [distance * signed(x, bit(1)), distance * signed(y, bit(2))]
}
