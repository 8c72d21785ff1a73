//! Neighbouring values' leading bits, taken together: all combinations should be equally frequent.

use super::{Part, Test, any};
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

fn run(view: &View, _: Effort) -> Vec<Part> {
    let values = &view.values;
    // Eight in each cell, at least, for the longest tuple.
    let bits = [16_u32, 12, 8, 6, 4].into_iter().find(|&bits| values.len() >= 64 << bits);
    let Some(bits) = bits else { return Vec::new() };
    let lengths = (2..=8_usize).filter(|&n| (bits as usize).is_multiple_of(n));
    lengths
        .map(|length| {
            let each = bits / length as u32;
            let mut seen = vec![0; 1 << bits];
            for tuple in values.chunks_exact(length) {
                let cell = tuple.iter().fold(0, |cell, value| cell << each | value >> (64 - each));
                seen[cell as usize] += 1;
            }
            Part::new(format!("{length} values, {each} bits of each"), Tally::Even(seen))
        })
        .collect()
}
