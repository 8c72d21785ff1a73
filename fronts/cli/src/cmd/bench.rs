//! `headwater bench`: the table of this machine.

use crate::failure::Failure;
use crate::output;
use headwater_bench::{check_html_file, html_from_file, write_html};

pub(crate) fn run(args: &headwater_bench::Args) -> Result<(), Failure> {
    if let Some(file) = &args.html {
        check_html_file(file)?;
    }
    if let (Some(old), Some(file)) = (&args.from, &args.html) {
        return Ok(write_html(file, &html_from_file(old)?)?);
    }
    let baseline = headwater_bench::Baseline::open(args)?;
    let mut report = headwater_bench::run(args)?;
    if let Some(baseline) = baseline {
        baseline.compare(&mut report);
    }
    // Before stdout, whose reader may close the pipe.
    if let Some(file) = &args.html {
        write_html(file, &headwater_bench::html(&report)?)?;
    }
    if args.json {
        output::json(&report)?;
    } else {
        output::text(&format!("{}\n", headwater_bench::table(&report).trim_end()))?;
    }
    match report.regressions() {
        0 => Ok(()),
        figures => Err(Failure::Slower(figures)),
    }
}
