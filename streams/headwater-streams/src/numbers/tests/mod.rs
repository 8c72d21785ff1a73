//! Checks of the numbers against `reference`, against each other, and against their distributions.

mod distributions;
mod elements;
mod further;
mod integers;
mod kinds_of_numpy;
mod machine_code;
mod orders;
mod samplers;
mod values;

use crate::words::Words;
use crate::{Engine, Key, Stream};

/// Returns the stream that the tests draw from: an engine that is fast on every CPU, with a key of
/// its own for each test.
fn stream(test: u8) -> Stream {
    Key::from_raw(Engine::Philox4x32, [test; 16]).stream(0).unwrap()
}

/// Words that an engine would take for ever to come to: in draw 0 often one that any bound rejects.
struct Awkward;

impl Awkward {
    fn word(draw: u16, place: u64) -> u64 {
        let mut x = (place ^ u64::from(draw) << 48).wrapping_add(0x9E37_79B9_7F4A_7C15);
        x = (x ^ x >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ x >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^= x >> 31;
        match x % 8 {
            0..3 if draw % 512 < 3 => 0,
            3 if draw == 0 => x << 32,
            _ => x,
        }
    }
}

impl Words for Awkward {
    fn words(&self, draw: u16, start: u64, out: &mut [u64]) {
        for (out, place) in out.iter_mut().zip(start..) {
            *out = Awkward::word(draw, place);
        }
    }

    fn blocks(&self, draw: u16, start: u64, out: &mut [[u64; 2]]) {
        for (out, block) in out.iter_mut().zip(start..) {
            *out = [0, 1].map(|half| Awkward::word(draw, block << 1 ^ block >> 63 ^ half));
        }
    }

    fn blocks_at(&self, draw: u16, blocks: &[u64], out: &mut [[u64; 2]]) {
        for (out, &block) in out.iter_mut().zip(blocks) {
            self.blocks(draw, block, core::slice::from_mut(out));
        }
    }
}

/// Returns every interesting word: no bits, all bits, powers of two and their neighbours.
fn edges() -> Vec<u64> {
    let powers = (0..64).map(|bit| 1u64 << bit);
    let mut words: Vec<u64> = powers.flat_map(|p| [p, p - 1, p + 1, !p, p | p >> 1]).collect();
    words.extend([0, u64::MAX, 0xB504_F333_F9DE_6484, 0xB504_F333_F9DE_6485]);
    words
}
