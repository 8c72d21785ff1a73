//! ARS on AES-NI, and on VAES with registers of two and of four blocks.
//!
//! One AES instruction takes four cycles, but one or two can begin in each. So eight registers go
//! through each round side by side. Counters are made in registers and blocks stored straight to
//! their place, so nothing but the blocks passes through memory.

#![allow(unsafe_code)]

use super::{GROWTH, KEYS};
use crate::engine::Block;
use core::arch::x86_64::*;

/// Registers that go side by side.
const SIDE_BY_SIDE: usize = 8;

/// One module for each width: `fill` and `replace`, which differ in their intrinsics alone.
macro_rules! width {
    (
        $(#[$doc:meta])* $name:ident, $features:literal, $vector:ident of $blocks:literal blocks,
        broadcast $broadcast:expr, xor $xor:ident, add $add:ident, round $round:expr, last $last:expr
    ) => {
        $(#[$doc])*
        pub(crate) mod $name {
            use super::*;

            /// Copies each key into every block of a register.
            #[inline]
            #[target_feature(enable = $features)]
            fn keys(key: Block) -> [$vector; KEYS] {
                let mut all = [$broadcast(key); KEYS];
                let growth = $broadcast(halves(GROWTH));
                for i in 1..KEYS {
                    all[i] = $add(all[i - 1], growth);
                }
                all
            }

            #[inline]
            #[target_feature(enable = $features)]
            fn load(blocks: [Block; $blocks]) -> $vector {
                // SAFETY: both types have the same size, and any bits are a register's.
                unsafe { core::mem::transmute(blocks) }
            }

            #[inline]
            #[target_feature(enable = $features)]
            fn permute<const ROUNDS: usize, const N: usize>(keys: &[$vector; KEYS], blocks: &mut [$vector; N]) {
                for block in &mut *blocks {
                    *block = $xor(*block, keys[0]);
                }
                for key in &keys[1..ROUNDS] {
                    $round(blocks, *key);
                }
                for block in blocks {
                    *block = $last(*block, keys[ROUNDS]);
                }
            }

            #[inline]
            #[target_feature(enable = $features)]
            fn store<const N: usize>(blocks: [$vector; N], to: &mut [[Block; $blocks]; N]) {
                for (block, to) in blocks.into_iter().zip(to) {
                    // SAFETY: exactly as many bytes, at any alignment.
                    unsafe { (&raw mut *to).cast::<$vector>().write_unaligned(block) };
                }
            }

            /// Writes the blocks of the counters from `upper << 64 | first` on; the lower halves do
            /// not wrap around.
            #[target_feature(enable = $features)]
            pub(crate) fn fill<const ROUNDS: usize>(key: Block, upper: u64, first: u64, out: &mut [Block]) {
                let keys = keys(key);
                let counter = |i: usize| halves([first.wrapping_add(i as u64), upper]);
                let mut counter = load(core::array::from_fn(counter));
                let step = $broadcast(halves([$blocks, 0]));
                let (vectors, rest) = out.as_chunks_mut::<$blocks>();
                let (strips, vectors) = vectors.as_chunks_mut::<SIDE_BY_SIDE>();
                for strip in strips {
                    let mut blocks = [counter; SIDE_BY_SIDE];
                    for i in 1..SIDE_BY_SIDE {
                        blocks[i] = $add(blocks[i - 1], step);
                    }
                    counter = $add(blocks[SIDE_BY_SIDE - 1], step);
                    permute::<ROUNDS, _>(&keys, &mut blocks);
                    store(blocks, strip);
                }
                // A short rest must not wait for eight registers, nor go through them one by one.
                let (pairs, single) = vectors.as_chunks_mut::<2>();
                for pair in pairs {
                    let mut blocks = [counter, $add(counter, step)];
                    counter = $add(blocks[1], step);
                    permute::<ROUNDS, _>(&keys, &mut blocks);
                    store(blocks, pair);
                }
                for vector in single {
                    let mut blocks = [counter];
                    counter = $add(counter, step);
                    permute::<ROUNDS, _>(&keys, &mut blocks);
                    store(blocks, core::array::from_mut(vector));
                }
                if !rest.is_empty() {
                    let mut blocks = [counter];
                    permute::<ROUNDS, _>(&keys, &mut blocks);
                    let mut last = [[Block::default(); $blocks]];
                    store(blocks, &mut last);
                    rest.copy_from_slice(&last[0][..rest.len()]);
                }
            }

            /// Replaces each counter by its block.
            #[target_feature(enable = $features)]
            pub(crate) fn replace<const ROUNDS: usize>(key: Block, counters: &mut [Block]) {
                let keys = keys(key);
                let (vectors, rest) = counters.as_chunks_mut::<$blocks>();
                let (strips, vectors) = vectors.as_chunks_mut::<SIDE_BY_SIDE>();
                for strip in strips {
                    let mut blocks = strip.map(|blocks| load(blocks));
                    permute::<ROUNDS, _>(&keys, &mut blocks);
                    store(blocks, strip);
                }
                for vector in vectors {
                    let mut blocks = [load(*vector)];
                    permute::<ROUNDS, _>(&keys, &mut blocks);
                    store(blocks, core::array::from_mut(vector));
                }
                if !rest.is_empty() {
                    let mut last = [[Block::default(); $blocks]];
                    last[0][..rest.len()].copy_from_slice(rest);
                    let mut blocks = [load(last[0])];
                    permute::<ROUNDS, _>(&keys, &mut blocks);
                    store(blocks, &mut last);
                    rest.copy_from_slice(&last[0][..rest.len()]);
                }
            }
        }
    };
}

/// Returns two 64-bit numbers as a block, the lower one first.
#[inline(always)]
fn halves(halves: [u64; 2]) -> Block {
    (u128::from(halves[1]) << 64 | u128::from(halves[0])).to_le_bytes()
}

#[inline]
#[target_feature(enable = "sse2")]
fn one(block: Block) -> __m128i {
    // SAFETY: both types have the same size, and any bits are a register's.
    unsafe { core::mem::transmute(block) }
}

width! {
    /// AES-NI.
    aes, "aes,sse4.1", __m128i of 1 blocks,
    broadcast |block| one(block), xor _mm_xor_si128, add _mm_add_epi64,
    round |blocks: &mut [__m128i], key| for block in blocks { *block = _mm_aesenc_si128(*block, key) },
    last _mm_aesenclast_si128
}

width! {
    /// VAES on 256-bit registers.
    vaes256, "aes,sse4.1,avx2,vaes", __m256i of 2 blocks,
    broadcast |block| _mm256_broadcastsi128_si256(one(block)), xor _mm256_xor_si256, add _mm256_add_epi64,
    round |blocks: &mut [__m256i], key| for block in blocks { *block = _mm256_aesenc_epi128(*block, key) },
    last _mm256_aesenclast_epi128
}

width! {
    /// VAES on 512-bit registers.
    vaes512, "aes,sse4.1,avx2,avx512f,avx512bw,avx512dq,avx512vl,vaes", __m512i of 4 blocks,
    broadcast |block| _mm512_broadcast_i32x4(one(block)), xor _mm512_xor_si512, add _mm512_add_epi64,
    round |blocks: &mut [__m512i], key| for block in blocks { *block = _mm512_aesenc_epi128(*block, key) },
    last _mm512_aesenclast_epi128
}
