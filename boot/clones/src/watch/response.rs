//! The response to a copy: the kernel reseeds, the count moves, hooks run.

use super::page::Page;
use super::signals::Signal;
use crate::args::WatchArgs;
use crate::process::run_hook;
use crate::repair::{self, Step};
use anyhow::Result;
use serde::Serialize;
use std::path::PathBuf;
use std::process::Command;
use std::sync::mpsc::Receiver;
use std::time::Instant;

/// A copy that was seen and counted.
#[derive(Debug)]
pub struct Seen {
    signal: Signal,
    copies: u64,
    reseed_error: Option<String>,
    us: u64,
}

/// The report of a copy.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Response {
    /// `headwater.clones-watch/1`.
    pub schema: &'static str,
    /// The count in the page after this copy.
    pub copies: u64,
    /// The signal that came first.
    pub signal: Signal,
    /// True if the kernel was reseeded for this copy before the count moved: by itself, or by this
    /// process.
    pub kernel_reseeded: bool,
    /// Why the kernel was not reseeded.
    pub reseed_error: Option<String>,
    /// Microseconds from the end of the sleep until the count had moved.
    pub us: u64,
    /// The hooks, in order.
    pub hooks: Vec<Step>,
}

/// Reseeds the kernel if it has not done so itself, and counts.
///
/// With vmgenid the kernel reseeds before it writes the line that woke this process. Without, it
/// does not know that it was copied. Then the call makes it take a new key, in which it mixes words
/// of the CPU; where the CPU has no such instruction, only the host can make two copies differ
/// (`headwater clones repair`).
pub(super) fn respond(signal: Signal, page: &Page, woken: Instant) -> Seen {
    let reseeded = match signal {
        Signal::KernelLog => Ok(()),
        Signal::Vmclock | Signal::Vsock | Signal::WallClock | Signal::Restore => {
            repair::reseed_now()
        }
    };
    let copies = page.count();
    Seen {
        signal,
        copies,
        reseed_error: reseeded.err().map(|error| format!("{error:#}")),
        us: u64::try_from(woken.elapsed().as_micros()).unwrap_or(u64::MAX),
    }
}

/// The programs to run after each copy.
pub(super) struct Hooks {
    directory: Option<PathBuf>,
    line: Option<String>,
}

impl Hooks {
    pub(super) fn new(args: &WatchArgs) -> Hooks {
        Hooks { directory: args.hooks.clone(), line: args.exec.clone() }
    }

    /// Runs the hooks of each copy, and reports it.
    pub(super) fn run(
        &self,
        copies: &Receiver<Seen>,
        mut report: impl FnMut(&Response) -> Result<()>,
    ) -> Result<()> {
        for seen in copies {
            let mut hooks = Vec::new();
            match repair::hooks_of(self.directory.as_deref()) {
                Ok(programs) => {
                    for program in programs {
                        hooks.push(step(
                            program.display().to_string(),
                            Command::new(program),
                            &seen,
                        ));
                    }
                }
                Err(error) => {
                    let error = Some(format!("{error:#}"));
                    hooks.push(Step { name: "hooks".to_owned(), error });
                }
            }
            if let Some(line) = &self.line {
                let mut shell = Command::new("sh");
                shell.args(["-c", line]);
                hooks.push(step(line.clone(), shell, &seen));
            }
            report(&Response {
                schema: "headwater.clones-watch/1",
                copies: seen.copies,
                signal: seen.signal,
                kernel_reseeded: seen.reseed_error.is_none(),
                reseed_error: seen.reseed_error,
                us: seen.us,
                hooks,
            })?;
        }
        Ok(())
    }
}

/// Runs a hook, which finds the count in its environment.
fn step(name: String, mut command: Command, seen: &Seen) -> Step {
    command.env("HEADWATER_COPIES", seen.copies.to_string());
    Step { name, error: run_hook(&mut command).err().map(|error| format!("{error:#}")) }
}
