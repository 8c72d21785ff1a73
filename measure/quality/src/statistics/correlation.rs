//! Each bit of a value compared with each bit of the same value, of the next one and of the one
//! after that.

use super::{Test, TestPart, forwards, spread};
use crate::effort::Effort;
use crate::tally::Tally;
use crate::view::View;

pub(crate) const TEST: Test = Test {
    name: "bit-correlation",
    source: "own; the pairs of bits that a strict avalanche table has, over values instead of inputs",
    meaning: "Two bits, of one value or of neighbours, are equal more often than not, or less often.",
    unseen: "whether bits of neighbouring values depend on each other",
    least: 1024,
    costly: true,
    fits: forwards,
    run,
};

/// Words of a plane that are compared in one piece.
const CHUNK: usize = 64;

fn run(view: &View, effort: Effort) -> Vec<TestPart> {
    let planes = view.planes();
    // Chunks spread over the planes: the first ones alone would not show a defect that begins
    // later.
    let all = planes.get(0).len() / CHUNK;
    let wanted = (effort.correlated() / 64 / CHUNK).max(1);
    let chunks: Vec<usize> = if all == 0 { Vec::new() } else { spread(all, wanted).collect() };
    let (length, chunks) = if all == 0 { (planes.get(0).len(), vec![0]) } else { (CHUNK, chunks) };
    let mut parts = Vec::new();
    for distance in 0..3_u32 {
        let mut heads = Vec::new();
        for i in 0..planes.len() {
            // Bit t of `later` is bit t + distance of the plane. The last word of a chunk has no
            // successor to borrow from.
            let later: Vec<Vec<u64>> = chunks
                .iter()
                .map(|chunk| {
                    let plane = &planes.get(i)[chunk * CHUNK..][..length];
                    let shifted = |two: &[u64]| match distance {
                        0 => two[0],
                        _ => two[0] >> distance | two[1] << (64 - distance),
                    };
                    plane.windows(2).map(shifted).collect()
                })
                .collect();
            let others = if distance == 0 { i + 1..planes.len() } else { 0..planes.len() };
            for j in others {
                let differing = chunks.iter().zip(&later).map(|(chunk, later)| {
                    let other = &planes.get(j)[chunk * CHUNK..];
                    later
                        .iter()
                        .zip(other)
                        .map(|(a, b)| u64::from((a ^ b).count_ones()))
                        .sum::<u64>()
                });
                heads.push(differing.sum());
            }
        }
        let throws = 64 * (chunks.len() * (length - 1)) as u64;
        let name = format!("{distance} apart");
        parts.push(TestPart::new(name, throws as usize, Tally::Coins { heads, throws }));
    }
    parts
}
