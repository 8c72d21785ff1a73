//! The program: a supervisor, the processes of its rounds, and their disturbances.

mod args;
mod disturb;
mod draws;
mod forks;
mod hooks;
mod plan;
mod record;
mod signals;
mod supervisor;
mod worker;

use args::Arguments;
use clap::Parser;
use std::process::ExitCode;

pub(crate) fn main() -> anyhow::Result<ExitCode> {
    match Arguments::parse() {
        Arguments { worker: Some(worker), seed: Some(seed), .. } => worker::run(worker, seed),
        Arguments { minutes, seed, round, no_sections, .. } => {
            supervisor::run(minutes, seed, round, no_sections)
        }
    }
}
