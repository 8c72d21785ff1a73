//! Philox4x32 with ten rounds: multiplications of 32 bits, and what their halves XOR.
//!
//! Source: J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC11,
//! section 4.3, and the authors' Random123 1.14, `philox.h`. In a round, the words c0 and c2 of the counter are multiplied by a constant each;
//! the high halves, with c1 or c3 and a word of the key XORed in, and the low halves become the new words, crosswise. The key's words
//! grow by a constant from round to round.
//!
//! Written once, over arrays as long as a register has words of 64 bits, each of which holds 32 bits: so a product needs no
//! shuffling, and what is in the other half does no harm. The compiler makes the same code of it for every width.

use super::Block;

const ROUNDS: usize = 10;
/// What c0 and c2 are multiplied by.
const FACTORS: [u64; 2] = [0xD251_1F53, 0xCD9E_8D57];
/// What the key's words grow by: the fractions of the golden ratio and of the square root of 3.
const GROWTH: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];

/// The four words of a counter, for `N` counters.
type Words<const N: usize> = [[u64; N]; 4];

/// The key of the rounds, and what is XORed into the upper halves of counters.
#[derive(Clone, Copy)]
struct Key {
    words: [u32; 2],
    upper: u64,
}

impl Key {
    #[inline(always)]
    fn new(key: Block) -> Key {
        let key = u128::from_le_bytes(key);
        Key { words: [key as u32, (key >> 32) as u32], upper: (key >> 64) as u64 }
    }
}

/// Ten rounds. Of each word, only the lower 32 bits count, before and after.
#[inline(always)]
fn rounds<const N: usize>(mut key: [u32; 2], mut c: Words<N>) -> Words<N> {
    const LOW: u64 = 0xFFFF_FFFF;
    for _ in 0..ROUNDS {
        let mut next = [[0; N]; 4];
        for i in 0..N {
            let product0 = (c[0][i] & LOW) * FACTORS[0];
            let product2 = (c[2][i] & LOW) * FACTORS[1];
            next[0][i] = product2 >> 32 ^ c[1][i] ^ u64::from(key[0]);
            next[1][i] = product2;
            next[2][i] = product0 >> 32 ^ c[3][i] ^ u64::from(key[1]);
            next[3][i] = product0;
        }
        c = next;
        key = [key[0].wrapping_add(GROWTH[0]), key[1].wrapping_add(GROWTH[1])];
    }
    c
}

/// Writes the blocks that the words are.
#[inline(always)]
fn store<const N: usize>(c: &Words<N>, out: &mut [Block; N]) {
    for i in 0..N {
        let lower = c[0][i] & 0xFFFF_FFFF | c[1][i] << 32;
        let upper = c[2][i] & 0xFFFF_FFFF | c[3][i] << 32;
        out[i] = (u128::from(upper) << 64 | u128::from(lower)).to_le_bytes();
    }
}

#[inline(always)]
fn fill_lanes<const N: usize>(key: Block, upper: u64, first: u64, out: &mut [Block]) {
    let key = Key::new(key);
    let upper = upper ^ key.upper;
    let blocks = |first: u64| {
        let mut c = [[0; N], [0; N], [upper; N], [upper >> 32; N]];
        for i in 0..N {
            let lower = first.wrapping_add(i as u64);
            (c[0][i], c[1][i]) = (lower, lower >> 32);
        }
        rounds(key.words, c)
    };
    let (strips, rest) = out.as_chunks_mut::<N>();
    let mut first = first;
    for strip in strips {
        store(&blocks(first), strip);
        first = first.wrapping_add(N as u64);
    }
    if !rest.is_empty() {
        let mut strip = [Block::default(); N];
        store(&blocks(first), &mut strip);
        rest.copy_from_slice(&strip[..rest.len()]);
    }
}

#[inline(always)]
fn replace_lanes<const N: usize>(key: Block, counters: &mut [Block]) {
    let key = Key::new(key);
    for strip in counters.chunks_mut(N) {
        let mut c = [[0; N]; 4];
        for (i, counter) in strip.iter().enumerate() {
            let counter = u128::from_le_bytes(*counter);
            let (lower, upper) = (counter as u64, (counter >> 64) as u64 ^ key.upper);
            (c[0][i], c[1][i], c[2][i], c[3][i]) = (lower, lower >> 32, upper, upper >> 32);
        }
        let mut blocks = [Block::default(); N];
        store(&rounds(key.words, c), &mut blocks);
        strip.copy_from_slice(&blocks[..strip.len()]);
    }
}

/// One module for each kind of CPU.
macro_rules! width {
    ($(#[$doc:meta])* $name:ident, $lanes:literal lanes $(, $features:literal)?) => {
        $(#[$doc])*
        pub(crate) mod $name {
            use super::*;

            /// Writes blocks from counter `upper << 64 | first` on; the lower halves do not wrap around.
            $(#[target_feature(enable = $features)])?
            pub(crate) fn fill(key: Block, upper: u64, first: u64, out: &mut [Block]) {
                fill_lanes::<$lanes>(key, upper, first, out);
            }

            /// Replaces each counter by its block.
            $(#[target_feature(enable = $features)])?
            pub(crate) fn replace(key: Block, counters: &mut [Block]) {
                replace_lanes::<$lanes>(key, counters);
            }
        }
    };
}

width! {
    /// What every CPU of the architecture has.
    portable, 4 lanes
}

#[cfg(target_arch = "x86_64")]
width! {
    /// AVX2: four lanes a register.
    avx2, 8 lanes, "avx2"
}

#[cfg(target_arch = "x86_64")]
width! {
    /// AVX-512: eight lanes a register.
    avx512, 16 lanes, "avx2,avx512f,avx512bw,avx512dq,avx512vl"
}
