//! Multiplications and additions with a modulus.

use super::{Generator, Numbers, Seeds, generator, u8s, u16s, u32s, u64s};

pub(super) const ALL: &[Generator] = &[
    generator("randu", "IBM 1968: 65539 x mod 2^31, the upper 16 bits", randu),
    generator("minstd", "Park and Miller 1988: 16807 x mod 2^31 - 1, the upper 16 bits", minstd),
    generator("msvc-rand", "Microsoft's rand(): 214013 x + 2531011, bits 23 to 30", msvc),
    generator("java-random", "java.util.Random: 48 bits, the upper 32", java),
    generator("lcg64-32", "Knuth's MMIX, the upper 32 of 64 bits", lcg64),
    generator("lcg128-64", "L'Ecuyer 1999: 128 bits, the upper 64", lcg128),
    generator("lcg-prime-61", "Wu 1997: (2^30 - 2^19) x mod 2^61 - 1, bits 13 to 60 as 16", wu),
    generator("mwc1616", "Marsaglia 1994: two 16-bit multiplications with carry", mwc1616),
    generator(
        "mwc64x",
        "Thomas 2011: a 64-bit multiplication with carry, halves added by xor",
        mwc64x,
    ),
    generator("mwc128", "Marsaglia's method, multiplier 2^64 - 742", mwc128),
    generator("cmwc4096", "Marsaglia 2003: complementary, lag 4096, multiplier 18782", cmwc4096),
    generator("lfib4", "Marsaglia 1999: four lags up to 256, added", lfib4),
    generator("swb", "Marsaglia and Zaman 1991: subtract with borrow, lags 222 and 237", swb),
    generator(
        "glibc-rand",
        "glibc's random(): lags 3 and 31 added, the upper 16 of 31 bits",
        glibc,
    ),
    generator(
        "ranlux0",
        "Luscher 1994: 24 bits, lags 10 and 24, all numbers, the upper 16 bits",
        ranlux0,
    ),
    generator(
        "ranlux1",
        "Luscher 1994: luxury level 1, 24 of 48 numbers used, the upper 16 bits",
        ranlux1,
    ),
    generator(
        "knuth-ran-array",
        "Knuth 1997: lags 37 and 100 mod 2^30, all numbers, upper 16 bits",
        knuth,
    ),
    generator("weyl", "multiples of 2^64 over the golden ratio", weyl),
    generator("middle-square-weyl", "Widynski 2017: a square, a Weyl sequence, 32 bits", middle),
];

fn randu(seed: u64) -> Numbers {
    let mut x = Seeds(seed).half() | 1;
    u16s(move || {
        x = x.wrapping_mul(65539) & 0x7FFF_FFFF;
        (x >> 15) as u16
    })
}

fn minstd(seed: u64) -> Numbers {
    let mut x = u64::from(Seeds(seed).half() % 0x7FFF_FFFE) + 1;
    u16s(move || {
        x = x * 16807 % 0x7FFF_FFFF;
        (x >> 15) as u16
    })
}

fn msvc(seed: u64) -> Numbers {
    let mut x = Seeds(seed).half();
    u8s(move || {
        x = x.wrapping_mul(214_013).wrapping_add(2_531_011);
        (x >> 23) as u8
    })
}

fn java(seed: u64) -> Numbers {
    let mut x = (Seeds(seed).next() ^ 0x5_DEEC_E66D) & ((1 << 48) - 1);
    u32s(move || {
        x = x.wrapping_mul(0x5_DEEC_E66D).wrapping_add(11) & ((1 << 48) - 1);
        (x >> 16) as u32
    })
}

fn lcg64(seed: u64) -> Numbers {
    let mut x = Seeds(seed).next();
    u32s(move || {
        x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (x >> 32) as u32
    })
}

fn lcg128(seed: u64) -> Numbers {
    let mut seeds = Seeds(seed);
    let mut x = u128::from(seeds.next()) << 64 | u128::from(seeds.next()) | 1;
    u64s(move || {
        x = x.wrapping_mul(0x2360_ED05_1FC6_5DA4_4385_DF64_9FCC_F645);
        (x >> 64) as u64
    })
}

fn wu(seed: u64) -> Numbers {
    const MODULUS: u128 = (1 << 61) - 1;
    let mut x = u128::from(Seeds(seed).next()) % (MODULUS - 1) + 1;
    let mut left = 0_u64;
    let mut count = 0;
    u16s(move || {
        if count == 0 {
            x = x * ((1 << 30) - (1 << 19)) % MODULUS;
            (left, count) = ((x >> 13) as u64, 3);
        }
        count -= 1;
        let part = left as u16;
        left >>= 16;
        part
    })
}

fn mwc1616(seed: u64) -> Numbers {
    let [mut z, mut w] = Seeds(seed).halves();
    u32s(move || {
        z = 36969_u32.wrapping_mul(z & 0xFFFF).wrapping_add(z >> 16);
        w = 18000_u32.wrapping_mul(w & 0xFFFF).wrapping_add(w >> 16);
        (z << 16).wrapping_add(w)
    })
}

