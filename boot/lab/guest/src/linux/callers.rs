//! Requests for random bytes at boot: one of every kind, each in a process of its own.
//!
//! Why not all at once? Each waiting process runs a jitter loop of its own, so four that wait
//! together wait a third as long, and the lab would measure its own help. So getrandom(2) asks
//! first and alone, and the others start when the first has its bytes, or has waited for five
//! seconds.

use crate::linux::kernel;
#[cfg(openssl)]
use crate::linux::openssl;
use crate::linux::port::send;
use crate::linux::ring::shared;
use headwater_lab_protocol::{Answer, Caller, Impatient};
use rand::Rng as _;
use rustix::process::Pid;
use rustix::rand::GetRandomFlags;
use std::io::Read;
use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Release},
};

/// Microseconds after which the first request is no longer alone.
const ALONE_US: u64 = 5_000_000;

/// A name, and a request that returns when it has bytes.
type Request = (&'static str, fn() -> Result<(), String>);

const REQUESTS: &[Request] = &[
    ("getrandom", || {
        let wait = GetRandomFlags::empty();
        kernel::getrandom(&mut [0; 16], wait).map(drop).map_err(|error| error.to_string())
    }),
    ("/dev/random", || read_device("/dev/random")),
    // Returns bytes before the kernel is ready, but may take as long: since 5.18 a read tries the
    // jitter loop first.
    ("/dev/urandom", || read_device("/dev/urandom")),
    ("headwater", || headwater::fill(&mut [0; 16]).map_err(|error| error.to_string())),
    ("rand", || {
        rand::rng().fill_bytes(&mut [0; 16]);
        Ok(())
    }),
    #[cfg(openssl)]
    ("openssl", || if openssl::fill(&mut [0; 16]) { Ok(()) } else { Err("no bytes".to_owned()) }),
];

fn read_device(path: &str) -> Result<(), String> {
    let mut device = std::fs::File::open(path).map_err(|error| error.to_string())?;
    device.read_exact(&mut [0; 16]).map_err(|error| error.to_string())
}

/// The requests that have been started.
pub(crate) struct Callers {
    processes: Vec<Pid>,
    /// Start and end of each request in microseconds after boot; 0: not yet.
    times: &'static [AtomicU64],
}

impl Callers {
    /// Starts the first request.
    pub(crate) fn start() -> std::io::Result<Callers> {
        let mut callers = Callers { processes: Vec::new(), times: shared(2 * REQUESTS.len())? };
        callers.start_until(1)?;
        Ok(callers)
    }

    /// Starts the other requests once the first has its bytes, or has waited for long enough.
    pub(crate) fn start_the_others(&mut self) -> std::io::Result<()> {
        let [begun, ended] = self.times_of(0);
        if ended > 0 || begun > 0 && kernel::now_us() > begun + ALONE_US {
            self.start_until(REQUESTS.len())?;
        }
        Ok(())
    }

    fn start_until(&mut self, end: usize) -> std::io::Result<()> {
        let times = self.times;
        for index in self.processes.len()..end {
            let (name, request) = REQUESTS[index];
            self.processes.push(kernel::fork(|| {
                // The observer must report this name.
                if let Ok(name) = std::ffi::CString::new(name) {
                    kernel::name_process(&name);
                }
                times[2 * index].store(kernel::now_us(), Release);
                if request().is_ok() {
                    times[2 * index + 1].store(kernel::now_us(), Release);
                }
            })?);
        }
        Ok(())
    }

    fn times_of(&self, index: usize) -> [u64; 2] {
        [0, 1].map(|at| self.times[2 * index + at].load(Acquire))
    }

    pub(crate) fn are_done(&self) -> bool {
        self.times.iter().all(|time| time.load(Acquire) != 0)
    }

    /// Reports the times of each request, and kills those that still wait.
    pub(crate) fn finish(self) {
        for (index, &process) in self.processes.iter().enumerate() {
            let [from_us, ended] = self.times_of(index);
            let to_us = (ended > 0).then_some(ended);
            send(Caller {
                name: REQUESTS[index].0.to_owned(),
                from_us,
                to_us,
                until_us: to_us.unwrap_or_else(kernel::now_us),
            });
            kernel::kill(process);
        }
    }
}

/// Reports the answers to requests that must never wait, even if the kernel is not ready.
pub(crate) fn impatient() {
    let report = |name: &str, begun: u64, answer| {
        let took_us = kernel::now_us() - begun;
        send(Impatient { name: name.to_owned(), answer, took_us });
    };
    let begun = kernel::now_us();
    let answer = match headwater::try_fill(&mut [0; 16]) {
        Ok(()) => Answer::Ok,
        Err(headwater::Error::NOT_READY) => Answer::NotReady,
        Err(_) => Answer::Error,
    };
    report("headwater-try", begun, answer);
    let begun = kernel::now_us();
    let answer = match kernel::getrandom(&mut [0; 16], GetRandomFlags::NONBLOCK) {
        Ok(_) => Answer::Ok,
        Err(rustix::io::Errno::AGAIN) => Answer::NotReady,
        Err(_) => Answer::Error,
    };
    report("getrandom-nonblock", begun, answer);
}
