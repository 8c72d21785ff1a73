//! Recurrences over bits: shifts and exclusive ors, some with a scrambled output.

use super::{Generator, Numbers, Seeds, generator, u32s, u64s};

pub(super) const ALL: &[Generator] = &[
    generator("xorshift32", "Marsaglia 2003: 13, 17, 5", xorshift32),
    generator("xorshift64", "Marsaglia 2003: 13, 7, 17", xorshift64),
    generator(
        "xorshift64*",
        "Vigna 2014: 12, 25, 27, multiplied; the upper 32 bits",
        xorshift64_star,
    ),
    generator("xorshift128", "Marsaglia 2003: 11, 8, 19, 32 bits", xorshift128),
    generator("xorshift1024*", "Vigna 2014: 31, 11, 30, multiplied", xorshift1024_star),
    generator("xorwow", "Marsaglia 2003, and cuRAND: xorshift160 and a Weyl sequence", xorwow),
    generator("xoroshiro64*", "Blackman and Vigna 2018: 26, 9, 13", xoroshiro64_star),
    generator("xoroshiro64**", "Blackman and Vigna 2018: 26, 9, 13", xoroshiro64_star_star),
    generator("xoroshiro128++", "Blackman and Vigna 2019: 49, 21, 28", xoroshiro128_plus_plus),
    generator("xoroshiro128**", "Blackman and Vigna 2018: 24, 16, 37", xoroshiro128_star_star),
    generator("xoshiro128+", "Blackman and Vigna 2018: 9, 11, 32 bits", xoshiro128_plus),
    generator("xoshiro128**", "Blackman and Vigna 2018: 9, 11, 32 bits", xoshiro128_star_star),
    generator("xoshiro256+", "Blackman and Vigna 2018: 17, 45", xoshiro256_plus),
    generator("xoshiro256+-high", "the upper 32 bits of xoshiro256+", xoshiro256_plus_high),
    generator("xoshiro256++", "Blackman and Vigna 2019: 17, 45", xoshiro256_plus_plus),
    generator("xoshiro256**", "Blackman and Vigna 2018: 17, 45", xoshiro256_star_star),
    generator("xoshiro512+", "Blackman and Vigna 2018: 11, 21", xoshiro512_plus),
    generator("taus88", "L'Ecuyer 1996: three shift registers", taus88),
    generator("lfsr113", "L'Ecuyer 1999: four shift registers", lfsr113),
    generator("well512a", "Panneton, L'Ecuyer and Matsumoto 2006; 512 bits", well512a),
    generator("mt19937-32", "Matsumoto and Nishimura 1998", mt19937),
    generator("tt800", "Matsumoto and Kurita 1994", tt800),
    generator("r250", "Kirkpatrick and Stoll 1981: lags 103 and 250", r250),
    generator("gfsr4", "Ziff 1998: lags 471, 1586, 6988, 9689", gfsr4),
];

fn xorshift32(seed: u64) -> Numbers {
    let mut x = Seeds(seed).half() | 1;
    u32s(move || {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        x
    })
}

fn xorshift64(seed: u64) -> Numbers {
    let mut x = Seeds(seed).next() | 1;
    u64s(move || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        x
    })
}

fn xorshift64_star(seed: u64) -> Numbers {
    let mut x = Seeds(seed).next() | 1;
    u32s(move || {
        x ^= x >> 12;
        x ^= x << 25;
        x ^= x >> 27;
        (x.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32) as u32
    })
}

fn xorshift128(seed: u64) -> Numbers {
    let [mut x, mut y, mut z, mut w] = Seeds(seed).halves();
    u32s(move || {
        let t = x ^ (x << 11);
        (x, y, z) = (y, z, w);
        w = w ^ (w >> 19) ^ t ^ (t >> 8);
        w
    })
}

fn xorshift1024_star(seed: u64) -> Numbers {
    let mut s: [u64; 16] = Seeds(seed).words();
    let mut p = 0;
    u64s(move || {
        let s0 = s[p];
        p = (p + 1) & 15;
        let mut s1 = s[p];
        s1 ^= s1 << 31;
        s[p] = s1 ^ s0 ^ (s1 >> 11) ^ (s0 >> 30);
        s[p].wrapping_mul(1_181_783_497_276_652_981)
    })
}

