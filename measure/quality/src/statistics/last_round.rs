//! Blocks with the last round of Philox undone.
//!
//! A round of Philox multiplies two words of a block by constants and adds its key to the other two
//! by exclusive or. The low halves of the products stand in the output, so a reader of the block
//! can undo the last round but for the key. Differences of neighbouring blocks cancel the key.

use super::{Test, TestPart, words};
use crate::effort::Effort;
use crate::tally::Tally;
use crate::view::View;

pub(crate) const TEST: Test = Test {
    name: "last-round",
    source: "own; the round of Salmon and others 2011, as cryptanalysts undo it",
    meaning: "Neighbouring blocks differ in a pattern one round of Philox before the output: a counter under six rounds.",
    unseen: "whether six rounds of Philox hide a counter",
    least: 1 << 12,
    costly: false,
    fits: words,
    run,
};

/// Philox 4x32's multipliers.
const HALVES: [u32; 2] = [0xd251_1f53, 0xcd9e_8d57];

/// Philox 4x64's multipliers.
const WORDS: [u64; 2] = [0xd2e7_470e_e14c_6c93, 0xca5a_8263_9512_1157];

/// Counts the bits that differ between neighbouring blocks, in the lowest byte of each word. Low
/// bits of products depend on low bits alone.
fn run(view: &View, _: Effort) -> Vec<TestPart> {
    let inverses = HALVES.map(|factor| inverse(factor.into()) as u32);
    let short = view.values.as_chunks::<2>().0.iter().map(|&[low, high]| {
        let block = [low as u32, (low >> 32) as u32, high as u32, (high >> 32) as u32];
        before_halves(block, inverses).map(|word| word as u8)
    });
    let inverses = WORDS.map(inverse);
    let long = view.values.as_chunks::<4>().0;
    let long = long.iter().map(|&block| before_words(block, inverses).map(|word| word as u8));
    vec![part("Philox 4x32", view, short), part("Philox 4x64", view, long)]
}

fn part(name: &str, view: &View, mut blocks: impl Iterator<Item = [u8; 4]>) -> TestPart {
    let mut last = blocks.next().unwrap_or_default();
    let (mut throws, mut seen) = (0, vec![[0_u64; 256]; 4]);
    for block in blocks {
        for (word, seen) in seen.iter_mut().enumerate() {
            seen[usize::from(block[word] ^ last[word])] += 1;
        }
        last = block;
        throws += 1;
    }
    let heads = seen.iter().flat_map(|seen| {
        (0..8).map(move |bit| {
            (0..256).filter(|byte| byte >> bit & 1 == 1).map(|byte| seen[byte]).sum()
        })
    });
    TestPart::new(name, view.values.len(), Tally::Coins { heads: heads.collect(), throws })
}

/// Returns a block before its last round, but for the keys.
fn before_halves([a, b, c, d]: [u32; 4], inverses: [u32; 2]) -> [u32; 4] {
    let (first, third) = (d.wrapping_mul(inverses[0]), b.wrapping_mul(inverses[1]));
    let high = |word: u32, factor: u32| ((u64::from(word) * u64::from(factor)) >> 32) as u32;
    [first, a ^ high(third, HALVES[1]), third, c ^ high(first, HALVES[0])]
}

fn before_words([a, b, c, d]: [u64; 4], inverses: [u64; 2]) -> [u64; 4] {
    let (first, third) = (d.wrapping_mul(inverses[0]), b.wrapping_mul(inverses[1]));
    let high = |word: u64, factor: u64| ((u128::from(word) * u128::from(factor)) >> 64) as u64;
    [first, a ^ high(third, WORDS[1]), third, c ^ high(first, WORDS[0])]
}

