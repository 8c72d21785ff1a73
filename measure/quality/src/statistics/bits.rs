//! Frequencies: of ones in each bit plane, of ones and bytes in all data.

use super::blocks::Blocks;
use super::{Test, TestPart, forwards, words};
use crate::effort::Effort;
use crate::stats;
use crate::tally::Tally;
use crate::view::View;

pub(crate) const TEST: Test = Test {
    name: "bit-frequency",
    source: "Knuth, TAOCP 2, 3.3.2 A; NIST SP 800-22, 2.1, for each plane",
    meaning: "Some bit of each value is one more often than zero, or less often.",
    unseen: "whether each bit is one half of the time",
    least: 64,
    costly: false,
    fits: forwards,
    run: |view, _| {
        // The values of the planes, counted without making the planes.
        let values = &view.values[..view.values.len() / 64 * 64];
        let heads = ones(values)[64 - view.form.width as usize..].to_vec();
        let throws = values.len() as u64;
        vec![TestPart::new("ones", values.len(), Tally::Coins { heads, throws })]
    },
};

pub(crate) const BYTES: Test = Test {
    name: "byte-frequency",
    source: "Knuth, TAOCP 2, 3.3.2 A; Pearson's chi-square over 256 cells",
    meaning: "Over all data, some bytes are more frequent than others, or ones are not half of the bits.",
    unseen: "whether all bytes are equally frequent",
    least: 256,
    costly: false,
    fits: words,
    run: bytes,
};

/// Counts every byte of the block. Small biases need all of them: 2^-12 of a bit shows in 2^28 bits
/// and not in 2^25.
fn bytes(view: &View, _: Effort) -> Vec<TestPart> {
    let mut seen = vec![0_u64; 256];
    let mut blocks = Blocks::<256>::new();
    let (mut smallest, mut looks) = (1.0_f64, 0);
    for chunk in view.values.chunks(CHUNK) {
        let counts = count(chunk);
        seen.iter_mut().zip(counts).for_each(|(seen, count)| *seen += count);
        if chunk.len() == CHUNK {
            blocks.push(counts.map(|count| count as i64), |_, counts| {
                let total = counts.iter().sum::<i64>() as f64;
                let squares: f64 = counts.iter().map(|&n| (n as f64 - total / 256.0).powi(2)).sum();
                smallest = smallest.min(stats::chi_square(squares * 256.0 / total, 255));
                looks += 1;
            });
        }
    }
    let bit = |bit: u32| {
        let counts = seen.iter().enumerate().filter(|(byte, _)| byte >> bit & 1 == 1);
        counts.map(|(_, &count)| count).sum::<u64>()
    };
    let each: Vec<u64> = (0..8).map(bit).collect();
    let bytes = 8 * view.values.len();
    let all = Tally::Coins { heads: vec![each.iter().sum()], throws: 8 * bytes as u64 };
    let mut parts = Vec::new();
    if looks > 0 {
        // A defect that begins late is diluted in the whole, and not in the last block.
        let tally = Tally::Smallest { p: smallest, of: looks };
        parts.push(TestPart::new("bytes of the strangest block", bytes, tally));
    }
    parts.extend([
        TestPart::new("fullest and emptiest bytes", bytes, Tally::Extremes { cells: seen.clone() }),
        TestPart::new("bytes", bytes, Tally::Even(seen)),
        TestPart::new("ones of all bits", bytes, all),
        TestPart::new(
            "ones of each bit of a byte",
            bytes,
            Tally::Coins { heads: each, throws: bytes as u64 },
        ),
    ]);
    parts
}

/// Words of the smallest block of bytes that is judged alone: 256 bytes for each cell.
const CHUNK: usize = 1 << 13;

/// Counts bytes, in a table for each place in a word: one table would stall when equal bytes follow
/// each other.
fn count(words: &[u64]) -> [u64; 256] {
    let mut tables = [[0_u64; 256]; 8];
    for value in words {
        for (table, byte) in tables.iter_mut().zip(value.to_le_bytes()) {
            table[usize::from(byte)] += 1;
        }
    }
    std::array::from_fn(|byte| tables.iter().map(|table| table[byte]).sum())
}

