//! How fast entropy comes, and what that means for a machine that waits.
//!
//! Source: Linux, drivers/char/random.c. Before 5.18 the count is of bits in a pool of 4096, and goes down when they are used; since
//! then it is of bits gathered so far, 256 at most, stays there for ever, and says nothing once it is there. In both, while the
//! generator is not ready, it rises with each bit that is credited, and the generator is ready when enough have come.

use crate::Kernel;
use serde::Serialize;
use std::time::Duration;

/// How fast entropy came.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Slope {
    /// Bits at first.
    pub before: u32,
    /// Bits at last.
    pub after: u32,
    /// Seconds in between.
    pub seconds: f64,
    /// Whether the generator was ready all the time.
    pub ready: bool,
    /// Seconds until it is ready, if it goes on so; `None` if it is ready, or if nothing came.
    pub remaining_seconds: Option<f64>,
    /// What the count means here.
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
        // Where the version does not tell, the larger number: a wait that ends early disappoints nobody.
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

    /// In a line.
    pub fn says(&self) -> String {
        let counted =
            format!("{} bits, and {} after {:.0} s", self.before, self.after, self.seconds);
        let expected = match (self.ready, self.remaining_seconds) {
            (true, _) => return format!("{counted}: {}", self.meaning),
            (false, Some(seconds)) => format!("at this rate it is ready in about {seconds:.0} s"),
            (false, None) => "nothing comes: at this rate it is never ready".to_owned(),
        };
        format!("{counted}: {expected}")
    }
}
