//! Waiting for the kernel's generator, as programs wait for it.

use rustix::io::Errno;
use rustix::rand::{GetRandomFlags, getrandom};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waited {
    /// It was ready when asked.
    Not,
    /// It got ready, after so long.
    For(Duration),
    /// It did not get ready in time.
    InVain,
}

impl Waited {
    /// The exit status that says so.
    pub fn exit_status(self) -> u8 {
        u8::from(self == Waited::InVain)
    }

    /// What to print of a wait with that limit, in a line without an end.
    pub fn told(self, timeout: Option<Duration>) -> String {
        match self {
            Waited::Not => "ready: did not wait".to_owned(),
            Waited::For(time) => format!("ready: waited {:.3} s", time.as_secs_f64()),
            Waited::InVain => {
                let seconds = timeout.unwrap_or(Duration::MAX).as_secs_f64();
                format!("not ready after {seconds} s; 'headwater doctor' tells why")
            }
        }
    }
}

/// Waits until the kernel's generator is ready, for `timeout` at most.
///
/// By a getrandom(2) that waits, and not by poll(2) on /dev/random: the first program that waits in getrandom makes a kernel from
/// 5.4 on gather entropy from the CPU's timing (drivers/char/random.c, try_to_generate_entropy), and poll does not.
///
/// # Errors
///
/// The errno of getrandom(2), where a sandbox refuses it or the kernel (before 3.17) does not have it.
pub fn wait(timeout: Option<Duration>) -> Result<Waited, std::io::Error> {
    let begun = Instant::now();
    match getrandom(&mut [0; 1], GetRandomFlags::NONBLOCK) {
        Ok(_) => return Ok(Waited::Not),
        Err(Errno::AGAIN) => {}
        Err(errno) => return Err(errno.into()),
    }
    // In a thread of its own, because nothing else ends a getrandom in time; where it waits on, the process ends with it.
    let (to, from) = channel();
    std::thread::spawn(move || {
        let asked = loop {
            match getrandom(&mut [0; 1], GetRandomFlags::empty()) {
                Err(Errno::INTR) => {}
                asked => break asked,
            }
        };
        // Nobody listens any more after the time-out.
        let _ = to.send(asked);
    });
    let asked = match timeout {
        Some(timeout) => from.recv_timeout(timeout),
        None => from.recv().map_err(|_| RecvTimeoutError::Disconnected),
    };
    match asked {
        Ok(Ok(_)) => Ok(Waited::For(begun.elapsed())),
        Ok(Err(errno)) => Err(errno.into()),
        Err(_) => Ok(Waited::InVain),
    }
}
