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
        let planes = view.planes();
        let ones = |plane: &[u64]| plane.iter().map(|word| u64::from(word.count_ones())).sum();
        let heads = planes.iter().map(ones).collect();
        let throws = (view.values.len() / 64 * 64) as u64;
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
