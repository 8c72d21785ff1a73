//! Counters under ciphers with too few rounds, and some with enough.

use super::{Generator, Numbers, Seeds, generator, u32s, u64s};

pub(super) const ALL: &[Generator] = &[
    generator("philox4x32-5", "Salmon and others 2011; 10 rounds are sound", |seed| {
        philox(seed, 5)
    }),
    generator("philox4x32-6", "Salmon and others 2011; 10 rounds are sound", |seed| {
        philox(seed, 6)
    }),
    generator("philox4x32-7", "Salmon and others 2011; 10 rounds are sound", |seed| {
        philox(seed, 7)
    }),
    generator("threefry2x64-8", "Salmon and others 2011; 20 rounds are sound", |seed| {
        threefry(seed, 8)
    }),
    generator("threefry2x64-10", "Salmon and others 2011; 20 rounds are sound", |seed| {
        threefry(seed, 10)
    }),
    generator("threefry2x64-13", "Salmon and others 2011; 20 rounds are sound", |seed| {
        threefry(seed, 13)
    }),
    generator("chacha-2", "Bernstein 2008; 8 rounds are sound", |seed| chacha(seed, 2)),
    generator("chacha-3", "Bernstein 2008; 8 rounds are sound", |seed| chacha(seed, 3)),
    generator("chacha-4", "Bernstein 2008; 8 rounds are sound", |seed| chacha(seed, 4)),
    generator("speck64-128-6", "Beaulieu and others 2013; 27 rounds are sound", |seed| {
        speck64(seed, 6)
    }),
    generator("speck128-8", "Beaulieu and others 2013; 32 rounds are sound", |seed| {
        speck128(seed, 8)
    }),
    generator("speck128-10", "Beaulieu and others 2013; 32 rounds are sound", |seed| {
        speck128(seed, 10)
    }),
    generator("xtea-5", "Needham and Wheeler 1997; 64 half rounds are usual", |seed| xtea(seed, 5)),
    generator("xtea-8", "Needham and Wheeler 1997; 64 half rounds are usual", |seed| xtea(seed, 8)),
    generator("aes-2", "Daemen and Rijmen 2001; 10 rounds are sound", |seed| aes(seed, 2)),
    generator("aes-3", "Daemen and Rijmen 2001; 10 rounds are sound", |seed| aes(seed, 3)),
    generator("aes-4", "Daemen and Rijmen 2001; 10 rounds are sound", |seed| aes(seed, 4)),
    generator("siphash-0-1", "Aumasson and Bernstein 2012; 2 and 4 rounds are sound", |seed| {
        siphash(seed, 0, 1)
    }),
    generator("siphash-1-1", "Aumasson and Bernstein 2012; 2 and 4 rounds are sound", |seed| {
        siphash(seed, 1, 1)
    }),
];

/// Returns the numbers of a block function over a counter, one after the other.
fn blocks<T: Copy + 'static, const N: usize>(
    mut block: impl FnMut(u64) -> [T; N] + 'static,
) -> impl FnMut() -> T {
    let (mut counter, mut at, mut ready) = (1, 0, block(0));
    move || {
        if at == N {
            (ready, at) = (block(counter), 0);
            counter += 1;
        }
        at += 1;
        ready[at - 1]
    }
}

fn philox(seed: u64, rounds: u32) -> Numbers {
    let key = Seeds(seed).halves();
    u32s(blocks(move |counter| {
        philox_block(key, [counter as u32, (counter >> 32) as u32, 0, 0], rounds)
    }))
}

pub(super) fn philox_block([mut k0, mut k1]: [u32; 2], mut c: [u32; 4], rounds: u32) -> [u32; 4] {
    for _ in 0..rounds {
        let (a, b) = (0xD251_1F53 * u64::from(c[0]), 0xCD9E_8D57 * u64::from(c[2]));
        c = [(b >> 32) as u32 ^ c[1] ^ k0, b as u32, (a >> 32) as u32 ^ c[3] ^ k1, a as u32];
        (k0, k1) = (k0.wrapping_add(0x9E37_79B9), k1.wrapping_add(0xBB67_AE85));
    }
    c
}

fn threefry(seed: u64, rounds: usize) -> Numbers {
    let key = Seeds(seed).words();
    u64s(blocks(move |counter| threefry_block(key, [counter, 0], rounds)))
}

