//! Gaps between values in a sixteenth of the range.

use super::{Test, TestPart, any};
use crate::effort::Effort;
use crate::tally::Tally;
use crate::view::View;

pub(crate) const TEST: Test = Test {
    name: "gap",
    source: "Knuth, TAOCP 2, 3.3.2 D",
    meaning: "A value comes back too early, too late or too regularly.",
    unseen: "whether values come back at random distances",
    least: 1 << 14,
    costly: false,
    fits: any,
    run,
};

/// The chance of a hit.
const HIT: f64 = 1.0 / 16.0;

fn run(view: &View, _: Effort) -> Vec<TestPart> {
    let longest = if view.values.len() >= 1 << 18 { 80 } else { 30 };
    let mut seen = vec![0; longest + 1];
    let mut gap = None; // none before the first hit
    for value in &view.values {
        match (value >> 60, gap) {
            (0, None) => gap = Some(0),
            (0, Some(length)) => {
                seen[length] += 1;
                gap = Some(0);
            }
            (_, Some(length)) => gap = Some((length + 1).min(longest)),
            (_, None) => {}
        }
    }
    let mut chances: Vec<f64> = (0..longest).map(|n| HIT * (1.0 - HIT).powi(n as i32)).collect();
    chances.push((1.0 - HIT).powi(longest as i32));
    if seen.iter().all(|&n| n == 0) {
        // A stuck generator never hits. The probability of that many misses is practically zero.
        seen[longest] = (view.values.len() / longest) as u64;
    }
    vec![TestPart::new(
        format!("gaps up to {longest}"),
        view.values.len(),
        Tally::Cells { seen, chances },
    )]
}
