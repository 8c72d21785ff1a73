//! The `headwater` command: one verb a file under `cmd`, and this table of them.
//!
//! Data goes to stdout, messages go to stderr. Exit statuses: 0 success, 1 finding or failed check,
//! 2 wrong usage, 3 could not read or write. `run` uses the statuses of env(1).

mod args;
mod children;
mod closed;
mod cmd;
mod dump;
mod facts;
mod failure;
mod json;
mod openssl;
mod output;
mod preload;
mod progress;
mod screen;
// In tests/ beside its snapshots. A module, because it renders facts that no command line can set.
#[cfg(test)]
#[path = "../tests/unit/snapshots.rs"]
mod snapshots;

use args::{Cli, Verb};
use cmd::{
    bench, bytes, clones, completions, doctor, lab, quality, run as run_verb, status, stream, uuid,
    version,
};
use failure::Failure;
use std::process::ExitCode;

fn main() -> ExitCode {
    // `bench` starts this program again to measure what only a fresh process shows.
    if let Some(code) = headwater_bench::child() {
        return code;
    }
    match args::parse().and_then(run) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn run(cli: Cli) -> Result<(), Failure> {
    if cli.short_version {
        return version::short();
    }
    if cli.long_version {
        return version::long();
    }
    // The command of `run` has the signals as its caller left them.
    if !matches!(cli.verb, Some(Verb::Run(_))) {
        children::keep_status()?;
    }
    match cli.verb {
        None => status::screen(),
        Some(Verb::Status(args)) => status::run(&args),
        Some(Verb::Doctor(args)) => doctor::run(&args),
        Some(Verb::Wait(args)) => doctor::wait(&args),
        Some(Verb::Bytes(args)) => bytes::run(&args),
        Some(Verb::Uuid(args)) => uuid::run(&args),
        Some(Verb::Stream(args)) => stream::run(&args),
        Some(Verb::Bench(args)) => bench::run(&args),
        Some(Verb::Lab(args)) => lab::run(&args),
        Some(Verb::Clones(args)) => clones::run(&args),
        Some(Verb::Quality(args)) => quality::run(&args),
        Some(Verb::Run(args)) => run_verb::run(&args),
        Some(Verb::Completions(args)) => completions::run(&args),
    }
}
