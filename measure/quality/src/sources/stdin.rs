//! Standard input: bytes of any generator, as little-endian words.

use super::Source;
use crate::Error;
use std::io::{ErrorKind, Read};
use std::sync::{Arc, Mutex, Weak};
use std::thread;
use std::time::{Duration, Instant};

/// A reader as a source of words.
pub(crate) struct Stdin<R> {
    from: R,
    /// Bytes after the last whole word, which no test sees.
    pub(crate) left_over: usize,
    read: Arc<Mutex<Reading>>,
}

/// The present call of `read`, for the watcher.
struct Reading {
    since: Option<Instant>,
    bytes: u64,
}

/// A read that takes longer is reported: a forgotten generator and a slow one look the same to a
/// user.
const PATIENCE: Duration = Duration::from_secs(5);

impl<R: Read> Stdin<R> {
    /// Reads from `from`. Calls `stalled` once, with the number of bytes so far, if a read takes
    /// longer than five seconds.
    pub(crate) fn new(from: R, stalled: fn(u64)) -> Stdin<R> {
        let read = Arc::new(Mutex::new(Reading { since: None, bytes: 0 }));
        let watched = Arc::downgrade(&read);
        // Without the thread there is no message, and the run is the same.
        let _ = thread::Builder::new().spawn(move || watch(&watched, stalled));
        Stdin { from, left_over: 0, read }
    }

    /// Reads once, in view of the watcher.
    fn once(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        self.reading().since = Some(Instant::now());
        let result = self.from.read(out);
        let mut reading = self.reading();
        reading.since = None;
        reading.bytes += *result.as_ref().unwrap_or(&0) as u64;
        drop(reading);
        result
    }

    fn reading(&self) -> std::sync::MutexGuard<'_, Reading> {
        self.read.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// Ends when the source is dropped, or after its one message.
fn watch(read: &Weak<Mutex<Reading>>, stalled: fn(u64)) {
    loop {
        thread::sleep(PATIENCE / 10);
        let Some(read) = read.upgrade() else { return };
        let Ok(reading) = read.lock() else { return };
        if reading.since.is_some_and(|since| since.elapsed() > PATIENCE) {
            stalled(reading.bytes);
            return;
        }
    }
}

impl<R: Read + Send> Source for Stdin<R> {
    fn fill(&mut self, out: &mut [u64]) -> Result<usize, Error> {
        let mut bytes = vec![0; 8 * out.len()];
        let mut filled = 0;
        while filled < bytes.len() {
            match self.once(&mut bytes[filled..]) {
                Ok(0) => break,
                Ok(n) => filled += n,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    return Err(Error::Source {
                        source: "standard input".to_owned(),
                        reason: error.to_string(),
                    });
                }
            }
        }
        self.left_over = filled % 8;
        for (word, bytes) in out.iter_mut().zip(bytes[..filled].chunks_exact(8)) {
            *word = u64::from_le_bytes(bytes.try_into().expect("chunks of eight"));
        }
        Ok(filled / 8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns one byte at a time, as a pipe may.
    struct Drip<'a>(&'a [u8]);

    impl Read for Drip<'_> {
        fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
            let n = out.len().min(1).min(self.0.len());
            out[..n].copy_from_slice(&self.0[..n]);
            self.0 = &self.0[n..];
            Ok(n)
        }
    }

    #[test]
    fn short_reads_do_not_matter_and_the_end_is_reported() {
        let bytes: Vec<u8> = (1..=29).collect();
        let mut source = Stdin::new(Drip(&bytes), |_| panic!("nothing stalls"));
        let mut words = [0; 2];
        assert_eq!(source.fill(&mut words).unwrap(), 2);
        assert_eq!(words, [0x0807_0605_0403_0201, 0x100f_0e0d_0c0b_0a09]);
        assert_eq!(source.fill(&mut words).unwrap(), 1);
        assert_eq!(source.left_over, 5);
    }
}
