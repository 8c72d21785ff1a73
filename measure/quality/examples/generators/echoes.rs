//! Sound numbers with copies: far back, of single bits or whole values, and some bits off.

use super::defects::rare;
use super::{Generator, Numbers, Seeds, generator, u8s, u16s, u64s};

pub(super) const ALL: &[Generator] = &[
    generator("echo-bit-8191", "one bit in 64 copies the bit 8,191 before", |s| {
        bits(s, 8191, 6, 0)
    }),
    generator("echo-bit-65537", "one bit in 128 copies the bit 65,537 before", |s| {
        bits(s, 65_537, 7, 0)
    }),
    generator("echo-bit-1000003", "one bit in 64 copies the bit 1,000,003 before", |s| {
        bits(s, 1_000_003, 6, 0)
    }),
    generator("echo-bit-8191-weak", "one bit in 512 copies the bit 8,191 before", |s| {
        bits(s, 8191, 9, 0)
    }),
    generator("anti-echo-12289", "one bit in 64 is the complement of that 12,289 before", |s| {
        bits(s, 12_289, 6, u64::MAX)
    }),
    generator("echo-byte-4099", "one byte in 256 copies the byte 4,099 before", |s| {
        bytes(s, 4099, 256)
    }),
    generator("echo-byte-131101", "one byte in 64 copies the byte 131,101 before", |s| {
        bytes(s, 131_101, 64)
    }),
    generator("echo-byte-1000003", "one byte in 64 copies the byte 1,000,003 before", |s| {
        bytes(s, 1_000_003, 64)
    }),
    generator("echo-16-30011", "one 16-bit value in 128 copies that 30,011 before", halves),
    generator(
        "echo-word-70001",
        "one word in 64 shares half its bits with that 70,001 before",
        |s| words(s, 70_001, u64::MAX),
    ),
    generator(
        "echo-word-1000003",
        "one word in 64 shares half its bits with that 1,000,003 before",
        |s| words(s, 1_000_003, u64::MAX),
    ),
    generator("echo-plane-5003", "bit 9 of one word in 64 copies that 5,003 words before", |s| {
        words(s, 5003, 1 << 9)
    }),
    generator("echo-reversed-2053", "one byte in 64 is that 2,053 before, reversed", reversed),
    generator(
        "echo-two-lags",
        "one bit in 128 copies that 5,003 before, one that 7,919 before",
        two_lags,
    ),
    generator("xor-echo", "one bit in 32 is the sum of those 4,999 and 12,347 before", sums),
    generator("slip-3-4k", "4 KiB of each MiB are the 4 KiB before, 3 bits off", |s| {
        slips(s, 1 << 20, 1 << 12, 3)
    }),
    generator("slip-1-512", "512 bytes of each 64 KiB are the 512 before, one bit off", |s| {
        slips(s, 1 << 16, 512, 1)
    }),
    generator("slip-5-64k", "64 KiB of each 4 MiB are the 64 KiB before, 5 bits off", |s| {
        slips(s, 1 << 22, 1 << 16, 5)
    }),
    generator("slip-7-100", "100 bytes of each MiB are the 100 before, 7 bits off", |s| {
        slips(s, 1 << 20, 100, 7)
    }),
    generator("slip-4-2k", "2 KiB of each 256 KiB are the 2 KiB before, 4 bits off", |s| {
        slips(s, 1 << 18, 1 << 11, 4)
    }),
    generator("slip-period", "a period of 2^23 bits and one", |s| slip_period(s, (1 << 23) + 1)),
    generator("slip-period-long", "a period of 2^27 bits and 13", |s| {
        slip_period(s, (1 << 27) + 13)
    }),
    generator(
        "slip-complement",
        "4 KiB of each MiB are the complement of the 4 KiB before",
        complement,
    ),
];

/// Returns words whose bits copy, with probability 2^-`exponent`, the bit `lag` before, xored with
/// `mask`.
fn bits(seed: u64, lag: usize, exponent: u32, mask: u64) -> Numbers {
    let mut seeds = Seeds(seed);
    let mut ring = vec![0_u64; lag.div_ceil(64) + 1];
    let mut at = 0;
    u64s(move || {
        let len = ring.len();
        // The bit `lag` before bit 0 is `back` words before, at bit `place`.
        let (back, place) = (lag.div_ceil(64), (64 - lag % 64) % 64);
        let low = ring[(at + len - back) % len];
        let high = ring[(at + len - back + 1) % len];
        let before = if place == 0 { low } else { low >> place | high << (64 - place) };
        let copied = rare(&mut seeds, exponent);
        let word = seeds.next() & !copied | (before ^ mask) & copied;
        ring[at % len] = word;
        at += 1;
        word
    })
}