/// Returns for each bit, the lowest first, the number of values that have it.
///
/// The counters are bit-sliced: bit i of slice k is bit k of the counter of bit i. A few operations
/// add a word to 64 counters (Knuth, TAOCP 4A, 7.1.3), and eight words are added side by side.
pub(super) fn ones(values: &[u64]) -> [u64; 64] {
    const LANES: usize = 8;
    const SLICES: usize = 8;
    let mut totals = [0; 64];
    // The largest number of rows that counters of eight bits can hold.
    for rows in values.chunks(LANES * ((1 << SLICES) - 1)) {
        let mut slices = [[0_u64; LANES]; SLICES];
        for row in rows.chunks(LANES) {
            let mut carry = [0; LANES];
            carry[..row.len()].copy_from_slice(row);
            for slice in &mut slices {
                for (slice, carry) in slice.iter_mut().zip(&mut carry) {
                    (*slice, *carry) = (*slice ^ *carry, *slice & *carry);
                }
            }
        }
        for (k, slice) in slices.iter().enumerate() {
            for (bit, total) in totals.iter_mut().enumerate() {
                let set: u64 = slice.iter().map(|lane| lane >> bit & 1).sum();
                *total += set << k;
            }
        }
    }
    totals
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::Form;

    fn part(words: &[u64], name: &str) -> f64 {
        let view = View::new(words, Form { width: 64, reversed: false }, usize::MAX);
        let parts = bytes(&view, Effort::Fast);
        parts.iter().find(|part| part.name == name).unwrap().tally.p()
    }

    /// The whole has 16 times the data, and its chi-square a quarter of the strangest block's.
    #[test]
    fn bytes_that_go_bad_in_the_last_sixteenth_show_in_that_block() {
        let mut rng = fastrand::Rng::with_seed(5);
        let mut words: Vec<u64> = (0..1 << 19).map(|_| rng.u64(..)).collect();
        let name = "bytes of the strangest block";
        assert!(part(&words, name) > 1e-4);
        for word in words[15 << 15..].iter_mut().step_by(2) {
            // One byte in sixteen has even parity.
            *word ^= u64::from((*word & 0xFF).count_ones() % 2);
        }
        let (block, whole) = (part(&words, name), part(&words, "bytes"));
        assert!(block < 1e-10, "{block:e}");
        assert!(whole > 1e-9, "{whole:e}: an easier case than this test is about");
    }

    #[test]
    fn two_bytes_that_come_too_often_show_though_the_chi_square_is_only_strange() {
        // 2^22 bytes, as even as can be but for two: 7.5 standard deviations of 128.
        let mut bytes: Vec<u8> = (0..1 << 22).map(|i| (i % 256) as u8).collect();
        for (i, byte) in [(1, 17), (3, 99)] {
            bytes[i * 4096..].iter_mut().step_by(257).take(960).for_each(|place| *place = byte);
        }
        let words: Vec<u64> = bytes.as_chunks().0.iter().copied().map(u64::from_le_bytes).collect();
        assert!(part(&words, "fullest and emptiest bytes") < 1e-15);
    }

    #[test]
    fn each_bit_is_counted() {
        let mut rng = fastrand::Rng::with_seed(1);
        for len in [0, 1, 7, 8, 2039, 2040, 2041, 10_000] {
            // All bits set at first, so that counters reach their highest.
            let values: Vec<u64> =
                (0..len).map(|i| if i < 2040 { u64::MAX } else { rng.u64(..) }).collect();
            let counted = ones(&values);
            for (bit, &count) in counted.iter().enumerate() {
                let expected = values.iter().filter(|&value| value >> bit & 1 == 1).count();
                assert_eq!(count, expected as u64, "bit {bit} of {len} values");
            }
        }
    }
}
