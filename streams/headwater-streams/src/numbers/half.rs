//! Floats of 16 bits, as their bits, and complex normal numbers.
//!
//! Rust has no stable type of 16 bits, so the bits are `u16`; the feature `half` adds the types of
//! the crate `half`. Rounding is to nearest with ties to even, and in integers, because a CPU's own
//! conversion could flush subnormal numbers to zero.

use super::Number;
use super::normal::NormalF32;
use super::polynomials::{direction, direction_f32, minus_ln, minus_ln_f32};
use super::root::{sqrt_f32, sqrt_f64};
use super::uniform::halves;
use crate::{Error, Stream};

/// IEEE 754's binary16: 11 bits of precision.
#[derive(Clone, Copy)]
struct Binary16;

/// The upper half of a single-precision float: 8 bits of precision.
#[derive(Clone, Copy)]
struct Bfloat16;

/// A format of 16 bits.
trait Format: Copy + Sync {
    /// Bits of precision.
    const PRECISION: u32;

    /// Returns the bits of the nearest number; no `x` is a NaN or too large.
    fn rounded(x: f32) -> u16;
}

impl Format for Bfloat16 {
    const PRECISION: u32 = 8;

    #[inline(always)]
    fn rounded(x: f32) -> u16 {
        let bits = x.to_bits();
        // Half of the last place kept, less one if that place is even.
        (bits.wrapping_add(0x7FFF + (bits >> 16 & 1)) >> 16) as u16
    }
}

impl Format for Binary16 {
    const PRECISION: u32 = 11;

    #[inline(always)]
    fn rounded(x: f32) -> u16 {
        const SMALLEST_NORMAL: f32 = 1.0 / (1 << 14) as f32;
        /// The difference of both exponents' biases.
        const BIAS: u32 = 112 << 23;
        let (size, sign) = (x.abs(), x.to_bits() >> 16 & 0x8000);
        // The last place of a float from 1/2 to 1 is 2^-24, that of all subnormal numbers here.
        let subnormal = (size + 0.5).to_bits().wrapping_sub(0.5f32.to_bits());
        let bits = size.to_bits();
        let normal = bits.wrapping_sub(BIAS).wrapping_add(0xFFF + (bits >> 13 & 1)) >> 13;
        (sign | if size < SMALLEST_NORMAL { subnormal } else { normal }) as u16
    }
}

/// Uniform numbers of a format from quarters of words.
struct Uniform<F>(F);

impl<F: Format> Number for Uniform<F> {
    type Value = u16;
    const WORDS: usize = 1;
    const VALUES: usize = 4;

    #[inline(always)]
    fn convert(&self, words: &[u64], out: &mut [u16]) -> bool {
        let step = 1.0 / (1u32 << F::PRECISION) as f32;
        for (out, &word) in out.as_chunks_mut::<4>().0.iter_mut().zip(words) {
            *out = [0, 16, 32, 48].map(|shift| {
                let quarter = (word >> shift) as u16;
                F::rounded(f32::from(quarter >> (16 - F::PRECISION)) * step)
            });
        }
        false
    }
}

/// Normal numbers of single precision, rounded to a format.
struct Normal<F>(F);

impl<F: Format> Number for Normal<F> {
    type Value = u16;
    const WORDS: usize = 1;
    const VALUES: usize = 2;

    #[inline(always)]
    fn convert(&self, words: &[u64], out: &mut [u16]) -> bool {
        const TOGETHER: usize = 32;
        let mut singles = [0.0; 2 * TOGETHER];
        for (out, words) in out.chunks_mut(2 * TOGETHER).zip(words.chunks(TOGETHER)) {
            NormalF32.convert(words, &mut singles);
            for (out, &single) in out.iter_mut().zip(&singles) {
                *out = F::rounded(single);
            }
        }
        false
    }
}

/// Complex normal numbers: both parts of one point, whose squares have a mean of 1 together.
struct ComplexF64;
struct ComplexF32;

impl Number for ComplexF64 {
    type Value = [f64; 2];
    const WORDS: usize = 2;
    const VALUES: usize = 1;

    #[inline(always)]
    fn convert(&self, words: &[u64], out: &mut [[f64; 2]]) -> bool {
        for (out, words) in out.iter_mut().zip(words.as_chunks::<2>().0) {
            let distance = sqrt_f64(minus_ln(words[0]));
            let (x, y) = direction(words[1]);
            *out = [distance * x, distance * y];
        }
        false
    }
}

impl Number for ComplexF32 {
    type Value = [f32; 2];
    const WORDS: usize = 1;
    const VALUES: usize = 1;

    #[inline(always)]
    fn convert(&self, words: &[u64], out: &mut [[f32; 2]]) -> bool {
        for (out, &word) in out.iter_mut().zip(words) {
            let words = halves(word);
            let distance = sqrt_f32(minus_ln_f32(words[0]));
            let (x, y) = direction_f32(words[1]);
            *out = [distance * x, distance * y];
        }
        false
    }
}

