//! Philox on SSE2, AVX2 and AVX-512.
//!
//! A word of 32 bits occupies 64 bits of its register. That wastes half of it, but the
//! multiplication reads and writes 64-bit lanes, so the rounds move nothing between lanes. The
//! upper halves may hold anything, because no instruction reads them.

#![allow(unsafe_code)]

use super::{FACTORS, Key, ROUNDS};
use crate::engine::Block;
use core::arch::x86_64::*;

/// One module for each width: `fill` and `replace`, which differ in their intrinsics alone.
macro_rules! width {
    (
        $(#[$doc:meta])* $name:ident, $features:literal, $vector:ident of $lanes:literal lanes, $together:literal together,
        splat $splat:expr, multiply $multiply:ident, right $right:expr, left $left:expr, and $and:ident, or $or:ident,
        xor3 $xor3:expr, add $add:ident, even $even:ident, odd $odd:ident
    ) => {
        $(#[$doc])*
        pub(crate) mod $name {
            use super::*;

            /// Counters in lanes: c0 to c3. The even lanes hold the lower half of the blocks and
            /// the odd lanes the upper half, so that two instructions at the end put all blocks in
            /// order.
            type Words = [$vector; 4];
            /// One block for each lane, in two registers.
            type Pair = [[Block; $lanes / 2]; 2];

            #[inline]
            #[target_feature(enable = $features)]
            fn load(blocks: [Block; $lanes / 2]) -> $vector {
                // SAFETY: both types have the same size, and any bits are a register's.
                unsafe { core::mem::transmute(blocks) }
            }

            /// Runs ten rounds on several sets of counters side by side, because a multiplication
            /// takes several cycles.
            #[inline]
            #[target_feature(enable = $features)]
            fn permute<const N: usize>(key: &Key, sets: &mut [Words; N]) {
                let factors = FACTORS.map(|factor| $splat(u64::from(factor) as i64));
                for round in 0..ROUNDS {
                    let key = key.rounds[round].map(|word| $splat(u64::from(word) as i64));
                    for c in &mut *sets {
                        let product0 = $multiply(c[0], factors[0]);
                        let product2 = $multiply(c[2], factors[1]);
                        *c = [
                            $xor3($right(product2), c[1], key[0]),
                            product2,
                            $xor3($right(product0), c[3], key[1]),
                            product0,
                        ];
                    }
                }
            }

            #[inline]
            #[target_feature(enable = $features)]
            fn store(c: Words, to: &mut Pair) {
                let low = $splat(0xFFFF_FFFF);
                let lower = $or($and(c[0], low), $left(c[1]));
                let upper = $or($and(c[2], low), $left(c[3]));
                for (blocks, to) in [$even(lower, upper), $odd(lower, upper)].into_iter().zip(to) {
                    // SAFETY: exactly as many bytes, at any alignment.
                    unsafe { (&raw mut *to).cast::<$vector>().write_unaligned(blocks) };
                }
            }

            /// Writes the blocks of the counters from `upper << 64 | first` on; the lower halves do
            /// not wrap around.
            #[target_feature(enable = $features)]
            pub(crate) fn fill(key: Block, upper: u64, first: u64, out: &mut [Block]) {
                let key = Key::new(key);
                let upper = $splat((upper ^ key.upper) as i64);
                let order: [u64; $lanes] = core::array::from_fn(|lane| {
                    first.wrapping_add((lane / 2 + lane % 2 * ($lanes / 2)) as u64)
                });
                // SAFETY: both types have the same size, and any bits are a register's.
                let mut lower: $vector = unsafe { core::mem::transmute(order) };
                let step = $splat($lanes);
                let mut next = || {
                    let words = [lower, $right(lower), upper, $right(upper)];
                    lower = $add(lower, step);
                    words
                };
                let (registers, rest) = out.as_chunks_mut::<{ $lanes / 2 }>();
                let (pairs, half) = registers.as_chunks_mut::<2>();
                let (strips, pairs) = pairs.as_chunks_mut::<$together>();
                for strip in strips {
                    let mut sets = [[upper; 4]; $together];
                    for set in &mut sets {
                        *set = next();
                    }
                    permute(&key, &mut sets);
                    for (set, pair) in sets.into_iter().zip(strip) {
                        store(set, pair);
                    }
                }
                for pair in pairs {
                    let mut sets = [next()];
                    permute(&key, &mut sets);
                    store(sets[0], pair);
                }
                if !(half.is_empty() && rest.is_empty()) {
                    let mut sets = [next()];
                    permute(&key, &mut sets);
                    let mut last: Pair = [[Block::default(); $lanes / 2]; 2];
                    store(sets[0], &mut last);
                    let last = last.as_flattened();
                    let (whole, part) = last.split_at(half.as_flattened().len());
                    half.as_flattened_mut().copy_from_slice(whole);
                    rest.copy_from_slice(&part[..rest.len()]);
                }
            }

            /// Replaces each counter by its block.
            #[target_feature(enable = $features)]
            pub(crate) fn replace(key: Block, counters: &mut [Block]) {
                let key = Key::new(key);
                let key_upper = $splat(key.upper as i64);
                let zero = $splat(0);
                for strip in counters.chunks_mut($lanes * $together) {
                    let mut pairs: [Pair; $together] = [[[Block::default(); $lanes / 2]; 2]; $together];
                    pairs.as_flattened_mut().as_flattened_mut()[..strip.len()].copy_from_slice(strip);
                    let mut sets = [[zero; 4]; $together];
                    for (set, pair) in sets.iter_mut().zip(pairs) {
                        let (a, b) = (load(pair[0]), load(pair[1]));
                        let (lower, upper) = ($even(a, b), $xor3($odd(a, b), key_upper, zero));
                        *set = [lower, $right(lower), upper, $right(upper)];
                    }
                    permute(&key, &mut sets);
                    for (set, pair) in sets.into_iter().zip(&mut pairs) {
                        store(set, pair);
                    }
                    strip.copy_from_slice(&pairs.as_flattened().as_flattened()[..strip.len()]);
                }
            }
        }
    };
}

width! {
    /// SSE2, which every CPU of the architecture has.
    sse2, "sse2", __m128i of 2 lanes, 2 together,
    splat |word| _mm_set1_epi64x(word), multiply _mm_mul_epu32,
    right |words| _mm_srli_epi64::<32>(words), left |words| _mm_slli_epi64::<32>(words), and _mm_and_si128, or _mm_or_si128,
    xor3 |a, b, c| _mm_xor_si128(_mm_xor_si128(b, c), a), add _mm_add_epi64,
    even _mm_unpacklo_epi64, odd _mm_unpackhi_epi64
}

width! {
    /// AVX2.
    avx2, "avx2", __m256i of 4 lanes, 2 together,
    splat |word| _mm256_set1_epi64x(word), multiply _mm256_mul_epu32,
    right |words| _mm256_srli_epi64::<32>(words), left |words| _mm256_slli_epi64::<32>(words),
    and _mm256_and_si256, or _mm256_or_si256,
    xor3 |a, b, c| _mm256_xor_si256(_mm256_xor_si256(b, c), a), add _mm256_add_epi64,
    even _mm256_unpacklo_epi64, odd _mm256_unpackhi_epi64
}

width! {
    /// AVX-512.
    avx512, "avx2,avx512f,avx512bw,avx512dq,avx512vl", __m512i of 8 lanes, 4 together,
    splat |word| _mm512_set1_epi64(word), multiply _mm512_mul_epu32,
    right |words| _mm512_srli_epi64::<32>(words), left |words| _mm512_slli_epi64::<32>(words),
    and _mm512_and_si512, or _mm512_or_si512,
    xor3 |a, b, c| _mm512_ternarylogic_epi64::<0x96>(a, b, c), add _mm512_add_epi64,
    even _mm512_unpacklo_epi64, odd _mm512_unpackhi_epi64
}
