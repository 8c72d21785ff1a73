//! Each bit of a value beside each bit of the same, the next and the next but one.

use super::{Part, Test, forwards};
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

fn run(view: &View, effort: Effort) -> Vec<Part> {
    let planes = view.planes();
    let words = planes.get(0).len().min(effort.correlated() / 64);
    let mut parts = Vec::new();
    for distance in 0..3_u32 {
        let mut heads = Vec::new();
        for i in 0..planes.len() {
            // Bit t of `later` is bit t + distance of the plane; what has no partner falls off the last word.
            let plane = &planes.get(i)[..words];
            let later: Vec<u64> = match distance {
                0 => plane[..words - 1].to_vec(),
                _ => plane
                    .windows(2)
                    .map(|two| two[0] >> distance | two[1] << (64 - distance))
                    .collect(),
            };
            let others = if distance == 0 { i + 1..planes.len() } else { 0..planes.len() };
            for j in others {
                let equal =
                    later.iter().zip(planes.get(j)).map(|(a, b)| u64::from((a ^ b).count_ones()));
                heads.push(equal.sum());
            }
        }
        let throws = 64 * (words - 1) as u64;
        parts.push(Part::new(format!("{distance} apart"), Tally::Coins { heads, throws }));
    }
    parts
}
