//! The sources of entropy, which explain the end of a stall.

use super::INTERVAL_S;
use super::files::read_at;
use rustix::fd::{AsFd, OwnedFd};

/// A device that appeared so shortly before the generator was ready has seeded it.
const DEVICE_S: f64 = 2.0;
/// Bits after which the generator of Linux 5.18 and later is ready, which is also its poolsize. An
/// older kernel's entropy_avail counts another pool.
const READY_BITS: u32 = 256;
/// Fewer bits at the last look, and readiness at the next, mean that a source was credited at once.
const NEARLY_BITS: u32 = 192;
/// The jitter loop credits a bit for each tick of the timer, 100 a second or more. Interrupts
/// credit few bits a second.
const JITTER_BITS_PER_S: f64 = 20.0;

/// Sources of entropy, read at some looks, by which the cause of readiness is found.
pub(super) struct Sources {
    proc: Option<OwnedFd>,
    sys: Option<OwnedFd>,
    counts_readiness: bool,
    /// Time and entropy_avail at the first look and at the last one.
    first: Option<(f64, u32)>,
    last: Option<(f64, u32)>,
    device: [u8; 64],
    device_length: usize,
    since: f64,
    looks: u64,
}

impl Sources {
    pub(super) fn new(proc: Option<OwnedFd>, sys: Option<OwnedFd>) -> Sources {
        let mut sources = Sources {
            proc,
            sys,
            counts_readiness: false,
            first: None,
            last: None,
            device: [0; 64],
            device_length: 0,
            since: f64::NEG_INFINITY,
            looks: 0,
        };
        let bits = sources.bits(c"sys/kernel/random/poolsize");
        sources.counts_readiness = bits == Some(READY_BITS);
        sources
    }

    fn bits(&self, path: &std::ffi::CStr) -> Option<u32> {
        let mut space = [0; 32];
        let text = read_at(self.proc.as_ref()?.as_fd(), path, &mut space);
        std::str::from_utf8(text).ok()?.trim().parse().ok()
    }

    pub(super) fn look(&mut self, now: f64) {
        self.looks += 1;
        let mut space = [0; 64];
        if let Some(bits) = self.bits(c"sys/kernel/random/entropy_avail") {
            self.first = self.first.or(Some((now, bits)));
            self.last = Some((now, bits));
        }
        if self.device_length > 0 {
            return;
        }
        if let Some(sys) = &self.sys {
            let path = c"class/misc/hw_random/rng_current";
            let text = read_at(sys.as_fd(), path, &mut space).trim_ascii();
            if !text.is_empty() && text != b"none" {
                self.device_length = text.len();
                for (to, from) in self.device.iter_mut().zip(text) {
                    *to = *from;
                }
                // A device that was there at the first look is not the cause by its time alone.
                self.since = if self.looks > 1 { now } else { f64::NEG_INFINITY };
            }
        }
    }

    /// Returns the cause of readiness, as far as it can be seen.
    pub(super) fn cause(&mut self, now: f64, saw_jitter: bool) -> Option<String> {
        let (first, last) = (self.first, self.last);
        self.look(now);
        if now - self.since <= DEVICE_S {
            let name = self.device.get(..self.device_length).unwrap_or_default();
            return Some(String::from_utf8_lossy(name).into_owned());
        }
        if saw_jitter {
            return Some("timing jitter".to_owned());
        }
        let ((from, low), (to, high)) = first.zip(last).filter(|_| self.counts_readiness)?;
        let rate = f64::from(high.saturating_sub(low)) / (to - from).max(INTERVAL_S);
        let source = match () {
            () if rate > JITTER_BITS_PER_S => "timing jitter",
            () if high < NEARLY_BITS => "a credited seed",
            () => "interrupts",
        };
        Some(source.to_owned())
    }
}
