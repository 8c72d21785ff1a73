//! Lengths of runs upwards.

use super::{Test, TestPart, wide};
use crate::effort::Effort;
use crate::tally::Tally;
use crate::view::View;

pub(crate) const TEST: Test = Test {
    name: "runs",
    source: "Knuth, TAOCP 2, 3.3.2 G, exercise 14: the value after a run is left out, which makes runs independent",
    meaning: "Values rise, or alternate, for longer or shorter than by chance.",
    unseen: "whether values rise and fall by chance",
    least: 4096,
    costly: false,
    fits: wide,
    run,
};

const LONGEST: usize = 7;

fn run(view: &View, _: Effort) -> Vec<TestPart> {
    let mut seen = vec![0; LONGEST];
    // No branch depends on a value: the CPU would mispredict every second one.
    let (mut last, mut length, mut begins) = (0, 0, true);
    for &value in &view.values {
        let rises = !begins & (value > last);
        let fell = !begins & !rises;
        seen[length.clamp(1, LONGEST) - 1] += u64::from(fell);
        length = if begins { 1 } else { length + usize::from(rises) };
        last = value;
        begins = fell; // the value after a run is left out
    }
    // A run that the block's end cuts off has no length. A counter's run never ends, and is long
    // whatever follows.
    if !begins && length > LONGEST {
        seen[LONGEST - 1] += 1;
    }
    // A run has at least n values if n values are in order: one arrangement of n!.
    let at_least = |n: usize| 1.0 / (1..=n).product::<usize>() as f64;
    let mut chances: Vec<f64> = (1..LONGEST).map(|n| at_least(n) - at_least(n + 1)).collect();
    chances.push(at_least(LONGEST));
    vec![TestPart::new("upwards", view.values.len(), Tally::Cells { seen, chances })]
}
