//! Counters and small recurrences with a strong output function.

use super::{Generator, Numbers, Seeds, generator, u32s, u64s};

pub(super) const ALL: &[Generator] = &[
    generator("pcg32", "O'Neill 2014: 64-bit state, XSH RR", |seed| {
        u32s(pcg32(Seeds(seed).next(), 0x1405_7B7E_F767_814F))
    }),
    generator("pcg32-two-streams", "two increments that differ in one bit, one state", pcg32_two),
    generator("pcg32-rxs-m-xs", "O'Neill 2014: 32-bit state, each output once", pcg_rxs_m_xs),
    generator("pcg64-dxsm", "O'Neill 2019, in NumPy: 128-bit state", pcg64_dxsm),
    generator("splitmix64", "Steele, Lea and Flood 2014", splitmix64),
    generator("splitmix32", "its 32-bit form with MurmurHash3's finaliser", splitmix32),
    generator("murmur3-counter", "MurmurHash3's 64-bit finaliser over a counter", murmur3),
    generator("wang-hash-counter", "Wang 2007: 32 bits, over a counter", wang),
    generator("fnv1a-counter", "FNV-1a, 64 bits, of a counter's eight bytes", fnv1a),
    generator("squares32", "Widynski 2020: four squares of a counter", squares),
    generator(
        "wyhash64",
        "Lemire 2018, after Wang Yi: two multiplications of a Weyl sequence",
        wyhash64,
    ),
    generator("mulberry32", "Ettinger 2017: 32-bit Weyl sequence, two multiplications", mulberry32),
    generator(
        "rrmxmx-counter",
        "Evensen 2018: rotations and multiplications, over a counter",
        rrmxmx,
    ),
];

const MULTIPLIER: u64 = 6_364_136_223_846_793_005;

pub(super) fn pcg32(mut state: u64, increment: u64) -> impl FnMut() -> u32 + 'static {
    move || {
        let old = state;
        state = old.wrapping_mul(MULTIPLIER).wrapping_add(increment | 1);
        ((((old >> 18) ^ old) >> 27) as u32).rotate_right((old >> 59) as u32)
    }
}

/// Interleaves two streams of one multiplier, which are translations of each other (Vigna, "PCG: a
/// critique").
fn pcg32_two(seed: u64) -> Numbers {
    let state = Seeds(seed).next();
    let (mut one, mut other) = (pcg32(state, 1), pcg32(state, 3));
    let mut first = false;
    u32s(move || {
        first = !first;
        if first { one() } else { other() }
    })
}

fn pcg_rxs_m_xs(seed: u64) -> Numbers {
    let mut state = Seeds(seed).half();
    u32s(move || {
        let old = state;
        state = old.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        let word = ((old >> ((old >> 28) + 4)) ^ old).wrapping_mul(277_803_737);
        (word >> 22) ^ word
    })
}

fn pcg64_dxsm(seed: u64) -> Numbers {
    const MULTIPLIER: u64 = 0xDA94_2042_E4DD_58B5;
    let [a, b, c, d] = Seeds(seed).words();
    let mut state = u128::from(a) << 64 | u128::from(b);
    let increment = u128::from(c) << 64 | u128::from(d) | 1;
    u64s(move || {
        let (mut high, low) = ((state >> 64) as u64, state as u64 | 1);
        high ^= high >> 32;
        high = high.wrapping_mul(MULTIPLIER);
        high ^= high >> 48;
        state = state.wrapping_mul(u128::from(MULTIPLIER)).wrapping_add(increment);
        high.wrapping_mul(low)
    })
}

fn splitmix64(seed: u64) -> Numbers {
    let mut seeds = Seeds(seed);
    u64s(move || seeds.next())
}

fn fmix32(mut x: u32) -> u32 {
    x = (x ^ (x >> 16)).wrapping_mul(0x85EB_CA6B);
    x = (x ^ (x >> 13)).wrapping_mul(0xC2B2_AE35);
    x ^ (x >> 16)
}

fn splitmix32(seed: u64) -> Numbers {
    let mut state = Seeds(seed).half();
    u32s(move || {
        state = state.wrapping_add(0x9E37_79B9);
        fmix32(state)
    })
}

fn murmur3(seed: u64) -> Numbers {
    let mut counter = Seeds(seed).next();
    u64s(move || {
        counter = counter.wrapping_add(1);
        let x = (counter ^ (counter >> 33)).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
        let x = (x ^ (x >> 33)).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
        x ^ (x >> 33)
    })
}

fn wang(seed: u64) -> Numbers {
    let mut counter = Seeds(seed).half();
    u32s(move || {
        counter = counter.wrapping_add(1);
        let mut x = (counter ^ 61) ^ (counter >> 16);
        x = x.wrapping_mul(9);
        x ^= x >> 4;
        x = x.wrapping_mul(0x27D4_EB2D);
        x ^ (x >> 15)
    })
}

fn fnv1a(seed: u64) -> Numbers {
    let mut counter = Seeds(seed).next();
    u64s(move || {
        counter = counter.wrapping_add(1);
        counter.to_le_bytes().iter().fold(0xCBF2_9CE4_8422_2325, |hash, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3)
        })
    })
}

fn squares(seed: u64) -> Numbers {
    let key = Seeds(seed).next() | 1;
    let mut counter = 0_u64;
    u32s(move || {
        counter += 1;
        let y = counter.wrapping_mul(key);
        let z = y.wrapping_add(key);
        let square = |x: u64, add: u64| x.wrapping_mul(x).wrapping_add(add).rotate_left(32);
        let x = square(square(square(y, y), z), y);
        (x.wrapping_mul(x).wrapping_add(z) >> 32) as u32
    })
}

fn wyhash64(seed: u64) -> Numbers {
    let mut state = Seeds(seed).next();
    let fold = |product: u128| (product >> 64) as u64 ^ product as u64;
    u64s(move || {
        state = state.wrapping_add(0x60BE_E2BE_E120_FC15);
        let once = fold(u128::from(state) * 0xA3B1_9535_4A39_B70D);
        fold(u128::from(once) * 0x1B03_7387_12FA_D5C9)
    })
}

fn mulberry32(seed: u64) -> Numbers {
    let mut state = Seeds(seed).half();
    u32s(move || {
        state = state.wrapping_add(0x6D2B_79F5);
        let mut z = (state ^ (state >> 15)).wrapping_mul(state | 1);
        z ^= z.wrapping_add((z ^ (z >> 7)).wrapping_mul(z | 61));
        z ^ (z >> 14)
    })
}

fn rrmxmx(seed: u64) -> Numbers {
    let mut counter = Seeds(seed).next();
    u64s(move || {
        counter = counter.wrapping_add(1);
        let mut v = counter ^ counter.rotate_right(49) ^ counter.rotate_right(24);
        v = v.wrapping_mul(0x9FB2_1C65_1E98_DF25);
        v ^= v >> 28;
        v = v.wrapping_mul(0x9FB2_1C65_1E98_DF25);
        v ^ (v >> 28)
    })
}
