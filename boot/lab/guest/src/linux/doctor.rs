//! The doctor in a guest: as commands of this program, run as processes of their own and timed.

use crate::linux::kernel::{self, now_us};
use crate::linux::port::{fail, send};
use clap::Parser;
use headwater_doctor::{Args, Verb, WaitArgs};
use headwater_lab_protocol::{DoctorEnd, WaitEnd};
use rustix::rand::GetRandomFlags;
use std::fs::File;
use std::io::{self, Write};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Duration;

/// The file of the doctor's output, which the lab reads once nothing is measured any more.
const REPORT: &str = "/doctor.json";
/// Name of the process that waits for bytes.
const PATIENT: &std::ffi::CStr = c"patient";
/// Exit status of wrong usage, as of the command `headwater`.
const WRONG_USAGE: u8 = 2;
/// Exit status of a command that could not be done.
const FAILED: u8 = 3;

/// The part of the command `headwater` that the lab needs in a guest, from the doctor's own crate.
#[derive(Parser)]
enum Headwater {
    Doctor(Box<Args>),
    Wait(WaitArgs),
}

/// Runs a command line that begins with `doctor` or `wait`.
pub(crate) fn command() -> ExitCode {
    let status = match Headwater::try_parse() {
        Ok(Headwater::Doctor(args)) => match &args.verb {
            Some(Verb::Observe(args)) => {
                headwater_doctor::observe::observe(args).map_err(|error| error.to_string())
            }
            _ => {
                headwater_doctor::run(&args).map_err(|error| error.to_string()).and_then(|report| {
                    let json = serde_json::to_string(&report).map_err(|error| error.to_string())?;
                    print(&json).map(|()| report.verdict().exit_status())
                })
            }
        },
        Ok(Headwater::Wait(args)) => headwater_doctor::wait(args.timeout)
            .map_err(|error| error.to_string())
            .and_then(|waited| print(&waited.message(args.timeout)).map(|()| waited.exit_status())),
        Err(error) => {
            let _ = error.print();
            Ok(WRONG_USAGE)
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

/// Starts the observer as a process of its own. Its record is where the doctor looks for it.
pub(crate) fn observe(limit_s: u32, with_tracepoints: bool) -> Option<Child> {
    let mut command = Command::new("/init");
    command.args(["doctor", "observe", "--limit", &limit_s.to_string()]);
    if !with_tracepoints {
        command.arg("--no-tracepoints");
    }
    command.spawn().inspect_err(|error| fail(format!("the observer: {error}"))).ok()
}

/// Starts a process that asks for bytes, and then runs both commands.
///
/// Only two messages are sent, at the end: each byte on the serial line interrupts, and the kernel
/// credits interrupts.
pub(crate) fn examine() {
    let patient = kernel::fork(|| {
        kernel::name_process(PATIENT);
        let _ = kernel::getrandom(&mut [0; 16], GetRandomFlags::empty());
        // The doctor must find the process, waiting or idle.
        loop {
            std::thread::sleep(Duration::from_secs(1));
        }
    });
    let patient = match patient {
        Ok(patient) => patient,
        Err(error) => return fail(format!("no process could be started: {error}")),
    };
    std::thread::sleep(Duration::from_millis(100)); // until it has asked
    let doctor = timed(&["doctor", "--json"], REPORT);
    let wait = timed(&["wait", "--timeout", "3"], "/wait.txt");
    kernel::kill(patient);
    match doctor {
        Ok((status, took_us)) => {
            let patient = patient.as_raw_nonzero().get().unsigned_abs();
            send(DoctorEnd { status, took_us, patient });
        }
        Err(error) => fail(format!("doctor: {error}")),
    }
    match wait {
        Ok((status, took_us)) => send(WaitEnd { status, took_us }),
        Err(error) => fail(format!("wait: {error}")),
    }
}

/// Runs this program with its output in a file. Returns exit status and duration in microseconds.
pub(crate) fn timed(arguments: &[&str], file: &str) -> io::Result<(i32, u64)> {
    let output = File::create(file)?;
    let begun = now_us();
    let mut command = Command::new("/init");
    let status = command.args(arguments).stdin(Stdio::null()).stdout(output).status()?;
    let took_us = now_us() - begun;
    let code = status.code().ok_or_else(|| io::Error::other(format!("ended by {status}")))?;
    Ok((code, took_us))
}
