//! `generators.json`: words of the generators with a state.

use super::json::{Object, document, hex, string};
use crate::streams::generators::{
    jump, pcg64dxsm, pcg64dxsm_seeded, sfc64, sfc64_seeded, times, xorshift128p, xoshiro256pp,
};

/// Words of each case.
const WORDS: usize = 24;

pub(super) fn file() -> String {
    let mut cases: Vec<Object> = Vec::new();
    let states = [[1, 2, 3, 4], [0x9E37_79B9_7F4A_7C15, 0, u64::MAX, 1 << 63]];
    for state in states {
        for power in [None, Some(0), Some(65), Some(128), Some(192)] {
            let there = power.map_or(state, |power| times(&jump(xoshiro256pp, power), state));
            let bytes = words(there, xoshiro256pp);
            cases.push(from_state("xoshiro256pp", &state, power, bytes));
        }
        let (stream, mut lanes) = (jump(xoshiro256pp, 128), vec![state]);
        while lanes.len() < 8 {
            lanes.push(times(&stream, lanes[lanes.len() - 1]));
        }
        let drawn = (0..WORDS).flat_map(|i| xoshiro256pp(&mut lanes[i % 8]).to_le_bytes());
        let bytes = drawn.collect();
        cases.push(from_state("xoshiro256pp, 8 lanes", &state, None, bytes));
        let state = [state[0], state[1]];
        for power in [None, Some(64)] {
            let there = power.map_or(state, |power| times(&jump(xorshift128p, power), state));
            let bytes = words(there, xorshift128p);
            cases.push(from_state("xorshift128p", &state, power, bytes));
        }
    }
    let long = [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344, 0xa409_3822];
    for (entropy, spawn_key) in
        [(&[0xdead_beaf_u32][..], &[][..]), (&[0], &[3, 0]), (&long, &[]), (&long, &[7])]
    {
        let (mut state, increment) = pcg64dxsm_seeded(entropy, spawn_key);
        let drawn = (0..WORDS).flat_map(|_| pcg64dxsm(&mut state, increment).to_le_bytes());
        let bytes = drawn.collect();
        cases.push(from_seeds("pcg64dxsm", entropy, spawn_key, bytes));
        let bytes = words(sfc64_seeded(entropy, spawn_key), sfc64);
        cases.push(from_seeds("sfc64", entropy, spawn_key, bytes));
    }
    let about = "bytes = words of the generator, little-endian: from state (words, little-endian) after skipping `skip` \
                 words, or as NumPy seeds it from SeedSequence(entropy, spawn_key=spawn_key).";
    document("headwater.vectors.generators/1", about, &cases)
}

/// Returns the bytes of the next words.
fn words<const N: usize>(mut state: [u64; N], next: fn(&mut [u64; N]) -> u64) -> Vec<u8> {
    (0..WORDS).flat_map(|_| next(&mut state).to_le_bytes()).collect()
}

/// Returns the case of a generator from a state. The number `power` is the logarithm, to base 2, of
/// the number of words that are skipped.
fn from_state(generator: &str, state: &[u64], power: Option<u32>, bytes: Vec<u8>) -> Object {
    let state: Vec<u8> = state.iter().flat_map(|word| word.to_le_bytes()).collect();
    let skip = power.map_or("0".to_owned(), |power| format!("2^{power}"));
    vec![
        ("generator", string(generator)),
        ("state", hex(&state)),
        ("skip", string(&skip)),
        ("bytes", hex(&bytes)),
    ]
}

fn from_seeds(generator: &str, entropy: &[u32], spawn_key: &[u32], bytes: Vec<u8>) -> Object {
    vec![
        ("generator", string(generator)),
        ("entropy", format!("{entropy:?}")),
        ("spawn_key", format!("{spawn_key:?}")),
        ("bytes", hex(&bytes)),
    ]
}
