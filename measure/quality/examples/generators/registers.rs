//! Registers and lagged sums: with noise, or with their lower bits cut off.

use super::{Generator, Numbers, Seeds, generator, u8s, u16s, u32s, u64s};

pub(super) const ALL: &[Generator] = &[
    generator("lfsr-9689-noisy", "x^9689 + x^4187 + 1, one bit in 8 drawn anew", |s| {
        bits(s, 9689, 4187, 8)
    }),
    generator("lfsr-1279-noisy", "x^1279 + x^418 + 1, one bit in 8 drawn anew", |s| {
        bits(s, 1279, 418, 8)
    }),
    generator("lfsr-521-noisy", "x^521 + x^168 + 1, one bit in 4 drawn anew", |s| {
        bits(s, 521, 168, 4)
    }),
    generator("lfsr-127-noisy", "x^127 + x^63 + 1, one bit in 2 drawn anew", |s| {
        bits(s, 127, 63, 2)
    }),
    generator("lfsr-44497-noisy", "x^44497 + x^21034 + 1, one bit in 8 drawn anew", |s| {
        bits(s, 44_497, 21_034, 8)
    }),
    generator("lfsr-1000-noisy", "x^1000 + x^333 + 1, not a known one, one bit in 8 anew", |s| {
        bits(s, 1000, 333, 8)
    }),
    generator("gfsr-250-noisy", "R250 of 32 bits, one number in 8 drawn anew", |s| {
        values(s, 250, 103, 8)
    }),
    generator("gfsr-607-noisy", "lags 273 and 607 of 32 bits, one number in 4 drawn anew", |s| {
        values(s, 607, 273, 4)
    }),
    generator("gfsr-89-noisy", "lags 38 and 89 of 32 bits, one number in 16 drawn anew", |s| {
        values(s, 89, 38, 16)
    }),
    generator("gfsr-31-noisy", "lags 3 and 31 of 32 bits, one number in 16 drawn anew", |s| {
        values(s, 31, 3, 16)
    }),
    generator("gfsr-23209-noisy", "lags 9739 and 23209 of 32 bits, one in 8 anew", |s| {
        values(s, 23_209, 9739, 8)
    }),
    generator("alfg17-5-hi16", "lags 5 and 17 added, the upper 16 of 32 bits", |s| added(s, 17, 5)),
    generator("alfg55-24-hi16", "lags 24 and 55 added, the upper 16 of 32 bits", |s| {
        added(s, 55, 24)
    }),
    generator("alfg607-273-hi16", "lags 273 and 607 added, the upper 16 of 32 bits", |s| {
        added(s, 607, 273)
    }),
    generator("alfg1279-418-hi8", "lags 418 and 1279 added, the upper 8 of 32 bits", |s| {
        let mut next = sums(s, 1279, 418);
        u8s(move || (next() >> 24) as u8)
    }),
    generator("mlfg17-5", "lags 5 and 17 multiplied, odd numbers, bits 1 to 63 above 32", |s| {
        multiplied(s, 17, 5)
    }),
    generator("mlfg31-3", "lags 3 and 31 multiplied, odd numbers, the upper 32 of 64 bits", |s| {
        multiplied(s, 31, 3)
    }),
    generator("drand48-hi16", "POSIX: 25214903917 x + 11 mod 2^48, the upper 16 bits", |s| {
        lcg(s, 25_214_903_917, 11, 48)
    }),
    generator("ranqd1-hi16", "Numerical Recipes: 1664525 x + 1013904223 mod 2^32, upper 16", |s| {
        lcg(s, 1_664_525, 1_013_904_223, 32)
    }),
    generator("mmix-hi16", "Knuth's MMIX, the upper 16 of 64 bits", |s| {
        lcg(s, 6_364_136_223_846_793_005, 1_442_695_040_888_963_407, 64)
    }),
    generator("lcg40-hi16", "330169576829 x + 1 mod 2^40, the upper 16 bits", |s| {
        lcg(s, 330_169_576_829, 1, 40)
    }),
    generator(
        "minstd-48271",
        "Park and Miller 1993: 48271 x mod 2^31 - 1, the upper 16 bits",
        minstd,
    ),
    generator("acorn-4", "Wikramaratna 1989: order 4, mod 2^60, the upper 32 bits", |s| {
        acorn(s, 4)
    }),
    generator("acorn-12", "Wikramaratna 1989: order 12, mod 2^60, the upper 32 bits", |s| {
        acorn(s, 12)
    }),
    generator(
        "icg-31",
        "Eichenauer and Lehn 1986: inverses mod 2^31 - 1, the upper 16 bits",
        inversive,
    ),
    generator(
        "bbs-40",
        "Blum, Blum and Shub 1986 with a toy modulus of 40 bits, 8 bits of each",
        squares,
    ),
    generator("xorshift-add-32", "two xorshift32 added", |s| {
        let mut state = Seeds(s).halves::<2>().map(|x| x | 1);
        u32s(move || {
            state = state.map(|x| {
                let x = x ^ (x << 13);
                let x = x ^ (x >> 17);
                x ^ (x << 5)
            });
            state[0].wrapping_add(state[1])
        })
    }),
    generator("weyl-murmur", "multiples of the golden ratio, MurmurHash3's finish", |s| {
        let mut x = Seeds(s).next();
        u64s(move || {
            x = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let z = (x ^ (x >> 33)).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
            let z = (z ^ (z >> 33)).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
            z ^ (z >> 33)
        })
    }),
    generator("lxm-like-32", "an LCG of 32 bits plus xorshift32, one multiplication", |s| {
        let [mut l, x] = Seeds(s).halves();
        let mut x = x | 1;
        u32s(move || {
            l = l.wrapping_mul(0xADB4_A92D).wrapping_add(1);
            x ^= x << 13;
            x ^= x >> 17;
            x ^= x << 5;
            let z = l.wrapping_add(x);
            (z ^ (z >> 16)).wrapping_mul(0xD36D_884B)
        })
    }),
    generator("duffing-like", "a 32-bit product added to its square, halves exchanged", |s| {
        let [mut x, mut y] = Seeds(s).halves();
        u32s(move || {
            let next = x.wrapping_mul(x | 1).wrapping_add(y).rotate_left(16);
            (x, y) = (next, x.wrapping_add(0x9E37_79B9));
            x
        })
    }),
];

