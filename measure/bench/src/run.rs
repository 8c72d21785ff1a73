//! From arguments to a report.

use crate::args::Args;
use crate::case::Case;
use crate::count;
use crate::error::Error;
use crate::measure::crowd;
use crate::measure::first_byte;
use crate::measure::rounds::measure;
use crate::measure::row::Row;
use crate::measure::upper_halves;
use crate::plan::{Plan, comparison::Comparison};
use crate::report::document::Report;
use indicatif::{ProgressBar, ProgressStyle};

/// Measures what `args` asks for. Shows its progress on stderr if that is a terminal.
///
/// headwater's mode is changed for implementations that name one, and is the default one at the
/// end.
///
/// # Errors
///
/// Errors of [`Error::is_usage`] come before anything is measured. The other errors mean that no
/// implementation that was asked for is present, or that a generator failed its check or stopped.
pub fn run(args: &Args) -> Result<Report, Error> {
    // Without names, every mode takes part.
    let names_modes = args.impls.is_empty() || args.impls.iter().any(|name| name.contains('['));
    // The search for present implementations has tried the modes, and each comparison leaves its
    // last mode. So the default mode is restored before the next comparison.
    let restore = || if names_modes { restore_mode() } else { Ok(()) };
    let report = Plan::new(args).and_then(|plan| measure_all(plan, restore));
    restore()?;
    report
}

fn measure_all(plan: Plan, restore: impl Fn() -> Result<(), Error>) -> Result<Report, Error> {
    let progress = ProgressBar::new(plan.comparisons.len() as u64);
    progress.set_style(
        ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}")
            .unwrap_or_else(|_| ProgressStyle::default_bar()),
    );
    let (mut rows, mut notices) = (Vec::new(), plan.warnings);
    for comparison in &plan.comparisons {
        progress.set_message(format!(
            "{} {}",
            comparison.case.name(),
            crate::size::show(comparison.len)
        ));
        restore()?;
        rows.extend(rows_of(comparison, &mut notices)?);
        progress.inc(1);
    }
    progress.finish_and_clear();
    let mut report = Report::new(rows, plan.skipped, notices);
    report.first_node =
        plan.comparisons.first().and_then(|comparison| comparison.pins.first_of_several());
    Ok(report)
}

fn rows_of(comparison: &Comparison, notices: &mut Vec<String>) -> Result<Vec<Row>, Error> {
    match comparison.case {
        Case::FirstByteAfterFork => first_byte::after_fork(comparison),
        Case::FirstByteAfterStart => first_byte::after_start(comparison),
        Case::UpperHalves => upper_halves::measure(comparison),
        _ => {
            let timings = match comparison.case {
                Case::Crowd => crowd::measure(comparison)?,
                _ => measure(comparison)?,
            };
            let mut counts = count::count_all(comparison, notices)?.into_iter();
            let rows = comparison.variants.iter().zip(timings).map(|(variant, timing)| Row {
                count: counts.next().flatten(),
                ..Row::measured(comparison, variant, timing)
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
