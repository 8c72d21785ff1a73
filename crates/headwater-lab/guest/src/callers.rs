//! Who waits for randomness at boot: every way in which a program asks, each in a process of its own.
//!
//! getrandom(2) asks first, alone: each process that waits runs a jitter loop of its own, so that four who wait together
//! wait a third as long. The others come when it has its bytes, or has waited for five seconds.

use crate::kernel;
#[cfg(openssl)]
use crate::openssl;
use crate::port::say;
use crate::ring::shared;
use rand::Rng as _;
use std::io::Read;
use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Release},
};

/// A name, and a request that returns when it has bytes.
type Caller = (&'static str, fn() -> Result<(), String>);

const CALLERS: &[Caller] = &[
    ("getrandom", || kernel::getrandom(&mut [0; 16], 0).map(drop).map_err(|e| e.to_string())),
    ("/dev/random", || {
        let mut device = std::fs::File::open("/dev/random").map_err(|e| e.to_string())?;
        device.read_exact(&mut [0; 16]).map_err(|e| e.to_string())
    }),
    // Gives bytes before the kernel is ready, and yet may take as long: since 5.18 it tries the jitter loop first.
    ("/dev/urandom", || {
        let mut device = std::fs::File::open("/dev/urandom").map_err(|e| e.to_string())?;
        device.read_exact(&mut [0; 16]).map_err(|e| e.to_string())
    }),
    ("headwater", || headwater::fill(&mut [0; 16]).map_err(|e| e.to_string())),
    ("rand", || {
        rand::rng().fill_bytes(&mut [0; 16]);
        Ok(())
    }),
    #[cfg(openssl)]
    ("openssl", || if openssl::fill(&mut [0; 16]) { Ok(()) } else { Err("no bytes".to_owned()) }),
];

/// Those that have been started.
pub(crate) struct Callers {
    pids: Vec<i32>,
    /// For each: begun and ended, in microseconds since boot; 0: not yet.
    times: &'static [AtomicU64],
}

impl Callers {
    /// Starts the first.
    pub(crate) fn start() -> std::io::Result<Callers> {
        let mut callers = Callers { pids: Vec::new(), times: shared(2 * CALLERS.len())? };
        callers.start_until(1)?;
        Ok(callers)
    }

    /// Starts the others when it is time; called again and again.
    pub(crate) fn go_on(&mut self) -> std::io::Result<()> {
        const ALONE: f64 = 5.0;
        let [begun, ended] = [0, 1].map(|at| self.times[at].load(Acquire) as f64 / 1e6);
        if ended > 0.0 || begun > 0.0 && kernel::now() > begun + ALONE {
            self.start_until(CALLERS.len())?;
        }
        Ok(())
    }

    fn start_until(&mut self, end: usize) -> std::io::Result<()> {
        let times = self.times;
        let micros = || (kernel::now() * 1e6) as u64;
        for index in self.pids.len()..end {
            let call = CALLERS[index].1;
            self.pids.push(kernel::fork(|| {
                times[2 * index].store(micros(), Release);
                if call().is_ok() {
                    times[2 * index + 1].store(micros(), Release);
                }
            })?);
        }
        Ok(())
    }

    pub(crate) fn are_done(&self) -> bool {
        self.times.iter().all(|time| time.load(Acquire) != 0)
    }

    /// Tells how long each waited. Those that still do are told so, and ended.
    pub(crate) fn finish(self) {
        for (index, &pid) in self.pids.iter().enumerate() {
            let name = CALLERS[index].0;
            let [begun, ended] =
                [0, 1].map(|at| self.times[2 * index + at].load(Acquire) as f64 / 1e6);
            if ended > 0.0 {
                say!("caller name={name} from={begun:.6} to={ended:.6}");
            } else {
                say!("caller name={name} from={begun:.6} to=never at={:.6}", kernel::now());
            }
            kernel::kill(pid);
        }
    }
}

/// What must never wait: each answers at once, ready or not.
pub(crate) fn impatient() {
    let tell = |name: &str, begun: f64, answer: String| {
        say!("impatient name={name} took={:.6} answer={answer}", kernel::now() - begun);
    };
    let begun = kernel::now();
    let answer = headwater::try_fill(&mut [0; 16]);
    let answer = match answer {
        Ok(()) => "ok",
        Err(headwater::Error::NOT_READY) => "not-ready",
        Err(_) => "error",
    };
    tell("headwater-try", begun, answer.to_owned());
    let begun = kernel::now();
    let answer = kernel::getrandom(&mut [0; 16], libc::GRND_NONBLOCK);
    let answer = answer.map_or_else(
        |e| if e.raw_os_error() == Some(libc::EAGAIN) { "not-ready" } else { "error" },
        |_| "ok",
    );
    tell("getrandom-nonblock", begun, answer.to_owned());
}
