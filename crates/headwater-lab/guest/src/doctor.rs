//! The doctor where the kernel's generator is what the lab has made it: as commands of this program, run as processes of
//! their own, and timed from the first one.

use crate::kernel::{self, now};
use crate::port::say;
use clap::Parser;
use headwater_doctor::{Args, WaitArgs};
use std::fs::File;
use std::io::{self, Write};
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

/// What the doctor prints, for the lab to read when nothing is measured any more.
const REPORT: &str = "/doctor.json";
/// The name of the process that asks for bytes and has to wait if anybody has.
const PATIENT: &std::ffi::CStr = c"patient";
/// As the commands say: the exit status of wrong usage, and of what could not be done.
const WRONG: u8 = 2;
const FAILED: u8 = 3;

/// `headwater` as far as the lab needs it here: what it answers, by the doctor's own crate.
#[derive(Parser)]
enum Headwater {
    Doctor(Box<Args>),
    Wait(WaitArgs),
}

/// A command line that begins with `doctor` or `wait`.
pub(crate) fn command() -> ExitCode {
    let status = match Headwater::try_parse() {
        Ok(Headwater::Doctor(args)) => {
            headwater_doctor::run(&args).map_err(|it| it.to_string()).and_then(|report| {
                let json = serde_json::to_string(&report).map_err(|error| error.to_string())?;
                print(&json).map(|()| report.verdict().exit_status())
            })
        }
        Ok(Headwater::Wait(args)) => headwater_doctor::wait(args.timeout)
            .map_err(|error| error.to_string())
            .and_then(|waited| print(&waited.told(args.timeout)).map(|()| waited.exit_status())),
        Err(error) => {
            let _ = error.print();
            Ok(WRONG)
        }
    };
    ExitCode::from(status.unwrap_or_else(|error| {
        eprintln!("headwater-guest: {error}");
        FAILED
    }))
}

fn print(line: &str) -> Result<(), String> {
    writeln!(io::stdout(), "{line}").map_err(|error| error.to_string())
}

/// Has one process ask for bytes, and the two commands say what they make of it.
///
/// Only a line each is told, and both at the end: what goes over the serial line interrupts, which the kernel credits.
pub(crate) fn examine() {
    let Ok(patient) = kernel::fork(|| {
        kernel::name_process(PATIENT);
        let _ = kernel::getrandom(&mut [0; 16], 0);
        // It must be there to be looked at, or to be found idle.
        loop {
            std::thread::sleep(Duration::from_secs(1));
        }
    }) else {
        return say!("failed text=no process could be started");
    };
    std::thread::sleep(Duration::from_millis(100)); // until it has asked
    let doctor = timed(&["doctor", "--json"], REPORT);
    let wait = timed(&["wait", "--timeout", "3"], "/wait.txt");
    kernel::kill(patient);
    for (word, ran) in [("doctor", doctor), ("wait", wait)] {
        match ran {
            Ok(Ran { status, took }) => {
                say!("{word} status={status} took={took:.6} patient={patient}");
            }
            Err(error) => say!("failed text={word}: {error}"),
        }
    }
}

struct Ran {
    status: i32,
    took: f64,
}

/// Runs this program with arguments, its output into a file.
fn timed(arguments: &[&str], file: &str) -> io::Result<Ran> {
    let output = File::create(file)?;
    let begun = now();
    let mut command = Command::new("/init");
    command.args(arguments).stdin(Stdio::null()).stdout(output);
    let status = command.status()?;
    let took = now() - begun;
    let status = status.code().ok_or_else(|| io::Error::other(format!("ended by {status}")))?;
    Ok(Ran { status, took })
}