fn xorwow(seed: u64) -> Numbers {
    let mut s: [u32; 6] = Seeds(seed).halves();
    u32s(move || {
        let t = s[0] ^ (s[0] >> 2);
        s.copy_within(1..5, 0);
        s[4] = (s[4] ^ (s[4] << 4)) ^ (t ^ (t << 1));
        s[5] = s[5].wrapping_add(362_437);
        s[5].wrapping_add(s[4])
    })
}

/// Returns numbers by the recurrence of the xoroshiro64 family. The output of a step is taken
/// before the state changes.
fn xoroshiro64(seed: u64, output: fn(u32) -> u32) -> Numbers {
    let [mut s0, mut s1] = Seeds(seed).halves();
    u32s(move || {
        let result = output(s0);
        s1 ^= s0;
        (s0, s1) = (s0.rotate_left(26) ^ s1 ^ (s1 << 9), s1.rotate_left(13));
        result
    })
}

fn xoroshiro64_star(seed: u64) -> Numbers {
    xoroshiro64(seed, |s0| s0.wrapping_mul(0x9E37_79BB))
}

fn xoroshiro64_star_star(seed: u64) -> Numbers {
    xoroshiro64(seed, |s0| s0.wrapping_mul(0x9E37_79BB).rotate_left(5).wrapping_mul(5))
}

/// Returns numbers by the recurrence of the xoroshiro128 family and an output function.
fn xoroshiro128<const A: u32, const B: u32, const C: u32>(
    seed: u64,
    output: fn(u64, u64) -> u64,
) -> Numbers {
    let [mut s0, mut s1] = Seeds(seed).words();
    u64s(move || {
        let result = output(s0, s1);
        s1 ^= s0;
        (s0, s1) = (s0.rotate_left(A) ^ s1 ^ (s1 << B), s1.rotate_left(C));
        result
    })
}

fn xoroshiro128_plus_plus(seed: u64) -> Numbers {
    xoroshiro128::<49, 21, 28>(seed, |s0, s1| s0.wrapping_add(s1).rotate_left(17).wrapping_add(s0))
}

fn xoroshiro128_star_star(seed: u64) -> Numbers {
    xoroshiro128::<24, 16, 37>(seed, |s0, _| s0.wrapping_mul(5).rotate_left(7).wrapping_mul(9))
}

/// Returns a generator with the recurrence of the xoshiro128 family and an output function.
pub(super) fn xoshiro128(
    mut s: [u32; 4],
    output: fn(&[u32; 4]) -> u32,
) -> impl FnMut() -> u32 + 'static {
    move || {
        let result = output(&s);
        let t = s[1] << 9;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(11);
        result
    }
}

fn xoshiro128_plus(seed: u64) -> Numbers {
    u32s(xoshiro128(Seeds(seed).halves(), |s| s[0].wrapping_add(s[3])))
}

fn xoshiro128_star_star(seed: u64) -> Numbers {
    u32s(xoshiro128(Seeds(seed).halves(), |s| s[1].wrapping_mul(5).rotate_left(7).wrapping_mul(9)))
}

/// Returns a generator with the recurrence of the xoshiro256 family and an output function.
pub(super) fn xoshiro256(
    mut s: [u64; 4],
    output: fn(&[u64; 4]) -> u64,
) -> impl FnMut() -> u64 + 'static {
    move || {
        let result = output(&s);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }
}

fn xoshiro256_plus(seed: u64) -> Numbers {
    u64s(xoshiro256(Seeds(seed).words(), |s| s[0].wrapping_add(s[3])))
}

fn xoshiro256_plus_high(seed: u64) -> Numbers {
    let mut next = xoshiro256(Seeds(seed).words(), |s| s[0].wrapping_add(s[3]));
    u32s(move || (next() >> 32) as u32)
}

fn xoshiro256_plus_plus(seed: u64) -> Numbers {
    u64s(xoshiro256(Seeds(seed).words(), |s| {
        s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0])
    }))
}

fn xoshiro256_star_star(seed: u64) -> Numbers {
    u64s(xoshiro256(Seeds(seed).words(), |s| s[1].wrapping_mul(5).rotate_left(7).wrapping_mul(9)))
}

fn xoshiro512_plus(seed: u64) -> Numbers {
    let mut s: [u64; 8] = Seeds(seed).words();
    u64s(move || {
        let result = s[0].wrapping_add(s[2]);
        let t = s[1] << 11;
        s[2] ^= s[0];
        s[5] ^= s[1];
        s[1] ^= s[2];
        s[7] ^= s[3];
        s[3] ^= s[4];
        s[4] ^= s[5];
        s[0] ^= s[6];
        s[6] ^= s[7];
        s[6] ^= t;
        s[7] = s[7].rotate_left(21);
        result
    })
}

