//! `headwater` and `headwater status`: the status of this machine, or of OpenSSL in programs.

mod openssl;

use crate::facts::Facts;
use crate::failure::Failure;
use crate::{json, output, screen};
use std::ffi::OsString;

/// Show the status of this machine, as `headwater` alone does
#[derive(clap::Args)]
#[command(after_help = "\
--openssl says whether OpenSSL draws from headwater, in running processes (--pid) or in a command, which
is run with the configuration that it has. OpenSSL ignores a configuration that is gone, unreadable or
wrong, and says nothing.

Exit status with --openssl: 0 if headwater's module is in use and no program has OpenSSL without it; 1
otherwise; 3 if a process cannot be read or the command cannot be run.")]
pub(crate) struct Args {
    /// Print JSON (schema headwater.status/1), without the speed table unless --speed asks for it
    #[arg(long)]
    json: bool,

    /// Measure speed for the JSON too, which takes half a second; the screen has it anyway
    #[arg(long, conflicts_with = "openssl")]
    speed: bool,

    /// Say whether OpenSSL in running processes, or in a command, draws from headwater
    #[arg(long, conflicts_with = "json")]
    openssl: bool,

    /// A running process; may be repeated
    #[arg(long, value_name = "PID", requires = "openssl")]
    pid: Vec<u32>,

    /// Run this command to its end, and report on the programs that it started
    #[arg(last = true, value_name = "COMMAND", requires = "openssl", conflicts_with = "pid")]
    command: Vec<OsString>,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    if args.openssl {
        return match (&*args.pid, &*args.command) {
            ([], []) => Err(Failure::Usage(
                "--openssl needs processes (--pid PID) or a command (-- COMMAND)".to_owned(),
            )),
            ([], command) => openssl::command(command),
            (processes, _) => openssl::processes(processes),
        };
    }
    if !args.json {
        return screen();
    }
    let facts = Facts::gather(args.speed)?;
    output::json(&json::document(&facts))?;
    Ok(())
}

/// Prints the screen of `headwater` without a verb.
pub(crate) fn screen() -> Result<(), Failure> {
    let facts = Facts::gather(true)?;
    output::coloured(&screen::render(&facts))?;
    Ok(())
}
