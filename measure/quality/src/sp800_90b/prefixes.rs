//! The predictors that remember what followed each sequence (sections 6.3.9 and 6.3.10).

use super::predictors::Hits;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// The longest sequence.
const LONGEST: usize = 16;

/// The values that have followed one sequence.
#[derive(Default)]
struct Followers {
    /// Values and how often each came, in the order of their first times.
    counts: Vec<(u8, u32)>,
    /// The most frequent follower, the greatest of equals, and its count.
    best: (u32, u8),
}

impl Followers {
    /// Counts a follower, a new one only if `room` allows it. Returns whether it is new.
    fn count(&mut self, value: u8, room: bool) -> bool {
        let known = self.counts.iter_mut().find(|(other, _)| *other == value);
        let (count, new) = match known {
            Some((_, count)) => {
                *count += 1;
                (*count, false)
            }
            None if room => {
                self.counts.push((value, 1));
                (1, true)
            }
            None => return false,
        };
        // A value with fewer than the best cannot win, and the greater of equals does.
        self.best = self.best.max((count, value));
        new
    }
}

/// The sequences of each length, from 1 to [`LONGEST`], by their bytes.
#[derive(Default)]
struct Dictionary([HashMap<u128, Followers, BuildHasherDefault<Mix>>; LONGEST]);

/// Hashes sequences in two multiplications. The library's own hash resists chosen keys, and with it
/// 250 million look-ups for a million bytes would take most of the time.
#[derive(Default)]
struct Mix(u64);

impl Hasher for Mix {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u128(u128::from(byte));
        }
    }

    fn write_u128(&mut self, key: u128) {
        let (low, high) = (key as u64 ^ self.0, (key >> 64) as u64);
        let low = low.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mixed = (low ^ low >> 32 ^ high).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        self.0 = mixed ^ mixed >> 32;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// Returns the key of the `length` values before `at`.
fn key(data: &[u8], at: usize, length: usize) -> u128 {
    let mut bytes = [0; 16];
    bytes[..length].copy_from_slice(&data[at - length..at]);
    u128::from_le_bytes(bytes)
}

/// Estimates by Markov models with counting (section 6.3.9): the best of sixteen predictors, each
/// of which expects what followed its last values most often.
pub(super) fn markov_counts(data: &[u8], symbols: usize) -> f64 {
    /// Pairs of a sequence and a follower that one predictor keeps.
    const ENTRIES: u32 = 100_000;
    let mut dictionary = Dictionary::default();
    let mut entries = [1_u32; LONGEST];
    for length in 1..=LONGEST {
        let followers = dictionary.0[length - 1].entry(key(data, length, length)).or_default();
        followers.count(data[length], true);
    }
    let mut score = [0_u64; LONGEST];
    let mut winner = 0;
    let mut hits = Hits::default();
    for at in 2..data.len() {
        let value = data[at];
        let judged = winner;
        let mut known = true;
        let mut hit = None;
        for length in 1..=LONGEST.min(at - 1) {
            let which = length - 1;
            let room = entries[which] < ENTRIES;
            if !known && !room {
                continue;
            }
            let key = key(data, at, length);
            // A longer sequence cannot be known if a shorter one is not.
            let followers = if known { dictionary.0[which].get_mut(&key) } else { None };
            match followers {
                Some(followers) => {
                    let right = followers.best.1 == value;
                    if right {
                        score[which] += 1;
                        if score[which] >= score[winner] {
                            winner = which;
                        }
                    }
                    if which == judged {
                        hit = Some(right);
                    }
                    entries[which] += u32::from(followers.count(value, room));
                }
                None => {
                    known = false;
                    if room {
                        dictionary.0[which].entry(key).or_default().count(value, true);
                        entries[which] += 1;
                    }
                }
            }
        }
        // Without a prediction the reference program leaves the run as it is.
        if let Some(hit) = hit {
            hits.count(hit);
        }
    }
    hits.entropy(data.len() - 2, symbols)
}

/// Estimates by a dictionary of limited size (section 6.3.10): the most frequent follower of any of
/// the last one to sixteen values.
pub(super) fn lz78y(data: &[u8], symbols: usize) -> f64 {
    const ENTRIES: u32 = 65_536;
    let mut dictionary = Dictionary::default();
    let mut entries = 0;
    for length in 1..=LONGEST {
        let followers = dictionary.0[length - 1].entry(key(data, LONGEST, length)).or_default();
        followers.count(data[LONGEST], true);
        entries += 1;
    }
    let mut hits = Hits::default();
    for at in LONGEST + 1..data.len() {
        let value = data[at];
        // The longest sequence wins among equals.
        let mut best: Option<(u32, u8)> = None;
        for length in (1..=LONGEST).rev() {
            let key = key(data, at, length);
            match dictionary.0[length - 1].get_mut(&key) {
                Some(followers) => {
                    if followers.best.0 > best.map_or(0, |(count, _)| count) {
                        best = Some(followers.best);
                    }
                    followers.count(value, true);
                }
                None if entries < ENTRIES => {
                    dictionary.0[length - 1].entry(key).or_default().count(value, true);
                    entries += 1;
                }
                None => {}
            }
        }
        hits.count(best.is_some_and(|(_, expected)| expected == value));
    }
    hits.entropy(data.len() - LONGEST - 1, symbols)
}