/// Writes the functions of a kind: a range, a list, and a range by several threads.
macro_rules! kinds {
    ($($(#[$doc:meta])* $fill:ident, $at:ident: $type:ty, $kind:expr;)*) => {
        /// Floats of 16 bits as their bits, and complex numbers as their two parts.
        ///
        /// # Errors
        ///
        /// All of them: those of [`fill_f64`](Stream::fill_f64) and [`f64_at`](Stream::f64_at).
        impl Stream {$(
            $(#[$doc])*
            pub fn $fill(&self, start: u64, out: &mut [$type]) -> Result<(), Error> {
                self.fill(&$kind, start, out)
            }

            #[doc = concat!(
                "Writes the elements of [`", stringify!($fill), "`](Stream::", stringify!($fill),
                ") with these numbers."
            )]
            pub fn $at(&self, indices: &[u64], out: &mut [$type]) -> Result<(), Error> {
                self.at(&$kind, indices, out)
            }
        )*}

        /// Floats of 16 bits and complex numbers, the same ones as from one thread.
        ///
        /// # Errors
        ///
        /// The errors are those of [`Stream`]'s functions of the same names.
        #[cfg(feature = "std")]
        impl crate::Par {$(
            #[doc = concat!("Fills `out` like [`Stream::", stringify!($fill), "`].")]
            pub fn $fill(&self, start: u64, out: &mut [$type]) -> Result<(), Error> {
                self.numbers(&$kind, start, out)
            }
        )*}
    };
}

kinds! {
    /// Writes the bits of uniform numbers of binary16 in [0, 1): multiples of 2^-11. From 16 bits
    /// of the stream each.
    fill_f16_bits, f16_bits_at: u16, Uniform(Binary16);
    /// Writes the bits of uniform numbers of bfloat16 in [0, 1): multiples of 2^-8. From 16 bits of
    /// the stream each.
    fill_bf16_bits, bf16_bits_at: u16, Uniform(Bfloat16);
    /// Writes the bits of the elements of [`fill_normal_f32`](Stream::fill_normal_f32), rounded to
    /// binary16.
    fill_normal_f16_bits, normal_f16_bits_at: u16, Normal(Binary16);
    /// Writes the bits of the elements of [`fill_normal_f32`](Stream::fill_normal_f32), rounded to
    /// bfloat16.
    fill_normal_bf16_bits, normal_bf16_bits_at: u16, Normal(Bfloat16);
    /// Writes complex normal numbers, real part first, from words 2`e` and 2`e` + 1. The mean of
    /// their squared sizes is 1, so each part has the variance 1/2.
    fill_complex_normal_f64, complex_normal_f64_at: [f64; 2], ComplexF64;
    /// Writes complex normal numbers of single precision in the same way, from word `e`.
    fill_complex_normal_f32, complex_normal_f32_at: [f32; 2], ComplexF32;
}

#[cfg(feature = "half")]
mod types {
    use crate::{Error, Stream};
    use half::slice::HalfFloatSliceExt;
    use half::{bf16, f16};

    /// Floats of 16 bits, in the types of the crate `half` (feature `half`).
    ///
    /// # Errors
    ///
    /// All of them: those of [`fill_f64`](Stream::fill_f64).
    impl Stream {
        /// Writes the numbers of [`fill_f16_bits`](Stream::fill_f16_bits).
        pub fn fill_f16(&self, start: u64, out: &mut [f16]) -> Result<(), Error> {
            self.fill_f16_bits(start, out.reinterpret_cast_mut())
        }

        /// Writes the numbers of [`fill_bf16_bits`](Stream::fill_bf16_bits).
        pub fn fill_bf16(&self, start: u64, out: &mut [bf16]) -> Result<(), Error> {
            self.fill_bf16_bits(start, out.reinterpret_cast_mut())
        }

        /// Writes the numbers of [`fill_normal_f16_bits`](Stream::fill_normal_f16_bits).
        pub fn fill_normal_f16(&self, start: u64, out: &mut [f16]) -> Result<(), Error> {
            self.fill_normal_f16_bits(start, out.reinterpret_cast_mut())
        }

        /// Writes the numbers of [`fill_normal_bf16_bits`](Stream::fill_normal_bf16_bits).
        pub fn fill_normal_bf16(&self, start: u64, out: &mut [bf16]) -> Result<(), Error> {
            self.fill_normal_bf16_bits(start, out.reinterpret_cast_mut())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the number that the bits of a format mean, with `precision` bits and this bias.
    fn value(bits: u16, precision: u32, bias: i32) -> f64 {
        let fraction_bits = precision - 1;
        let fraction = f64::from(bits & ((1 << fraction_bits) - 1));
        let exponent = i32::from(bits & 0x7FFF) >> fraction_bits;
        let unit = 2f64.powi(exponent.max(1) - bias - fraction_bits as i32);
        let whole = if exponent > 0 { 2f64.powi(fraction_bits as i32) } else { 0.0 };
        if bits >> 15 == 1 { -(whole + fraction) * unit } else { (whole + fraction) * unit }
    }

    /// No number of the format is nearer, and of two as near, the even one is taken.
    #[test]
    fn rounding_is_to_the_nearest_and_to_even() {
        fn check<F: Format>(bias: i32, x: f32) {
            let bits = F::rounded(x);
            let distance = |bits: u16| (value(bits, F::PRECISION, bias) - f64::from(x)).abs();
            for other in [bits.wrapping_sub(1), bits + 1] {
                // Neighbours of 0 have the other sign in another place.
                if (other ^ bits) >> 15 == 0 && other & 0x7FFF < 0x7C00 {
                    let (ours, theirs) = (distance(bits), distance(other));
                    assert!(ours < theirs || (ours == theirs && bits & 1 == 0), "{x:e} {bits:x}");
                }
            }
            assert_eq!(bits >> 15 == 1, x.is_sign_negative(), "{x:e}");
        }
        let mut y = 1_u32;
        for i in 0..200_000_u32 {
            y = y.wrapping_mul(0x9E37_79B1).wrapping_add(i | 1);
            // Sizes from 2^-40 to 8, and points halfway between two numbers.
            let mut bits = (87 + (y >> 8) % 43) << 23 | y >> 9 & 0x7F_FFFF;
            match i % 4 {
                0 => bits &= !0xFFF,
                1 => bits &= !0x7FFF,
                2 => bits &= !0x3_FFFF,
                _ => {}
            }
            let x = f32::from_bits(bits | (y & 1) << 31);
            check::<Binary16>(15, x);
            check::<Bfloat16>(127, x);
        }
        assert_eq!(
            [0.0, -0.0, 1.0, 0.5, -2.0].map(Binary16::rounded),
            [0, 0x8000, 0x3C00, 0x3800, 0xC000]
        );
        assert_eq!([0.0, -0.0, 1.0].map(Bfloat16::rounded), [0, 0x8000, 0x3F80]);
    }

    #[test]
    fn numbers_of_16_bits_are_those_of_the_stream() {
        let s = crate::Key::from_seed("half").stream(0).unwrap();
        let (mut bytes, mut singles) = ([0; 2000], [0.0; 1000]);
        s.fill_u8(6, &mut bytes).unwrap();
        s.fill_normal_f32(3, &mut singles).unwrap();
        let quarters = bytes.as_chunks::<2>().0;
        let mut out = [0; 1000];
        s.fill_f16_bits(3, &mut out).unwrap();
        for (&bits, &two) in out.iter().zip(quarters) {
            assert_eq!(value(bits, 11, 15), f64::from(u16::from_le_bytes(two) >> 5) / 2048.0);
        }
        s.fill_bf16_bits(3, &mut out).unwrap();
        for (&bits, &two) in out.iter().zip(quarters) {
            assert_eq!(value(bits, 8, 127), f64::from(u16::from_le_bytes(two) >> 8) / 256.0);
        }
        s.fill_normal_f16_bits(3, &mut out).unwrap();
        assert_eq!(out, singles.map(Binary16::rounded));
        s.fill_normal_bf16_bits(3, &mut out).unwrap();
        assert_eq!(out, singles.map(Bfloat16::rounded));
        let indices: Vec<u64> = (0..1000).map(|i| 3 + i * 67 % 1000).collect();
        let mut listed = [0; 1000];
        s.normal_bf16_bits_at(&indices, &mut listed).unwrap();
        assert!(indices.iter().zip(listed).all(|(&i, x)| x == out[i as usize - 3]));
        s.fill_f16_bits(3, &mut out).unwrap();
        s.f16_bits_at(&indices, &mut listed).unwrap();
        assert!(indices.iter().zip(listed).all(|(&i, x)| x == out[i as usize - 3]));
    }

    #[test]
    fn complex_numbers_are_points_of_variance_1() {
        let s = crate::Key::from_seed("complex").stream(0).unwrap();
        let mut points = vec![[0.0; 2]; 100_000];
        s.fill_complex_normal_f64(0, &mut points).unwrap();
        let mut normals = vec![0.0; 200_000];
        s.fill_normal_f64(0, &mut normals).unwrap();
        for (part, normal) in points.as_flattened().iter().zip(&normals) {
            assert!((part - normal * 0.5f64.sqrt()).abs() <= 1e-15 * normal.abs());
        }
        let mean = points.iter().map(|[x, y]| x * x + y * y).sum::<f64>() / 1e5;
        assert!((mean - 1.0).abs() < 5.0 / 1e5f64.sqrt(), "{mean}");
        let mut other = vec![[0.0; 2]; 100_000];
        s.par(3).fill_complex_normal_f64(0, &mut other).unwrap();
        assert!(other == points);
        let mut singles = vec![[0.0; 2]; 1000];
        s.fill_complex_normal_f32(7, &mut singles).unwrap();
        let mut one = [[0.0; 2]];
        s.complex_normal_f32_at(&[1006], &mut one).unwrap();
        assert_eq!(one[0], singles[999]);
        s.complex_normal_f64_at(&[99_999], &mut points[..1]).unwrap();
        assert_eq!(points[0], points[99_999]);
    }
}