fn mwc64x(seed: u64) -> Numbers {
    let mut state = Seeds(seed).next() >> 1;
    u32s(move || {
        let (x, c) = (state as u32, (state >> 32) as u32);
        state = u64::from(x) * 4_294_883_355 + u64::from(c);
        x ^ c
    })
}

fn mwc128(seed: u64) -> Numbers {
    let [mut x, mut c] = Seeds(seed).words();
    c >>= 1;
    u64s(move || {
        let product = u128::from(x) * u128::from(0_u64.wrapping_sub(742)) + u128::from(c);
        let result = x;
        (x, c) = (product as u64, (product >> 64) as u64);
        result
    })
}

fn cmwc4096(seed: u64) -> Numbers {
    let mut seeds = Seeds(seed);
    let mut q: Vec<u32> = (0..4096).map(|_| seeds.half()).collect();
    let (mut c, mut i) = (362_436_u64, 4095);
    u32s(move || {
        i = (i + 1) & 4095;
        let t = 18782 * u64::from(q[i]) + c;
        c = t >> 32;
        let mut x = (t as u32).wrapping_add(c as u32);
        if u64::from(x) < c {
            x = x.wrapping_add(1);
            c += 1;
        }
        q[i] = 0xFFFF_FFFE_u32.wrapping_sub(x);
        q[i]
    })
}

fn lfib4(seed: u64) -> Numbers {
    let mut t: [u32; 256] = Seeds(seed).halves();
    let mut c = 0_u8;
    u32s(move || {
        c = c.wrapping_add(1);
        let at = |lag: u8| usize::from(c.wrapping_add(lag));
        let sum = t[at(58)].wrapping_add(t[at(119)]).wrapping_add(t[at(178)]);
        t[usize::from(c)] = t[usize::from(c)].wrapping_add(sum);
        t[usize::from(c)]
    })
}

fn swb(seed: u64) -> Numbers {
    let mut t: [u32; 256] = Seeds(seed).halves();
    let (mut c, mut borrow) = (0_u8, 0);
    u32s(move || {
        c = c.wrapping_add(1);
        let (x, y) = (t[usize::from(c.wrapping_add(34))], t[usize::from(c.wrapping_add(19))]);
        let subtrahend = y.wrapping_add(borrow);
        borrow = u32::from(x < subtrahend);
        t[usize::from(c)] = x.wrapping_sub(subtrahend);
        t[usize::from(c)]
    })
}

fn glibc(seed: u64) -> Numbers {
    let mut r: [u32; 34] = Seeds(seed).halves();
    let mut i = 0;
    u16s(move || {
        // r[i] = r[i - 3] + r[i - 31], in a ring of 34.
        let value = r[(i + 31) % 34].wrapping_add(r[(i + 3) % 34]);
        r[i] = value;
        i = (i + 1) % 34;
        (value >> 16) as u16
    })
}

/// Returns RANLUX, which uses 24 numbers of a subtract-with-borrow generator and then drops
/// `dropped`.
fn ranlux(seed: u64, dropped: usize) -> impl FnMut() -> u32 {
    let mut x: [u32; 24] = Seeds(seed).halves::<24>().map(|x| x >> 8);
    let (mut i, mut carry, mut used) = (0, 0, 0);
    move || {
        let mut step = || {
            // x[n] = x[n - 10] - x[n - 24] - carry.
            let difference = i64::from(x[(i + 14) % 24]) - i64::from(x[i]) - carry;
            carry = i64::from(difference < 0);
            x[i] = (difference & 0xFF_FFFF) as u32;
            i = (i + 1) % 24;
            x[(i + 23) % 24]
        };
        if used == 24 {
            used = 0;
            (0..dropped).for_each(|_| {
                step();
            });
        }
        used += 1;
        step()
    }
}

fn ranlux0(seed: u64) -> Numbers {
    let mut next = ranlux(seed, 0);
    u16s(move || (next() >> 8) as u16)
}

fn ranlux1(seed: u64) -> Numbers {
    let mut next = ranlux(seed, 24);
    u16s(move || (next() >> 8) as u16)
}

fn knuth(seed: u64) -> Numbers {
    let mut x: [u32; 100] = Seeds(seed).halves::<100>().map(|x| x >> 2);
    let mut i = 0;
    u16s(move || {
        x[i] = x[i].wrapping_sub(x[(i + 63) % 100]) & 0x3FFF_FFFF;
        let value = x[i];
        i = (i + 1) % 100;
        (value >> 14) as u16
    })
}

fn weyl(seed: u64) -> Numbers {
    let mut x = Seeds(seed).next();
    u64s(move || {
        x = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
        x
    })
}

fn middle(seed: u64) -> Numbers {
    let s = Seeds(seed).next() | 1;
    let (mut x, mut w) = (0_u64, 0_u64);
    u32s(move || {
        w = w.wrapping_add(s);
        x = x.wrapping_mul(x).wrapping_add(w).rotate_left(32);
        x as u32
    })
}
