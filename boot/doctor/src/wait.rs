//! Waiting for the kernel's generator, as programs wait for it.

use rustix::io::Errno;
use rustix::rand::{GetRandomFlags, getrandom};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// The end of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitOutcome {
    /// The generator was ready at once.
    Not,
    /// The generator became ready after this time.
    For(Duration),
    /// The generator did not become ready in time.
    InVain,
}

impl WaitOutcome {
    /// Returns the exit status of this outcome.
    pub fn exit_status(self) -> u8 {
        u8::from(self == WaitOutcome::InVain)
    }

    /// Returns the line to print, without its newline.
    pub fn message(self, timeout: Option<Duration>) -> String {
        match self {
            WaitOutcome::Not => "ready: did not wait".to_owned(),
            WaitOutcome::For(time) => format!("ready: waited {:.3} s", time.as_secs_f64()),
            WaitOutcome::InVain => {
                let seconds = timeout.unwrap_or(Duration::MAX).as_secs_f64();
                format!("not ready after {seconds} s; 'headwater doctor' says why")
            }
        }
    }
}

/// Waits until the kernel's generator is ready, for `timeout` at most.
///
/// Calls getrandom(2), not poll(2) on /dev/random: since 5.4 the first program that blocks in
/// getrandom makes the kernel gather entropy from the CPU's timing (drivers/char/random.c,
/// try_to_generate_entropy), and poll does not.
///
/// # Errors
///
/// Returns the errno of getrandom(2) if a sandbox refuses the call, or the kernel (before 3.17)
/// lacks it.
pub fn wait(timeout: Option<Duration>) -> Result<WaitOutcome, std::io::Error> {
    let begun = Instant::now();
    match getrandom(&mut [0; 1], GetRandomFlags::NONBLOCK) {
        Ok(_) => return Ok(WaitOutcome::Not),
        Err(Errno::AGAIN) => {}
        Err(errno) => return Err(errno.into()),
    }
    // A thread of its own, because no timeout can end a getrandom that blocks. If it blocks on, it
    // ends with the process.
    let (to, from) = channel();
    std::thread::spawn(move || {
        let asked = loop {
            match getrandom(&mut [0; 1], GetRandomFlags::empty()) {
                Err(Errno::INTR) => {}
                asked => break asked,
            }
        };
        // The receiver is gone after the timeout.
        let _ = to.send(asked);
    });
    let asked = match timeout {
        Some(timeout) => from.recv_timeout(timeout),
        None => from.recv().map_err(|_| RecvTimeoutError::Disconnected),
    };
    match asked {
        Ok(Ok(_)) => Ok(WaitOutcome::For(begun.elapsed())),
        Ok(Err(errno)) => Err(errno.into()),
        Err(_) => Ok(WaitOutcome::InVain),
    }
}
