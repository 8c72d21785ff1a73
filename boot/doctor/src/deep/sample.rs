//! A bounded sample of a hardware source, and its health.

use crate::Root;
use headwater_health::{HealthTest, health};
use serde::Serialize;
use std::io::{self, Read};
use std::sync::mpsc::{Receiver, TryRecvError, channel};

/// SP 800-90B, section 4.3, asks for so many bytes in a start-up test.
const LEAST: usize = 1024;
/// Enough for a hundred windows of the second test, and little for a slow device.
pub(super) const MOST: usize = 64 << 10;

const DEVICE: &str = "/dev/hwrng";

/// A sample of a hardware source.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Sample {
    /// The source.
    pub source: &'static str,
    /// The number of bytes that arrived in time.
    pub bytes: usize,
    /// The tests that it was put to.
    pub tests: Vec<HealthTest>,
    /// The reason if there is no sample.
    pub skipped: Option<String>,
    /// True if the source does not exist, so that nothing was left unchecked.
    #[serde(skip)]
    pub absent: bool,
}

pub(super) fn judged(source: &'static str, bytes: &[u8]) -> Sample {
    if bytes.len() < LEAST {
        let why = format!("it gave {} bytes in time, too few to judge", bytes.len());
        return Sample { bytes: bytes.len(), ..skipped(source, why) };
    }
    let tests = health(bytes).into();
    Sample { source, bytes: bytes.len(), tests, skipped: None, absent: false }
}

pub(super) fn skipped(source: &'static str, why: String) -> Sample {
    Sample { source, bytes: 0, tests: Vec::new(), skipped: Some(why), absent: false }
}

/// A device that is being read, by a thread that may be stuck in it for as long as it likes.
pub(super) struct Reading {
    pieces: Receiver<io::Result<Vec<u8>>>,
}

/// Begins to read; what has come is judged at the end.
pub(super) fn begin_device(root: Root) -> Reading {
    let (to, pieces) = channel();
    std::thread::spawn(move || {
        let mut file = match root.reader(DEVICE) {
            Ok(file) => file,
            Err(error) => return drop(to.send(Err(error))),
        };
        let mut left = MOST;
        while left > 0 {
            let mut piece = vec![0; left.min(512)];
            match file.read(&mut piece) {
                Ok(0) => return,
                Ok(length) => {
                    left -= length;
                    piece.truncate(length);
                    // The receiver is gone: time is up.
                    if to.send(Ok(piece)).is_err() {
                        return;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return drop(to.send(Err(error))),
            }
        }
    });
    Reading { pieces }
}

impl Reading {
    /// Judges the bytes that have arrived.
    pub(super) fn end(self) -> Sample {
        let mut bytes = Vec::new();
        loop {
            match self.pieces.try_recv() {
                Ok(Ok(piece)) => bytes.extend(piece),
                Ok(Err(error)) if bytes.len() < LEAST => {
                    let absent = error.kind() == io::ErrorKind::NotFound;
                    return Sample { absent, ..skipped(DEVICE, why(&error)) };
                }
                Ok(Err(_)) | Err(TryRecvError::Empty | TryRecvError::Disconnected) => {
                    return judged(DEVICE, &bytes);
                }
            }
        }
    }
}

fn why(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such device".to_owned(),
        io::ErrorKind::PermissionDenied => "needs root".to_owned(),
        // The device is there, and has no driver.
        _ => error.to_string(),
    }
}
