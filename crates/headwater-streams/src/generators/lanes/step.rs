//! The steps of all lanes, written once, and compiled for each width of vectors.
//!
//! The loops over a row have a constant length, so the compiler makes vectors of them, of the widest that the
//! function it is compiled into may use: 128 bits on every x86-64 and arm64, 256 with AVX2, 512 with AVX-512.

#![allow(unsafe_code)]

use super::{LANES, Lanes, Row};
use crate::cpu::Features;

/// Which instructions the lanes are stepped with. All give the same words. Made by [`choose`](Path::choose) alone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path(Width);

#[derive(Clone, Copy, Debug)]
enum Width {
    /// What every CPU of the target has.
    Baseline,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Path {
    /// The widest that this CPU has.
    #[inline]
    pub(crate) fn choose(features: Features) -> Path {
        #[cfg(target_arch = "x86_64")]
        {
            if features.avx512 {
                return Path(Width::Avx512);
            }
            if features.avx2 {
                return Path(Width::Avx2);
            }
        }
        let _ = features;
        Path(Width::Baseline)
    }

    /// Fills whole rows, little-endian, with the next word of each lane.
    ///
    #[inline]
    pub(crate) fn fill(self, lanes: &mut Lanes, out: &mut [[u8; 8 * LANES]]) {
        match self.0 {
            Width::Baseline => fill(lanes, out),
            // SAFETY: only a CPU that has AVX2 makes `choose` give this path.
            #[cfg(target_arch = "x86_64")]
            Width::Avx2 => unsafe { fill_avx2(lanes, out) },
            // SAFETY: only a CPU that has AVX-512F makes `choose` give this path.
            #[cfg(target_arch = "x86_64")]
            Width::Avx512 => unsafe { fill_avx512(lanes, out) },
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn fill_avx2(lanes: &mut Lanes, out: &mut [[u8; 8 * LANES]]) {
    fill(lanes, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn fill_avx512(lanes: &mut Lanes, out: &mut [[u8; 8 * LANES]]) {
    fill(lanes, out);
}

/// Part of each function above, or it would be compiled for the narrowest vectors only.
#[inline(always)]
fn fill(lanes: &mut Lanes, out: &mut [[u8; 8 * LANES]]) {
    let [mut s0, mut s1, mut s2, mut s3] = lanes.0;
    for row in out {
        let words =
            zip(zip(s0, s3, |a, b| a.wrapping_add(b).rotate_left(23)), s0, u64::wrapping_add);
        let t = s1.map(|word| word << 17);
        s2 = zip(s2, s0, |a, b| a ^ b);
        s3 = zip(s3, s1, |a, b| a ^ b);
        s1 = zip(s1, s2, |a, b| a ^ b);
        s0 = zip(s0, s3, |a, b| a ^ b);
        s2 = zip(s2, t, |a, b| a ^ b);
        s3 = s3.map(|word| word.rotate_left(45));
        for (bytes, word) in row.as_chunks_mut::<8>().0.iter_mut().zip(words) {
            *bytes = word.to_le_bytes();
        }
    }
    lanes.0 = [s0, s1, s2, s3];
}

#[inline(always)]
fn zip(a: Row, b: Row, op: impl Fn(u64, u64) -> u64) -> Row {
    core::array::from_fn(|i| op(a[i], b[i]))
}
