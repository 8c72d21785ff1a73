//! What the status screen and `status --json` show: gathered here, laid out elsewhere.

use headwater::Status;
use headwater_status::{Host, Verdict};
use std::time::Duration;

/// Requests as people make them: a port or an id, a UUID, a handshake, a file.
pub(crate) const SIZES: [usize; 4] = [4, 16, 256, 64 << 10];

/// How long the speed table may take in all.
const BUDGET: Duration = Duration::from_millis(500);

pub(crate) struct Facts {
    pub(crate) status: Status,
    pub(crate) host: Host,
    /// Bytes drawn for show; none while the kernel's generator is not seeded.
    pub(crate) sample: Option<[u8; 32]>,
    /// One for each implementation, headwater first, if measured.
    pub(crate) speed: Option<Vec<Speed>>,
}

/// What one implementation takes.
pub(crate) struct Speed {
    pub(crate) implementation: &'static str,
    /// Of the library or kernel that it is part of.
    pub(crate) version: Option<String>,
    /// At each of `SIZES`; none where it could not be measured.
    pub(crate) ns: Vec<Option<f64>>,
}

impl Facts {
    /// Draws and measures first, so that the counters tell how those draws were served. Never waits
    /// for the kernel to be seeded: a machine that is not is one to show the status of.
    pub(crate) fn gather(measure: bool) -> Result<Facts, headwater::Error> {
        let sample = sample()?;
        let measure = measure && sample.is_some();
        let speed = measure.then(speed);
        Ok(Facts { status: headwater::status(), host: Host::read(), sample, speed })
    }

    /// What both give, the command and the C library.
    pub(crate) fn shared(&self) -> headwater_status::Facts<'_> {
        let Facts { status, host, .. } = self;
        headwater_status::Facts { status, host, seeded: self.seeded() }
    }

    pub(crate) fn verdict(&self) -> Verdict {
        Verdict::of(&self.shared())
    }

    /// Whether the kernel's generator is seeded, which a draw that does not wait has told.
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
