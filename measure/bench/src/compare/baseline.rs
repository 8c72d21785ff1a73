//! The run that `--compare` names.

use crate::args::Args;
use crate::compare::record::BaselineReport;
use crate::compare::rule::{changes, check_machine};
use crate::error::Error;
use crate::machine;
use crate::report::document::Report;
use crate::report::parse;

/// The run that `--compare` names. Opened before anything is measured, so that a wrong one costs no
/// time.
pub struct Baseline(BaselineReport);

impl Baseline {
    /// Opens the run to compare with, if `args` names a run.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is of another machine and that was not asked for.
    pub fn open(args: &Args) -> Result<Option<Baseline>, Error> {
        let Some(path) = &args.compare else {
            return Ok(None);
        };
        let baseline = parse::read(path, BaselineReport::parse)?;
        if !args.compare_any_machine {
            check_machine(&baseline.machine, &machine::machine())?;
        }
        Ok(Some(Baseline(baseline)))
    }

    /// Notes in `report` what has changed.
    pub fn compare(&self, report: &mut Report) {
        report.comparison = Some(changes(&self.0, &report.rows, &report.machine));
    }
}
