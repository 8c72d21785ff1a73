//! From arguments to a report.

use crate::case::Case;
use crate::measure::measure;
use crate::plan::{Cell, Plan};
use crate::report::Report;
use crate::row::Row;
use crate::{Args, Error, count, first_byte, stretch, upper_halves};
use indicatif::{ProgressBar, ProgressStyle};

/// Measures what `args` asks for. Shows its progress on stderr if that is a terminal.
///
/// headwater's mode is changed for implementations that name one, and is the default one at the end.
///
/// # Errors
///
/// [`Error::is_usage`] ones before anything is measured; others if nothing that was asked for is present, or
/// if a generator fails its check or gives out.
pub fn run(args: &Args) -> Result<Report, Error> {
    // Without names, every mode takes part.
    let names_modes = args.impls.is_empty() || args.impls.iter().any(|name| name.contains('['));
    // Looking for what is present has tried the modes already, and each comparison leaves the last one
    // armed, so that the default has to be put back before the next.
    let restore = || if names_modes { restore_mode() } else { Ok(()) };
    let report = Plan::new(args).and_then(|plan| measure_all(plan, restore));
    restore()?;
    report
}

fn measure_all(plan: Plan, restore: impl Fn() -> Result<(), Error>) -> Result<Report, Error> {
    let progress = ProgressBar::new(plan.cells.len() as u64);
    progress.set_style(
        ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}")
            .unwrap_or_else(|_| ProgressStyle::default_bar()),
    );
    let (mut rows, mut notices) = (Vec::new(), plan.warnings);
    for cell in &plan.cells {
        progress.set_message(format!("{} {}", cell.case.name(), crate::size::show(cell.len)));
        restore()?;
        rows.extend(rows_of(cell, &mut notices)?);
        progress.inc(1);
    }
    progress.finish_and_clear();
    let mut report = Report::new(rows, plan.skipped, notices);
    report.first_node = plan.cells.first().and_then(|cell| cell.pins.first_of_several());
    Ok(report)
}

fn rows_of(cell: &Cell, notices: &mut Vec<String>) -> Result<Vec<Row>, Error> {
    match cell.case {
        Case::FirstByteAfterFork => first_byte::after_fork(cell),
        Case::FirstByteAfterStart => first_byte::after_start(cell),
        Case::UpperHalves => upper_halves::measure(cell),
        _ => {
            let timings = match cell.case {
                Case::Crowd => stretch::measure(cell)?,
                _ => measure(cell)?,
            };
            let mut counts = count::count_all(cell, notices)?.into_iter();
            let rows = cell.contenders.iter().zip(timings).map(|(contender, timing)| Row {
                count: counts.next().flatten(),
                ..Row::measured(cell, contender, timing)
            });
            Ok(rows.collect())
        }
    }
}

fn restore_mode() -> Result<(), Error> {
    headwater::init_with(headwater::Config::new()).map_err(|error| Error::Refused {
        implementation: "headwater".to_owned(),
        reason: error.to_string(),
    })
}
