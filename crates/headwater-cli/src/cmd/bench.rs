//! `headwater bench`: the table of this machine.

use crate::failure::Failure;
use crate::output;

pub(crate) fn run(args: &headwater_bench::Args) -> Result<(), Failure> {
    let report = headwater_bench::run(args)?;
    if args.json {
        output::json(&report)?;
    } else {
        output::text(&format!("{}\n", report.table().trim_end()))?;
    }
    Ok(())
}
