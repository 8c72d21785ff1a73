//! The facts that the status screen and `status --json` show.

use headwater::Status;
use headwater_status::{Host, Verdict};
use std::time::Duration;

/// Typical requests: a port or an id, a UUID, a handshake, a file.
pub(crate) const SIZES: [usize; 4] = [4, 16, 256, 64 << 10];

/// Time limit of the whole speed table.
const BUDGET: Duration = Duration::from_millis(500);

pub(crate) struct Facts {
    pub(crate) status: Status,
    pub(crate) host: Host,
    /// Sample bytes; `None` while the kernel's generator is not seeded.
    pub(crate) sample: Option<[u8; 32]>,
    /// One row an implementation, headwater first; `None` if not measured.
    pub(crate) speed: Option<Vec<Speed>>,
}

/// Times of one implementation.
pub(crate) struct Speed {
    pub(crate) implementation: &'static str,
    /// Version of its library or kernel.
    pub(crate) version: Option<String>,
    /// Time at each of `SIZES`; `None` where the measurement failed.
    pub(crate) ns: Vec<Option<f64>>,
}

impl Facts {
    /// Draws and measures first, so that the counters include those draws. Never waits until the
    /// kernel is seeded, because the status of an unseeded machine matters most.
    pub(crate) fn gather(measure: bool) -> Result<Facts, headwater::Error> {
        let sample = sample()?;
        let measure = measure && sample.is_some();
        let speed = measure.then(speed);
        Ok(Facts { status: headwater::status(), host: Host::read(), sample, speed })
    }

    /// Returns the facts that the command shares with the C library.
    pub(crate) fn shared(&self) -> headwater_status::Facts<'_> {
        let Facts { status, host, .. } = self;
        headwater_status::Facts { status, host, seeded: self.seeded() }
    }

    pub(crate) fn verdict(&self) -> Verdict {
        Verdict::of(&self.shared())
    }

    /// Returns true if the kernel's generator is seeded, as a draw without waiting showed.
    pub(crate) fn seeded(&self) -> bool {
        self.sample.is_some()
    }
}

fn speed() -> Vec<Speed> {
    let table = headwater_bench::speed_table(&SIZES, BUDGET).into_iter();
    table
        .map(|row| Speed { implementation: row.implementation, version: row.version, ns: row.ns })
        .collect()
}

fn sample() -> Result<Option<[u8; 32]>, headwater::Error> {
    let mut bytes = [0; 32];
    match headwater::try_fill(&mut bytes) {
        Ok(()) => Ok(Some(bytes)),
        Err(error) if error.is_not_ready() => Ok(None),
        Err(error) => Err(error),
    }
}
