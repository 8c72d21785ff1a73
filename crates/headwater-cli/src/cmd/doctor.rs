//! `headwater doctor` and `headwater wait`: why this machine waits for randomness, and whether its bytes can repeat.

use crate::failure::Failure;
use crate::output;
use headwater_doctor::{Args, Error, Verb, Verdict, WaitArgs, Waited};
use std::io::Write;
use std::path::Path;
use std::time::Duration;

/// Exit statuses of both, as fixed for the whole command.
const FOUND: u8 = 1;
const UNCHECKED: u8 = 3;

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    if let Some(Verb::Explain(explain)) = &args.verb {
        let text = headwater_doctor::explain(explain.id);
        return Ok(output::coloured(&text)?);
    }
    if args.deep && !args.quiet {
        // On stderr, and before: whoever waits should know for how long.
        let _ =
            writeln!(std::io::stderr(), "headwater doctor: {}", headwater_doctor::deep::BEFOREHAND);
    }
    let report = headwater_doctor::run(args)?;
    // First: whoever reads standard output may stop reading.
    if let Some(file) = &args.html {
        write(file, &report.html())?;
    }
    if let Some(file) = &args.prometheus {
        write(file, &report.prometheus())?;
    }
    if args.json {
        output::json(&report)?;
    } else if !args.quiet {
        output::coloured(&report.text())?;
    }
    match report.verdict() {
        Verdict::Healthy => Ok(()),
        Verdict::Findings => Err(Failure::Verdict(FOUND)),
        Verdict::CouldNotCheck => Err(Failure::Verdict(UNCHECKED)),
    }
}

fn write(file: &Path, text: &str) -> Result<(), Error> {
    headwater_doctor::write_whole(file, text)
        .map_err(|reason| Error::Write { file: file.to_owned(), reason })
}

pub(crate) fn wait(args: &WaitArgs) -> Result<(), Failure> {
    let waited = headwater_doctor::wait(args.timeout).map_err(Error::Kernel)?;
    let (text, status) = match waited {
        Waited::Not => ("ready: did not wait\n".to_owned(), 0),
        Waited::For(time) => (format!("ready: waited {:.3} s\n", time.as_secs_f64()), 0),
        Waited::InVain => {
            let seconds = args.timeout.unwrap_or(Duration::MAX).as_secs_f64();
            (format!("not ready after {seconds} s; 'headwater doctor' tells why\n"), FOUND)
        }
    };
    if !args.quiet {
        output::text(&text)?;
    }
    if status == 0 { Ok(()) } else { Err(Failure::Verdict(status)) }
}
