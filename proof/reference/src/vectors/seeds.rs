//! `seeds.json`: bytes of the generators with a state, as the command is asked for them.

use super::json::{Object, document, hex, string};
use crate::streams::generators::{
    jump, pcg64dxsm, pcg64dxsm_seeded, sfc64, sfc64_seeded, times, xorshift128p, xoshiro256pp,
};
use crate::streams::{Seed, expand, root_key};

/// Bytes of each case.
const BYTES: usize = 100;

pub(super) fn file() -> String {
    let mut cases = Vec::new();
    let seeds = [
        ("42", Seed::Natural(42)),
        ("-1", Seed::Negative(0)),
        ("text:noise", Seed::Text("noise".into())),
        ("hex:00ff", Seed::Bytes(vec![0, 255])),
    ];
    let xoshiro = Jumps::new(xoshiro256pp, 128 + 6);
    let xorshift = Jumps::new(xorshift128p, 64 + 6);
    for (typed, seed) in &seeds {
        for (substream, offset) in [(None, 0), (Some(0), 5), (Some(37), (1 << 40) + 3)] {
            let index = substream.unwrap_or(0);
            let (word, within) = (offset / 8, (offset % 8) as usize);
            let start = xoshiro.after(state(seed, "xoshiro256pp"), 128, index);
            let bytes = drawn(xoshiro.after(start, 0, word), xoshiro256pp);
            cases.push(case("xoshiro256pp", typed, substream, offset, &bytes[within..]));

            let start = xorshift.after(state(seed, "xorshift128p"), 64, index);
            let bytes = drawn(xorshift.after(start, 0, word), xorshift128p);
            cases.push(case("xorshift128p", typed, substream, offset, &bytes[within..]));

            // Streams 8 k to 8 k + 7, a word of each in turn. The offset lies in the first word of
            // a row, or it would take more words.
            let begin = state(seed, "xoshiro256pp");
            let index = substream.map_or(0, |substream| substream % 8);
            let mut lanes: Vec<_> = (0..8)
                .map(|lane| {
                    let start = xoshiro.after(begin, 128, 8 * index + lane);
                    xoshiro.after(start, 0, word / 8)
                })
                .collect();
            assert_eq!(word % 8, 0);
            let bytes: Vec<u8> =
                (0..16).flat_map(|i| xoshiro256pp(&mut lanes[i % 8]).to_le_bytes()).collect();
            let substream = substream.map(|_| index);
            cases.push(case("xoshiro256pp-x8", typed, substream, offset, &bytes[within..]));
        }
    }
    for (typed, entropy) in [
        ("0", &[0][..]),
        ("42", &[42]),
        ("0x123456789abcdef0fedcba98", &[0xfedc_ba98, 0x9abc_def0, 0x1234_5678]),
    ] {
        for (substream, offset) in [(None, 0), (Some(0), 0), (Some(3), 1003)] {
            let child: Vec<u32> = substream.iter().map(|index| *index as u32).collect();
            let (mut state, increment) = pcg64dxsm_seeded(entropy, &child);
            let bytes: Vec<u8> = (0..(offset as usize + BYTES).div_ceil(8))
                .flat_map(|_| pcg64dxsm(&mut state, increment).to_le_bytes())
                .collect();
            cases.push(case("pcg64dxsm", typed, substream, offset, &bytes[offset as usize..]));
            let bytes = drawn(sfc64_seeded(entropy, &child), sfc64);
            cases.push(case("sfc64", typed, substream, 0, &bytes));
        }
    }
    let about = "bytes of the generator from byte offset on, of the seed as it is typed, and of its substream of that number; null is none. \
                 Numbers that may exceed 2^53 are strings.";
    document("headwater.vectors.seeds/1", about, &cases)
}

/// Returns the state that a generator takes from the key of the seed.
fn state<const N: usize>(seed: &Seed, name: &str) -> [u64; N] {
    let key = root_key("ars7", seed);
    let bytes = expand("ars7", key, &Seed::Text(name.into()), 8 * N);
    core::array::from_fn(|i| u64::from_le_bytes(core::array::from_fn(|byte| bytes[8 * i + byte])))
}

/// A generator's steps, 2^0, 2^1 and so on of them, each as a matrix.
struct Jumps<const N: usize>(Vec<Vec<[u64; N]>>);

impl<const N: usize> Jumps<N> {
    fn new(step: fn(&mut [u64; N]) -> u64, powers: usize) -> Jumps<N> {
        let mut jumps = vec![jump(step, 0)];
        while jumps.len() < powers {
            let last = &jumps[jumps.len() - 1];
            jumps.push(last.iter().map(|column| times(last, *column)).collect());
        }
        Jumps(jumps)
    }

    /// Returns the state `n * 2^power` steps after this one.
    fn after(&self, state: [u64; N], power: usize, n: u64) -> [u64; N] {
        (0..64)
            .filter(|bit| n >> bit & 1 == 1)
            .fold(state, |state, bit| times(&self.0[power + bit], state))
    }
}

/// Returns the bytes of the next words, more than a case has.
fn drawn<const N: usize>(mut state: [u64; N], next: fn(&mut [u64; N]) -> u64) -> Vec<u8> {
    (0..16).flat_map(|_| next(&mut state).to_le_bytes()).collect()
}

fn case(generator: &str, seed: &str, substream: Option<u64>, offset: u64, bytes: &[u8]) -> Object {
    vec![
        ("generator", string(generator)),
        ("seed", string(seed)),
        ("substream", substream.map_or("null".to_owned(), |n| n.to_string())),
        ("offset", string(&offset.to_string())),
        ("bytes", hex(&bytes[..BYTES])),
    ]
}