fn bytes(seed: u64, lag: usize, one_in: u64) -> Numbers {
    let mut seeds = Seeds(seed);
    let mut ring: Vec<u8> = (0..lag).map(|_| seeds.next() as u8).collect();
    let mut at = 0;
    u8s(move || {
        let word = seeds.next();
        let byte = if word.is_multiple_of(one_in) { ring[at] } else { (word >> 56) as u8 };
        ring[at] = byte;
        at = (at + 1) % ring.len();
        byte
    })
}

fn reversed(seed: u64) -> Numbers {
    let mut seeds = Seeds(seed);
    let mut ring = [0_u8; 2053];
    let mut at = 0;
    u8s(move || {
        let word = seeds.next();
        let byte =
            if word.is_multiple_of(64) { ring[at].reverse_bits() } else { (word >> 56) as u8 };
        ring[at] = byte;
        at = (at + 1) % ring.len();
        byte
    })
}

fn halves(seed: u64) -> Numbers {
    let mut seeds = Seeds(seed);
    let mut ring: Vec<u16> = (0..30_011).map(|_| seeds.next() as u16).collect();
    let mut at = 0;
    u16s(move || {
        let word = seeds.next();
        let value = if word.is_multiple_of(128) { ring[at] } else { (word >> 48) as u16 };
        ring[at] = value;
        at = (at + 1) % ring.len();
        value
    })
}

/// Returns words of which one in 64 has, of `mask`, half its bits in common with the word `lag`
/// before and the other half fair.
fn words(seed: u64, lag: usize, mask: u64) -> Numbers {
    let mut seeds = Seeds(seed);
    let mut ring: Vec<u64> = (0..lag).map(|_| seeds.next()).collect();
    let mut at = 0;
    let part = if mask == u64::MAX { 0x5555_5555_5555_5555 } else { mask };
    u64s(move || {
        let mut word = seeds.next();
        if seeds.next().is_multiple_of(64) {
            word = word & !part | ring[at] & part;
        }
        ring[at] = word;
        at = (at + 1) % ring.len();
        word
    })
}

/// Returns numbers made bit by bit from the bits before them.
fn bitwise(mut next: impl FnMut(&dyn Fn(usize) -> u64) -> u64 + 'static) -> Numbers {
    const RING: usize = 1 << 14;
    let mut ring = vec![0_u8; RING];
    let mut at = 0;
    u64s(move || {
        let mut word = 0;
        for place in 0..64 {
            let back = |lag: usize| u64::from(ring[(at + RING - lag) % RING]);
            let bit = next(&back);
            ring[at % RING] = bit as u8;
            at += 1;
            word |= bit << place;
        }
        word
    })
}

fn two_lags(seed: u64) -> Numbers {
    let mut seeds = Seeds(seed);
    bitwise(move |back| {
        let word = seeds.next();
        match word % 128 {
            0 => back(5003),
            1 => back(7919),
            _ => word >> 63,
        }
    })
}

fn sums(seed: u64) -> Numbers {
    let mut seeds = Seeds(seed);
    bitwise(move |back| {
        let word = seeds.next();
        if word.is_multiple_of(32) { back(4999) ^ back(12_347) } else { word >> 63 }
    })
}

/// Returns bytes of which `length` in each `period` are those before, `shift` bits later.
fn slips(seed: u64, period: usize, length: usize, shift: u32) -> Numbers {
    repeats(seed, period, length, move |before, byte| before >> (8 - shift) | byte << shift)
}

fn complement(seed: u64) -> Numbers {
    repeats(seed, 1 << 20, 1 << 12, |_, byte| !byte)
}

/// Returns bytes of which `length` in each `period` are made of the byte `length` before and the
/// one before that.
fn repeats(
    seed: u64,
    period: usize,
    length: usize,
    make: impl Fn(u8, u8) -> u8 + 'static,
) -> Numbers {
    let mut seeds = Seeds(seed);
    let mut past = vec![0_u8; length + 1];
    let mut at = 0;
    u8s(move || {
        let len = past.len();
        let back = |lag: usize| past[(at + len - lag) % len];
        let byte = match at % period {
            place if place >= period - length => make(back(length + 1), back(length)),
            _ => (seeds.next() >> 56) as u8,
        };
        past[at % len] = byte;
        at += 1;
        byte
    })
}

fn slip_period(seed: u64, period: usize) -> Numbers {
    let mut seeds = Seeds(seed);
    let all: Vec<u64> = (0..period.div_ceil(64)).map(|_| seeds.next()).collect();
    let mut at = 0;
    u8s(move || {
        let byte = (0..8).fold(0, |byte, place| {
            let i = (at + place) % period;
            byte | (all[i / 64] >> (i % 64) & 1) << place
        });
        at = (at + 8) % period;
        byte as u8
    })
}
