//! Words compared with the words a distance before them.

use super::{Test, TestPart, words};
use crate::effort::Effort;
use crate::tally::Tally;
use crate::view::View;

pub(crate) const TEST: Test = Test {
    name: "autocorrelation",
    source: "after TestU01's AutoCor and Maurer 1992; distances 1 to 64 and powers of two above",
    meaning: "A word resembles the one a fixed distance before it.",
    unseen: "whether words resemble earlier ones",
    least: 256,
    costly: true,
    fits: words,
    run,
};

fn run(view: &View, _: Effort) -> Vec<TestPart> {
    let values = &view.values;
    let near = 1..=64;
    let far = (7..=20).map(|power| 1_usize << power).filter(|far| *far <= values.len() / 4);
    let mut parts = Vec::new();
    for (name, distances) in [("near", near.collect::<Vec<_>>()), ("far", far.collect())] {
        if distances.is_empty() {
            continue;
        }
        let mut seen = Vec::new();
        let mut trials = Vec::new();
        for &distance in &distances {
            let pairs = values.iter().zip(&values[distance..]);
            seen.push(pairs.map(|(a, b)| u64::from((a ^ b).count_ones())).sum());
            trials.push(64 * (values.len() - distance) as u64);
        }
        // The name holds the largest distance, because longer blocks have more distances and must
        // not be added to it.
        let name = format!("{name}, up to {}", distances[distances.len() - 1]);
        parts.push(TestPart::new(name, values.len(), Tally::Rates { seen, trials, chance: 0.5 }));
    }
    parts
}
