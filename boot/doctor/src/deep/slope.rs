//! The speed of entropy, and its meaning for a machine that waits.
//!
//! Source: Linux, drivers/char/random.c. The count means two things. Before 5.18 it is of bits in a
//! pool of 4096, and use lowers it; since 5.18 it is of bits gathered so far, stops at 256, and
//! says nothing after that. But while the generator is not ready, both rise with each credited bit,
//! so only then does the rate say how long the wait still is.

use crate::Kernel;
use serde::Serialize;
use std::time::Duration;

/// The speed of entropy.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Slope {
    /// Bits at first.
    pub before: u32,
    /// Bits at last.
    pub after: u32,
    /// Seconds in between.
    pub seconds: f64,
    /// True if the generator was ready all the time.
    pub ready: bool,
    /// Seconds until the generator is ready at this rate; `None` if it is ready, or nothing came.
    pub remaining_seconds: Option<f64>,
    /// The meaning of the count on this kernel.
    pub meaning: &'static str,
}

impl Slope {
    /// Reads the count twice.
    pub(super) fn measure(
        mut available: impl FnMut() -> Option<u32>,
        pause: Duration,
        kernel: Option<&Kernel>,
        ready: bool,
    ) -> Option<Slope> {
        let before = available()?;
        std::thread::sleep(pause);
        let after = available()?;
        let seconds = pause.as_secs_f64();
        let reworked = kernel.and_then(Kernel::is_reworked);
        // If the version is unknown, take the larger number: a wait that ends early does no harm.
        let needed = kernel.and_then(Kernel::bits_needed).unwrap_or(256);
        let gained = f64::from(after) - f64::from(before);
        let remaining = f64::from(needed.saturating_sub(after)) * seconds / gained;
        let meaning = match (ready, reworked) {
            (false, _) => "bits gathered so far; it rises until the generator is ready",
            (true, Some(true)) => {
                "the generator is ready, and this number stays at 256: since Linux 5.18 it says nothing about health"
            }
            (true, Some(false)) => {
                "bits in the pool of 4096; low numbers are normal, and do not make /dev/urandom worse"
            }
            (true, None) => "the generator is ready; this number says nothing about health",
        };
        let remaining_seconds = (!ready && gained > 0.0).then_some(remaining);
        Some(Slope { before, after, seconds, ready, remaining_seconds, meaning })
    }

    /// Describes the measurement in one line.
    pub fn says(&self) -> String {
        let counted =
            format!("{} bits, and {} after {:.0} s", self.before, self.after, self.seconds);
        let expected = match (self.ready, self.remaining_seconds) {
            (true, _) => return format!("{counted}: {}", self.meaning),
            (false, Some(seconds)) => format!("at this rate it is ready in about {seconds:.0} s"),
            (false, None) => "no entropy arrives: at this rate it is never ready".to_owned(),
        };
        format!("{counted}: {expected}")
    }
}