pub(super) fn threefry_block([k0, k1]: [u64; 2], c: [u64; 2], rounds: usize) -> [u64; 2] {
    const ROTATIONS: [u32; 8] = [16, 42, 12, 31, 16, 32, 24, 21];
    let keys = [k0, k1, 0x1BD1_1BDA_A9FC_1A22 ^ k0 ^ k1];
    let (mut x, mut y) = (c[0].wrapping_add(keys[0]), c[1].wrapping_add(keys[1]));
    for round in 0..rounds {
        x = x.wrapping_add(y);
        y = y.rotate_left(ROTATIONS[round % 8]) ^ x;
        if round % 4 == 3 {
            let group = round / 4 + 1;
            x = x.wrapping_add(keys[group % 3]);
            y = y.wrapping_add(keys[(group + 1) % 3]).wrapping_add(group as u64);
        }
    }
    [x, y]
}

fn chacha(seed: u64, rounds: usize) -> Numbers {
    let key = Seeds(seed).halves();
    u32s(blocks(move |counter| {
        chacha_block(&key, [counter as u32, (counter >> 32) as u32, 0, 0], rounds)
    }))
}

pub(super) fn chacha_block(key: &[u32; 8], counter: [u32; 4], rounds: usize) -> [u32; 16] {
    const COLUMNS: [[usize; 4]; 4] = [[0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15]];
    const DIAGONALS: [[usize; 4]; 4] =
        [[0, 5, 10, 15], [1, 6, 11, 12], [2, 7, 8, 13], [3, 4, 9, 14]];
    let mut start = [0; 16];
    start[..4].copy_from_slice(&[0x6170_7865, 0x3320_646E, 0x7962_2D32, 0x6B20_6574]);
    start[4..12].copy_from_slice(key);
    start[12..].copy_from_slice(&counter);
    let mut s = start;
    for round in 0..rounds {
        for [a, b, c, d] in if round % 2 == 0 { COLUMNS } else { DIAGONALS } {
            let mut step = |x: usize, y: usize, z: usize, by| {
                s[x] = s[x].wrapping_add(s[y]);
                s[z] = (s[z] ^ s[x]).rotate_left(by);
            };
            step(a, b, d, 16);
            step(c, d, b, 12);
            step(a, b, d, 8);
            step(c, d, b, 7);
        }
    }
    std::array::from_fn(|i| s[i].wrapping_add(start[i]))
}

fn speck64(seed: u64, rounds: u32) -> Numbers {
    let key = Seeds(seed).halves();
    u32s(blocks(move |counter| {
        speck64_block(key, [counter as u32, (counter >> 32) as u32], rounds)
    }))
}

/// Encrypts a block of 64 bits with Speck in this number of rounds. The words are in the order of
/// memory: the key's first is the first round key, the block's second is x.
pub(super) fn speck64_block(key: [u32; 4], [mut y, mut x]: [u32; 2], rounds: u32) -> [u32; 2] {
    let [mut k, mut a, mut b, mut c] = key;
    for round in 0..rounds {
        x = x.rotate_right(8).wrapping_add(y) ^ k;
        y = y.rotate_left(3) ^ x;
        let new = a.rotate_right(8).wrapping_add(k) ^ round;
        k = k.rotate_left(3) ^ new;
        (a, b, c) = (b, c, new);
    }
    [y, x]
}

fn speck128(seed: u64, rounds: u64) -> Numbers {
    let key = Seeds(seed).words();
    u64s(blocks(move |counter| speck128_block(key, [counter, 0], rounds)))
}

/// Encrypts a block of 128 bits with Speck in this number of rounds. The words are in the order of
/// memory, as for the smaller block.
pub(super) fn speck128_block(key: [u64; 2], [mut y, mut x]: [u64; 2], rounds: u64) -> [u64; 2] {
    let [mut k, mut a] = key;
    for round in 0..rounds {
        x = x.rotate_right(8).wrapping_add(y) ^ k;
        y = y.rotate_left(3) ^ x;
        a = a.rotate_right(8).wrapping_add(k) ^ round;
        k = k.rotate_left(3) ^ a;
    }
    [y, x]
}

fn xtea(seed: u64, cycles: u32) -> Numbers {
    let key = Seeds(seed).halves();
    u32s(blocks(move |counter| xtea_block(&key, [counter as u32, (counter >> 32) as u32], cycles)))
}

pub(super) fn xtea_block(key: &[u32; 4], [mut x, mut y]: [u32; 2], cycles: u32) -> [u32; 2] {
    let mix = |v: u32| ((v << 4) ^ (v >> 5)).wrapping_add(v);
    let mut sum = 0_u32;
    for _ in 0..cycles {
        x = x.wrapping_add(mix(y) ^ sum.wrapping_add(key[(sum & 3) as usize]));
        sum = sum.wrapping_add(0x9E37_79B9);
        y = y.wrapping_add(mix(x) ^ sum.wrapping_add(key[((sum >> 11) & 3) as usize]));
    }
    [x, y]
}

