//! Sound numbers with a small defect, as a bad noise source or a bug makes them.

use super::{Generator, Numbers, Seeds, generator, u8s, u64s};

pub(super) const ALL: &[Generator] = &[
    generator("period-2^20+3", "1,048,579 bytes, repeated", |seed| period(seed, (1 << 20) + 3)),
    generator("period-2^23+9", "8,388,617 bytes, repeated", |seed| period(seed, (1 << 23) + 9)),
    generator("bias-2^-10", "bits are one with probability 1/2 + 2^-10", |seed| biased(seed, 10)),
    generator("bias-2^-11", "bits are one with probability 1/2 + 2^-11", |seed| biased(seed, 11)),
    generator("markov-2^-9", "bits copy the bit before with probability 2^-9", |seed| {
        markov(seed, 9)
    }),
    generator("markov-2^-10", "bits copy the bit before with probability 2^-10", |seed| {
        markov(seed, 10)
    }),
    generator("echo-1021", "one byte in 64 copies the byte 1,021 before", echo),
    generator("sticky-byte", "one byte in 1,024 repeats the byte before", sticky),
    generator("even-sums", "words whose bytes have an even sum, one in 16", even_sums),
    generator("interleaved-lag", "each eighth word is the sum of the two words before", sums),
];

fn bytes(seed: u64) -> impl FnMut() -> u8 {
    let mut seeds = Seeds(seed);
    move || (seeds.next() >> 56) as u8
}

fn period(seed: u64, len: usize) -> Numbers {
    let mut next = bytes(seed);
    let all: Vec<u8> = (0..len).map(|_| next()).collect();
    let mut at = 0;
    u8s(move || {
        at = (at + 1) % all.len();
        all[at]
    })
}

/// Draws a word whose bits are set with probability 2^-`exponent`.
pub(super) fn rare(seeds: &mut Seeds, exponent: u32) -> u64 {
    (0..exponent).fold(u64::MAX, |all, _| all & seeds.next())
}

/// Returns words whose bits have a bias of 2^-`exponent`. A bit that is forced to one with
/// probability 2^(1-k) has a bias of 2^-k.
fn biased(seed: u64, exponent: u32) -> Numbers {
    let mut seeds = Seeds(seed);
    u64s(move || {
        let forced = rare(&mut seeds, exponent - 1);
        seeds.next() | forced
    })
}

fn markov(seed: u64, exponent: u32) -> Numbers {
    let mut seeds = Seeds(seed);
    let mut last = 0;
    u64s(move || {
        let mut copied = rare(&mut seeds, exponent);
        let mut word = seeds.next();
        while copied != 0 {
            let bit = copied.trailing_zeros();
            let before = if bit == 0 { last >> 63 } else { word >> (bit - 1) } & 1;
            word = word & !(1 << bit) | before << bit;
            copied &= copied - 1;
        }
        last = word;
        word
    })
}

fn echo(seed: u64) -> Numbers {
    let mut seeds = Seeds(seed);
    let mut ring = [0_u8; 1021];
    let mut at = 0;
    u8s(move || {
        let word = seeds.next();
        let byte = if word.is_multiple_of(64) { ring[at] } else { (word >> 56) as u8 };
        ring[at] = byte;
        at = (at + 1) % ring.len();
        byte
    })
}

fn sticky(seed: u64) -> Numbers {
    let mut seeds = Seeds(seed);
    let mut last = 0;
    u8s(move || {
        let word = seeds.next();
        if !word.is_multiple_of(1024) {
            last = (word >> 56) as u8;
        }
        last
    })
}

fn even_sums(seed: u64) -> Numbers {
    let mut seeds = Seeds(seed);
    u64s(move || {
        let word = seeds.next();
        let is_odd = word.to_le_bytes().iter().fold(0, |sum, byte| sum ^ byte) & 1 == 1;
        if seeds.next().is_multiple_of(16) && is_odd { word ^ 1 } else { word }
    })
}

fn sums(seed: u64) -> Numbers {
    let mut seeds = Seeds(seed);
    let (mut before, mut last, mut count) = (0_u64, 0, 0);
    u64s(move || {
        count = (count + 1) % 8;
        let word = if count == 0 { before.wrapping_add(last) } else { seeds.next() };
        (before, last) = (last, word);
        word
    })
}