fn taus88(seed: u64) -> Numbers {
    let [mut a, mut b, mut c] = Seeds(seed).halves().map(|s: u32| s | 16);
    u32s(move || {
        a = ((a & 0xFFFF_FFFE) << 12) ^ (((a << 13) ^ a) >> 19);
        b = ((b & 0xFFFF_FFF8) << 4) ^ (((b << 2) ^ b) >> 25);
        c = ((c & 0xFFFF_FFF0) << 17) ^ (((c << 3) ^ c) >> 11);
        a ^ b ^ c
    })
}

fn lfsr113(seed: u64) -> Numbers {
    let [mut a, mut b, mut c, mut d] = Seeds(seed).halves().map(|s: u32| s | 128);
    u32s(move || {
        a = ((a & 0xFFFF_FFFE) << 18) ^ (((a << 6) ^ a) >> 13);
        b = ((b & 0xFFFF_FFF8) << 2) ^ (((b << 2) ^ b) >> 27);
        c = ((c & 0xFFFF_FFF0) << 7) ^ (((c << 13) ^ c) >> 21);
        d = ((d & 0xFFFF_FF80) << 13) ^ (((d << 3) ^ d) >> 12);
        a ^ b ^ c ^ d
    })
}

fn well512a(seed: u64) -> Numbers {
    let mut state: [u32; 16] = Seeds(seed).halves();
    let mut i = 0_usize;
    u32s(move || {
        let (v0, m1, m2) = (state[i], state[(i + 13) & 15], state[(i + 9) & 15]);
        let before = (i + 15) & 15;
        let z0 = state[before];
        let z1 = (v0 ^ (v0 << 16)) ^ (m1 ^ (m1 << 15));
        let z2 = m2 ^ (m2 >> 11);
        let new = z1 ^ z2;
        state[i] = new;
        state[before] =
            z0 ^ (z0 << 2) ^ z1 ^ (z1 << 18) ^ (z2 << 28) ^ (new ^ ((new << 5) & 0xDA44_2D24));
        i = before;
        state[i]
    })
}

fn mt19937(seed: u64) -> Numbers {
    u32s(mt19937_of(Seeds(seed).halves()))
}

pub(super) fn mt19937_of(mut s: [u32; 624]) -> impl FnMut() -> u32 + 'static {
    let mut i = 0;
    move || {
        let y = (s[i] & 0x8000_0000) | (s[(i + 1) % 624] & 0x7FFF_FFFF);
        s[i] = s[(i + 397) % 624] ^ (y >> 1) ^ if y & 1 == 1 { 0x9908_B0DF } else { 0 };
        let mut y = s[i];
        i = (i + 1) % 624;
        y ^= y >> 11;
        y ^= (y << 7) & 0x9D2C_5680;
        y ^= (y << 15) & 0xEFC6_0000;
        y ^ (y >> 18)
    }
}

fn tt800(seed: u64) -> Numbers {
    let mut s: [u32; 25] = Seeds(seed).halves();
    let mut i = 0;
    u32s(move || {
        let x = s[i];
        s[i] = s[(i + 7) % 25] ^ (x >> 1) ^ if x & 1 == 1 { 0x8EBF_D028 } else { 0 };
        let mut y = s[i];
        i = (i + 1) % 25;
        y ^= (y << 7) & 0x2B5B_2500;
        y ^= (y << 15) & 0xDB8B_0000;
        y ^ (y >> 16)
    })
}

fn r250(seed: u64) -> Numbers {
    let mut s: Box<[u32; 250]> = Box::new(Seeds(seed).halves());
    let mut i = 0;
    u32s(move || {
        s[i] ^= s[(i + 147) % 250];
        let value = s[i];
        i = (i + 1) % 250;
        value
    })
}

fn gfsr4(seed: u64) -> Numbers {
    const RING: usize = 1 << 14;
    let mut seeds = Seeds(seed);
    let mut s: Vec<u32> = (0..RING).map(|_| seeds.half()).collect();
    let mut n = 0_usize;
    u32s(move || {
        n = (n + 1) % RING;
        let at = |lag: usize| (n + RING - lag) % RING;
        s[n] = s[at(471)] ^ s[at(1586)] ^ s[at(6988)] ^ s[at(9689)];
        s[n]
    })
}
