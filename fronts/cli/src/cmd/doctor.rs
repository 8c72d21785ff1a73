//! `headwater doctor` and `headwater wait`: stalls for randomness, and the risk of repeated bytes.

use crate::failure::Failure;
use crate::output;
use headwater_doctor::start::StartArgs;
use headwater_doctor::{Args, Error, MergeArgs, Verb, WaitArgs};
use std::io::Write;
use std::path::Path;

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    match &args.verb {
        Some(Verb::Explain(explain)) => {
            let text = headwater_doctor::explain(explain.id);
            return Ok(output::coloured(&text)?);
        }
        Some(Verb::Merge(args)) => return merge(args),
        Some(Verb::Observe(args)) => {
            return verdict(headwater_doctor::observe::observe(args)?);
        }
        Some(Verb::Start(args)) => return start(args),
        None => {}
    }
    if args.deep && !args.quiet {
        // First, so that the user knows how long the measurement takes.
        let _ =
            writeln!(std::io::stderr(), "headwater doctor: {}", headwater_doctor::deep::BEFOREHAND);
    }
    let report = headwater_doctor::run(args)?;
    // Before stdout, whose reader may close the pipe.
    if let Some(file) = &args.html {
        write(file, &report.html())?;
    }
    if let Some(file) = &args.prometheus {
        write(file, &report.prometheus())?;
        if file.extension().is_none_or(|end| end != "prom") {
            let _ = writeln!(
                std::io::stderr(),
                "headwater doctor: the node exporter reads only files whose name ends in .prom, \
                 and {} does not",
                headwater_text::escape::untrusted(&file.display().to_string())
            );
        }
    }
    if args.json {
        output::text(&report.json().map_err(std::io::Error::from)?)?;
    } else if !args.quiet {
        output::coloured(&report.text())?;
    }
    verdict(report.verdict().exit_status())
}

fn start(args: &StartArgs) -> Result<(), Failure> {
    let report = headwater_doctor::start::start(args)?;
    if args.json {
        output::text(&report.json().map_err(std::io::Error::from)?)?;
    } else if !args.quiet {
        output::coloured(&report.text())?;
    }
    verdict(report.exit_status())
}

fn merge(args: &MergeArgs) -> Result<(), Failure> {
    let merged = headwater_doctor::merge(args)?;
    if let Some(file) = &args.html {
        // Without random bytes the page has no script, and its table is not sorted by a click.
        let nonce = headwater::uuid::v4().ok().map(|nonce| nonce.simple().to_string());
        write(file, &merged.html(nonce.as_deref()))?;
    }
    if let Some(file) = &args.csv {
        write(file, &merged.csv())?;
    }
    if args.json {
        output::text(&merged.json().map_err(std::io::Error::from)?)?;
    } else if !args.quiet {
        output::coloured(&merged.text())?;
    }
    verdict(merged.verdict().exit_status())
}

fn write(file: &Path, text: &str) -> Result<(), Error> {
    headwater_text::file::replace(file, text)
        .map_err(|reason| Error::Write { file: file.to_owned(), reason })
}

pub(crate) fn wait(args: &WaitArgs) -> Result<(), Failure> {
    let waited = headwater_doctor::wait(args.timeout).map_err(Error::Kernel)?;
    if !args.quiet {
        output::text(&(waited.message(args.timeout) + "\n"))?;
    }
    verdict(waited.exit_status())
}

fn verdict(status: u8) -> Result<(), Failure> {
    if status == 0 { Ok(()) } else { Err(Failure::Verdict(status)) }
}