/// Doubles in the field of AES.
fn doubled(x: u8) -> u8 {
    (x << 1) ^ if x & 0x80 == 0 { 0 } else { 0x1B }
}

/// Computes the substitution of AES: the inverse in the field, and an affine map.
pub(super) fn substitution() -> [u8; 256] {
    let product = |mut a: u8, mut b: u8| {
        let mut sum = 0;
        while b != 0 {
            sum ^= if b & 1 == 1 { a } else { 0 };
            (a, b) = (doubled(a), b >> 1);
        }
        sum
    };
    std::array::from_fn(|x| {
        let x = x as u8;
        let inverse = (0..=255).find(|&y| product(x, y) == 1).unwrap_or(0);
        let turned = (1..5).fold(inverse, |sum, by| sum ^ inverse.rotate_left(by));
        turned ^ 0x63
    })
}

/// Encrypts a counter with AES under independent round keys. The schedule of AES would make no
/// difference here.
fn aes(seed: u64, rounds: usize) -> Numbers {
    let sbox = substitution();
    let mut seeds = Seeds(seed);
    let keys: Vec<[u8; 16]> = (0..=rounds)
        .map(|_| {
            let [low, high] = seeds.words().map(u64::to_le_bytes);
            std::array::from_fn(|i| if i < 8 { low[i] } else { high[i - 8] })
        })
        .collect();
    u64s(blocks(move |counter| {
        let mut block = [0; 16];
        block[..8].copy_from_slice(&counter.to_le_bytes());
        let block = aes_block(&sbox, &keys, block);
        [0, 8].map(|at| u64::from_le_bytes(std::array::from_fn(|i| block[at + i])))
    }))
}

pub(super) fn aes_block(sbox: &[u8; 256], keys: &[[u8; 16]], mut s: [u8; 16]) -> [u8; 16] {
    let add = |s: &mut [u8; 16], key: &[u8; 16]| s.iter_mut().zip(key).for_each(|(s, k)| *s ^= k);
    add(&mut s, &keys[0]);
    for (round, key) in keys.iter().enumerate().skip(1) {
        // SubBytes and ShiftRows, then MixColumns in all but the last round.
        s = std::array::from_fn(|i| sbox[usize::from(s[(i + 4 * (i % 4)) % 16])]);
        if round + 1 < keys.len() {
            for column in s.as_chunks_mut::<4>().0 {
                let [a, b, c, d] = *column;
                let all = a ^ b ^ c ^ d;
                for (place, (x, y)) in column.iter_mut().zip([(a, b), (b, c), (c, d), (d, a)]) {
                    *place = x ^ all ^ doubled(x ^ y);
                }
            }
        }
        add(&mut s, key);
    }
    s
}

fn siphash(seed: u64, compression: u32, finalisation: u32) -> Numbers {
    let key = Seeds(seed).words();
    let mut counter = 0_u64;
    u64s(move || {
        counter += 1;
        siphash_of(key, counter, compression, finalisation)
    })
}

/// Returns the hash of eight bytes.
pub(super) fn siphash_of([k0, k1]: [u64; 2], message: u64, compress: u32, finish: u32) -> u64 {
    fn round([mut a, mut b, mut c, mut d]: [u64; 4]) -> [u64; 4] {
        a = a.wrapping_add(b);
        b = b.rotate_left(13) ^ a;
        a = a.rotate_left(32);
        c = c.wrapping_add(d);
        d = d.rotate_left(16) ^ c;
        a = a.wrapping_add(d);
        d = d.rotate_left(21) ^ a;
        c = c.wrapping_add(b);
        b = b.rotate_left(17) ^ c;
        [a, b, c.rotate_left(32), d]
    }
    let mut v = [
        k0 ^ 0x736F_6D65_7073_6575,
        k1 ^ 0x646F_7261_6E64_6F6D,
        k0 ^ 0x6C79_6765_6E65_7261,
        k1 ^ 0x7465_6462_7974_6573,
    ];
    // The message, and the block with its length.
    for word in [message, 8 << 56] {
        v[3] ^= word;
        v = (0..compress).fold(v, |v, _| round(v));
        v[0] ^= word;
    }
    v[2] ^= 0xFF;
    let [a, b, c, d] = (0..finish).fold(v, |v, _| round(v));
    a ^ b ^ c ^ d
}
