//! A command that this process waits for, with the signals that other processes send to this one.

use crate::children;
use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::signal::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH};
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::iterator::{Handle, SignalsInfo};
use std::io;
use std::process::{Command, ExitStatus};
use std::sync::mpsc::{Sender, channel};
use std::thread::{Builder, JoinHandle};

/// Everything that waiting takes, except for the command.
pub(crate) struct Relay {
    thread: JoinHandle<()>,
    signals: Handle,
    child: Sender<Pid>,
}

impl Relay {
    /// Catches the signals, and starts the thread that sends them on. Both come before the command:
    /// no signal ends this process and leaves the command alone, and where no thread can be had,
    /// there is no command yet that would run without this process.
    ///
    /// # Errors
    ///
    /// A message of one line.
    pub(crate) fn start() -> Result<Relay, String> {
        let failed = |error: io::Error| format!("cannot wait for the command: {error}");
        let mut signals = SignalsInfo::<WithOrigin>::new([
            SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH,
        ])
        .map_err(failed)?;
        children::keep_status().map_err(failed)?;
        let handle = signals.handle();
        let (child, started) = channel::<Pid>();
        let send_on = move || {
            let Ok(child) = started.recv() else { return };
            for signal in &mut signals {
                // The terminal sends its signals to the command as well: both are in the
                // foreground.
                let is_sent = signal.process.is_some();
                if is_sent && let Some(signal) = Signal::from_named_raw(signal.signal) {
                    // An error means that the command has ended.
                    let _ = kill_process(child, signal);
                }
            }
        };
        let thread = Builder::new().name("headwater-signals".to_owned()).spawn(send_on);
        Ok(Relay { thread: thread.map_err(failed)?, signals: handle, child })
    }

    /// Runs the command to its end.
    ///
    /// # Errors
    ///
    /// The error of exec, or of the waiting.
    pub(crate) fn run(self, command: &mut Command) -> io::Result<ExitStatus> {
        let mut child = command.spawn()?;
        // The thread is there until the signals are closed.
        let _ = self.child.send(Pid::from_child(&child));
        let status = child.wait();
        self.signals.close();
        let _ = self.thread.join();
        status
    }
}
