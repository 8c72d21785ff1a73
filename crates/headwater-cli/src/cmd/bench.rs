//! `headwater bench`: the table of this machine.

use crate::failure::Failure;
use crate::output;

pub(crate) fn run(args: &headwater_bench::Args) -> Result<(), Failure> {
    let baseline = headwater_bench::Baseline::open(args)?;
    let mut report = headwater_bench::run(args)?;
    if let Some(baseline) = baseline {
        baseline.compare(&mut report);
    }
    if args.json {
        output::json(&report)?;
    } else {
        output::text(&format!("{}\n", report.table().trim_end()))?;
    }
    match report.regressions() {
        0 => Ok(()),
        figures => Err(Failure::Slower(figures)),
    }
}
