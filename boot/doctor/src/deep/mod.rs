//! `--deep`: measurements that take seconds, of the speed of entropy and of hardware sources.
//!
//! The health tests are those of NIST SP 800-90B, section 4.4. They find a source that is stuck or
//! very uneven, but no more: a counter under a good cipher passes, so no test of bytes can show
//! that the bytes cannot be guessed.

mod rdrand;
mod sample;
mod slope;

pub(crate) use rdrand::RDRAND;
pub use sample::Sample;
pub use slope::Slope;

use crate::{Kernel, Root};
pub use headwater_health::HealthTest;
use serde::Serialize;
use std::time::Duration;

/// The notice printed before the measurement.
pub const BEFOREHAND: &str = "--deep takes 5 s: it watches how fast entropy comes, and reads at most 64 KiB of each hardware source meanwhile";

/// Long enough for one bit to come on a quiet machine that has nothing but interrupts.
const PAUSE: Duration = Duration::from_secs(5);

/// Measurements.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Deep {
    /// The speed of entropy; `None` if the kernel does not show it.
    pub entropy: Option<Slope>,
    /// Samples of hardware sources.
    pub samples: Vec<Sample>,
}

impl Deep {
    /// Measures for 5 s. `kernel` decides the meaning of its count of entropy, and `ready` says
    /// whether the generator still waits.
    pub fn measure(root: &Root, kernel: Option<&Kernel>, ready: bool) -> Deep {
        let device = sample::begin_device(root.clone());
        let available = || root.text("/proc/sys/kernel/random/entropy_avail").ok()?.parse().ok();
        let entropy = Slope::measure(available, PAUSE, kernel, ready);
        Deep { entropy, samples: vec![device.end(), rdrand::sample()] }
    }
}

#[cfg(test)]
mod tests;
