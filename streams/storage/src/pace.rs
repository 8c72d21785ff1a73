//! A limit for the rate of all threads together.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Bytes a second, or no limit.
pub(crate) struct Pace {
    rate: Option<u64>,
    /// The time at which the next piece may begin.
    next: Mutex<Instant>,
}

/// The longest sleep, after which a request to stop is noticed.
const SLICE: Duration = Duration::from_millis(50);

impl Pace {
    pub(crate) fn new(rate: Option<u64>) -> Pace {
        Pace { rate, next: Mutex::new(Instant::now()) }
    }

    /// Waits until `bytes` more may move, or until `stop`.
    pub(crate) fn wait(&self, bytes: usize, stop: &AtomicBool) {
        let Some(rate) = self.rate else { return };
        let takes = Duration::from_secs_f64(bytes as f64 / rate.max(1) as f64);
        let begin = {
            let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
            // Time in which the device was slower than the limit is not made up for.
            let begin = (*next).max(Instant::now());
            *next = begin + takes;
            begin
        };
        while let Some(left) = begin.checked_duration_since(Instant::now()) {
            if left.is_zero() || stop.load(Relaxed) {
                return;
            }
            sleep(left.min(SLICE));
        }
    }
}
