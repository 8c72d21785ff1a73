//! Combinations of the leading bits of neighbouring values, which should be equally frequent.

use super::{Test, TestPart, any};
use crate::effort::Effort;
use crate::tally::Tally;
use crate::view::View;

pub(crate) const TEST: Test = Test {
    name: "serial",
    source: "Knuth, TAOCP 2, 3.3.2 B (serial test), without overlap; TestU01's smultin",
    meaning: "Some combinations of neighbouring values are more frequent than others: in space, points lie on planes or in lumps.",
    unseen: "whether neighbouring values are independent of each other",
    least: 1024,
    costly: false,
    fits: any,
    run,
};

fn run(view: &View, _: Effort) -> Vec<TestPart> {
    let values = &view.values;
    // Eight in each cell, at least, for the longest tuple.
    let bits = [16_u32, 12, 8, 6, 4].into_iter().find(|&bits| values.len() >= 64 << bits);
    let Some(bits) = bits else { return Vec::new() };
    let lengths = [2, 3, 4, 6, 8].into_iter().filter(|&n| bits.is_multiple_of(n));
    lengths
        .map(|length| {
            let each = bits / length;
            let seen = match length {
                2 => count::<2>(values, each),
                3 => count::<3>(values, each),
                4 => count::<4>(values, each),
                6 => count::<6>(values, each),
                _ => count::<8>(values, each),
            };
            TestPart::new(
                format!("{length} values, {each} bits of each"),
                values.len(),
                Tally::Even(seen),
            )
        })
        .collect()
}

/// Counts each combination of the `each` leading bits of `N` neighbours. A constant length takes a
/// third of the time.
fn count<const N: usize>(values: &[u64], each: u32) -> Vec<u64> {
    let mut seen = vec![0; 1 << (N as u32 * each)];
    for tuple in values.as_chunks::<N>().0 {
        let cell = tuple.iter().fold(0, |cell, value| cell << each | value >> (64 - each));
        seen[cell as usize] += 1;
    }
    seen
}
