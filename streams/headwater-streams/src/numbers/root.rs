//! Square roots, correctly rounded as IEEE 754 has them, with and without the standard library.
//!
//! `core` has no square root on stable Rust. But an architecture's intrinsics are the same
//! operation, and compilers turn them into vector code as well. Where there are none, we compute it
//! with integers, which are exact.

#![allow(unsafe_code)]

/// Returns the root of a number that is 0, or normal and positive.
#[inline(always)]
pub(super) fn sqrt_f64(x: f64) -> f64 {
    #[cfg(feature = "std")]
    {
        x.sqrt()
    }
    #[cfg(all(not(feature = "std"), target_arch = "x86_64"))]
    {
        use core::arch::x86_64::{_mm_cvtsd_f64, _mm_set_sd, _mm_sqrt_sd};
        // SAFETY: every x86-64 CPU has SSE2.
        unsafe {
            let x = _mm_set_sd(x);
            _mm_cvtsd_f64(_mm_sqrt_sd(x, x))
        }
    }
    #[cfg(all(not(feature = "std"), target_arch = "aarch64"))]
    {
        use core::arch::aarch64::{vdup_n_f64, vget_lane_f64, vsqrt_f64};
        // SAFETY: every CPU that this is built for has NEON.
        unsafe { vget_lane_f64::<0>(vsqrt_f64(vdup_n_f64(x))) }
    }
    #[cfg(not(any(feature = "std", target_arch = "x86_64", target_arch = "aarch64")))]
    {
        by_integers(x)
    }
}

/// Returns the root of a number that is 0, or normal and positive. To round twice is wrong in
/// general, but a double root rounded once more is the exact root, because 53 bits are at least
/// twice 24 and two more (S. A. Figueroa, "When is double rounding innocuous?", SIGNUM Newsletter
/// 30(3), 1995).
#[inline(always)]
pub(super) fn sqrt_f32(x: f32) -> f32 {
    #[cfg(feature = "std")]
    {
        x.sqrt()
    }
    #[cfg(all(not(feature = "std"), target_arch = "x86_64"))]
    {
        use core::arch::x86_64::{_mm_cvtss_f32, _mm_set_ss, _mm_sqrt_ss};
        // SAFETY: every x86-64 CPU has SSE.
        unsafe { _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(x))) }
    }
    #[cfg(all(not(feature = "std"), not(target_arch = "x86_64")))]
    {
        sqrt_f64(x.into()) as f32
    }
}

/// Returns the square root through the significand's, an integer of 54 bits or more. Its lowest bit
/// shows only that there is a rest, so that the conversion rounds the root as a whole.
#[cfg(any(test, not(any(feature = "std", target_arch = "x86_64", target_arch = "aarch64"))))]
fn by_integers(x: f64) -> f64 {
    const FRACTION: u64 = (1 << 52) - 1;
    if x == 0.0 {
        return x;
    }
    let exponent = (x.to_bits() >> 52) as i32 - 1075; // x is significand * 2^exponent
    let significand = u128::from(x.to_bits() & FRACTION | 1 << 52);
    let shift = 60 + (exponent & 1);
    let wide = significand << shift;
    let root = wide.isqrt();
    let inexact = u128::from(root * root != wide);
    // 2^k as a number, for a k that is half of a difference that is even.
    let half = (exponent - shift) / 2;
    (root << 1 | inexact) as f64 * f64::from_bits(((half - 1 + 1023) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_give_the_roots_of_the_hardware() {
        let mut x = 0x9E37_79B9_7F4A_7C15_u64;
        for i in 0..200_000_u64 {
            x = x.wrapping_mul(0xDA94_2042_E4DD_58B5).wrapping_add(i | 1);
            let bits = match i % 4 {
                0 => x >> 2,                                          // any exponent below 2
                1 => 0x3FF0_0000_0000_0000 + (x >> 12),               // 1 to 2
                2 => (f64::from((x >> 38) as u32).powi(2)).to_bits(), // a square
                _ => 0x4000_0000_0000_0000 + (x & 3) + (i << 50 & 0x01F0_0000_0000_0000),
            };
            let x = f64::from_bits(bits.max(1 << 52));
            assert_eq!(by_integers(x).to_bits(), x.sqrt().to_bits(), "{x:e}");
            assert_eq!((f64::from(x as f32)).sqrt() as f32, (x as f32).sqrt(), "{x:e}");
        }
        assert_eq!(by_integers(0.0), 0.0);
    }
}
