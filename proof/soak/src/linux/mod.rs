//! The program: a supervisor, the processes of its rounds, and their disturbances.

mod args;
mod disturb;
mod draws;
mod forks;
mod group;
mod hooks;
mod plan;
mod record;
mod refuse;
mod signals;
mod state;
mod supervisor;
mod worker;

use args::Arguments;
use clap::Parser;
use std::process::ExitCode;

pub(crate) fn main() -> anyhow::Result<ExitCode> {
    match Arguments::parse() {
        Arguments { worker: Some(worker), seed: Some(seed), .. } => worker::run(worker, seed),
        arguments => supervisor::run(&arguments),
    }
}
