//! Remainders of bytes by three, in tuples over all data.

use super::{Test, TestPart, words};
use crate::effort::Effort;
use crate::tally::Tally;
use crate::view::View;

pub(crate) const TEST: Test = Test {
    name: "residues",
    source: "Knuth, TAOCP 2, 3.3.2 B (serial test), on remainders, as PractRand's mod3n",
    meaning: "Over all data, bytes modulo 3 depend on the bytes before them.",
    unseen: "whether sums of all bits of neighbouring bytes depend on each other",
    least: 1 << 11,
    costly: false,
    fits: words,
    run,
};

/// Tuples without overlap: short ones for dependences that are strong, long ones for long memories.
const LENGTHS: [u32; 2] = [5, 9];

/// Counts tuples of the remainders of bytes. Modulo 3 every bit of a byte matters, with the sign of
/// its place. Generators of additions, rotations and exclusive ors keep such sums for a few steps,
/// and no table of leading bits shows such sums.
fn run(view: &View, _: Effort) -> Vec<TestPart> {
    let bytes = 8 * view.values.len();
    // At least eight tuples in each cell.
    let able =
        LENGTHS.into_iter().filter(|&length| bytes / length as usize >= 8 * 3_usize.pow(length));
    able.map(|length| {
        let mut seen = vec![0_u64; 3_usize.pow(length)];
        let (mut cell, mut left) = (0, length);
        for byte in view.values.iter().flat_map(|word| word.to_le_bytes()) {
            cell = 3 * cell + usize::from(byte % 3);
            left -= 1;
            if left == 0 {
                seen[cell] += 1;
                (cell, left) = (0, length);
            }
        }
        // 86 of the 256 bytes have remainder 0, 85 each of the others.
        let chance = |mut cell: usize| {
            (0..length).fold(1.0, |product, _| {
                let remainder = cell % 3;
                cell /= 3;
                product * if remainder == 0 { 86.0 / 256.0 } else { 85.0 / 256.0 }
            })
        };
        let chances = (0..seen.len()).map(chance).collect();
        let name = format!("tuples of {length} bytes");
        TestPart::new(name, bytes, Tally::Cells { seen, chances })
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::Form;

    fn parts(words: &[u64]) -> Vec<TestPart> {
        run(&View::new(words, Form { width: 64, reversed: false }, usize::MAX), Effort::Fast)
    }

    #[test]
    fn tuples_are_counted_as_defined_and_their_chances_add_up() {
        let mut rng = fastrand::Rng::with_seed(5);
        let words: Vec<u64> = (0..1 << 16).map(|_| rng.u64(..)).collect();
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let parts = parts(&words);
        assert_eq!(parts.len(), 1, "19,683 cells need more data");
        let Tally::Cells { seen, chances } = &parts[0].tally else { unreachable!() };
        let mut expected = vec![0; 243];
        for five in bytes.chunks_exact(5) {
            let digits = five.iter().map(|byte| (b'0' + byte % 3) as char).collect::<String>();
            expected[usize::from_str_radix(&digits, 3).unwrap()] += 1;
        }
        assert_eq!(*seen, expected);
        assert!((chances.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(parts[0].tally.p() > 1e-4);
    }

    #[test]
    fn a_byte_that_keeps_its_remainder_is_found() {
        let mut rng = fastrand::Rng::with_seed(6);
        let mut byte = 0_u8;
        // One byte in 16 is the one before plus a multiple of three, which no leading bits show.
        let next = || {
            byte = match rng.u8(..16) {
                0 => (byte % 3) + 3 * rng.u8(..85),
                _ => rng.u8(..),
            };
            byte
        };
        let bytes: Vec<u8> = std::iter::repeat_with(next).take(1 << 20).collect();
        let words: Vec<u64> = bytes.as_chunks().0.iter().copied().map(u64::from_le_bytes).collect();
        assert!(parts(&words)[0].tally.p() < 1e-9);
    }
}
