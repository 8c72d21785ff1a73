//! Steps one after the other, each timed, whatever became of the one before; then what became of all.

use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Why a step did not pass.
pub(crate) enum Stop {
    /// It ran and found a fault, or broke.
    Failed(anyhow::Error),
    /// A tool it needs cannot be had on this machine.
    Skipped {
        /// What became of the attempt to get the tool.
        why: anyhow::Error,
        /// What nobody knows without the step.
        loss: &'static str,
    },
}

impl From<anyhow::Error> for Stop {
    fn from(error: anyhow::Error) -> Stop {
        Stop::Failed(error)
    }
}

/// Marks the setting up of a tool without which the step is skipped, not failed.
pub(crate) fn need<T>(tool: anyhow::Result<T>, loss: &'static str) -> Result<T, Stop> {
    tool.map_err(|why| Stop::Skipped { why, loss })
}

struct Row {
    name: &'static str,
    time: Duration,
    result: Result<(), Stop>,
}

/// What has been run so far.
#[derive(Default)]
pub(crate) struct Report {
    rows: Vec<Row>,
}

impl Report {
    /// Runs one step and keeps what became of it.
    pub(crate) fn step(&mut self, name: &'static str, action: impl FnOnce() -> Result<(), Stop>) {
        println!("\n==> {name}");
        let start = Instant::now();
        let row = Row { result: action(), time: start.elapsed(), name };
        println!("<== {row}");
        self.rows.push(row);
    }

    /// Prints the summary; its last line is the count that CI reads.
    pub(crate) fn finish(self) -> ExitCode {
        println!("\nSummary");
        for row in &self.rows {
            println!("{row}");
        }
        let all: Duration = self.rows.iter().map(|row| row.time).sum();
        println!("{:>6.1} s in all", all.as_secs_f64());

        let count = |matches: fn(&Row) -> bool| self.rows.iter().filter(|row| matches(row)).count();
        let passed = count(|row| row.result.is_ok());
        let failed = count(|row| matches!(row.result, Err(Stop::Failed(_))));
        let skipped = self.rows.len() - passed - failed;
        println!("{passed} passed, {failed} failed, {skipped} skipped");
        ExitCode::from(u8::from(failed > 0))
    }
}

impl std::fmt::Display for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let seconds = self.time.as_secs_f64();
        let outcome = match &self.result {
            Ok(()) => "passed",
            Err(Stop::Failed(_)) => "FAILED",
            Err(Stop::Skipped { .. }) => "SKIPPED",
        };
        write!(f, "{seconds:>6.1} s  {outcome:<8} {}", self.name)?;
        match &self.result {
            Ok(()) => Ok(()),
            Err(Stop::Failed(error)) => write!(f, ": {error:#}"),
            Err(Stop::Skipped { why, loss }) => write!(f, ": {why:#}; not checked: {loss}"),
        }
    }
}
