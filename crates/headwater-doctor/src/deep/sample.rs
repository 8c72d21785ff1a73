//! A bounded sample of a hardware source, and its health.

use crate::Root;
use headwater_quality::{Health, Open};
use serde::Serialize;
use std::io::{self, Read};
use std::sync::mpsc::{Receiver, TryRecvError, channel};

/// Fewer than the standard asks a start-up test to look at (SP 800-90B, 4.3) is no sample.
const LEAST: usize = 1024;
/// Enough for a hundred windows of the second test, and little for a slow device.
const MOST: usize = 64 << 10;

pub(super) const RDRAND: &str = "RDRAND";
const DEVICE: &str = "/dev/hwrng";

/// A sample of a hardware source.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sample {
    /// Of what.
    pub source: &'static str,
    /// How many bytes came in time.
    pub bytes: usize,
    /// The tests that it was put to.
    pub tests: Vec<Test>,
    /// Why there is no sample.
    pub skipped: Option<String>,
}

/// One health test.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Test {
    /// Which.
    pub name: &'static str,
    /// It alarms at this count.
    pub cutoff: usize,
    /// The highest count seen.
    pub highest: usize,
    /// How often it alarmed.
    pub alarms: u64,
}

impl Test {
    /// In a line.
    pub fn says(&self) -> String {
        let alarms =
            crate::report::number(usize::try_from(self.alarms).unwrap_or(usize::MAX), "alarm");
        format!(
            "{} test: {alarms}; highest count {}, cutoff {}",
            self.name, self.highest, self.cutoff
        )
    }
}

impl From<Health> for Test {
    fn from(health: Health) -> Test {
        let Health { name, cutoff, highest, alarms } = health;
        Test { name, cutoff, highest, alarms }
    }
}

fn judged(source: &'static str, bytes: &[u8]) -> Sample {
    if bytes.len() < LEAST {
        let why = format!("it gave {} bytes in time, too few to judge", bytes.len());
        return Sample { bytes: bytes.len(), ..skipped(source, why) };
    }
    let tests = headwater_quality::health(bytes).map(Test::from).into();
    Sample { source, bytes: bytes.len(), tests, skipped: None }
}

fn skipped(source: &'static str, why: String) -> Sample {
    Sample { source, bytes: 0, tests: Vec::new(), skipped: Some(why) }
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
                    // Nobody listens any more: time is up.
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
    /// What has come until now.
    pub(super) fn end(self) -> Sample {
        let mut bytes = Vec::new();
        loop {
            match self.pieces.try_recv() {
                Ok(Ok(piece)) => bytes.extend(piece),
                Ok(Err(error)) if bytes.len() < LEAST => return skipped(DEVICE, why(&error)),
                Ok(Err(_)) | Err(TryRecvError::Empty | TryRecvError::Disconnected) => {
                    return judged(DEVICE, &bytes);
                }
            }
        }
    }
}

fn why(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such device".to_owned(),
        io::ErrorKind::PermissionDenied => "needs root".to_owned(),
        // The device is there, and has no driver behind it.
        _ => error.to_string(),
    }
}

/// As the CPU gives it, through headwater-quality, which alone has the instruction.
pub(super) fn rdrand() -> Sample {
    let named = headwater_quality::sources().find(|source| source.name == "rdrand");
    let Some(Open::Live(open)) = named.map(|named| &named.open) else {
        return skipped(RDRAND, "this build cannot draw it".to_owned());
    };
    let mut words = vec![0; MOST / 8];
    match open().and_then(|mut source| source.fill(&mut words)) {
        Ok(_) => {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            judged(RDRAND, &bytes)
        }
        Err(error) => skipped(RDRAND, error.to_string()),
    }
}
