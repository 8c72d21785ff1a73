//! The program: a supervisor, the processes of its rounds, and their disturbances.

mod args;
mod disturb;
mod draws;
mod forks;
mod group;
mod hooks;
mod output;
mod plan;
mod record;
mod refuse;
mod signals;
mod state;
mod stop;
mod supervisor;
mod words;
mod worker;

use args::{Arguments, Usage};
use clap::Parser;
use std::io::Write;
use std::process::ExitCode;

pub(crate) fn main() -> ExitCode {
    let ended = match Arguments::parse() {
        Arguments { worker: Some(worker), seed: Some(seed), .. } => worker::run(worker, seed),
        arguments => supervisor::run(&arguments),
    };
    ended.unwrap_or_else(|error| {
        // Not `eprintln`, which panics if standard error is full.
        let _ = writeln!(std::io::stderr(), "headwater-soak: {error:#}");
        ExitCode::from(if error.is::<Usage>() { 2 } else { 3 })
    })
}
