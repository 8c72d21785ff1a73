//! The steps of all lanes, written once over a vector, and compiled for each kind of vector.
//!
//! The compiler does not find these vectors by itself: it turned the same loops over words into
//! vectors with AVX-512 alone, and with AVX2 they were slower than one generator.

#![allow(unsafe_code)]

use super::vector::Vector;
use super::{LANES, Lanes};
use crate::features::Features;

/// Bytes of a row: one word of each lane.
pub(super) const ROW: usize = 8 * LANES;
/// Rows that stay in the first-level cache between the passes of a CPU whose registers do not hold
/// all lanes.
const CHUNK: usize = 64;

/// The instructions that step the lanes; all paths make the same words. Only
/// [`choose`](Path::choose) makes a value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path(Width);

#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
enum Width {
    /// The instructions that every CPU of the target has.
    Baseline,
    Avx2,
    Avx512,
}

impl Path {
    /// Returns the widest path that this CPU has.
    #[inline]
    pub(crate) fn choose(features: Features) -> Path {
        Path(if features.avx512 {
            Width::Avx512
        } else if features.avx2 {
            Width::Avx2
        } else {
            Width::Baseline
        })
    }

    /// Fills whole rows, little-endian, with the next word of each lane.
    #[inline]
    pub(crate) fn fill(self, lanes: &mut Lanes, out: &mut [[u8; ROW]]) {
        match self.0 {
            // SAFETY: `choose` returns this width only for a CPU that has AVX-512.
            #[cfg(target_arch = "x86_64")]
            Width::Avx512 => unsafe { fill_avx512(lanes, out) },
            // SAFETY: `choose` returns this width only for a CPU that has AVX2.
            #[cfg(target_arch = "x86_64")]
            Width::Avx2 => unsafe { fill_avx2(lanes, out) },
            _ => fill_baseline(lanes, out),
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn fill_avx512(lanes: &mut Lanes, out: &mut [[u8; ROW]]) {
    // SAFETY: this function has AVX-512F, so its callers have shown that the CPU does.
    unsafe { fill::<core::arch::x86_64::__m512i, 1>(lanes, out) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn fill_avx2(lanes: &mut Lanes, out: &mut [[u8; ROW]]) {
    // SAFETY: this function has AVX2, so its callers have shown that the CPU does.
    unsafe { fill::<core::arch::x86_64::__m256i, 2>(lanes, out) }
}

fn fill_baseline(lanes: &mut Lanes, out: &mut [[u8; ROW]]) {
    #[cfg(target_arch = "x86_64")]
    // Sixteen registers would not hold the state of all eight lanes and what a step needs besides.
    // SAFETY: every x86-64 CPU has SSE2.
    unsafe {
        fill::<core::arch::x86_64::__m128i, 2>(lanes, out);
    }
    #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
    // SAFETY: every arm64 CPU that Rust knows has NEON.
    unsafe {
        fill::<core::arch::aarch64::uint64x2_t, 4>(lanes, out);
    }
    #[cfg(not(any(
        target_arch = "x86_64",
        all(target_arch = "aarch64", target_endian = "little")
    )))]
    // SAFETY: words need no instructions of their own.
    unsafe {
        fill::<u64, 1>(lanes, out);
    }
}

/// Steps `K` vectors at a time through all rows of a chunk, and then the next `K`. It is inlined
/// into each function above, or it would be compiled without their instructions.
///
/// # Safety
///
/// The CPU, and the function that this is part of, have the vector's instructions.
#[inline(always)]
unsafe fn fill<V: Vector, const K: usize>(lanes: &mut Lanes, out: &mut [[u8; ROW]]) {
    const { assert!(LANES.is_multiple_of(K * V::LANES)) };
    for chunk in out.chunks_mut(CHUNK) {
        for first in (0..LANES).step_by(K * V::LANES) {
            let rows = chunk.as_mut_ptr();
            let states = lanes.0.as_mut_ptr();
            // SAFETY: the CPU has the instructions, as `# Safety` asks. Vector `k` is lanes
            // `first + k * V::LANES` and the next ones. All of them are below `LANES`, because
            // `LANES` is a multiple of the loop's step, so they lie in states and rows alike.
            unsafe {
                let lane = |k| first + k * V::LANES;
                let load = |word: usize| {
                    core::array::from_fn::<V, K, _>(|k| {
                        V::load((*states.add(word)).as_ptr().add(lane(k)))
                    })
                };
                let [mut s0, mut s1, mut s2, mut s3] = [load(0), load(1), load(2), load(3)];
                for row in 0..chunk.len() {
                    for k in 0..K {
                        let word = s0[k].add(s3[k]).rotate_left_23().add(s0[k]);
                        let word = word.to_little_endian();
                        word.store((*rows.add(row)).as_mut_ptr().add(8 * lane(k)));
                        let t = s1[k].shift_left_17();
                        [s0[k], s1[k], s2[k], s3[k]] = [
                            s0[k].xor3(s3[k], s1[k]),
                            s1[k].xor3(s2[k], s0[k]),
                            t.xor3(s2[k], s0[k]),
                            s3[k].xor(s1[k]).rotate_left_45(),
                        ];
                    }
                }
                for (word, vectors) in [s0, s1, s2, s3].into_iter().enumerate() {
                    for (k, vector) in vectors.into_iter().enumerate() {
                        vector.store((*states.add(word)).as_mut_ptr().add(lane(k)).cast());
                    }
                }
            }
        }
    }
}