fn bits(seed: u64, k: usize, r: usize, one_in: u64) -> Numbers {
    let mut seeds = Seeds(seed);
    let mut ring: Vec<u8> = (0..k).map(|_| (seeds.next() >> 63) as u8).collect();
    let mut at = 0;
    u8s(move || {
        (0..8).fold(0, |byte, place| {
            let word = seeds.next();
            // x[n - k] lies where x[n] goes.
            let sum = ring[at] ^ ring[(at + k - r) % k];
            let bit = if word.is_multiple_of(one_in) { (word >> 63) as u8 } else { sum };
            ring[at] = bit;
            at = (at + 1) % k;
            byte | bit << place
        })
    })
}

fn values(seed: u64, k: usize, r: usize, one_in: u64) -> Numbers {
    let mut seeds = Seeds(seed);
    let mut ring: Vec<u32> = (0..k).map(|_| seeds.half()).collect();
    let mut at = 0;
    u32s(move || {
        let sum = ring[at] ^ ring[(at + k - r) % k];
        ring[at] = if seeds.next().is_multiple_of(one_in) { seeds.half() } else { sum };
        at = (at + 1) % k;
        ring[(at + k - 1) % k]
    })
}

fn sums(seed: u64, k: usize, r: usize) -> impl FnMut() -> u32 {
    let mut seeds = Seeds(seed);
    let mut ring: Vec<u32> = (0..k).map(|_| seeds.half()).collect();
    let mut at = 0;
    move || {
        ring[at] = ring[at].wrapping_add(ring[(at + k - r) % k]);
        at = (at + 1) % k;
        ring[(at + k - 1) % k]
    }
}

fn added(seed: u64, k: usize, r: usize) -> Numbers {
    let mut next = sums(seed, k, r);
    u16s(move || (next() >> 16) as u16)
}

fn multiplied(seed: u64, k: usize, r: usize) -> Numbers {
    let mut seeds = Seeds(seed);
    let mut ring: Vec<u64> = (0..k).map(|_| seeds.next() | 1).collect();
    let mut at = 0;
    u32s(move || {
        ring[at] = ring[at].wrapping_mul(ring[(at + k - r) % k]);
        at = (at + 1) % k;
        (ring[(at + k - 1) % k] >> 32) as u32
    })
}

fn lcg(seed: u64, multiplier: u64, increment: u64, width: u32) -> Numbers {
    let mut x = Seeds(seed).next() >> (64 - width);
    u16s(move || {
        x = x.wrapping_mul(multiplier).wrapping_add(increment) & (u64::MAX >> (64 - width));
        (x >> (width - 16)) as u16
    })
}

fn minstd(seed: u64) -> Numbers {
    let mut x = u64::from(Seeds(seed).half() % 0x7FFF_FFFE) + 1;
    u16s(move || {
        x = x * 48_271 % 0x7FFF_FFFF;
        (x >> 15) as u16
    })
}

fn acorn(seed: u64, order: usize) -> Numbers {
    const MASK: u64 = (1 << 60) - 1;
    let mut seeds = Seeds(seed);
    let mut state: Vec<u64> = (0..=order).map(|_| seeds.next() & MASK | 1).collect();
    u32s(move || {
        for i in 1..state.len() {
            state[i] = (state[i] + state[i - 1]) & MASK;
        }
        (state[order] >> 28) as u32
    })
}

fn inversive(seed: u64) -> Numbers {
    const P: u64 = 0x7FFF_FFFF;
    let mut x = u64::from(Seeds(seed).half()) % P;
    u16s(move || {
        // The inverse is the power P - 2, and 0 is its own.
        let (mut inverse, mut power, mut exponent) = (1, x, P - 2);
        while exponent != 0 {
            if exponent & 1 == 1 {
                inverse = inverse * power % P;
            }
            power = power * power % P;
            exponent >>= 1;
        }
        x = (inverse * 1_288_490_188 + 1) % P;
        (x >> 15) as u16
    })
}

fn squares(seed: u64) -> Numbers {
    // Two primes that are 3 modulo 4.
    const MODULUS: u64 = 1_048_387 * 1_048_391;
    let mut x = Seeds(seed).next() % MODULUS;
    u8s(move || {
        x = (u128::from(x) * u128::from(x) % u128::from(MODULUS)) as u64;
        x as u8
    })
}
