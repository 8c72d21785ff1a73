//! The steps of all lanes, written once, and compiled for each width of vectors.
//!
//! The loops over a row have a constant length, so the compiler makes vectors of them, of the widest that the
//! function it is compiled into may use: 128 bits on every x86-64 and arm64, 256 with AVX2, 512 with AVX-512.

#![allow(unsafe_code)]

use super::{LANES, Lanes, Row};

/// Which instructions the lanes are stepped with. All give the same words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Path {
    /// What every CPU of the target has.
    Baseline,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Path {
    /// The widest that this CPU has: the only place that chooses.
    #[inline]
    pub(crate) fn detect() -> Path {
        #[cfg(target_arch = "x86_64")]
        {
            if Path::Avx512.is_available() {
                return Path::Avx512;
            }
            if Path::Avx2.is_available() {
                return Path::Avx2;
            }
        }
        Path::Baseline
    }

    /// Whether this CPU can go it. The standard library remembers what the CPU said.
    #[inline]
    pub(crate) fn is_available(self) -> bool {
        match self {
            Path::Baseline => true,
            #[cfg(target_arch = "x86_64")]
            Path::Avx2 => is_x86_feature_detected!("avx2"),
            #[cfg(target_arch = "x86_64")]
            Path::Avx512 => is_x86_feature_detected!("avx512f"),
        }
    }

    /// Fills whole rows, little-endian, with the next word of each lane.
    ///
    /// # Panics
    ///
    /// If the CPU cannot go this path.
    #[inline]
    pub(crate) fn fill(self, lanes: &mut Lanes, out: &mut [[u8; 8 * LANES]]) {
        assert!(self.is_available());
        match self {
            Path::Baseline => fill(lanes, out),
            // SAFETY: the CPU has AVX2, by the assertion.
            #[cfg(target_arch = "x86_64")]
            Path::Avx2 => unsafe { fill_avx2(lanes, out) },
            // SAFETY: the CPU has AVX-512F, by the assertion.
            #[cfg(target_arch = "x86_64")]
            Path::Avx512 => unsafe { fill_avx512(lanes, out) },
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
