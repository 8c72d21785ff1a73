//! Frequencies: of ones in each bit plane, and of bytes.

use super::{Part, Test, forwards};
use crate::effort::Effort;
use crate::tally::Tally;
use crate::view::{Form, View};

pub(crate) const TEST: Test = Test {
    name: "bit-frequency",
    source: "Knuth, TAOCP 2, 3.3.2 A; NIST SP 800-22, 2.1, for each plane",
    meaning: "Some bit of each value is one more often than zero, or less often.",
    unseen: "whether each bit is one half of the time",
    least: 64,
    costly: false,
    fits: forwards,
    run: |view, _| {
        // The same values as planes are made of, which are not needed for this alone.
        let values = &view.values[..view.values.len() / 64 * 64];
        let heads = ones(values)[64 - view.form.width as usize..].to_vec();
        let throws = values.len() as u64;
        vec![Part::new("ones", Tally::Coins { heads, throws })]
    },
};

pub(crate) const BYTES: Test = Test {
    name: "byte-frequency",
    source: "Knuth, TAOCP 2, 3.3.2 A; Pearson's chi-square over 256 cells",
    meaning: "Some bytes are more frequent than others.",
    unseen: "whether all bytes are equally frequent",
    least: 2048,
    costly: false,
    fits: |form: Form| form.width == 8 && !form.reversed,
    run: bytes,
};

fn bytes(view: &View, _: Effort) -> Vec<Part> {
    let mut seen = vec![0; 256];
    view.values.iter().for_each(|value| seen[(value >> 56) as usize] += 1);
    vec![Part::new("bytes", Tally::Even(seen))]
}

/// How many of the values have each bit, the lowest first.
///
/// Counters stand upright: bit i of slice k is bit k of the counter of bit i, so that a word is added to 64 of them by a few operations
/// (Knuth, TAOCP 4A, 7.1.3), and to eight words' worth side by side.
fn ones(values: &[u64]) -> [u64; 64] {
    const LANES: usize = 8;
    const SLICES: usize = 8;
    let mut totals = [0; 64];
    // As many rows as counters of eight bits can hold.
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
