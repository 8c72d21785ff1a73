//! Sound numbers whose probabilities change with time, at first sight fair.

use super::defects::rare;
use super::{Generator, Numbers, Seeds, generator, u8s, u64s};

pub(super) const ALL: &[Generator] = &[
    generator("drift-9-512k", "bias 2^-9, its sign changes every 512 KiB", |seed| {
        alternating(seed, 9, 1 << 16)
    }),
    generator("drift-9-64k", "bias 2^-9, its sign changes every 64 KiB", |seed| {
        alternating(seed, 9, 1 << 13)
    }),
    generator("drift-10-4m", "bias 2^-10, its sign changes every 4 MiB", |seed| {
        alternating(seed, 10, 1 << 19)
    }),
    generator("drift-10-64k", "bias 2^-10, its sign changes every 64 KiB", |seed| {
        alternating(seed, 10, 1 << 13)
    }),
    generator("drift-12-16m", "bias 2^-12, its sign changes every 16 MiB", |seed| {
        alternating(seed, 12, 1 << 21)
    }),
    generator("drift-9-odd", "bias 2^-9, its sign changes every 50,003 words", |seed| {
        alternating(seed, 9, 50_003)
    }),
    generator("drift-ramp", "bias from -2^-8 to 2^-8 in 10 MB, again and again", ramp),
    generator("drift-sine", "bias 2^-8 sin, a period of 3 MB", sine),
    generator("drift-walk", "bias walks by 2^-12 every 64 KiB, up to 2^-8", walk),
    generator(
        "drift-plane-17",
        "bit 17 of each word, bias 2^-5, sign changes every 2 MiB",
        |seed| masked(seed, 5, 1 << 17, 1 << 18),
    ),
    generator(
        "drift-byte-bit-5",
        "bit 5 of each byte, bias 2^-7, sign changes every MiB",
        |seed| masked(seed, 7, 0x2020_2020_2020_2020, 1 << 17),
    ),
    generator("drift-copies", "bits copy the one before, or its complement, every 256 KiB", copies),
    generator("warm-up", "the first 64 KiB have a bias of 2^-5", |seed| {
        burst(seed, u64::MAX, 1 << 13)
    }),
    generator("bursts", "16 KiB of each 16 MiB have a bias of 2^-5", |seed| {
        burst(seed, 1 << 21, 1 << 11)
    }),
    generator("late-byte-56m", "after 56 MiB one byte of 16 has even parity", late),
    generator("popular-bytes", "two byte values come 1.03 times as often", popular),
    generator("popular-pair", "one 16-bit value comes 1.5 times as often", popular_pair),
];

/// Forces the bits of `rare` words to one or to zero.
fn forced(word: u64, rare: u64, ones: bool) -> u64 {
    if ones { word | rare } else { word & !rare }
}

fn alternating(seed: u64, exponent: u32, words: u64) -> Numbers {
    let (mut seeds, mut at) = (Seeds(seed), 0);
    u64s(move || {
        let rare = rare(&mut seeds, exponent - 1);
        at += 1;
        forced(seeds.next(), rare, (at / words).is_multiple_of(2))
    })
}

fn masked(seed: u64, exponent: u32, mask: u64, words: u64) -> Numbers {
    let (mut seeds, mut at) = (Seeds(seed), 0);
    u64s(move || {
        let rare = rare(&mut seeds, exponent - 1) & mask;
        at += 1;
        forced(seeds.next(), rare, (at / words).is_multiple_of(2))
    })
}

/// Returns words whose bias at each place is that of `bias`, between -2^-8 and 2^-8.
fn shaped(seed: u64, mut bias: impl FnMut(u64, &mut Seeds) -> f64 + 'static) -> Numbers {
    let (mut seeds, mut at) = (Seeds(seed), 0);
    u64s(move || {
        let bias = bias(at, &mut seeds);
        at += 1;
        // A word in so many has its rare bits forced.
        let uniform = (seeds.next() >> 11) as f64 / (1_u64 << 53) as f64;
        let wanted = uniform < bias.abs() * 256.0;
        let rare = rare(&mut seeds, 7);
        forced(seeds.next(), if wanted { rare } else { 0 }, bias > 0.0)
    })
}

fn ramp(seed: u64) -> Numbers {
    shaped(seed, |at, _| ((at % 1_250_000) as f64 / 625_000.0 - 1.0) / 256.0)
}

fn sine(seed: u64) -> Numbers {
    shaped(seed, |at, _| (at as f64 / 375_000.0 * core::f64::consts::TAU).sin() / 256.0)
}

fn walk(seed: u64) -> Numbers {
    let mut bias = 0.0_f64;
    shaped(seed, move |at, seeds| {
        if at.is_multiple_of(1 << 13) {
            let step = if seeds.next() >> 63 == 1 { 1.0 } else { -1.0 } / 4096.0;
            bias = (bias + step).clamp(-1.0 / 256.0, 1.0 / 256.0);
        }
        bias
    })
}

fn copies(seed: u64) -> Numbers {
    let (mut seeds, mut at) = (Seeds(seed), 0_u64);
    u64s(move || {
        let rare = rare(&mut seeds, 6) & !1;
        at += 1;
        let word = seeds.next();
        let before = if at >> 15 & 1 == 0 { word << 1 } else { !(word << 1) };
        word & !rare | before & rare
    })
}

fn burst(seed: u64, period: u64, length: u64) -> Numbers {
    let (mut seeds, mut at) = (Seeds(seed), 0_u64);
    u64s(move || {
        let rare = if at % period < length { rare(&mut seeds, 4) } else { 0 };
        at += 1;
        seeds.next() | rare
    })
}

fn late(seed: u64) -> Numbers {
    let (mut seeds, mut at) = (Seeds(seed), 0_u64);
    u64s(move || {
        let word = seeds.next();
        at += 1;
        let odd = u64::from((word & 0xFF).count_ones() % 2);
        if at > 7 << 20 && at.is_multiple_of(2) { word ^ odd } else { word }
    })
}

fn popular(seed: u64) -> Numbers {
    let mut seeds = Seeds(seed);
    u8s(move || {
        let word = seeds.next();
        match word % 8533 {
            0 => 17,
            1 => 200,
            _ => (word >> 56) as u8,
        }
    })
}

fn popular_pair(seed: u64) -> Numbers {
    let mut seeds = Seeds(seed);
    super::u16s(move || {
        let word = seeds.next();
        if word.is_multiple_of(1 << 17) { 12_345 } else { (word >> 48) as u16 }
    })
}