/// Returns the inverse of an odd number modulo 2^64 (Newton's iteration, which doubles its bits).
fn inverse(odd: u64) -> u64 {
    (0..5).fold(odd, |x, _| x.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(x))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::Form;

    const KEYS_32: [u32; 2] = [0x1234_5678, 0x9abc_def0];
    const KEYS_64: [u64; 2] = [77, 99];

    fn smallest(words: &[u64], part: usize) -> f64 {
        let view = View::new(words, Form { width: 64, reversed: false }, usize::MAX);
        run(&view, Effort::Fast)[part].tally.p()
    }

    fn halves(counter: u32, mut keys: [u32; 2], rounds: u32) -> [u32; 4] {
        let mut block = [counter, 0, 0, 0];
        for _ in 0..rounds {
            let [x, y] =
                [block[0], block[2]].map(u64::from).map(|x| [x * 0xd251_1f53, x * 0xcd9e_8d57]);
            block = [
                (y[1] >> 32) as u32 ^ block[1] ^ keys[0],
                y[1] as u32,
                (x[0] >> 32) as u32 ^ block[3] ^ keys[1],
                x[0] as u32,
            ];
            keys[0] = keys[0].wrapping_add(0x9e37_79b9);
            keys[1] = keys[1].wrapping_add(0xbb67_ae85);
        }
        block
    }

    fn long(counter: u64, mut keys: [u64; 2], rounds: u32) -> [u64; 4] {
        let mut block = [counter, 0, 0, 0];
        for _ in 0..rounds {
            let products = |x: u64| WORDS.map(|factor| u128::from(x) * u128::from(factor));
            let (x, y) = (products(block[0])[0], products(block[2])[1]);
            block = [
                (y >> 64) as u64 ^ block[1] ^ keys[0],
                y as u64,
                (x >> 64) as u64 ^ block[3] ^ keys[1],
                x as u64,
            ];
            keys[0] = keys[0].wrapping_add(0x9e37_79b9_7f4a_7c15);
            keys[1] = keys[1].wrapping_add(0xbb67_ae85_84ca_a73b);
        }
        block
    }

    /// Random123 1.14's kat_vectors, lines "philox4x32 10" and "philox4x64 10". The multipliers of
    /// the tests below are those of the code that they test.
    #[test]
    fn ten_rounds_give_the_authors_known_answers() {
        let expected = [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8];
        assert_eq!(halves(0, [0, 0], 10), expected);
        let expected = [
            0x1655_4d9e_ca36_314c,
            0xdb20_fe9d_672d_0fdc,
            0xd7e7_72ce_e186_176b,
            0x7e68_b68a_ec7b_a23b,
        ];
        assert_eq!(long(0, [0, 0], 10), expected);
    }

    #[test]
    fn a_round_undone_is_the_round_before_but_for_the_keys() {
        let inverses = HALVES.map(|factor| inverse(factor.into()) as u32);
        let [late, early] =
            [7, 6].map(|rounds| [1, 2].map(|counter| halves(counter, KEYS_32, rounds)));
        let undone = late.map(|block| before_halves(block, inverses));
        for word in 0..4 {
            assert_eq!(undone[0][word] ^ undone[1][word], early[0][word] ^ early[1][word]);
        }
        let [late, early] =
            [7, 6].map(|rounds| [1, 2].map(|counter| long(counter, KEYS_64, rounds)));
        let undone = late.map(|block| before_words(block, WORDS.map(inverse)));
        for word in 0..4 {
            assert_eq!(undone[0][word] ^ undone[1][word], early[0][word] ^ early[1][word]);
        }
    }

    #[test]
    fn six_rounds_fail_and_seven_pass() {
        for (rounds, fails) in [(5, true), (6, true), (7, false), (10, false)] {
            let words: Vec<u64> = (0..1 << 16)
                .flat_map(|counter| {
                    let [a, b, c, d] = halves(counter, KEYS_32, rounds).map(u64::from);
                    [b << 32 | a, d << 32 | c]
                })
                .collect();
            assert_eq!(smallest(&words, 0) < 1e-12, fails, "{rounds} rounds of 32 bits");
            let words: Vec<u64> =
                (0..1 << 16).flat_map(|counter| long(counter, KEYS_64, rounds)).collect();
            assert_eq!(smallest(&words, 1) < 1e-12, fails, "{rounds} rounds of 64 bits");
        }
    }
}
