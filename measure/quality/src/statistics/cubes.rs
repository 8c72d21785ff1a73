//! Sums over windows, which expose a counter that is mixed too little.
//!
//! A counter that runs through an aligned window of a power of two visits all corners of a cube. A
//! function of low algebraic degree over GF(2) sums to zero over a cube, and so does a block cipher
//! of few rounds (three of AES's, over 256 values of one byte). A byte of such a sum should be zero
//! one time in 256.

use super::{Test, TestPart, spread, words};
use crate::effort::Effort;
use crate::tally::Tally;
use crate::view::View;

pub(crate) const TEST: Test = Test {
    name: "cube-sums",
    source: "own; the square attack of Daemen, Knudsen and Rijmen 1997, Lai's higher-order differentials 1994, as a test",
    meaning: "Sums over windows of a power of two vanish: a counter shows through, the generator mixes it too little.",
    unseen: "whether a counter shows through",
    least: 64,
    costly: false,
    fits: words,
    run,
};

/// Words that one value of the counter makes, times the number of interleaved streams. Each such
/// word has sums of its own.
const LANES: [usize; 3] = [1, 2, 2048];

/// Words of an aligned piece.
const PIECE: usize = 1 << 16;

fn run(view: &View, effort: Effort) -> Vec<TestPart> {
    let mut parts = Vec::new();
    for lanes in LANES.into_iter().filter(|lanes| view.values.len() >= 16 * lanes) {
        // Aligned pieces over the whole block. A union of cubes sums to zero too, if each of them
        // does.
        let whole = view.values.len() / PIECE;
        let mut sums: Vec<u64> = match effort.summed() / PIECE {
            wanted if wanted < whole => spread(whole, wanted)
                .flat_map(|piece| &view.values[piece * PIECE..][..PIECE])
                .copied()
                .collect(),
            _ => view.values[..view.values.len().min(effort.summed())].to_vec(),
        };
        let used = sums.len();
        let (mut seen, mut trials) = (Vec::new(), Vec::new());
        while sums.len() >= 2 * lanes {
            let pairs = sums.len() / (2 * lanes);
            for pair in 0..pairs {
                for lane in 0..lanes {
                    let at = 2 * pair * lanes + lane;
                    sums[pair * lanes + lane] = sums[at] ^ sums[at + lanes];
                }
            }
            sums.truncate(pairs * lanes);
            seen.push(sums.iter().map(|&sum| zero_bytes(sum)).sum());
            trials.push(8 * sums.len() as u64);
        }
        let name = format!("every {lanes}, {} levels", seen.len());
        parts.push(TestPart::new(name, used, Tally::Rates { seen, trials, chance: 1.0 / 256.0 }));
    }
    parts
}

/// Returns the number of zero bytes of `word`. No carry leaves a byte.
fn zero_bytes(word: u64) -> u64 {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    u64::from((!(((word & LOW) + LOW) | word | LOW)).count_ones())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_bytes_are_counted_one_by_one() {
        let mut rng = fastrand::Rng::with_seed(5);
        for _ in 0..10_000 {
            let word = rng.u64(..) & rng.u64(..) & rng.u64(..) & rng.u64(..) & rng.u64(..);
            let zeros = word.to_le_bytes().iter().filter(|&&byte| byte == 0).count() as u64;
            assert_eq!(zero_bytes(word), zeros, "{word:x}");
        }
    }
}
