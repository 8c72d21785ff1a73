//! Pairs of neighbouring bytes in all data.

use super::{Test, TestPart, words};
use crate::effort::Effort;
use crate::tally::Tally;
use crate::view::View;

pub(crate) const TEST: Test = Test {
    name: "byte-pairs",
    source: "Knuth, TAOCP 2, 3.3.2 B (serial test), without overlap, over all bytes",
    meaning: "Over all data, a byte depends on the byte before it.",
    unseen: "whether neighbouring bytes depend on each other",
    least: 512,
    costly: false,
    fits: words,
    run,
};

/// The sizes that a byte is cut down to, largest first: a short block cannot fill 65,536 cells.
const BITS: [u32; 3] = [8, 6, 4];

/// Pairs at even places and pairs at odd places are two figures: together they would overlap, and
/// overlapping pairs have another distribution than chi-square.
fn run(view: &View, _: Effort) -> Vec<TestPart> {
    let values = &view.values;
    let pairs = 4 * (values.len() - 1);
    // At least eight in each cell.
    let Some(bits) = BITS.into_iter().find(|bits| pairs >= 8 << (2 * bits)) else {
        return Vec::new();
    };
    let (mut even, mut odd) = (vec![0_u64; 1 << (2 * bits)], vec![0_u64; 1 << (2 * bits)]);
    let cell = |two: u16| {
        let [first, second] = two.to_le_bytes().map(|byte| usize::from(byte) >> (8 - bits));
        second << bits | first
    };
    for two in values.windows(2) {
        let shifted = two[0] >> 8 | two[1] << 56;
        for place in 0..4 {
            even[cell((two[0] >> (16 * place)) as u16)] += 1;
            odd[cell((shifted >> (16 * place)) as u16)] += 1;
        }
    }
    [("even", even), ("odd", odd)]
        .into_iter()
        .flat_map(|(which, seen)| {
            let name = format!("{which} places, {bits} bits of each");
            let extremes = Tally::Extremes { cells: seen.clone() };
            [
                TestPart::new(name.clone(), 2 * pairs, Tally::Even(seen)),
                TestPart::new(format!("fullest and emptiest, {name}"), 2 * pairs, extremes),
            ]
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::Form;

    #[test]
    fn both_phases_count_every_pair() {
        let mut rng = fastrand::Rng::with_seed(14);
        for len in [600, 1 << 15, 1 << 18] {
            let words: Vec<u64> = (0..len).map(|_| rng.u64(..)).collect();
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            let view = View::new(&words, Form { width: 64, reversed: false }, usize::MAX);
            let parts = run(&view, Effort::Fast);
            for (phase, part) in parts.iter().step_by(2).enumerate() {
                let Tally::Even(seen) = &part.tally else { unreachable!() };
                assert_eq!(parts[2 * phase + 1].tally, Tally::Extremes { cells: seen.clone() });
                let bits = seen.len().ilog2() / 2;
                let mut expected = vec![0; seen.len()];
                for pair in bytes[phase..phase + 8 * (len - 1)].chunks_exact(2) {
                    let high = |byte: u8| usize::from(byte) >> (8 - bits);
                    expected[high(pair[1]) << bits | high(pair[0])] += 1;
                }
                assert_eq!(*seen, expected, "{}", part.name);
                assert_eq!(part.values, 8 * (len as u64 - 1));
            }
            assert_eq!(parts.len(), 4);
        }
    }
}
