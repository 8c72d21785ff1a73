//! The half-second table of a status screen: the same harness, in a hurry.

use crate::case::Case;
use crate::draw::work::Work;
use crate::impls;
use crate::impls::variant::Variant;
use crate::measure::rounds::measure;
use crate::plan::comparison::{Batch, Comparison, Pace};
use crate::stats::median;
use crate::system::pin::Pins;
use std::time::{Duration, Instant};

/// The implementations of a status screen.
const NAMES: [&str; 5] =
    ["headwater", "getrandom-syscall", "getrandom-vdso", "libc-getentropy", "openssl-RAND_bytes"];

/// Shorter than in a benchmark, so that five variants take ten rounds at four lengths in half a
/// second.
const SAMPLE: Duration = Duration::from_micros(200);

/// The speed of one implementation at each of the lengths asked for.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Speed {
    /// The name, as in a [`Report`](crate::report::document::Report).
    pub implementation: &'static str,
    /// The version of its library.
    pub version: Option<String>,
    /// Nanoseconds per `fill`, for each length; `None` where the time did not suffice, or it
    /// failed.
    pub ns: Vec<Option<f64>>,
}

/// Compares the speed of `fill` at `sizes` quickly, in about `budget` altogether. Lists only the
/// implementations that this host has.
///
/// Returns a screen's figures, without their spread: for anything that is quoted use
/// [`run`](crate::run).
pub fn speed_table(sizes: &[usize], budget: Duration) -> Vec<Speed> {
    let deadline = Instant::now() + budget;
    let variants: Vec<Variant> = NAMES
        .into_iter()
        .filter_map(impls::find)
        .map(Variant::from)
        .filter(|variant| variant.probe().is_ok())
        .collect();
    let mut speeds: Vec<Speed> = variants
        .iter()
        .map(|variant| Speed {
            implementation: variant.implementation.name,
            version: (variant.implementation.version)(),
            ns: Vec::new(),
        })
        .collect();
    for (index, &len) in sizes.iter().enumerate() {
        let left = deadline.saturating_duration_since(Instant::now());
        let share = left / (sizes.len() - index) as u32;
        let figures = fill_times(len, &variants, share);
        for (speed, ns) in speeds.iter_mut().zip(figures) {
            speed.ns.push(ns);
        }
    }
    speeds
}

/// Returns one figure for each variant. Every figure is `None` where there is no time, or where one
/// of the variants fails.
fn fill_times(len: usize, variants: &[Variant], time: Duration) -> Vec<Option<f64>> {
    let comparison = Comparison {
        case: Case::Fill,
        work: Work::Fill,
        len,
        threads: 1,
        procs: 1,
        pins: Pins::default(),
        variants: variants.to_vec(),
        counts: false,
        pace: Pace {
            batch: Batch::Lasting(SAMPLE.min(time / 20)),
            rounds: 1..=u32::MAX,
            // Checks and calibration take the other half.
            budget: time / 2,
        },
    };
    if time.is_zero() || len == 0 {
        return vec![None; variants.len()];
    }
    match measure(&comparison) {
        Ok(timings) => timings.iter().map(|timing| Some(median(&timing.ns))).collect(),
        Err(_) => vec![None; variants.len()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn has_a_figure_for_each_length() {
        let speeds = speed_table(&[16, 256], Duration::from_millis(100));
        assert_eq!(speeds[0].implementation, "headwater");
        for speed in speeds {
            assert_eq!(speed.ns.len(), 2);
            assert!(speed.ns.iter().flatten().all(|&ns| ns > 0.0));
        }
    }

    #[test]
    fn without_time_nothing_is_claimed() {
        let speeds = speed_table(&[16], Duration::ZERO);
        assert!(speeds.iter().all(|speed| speed.ns == [None]));
    }
}
