//! Runs steps one after the other, and closes with a table of outcome, wall and CPU time of each.
//!
//! A failed step does not end the run, because the next one may fail for a reason of its own.

use crate::storeys::Storey;
use anyhow::{Result, bail};
use std::fmt;
use std::fs;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// The reason why a step did not pass.
pub(crate) enum Stop {
    /// The step ran and found a fault, or broke.
    Failed(anyhow::Error),
    /// A tool that the step needs is unavailable on this machine.
    Skipped {
        /// The error of the attempt to install the tool.
        why: anyhow::Error,
        /// The knowledge that is lost with the step.
        loss: &'static str,
    },
}

impl From<anyhow::Error> for Stop {
    fn from(error: anyhow::Error) -> Stop {
        Stop::Failed(error)
    }
}

/// Marks the installation of a tool: if it fails, the step is skipped instead of failed.
pub(crate) fn need<T>(tool: Result<T>, loss: &'static str) -> Result<T, Stop> {
    tool.map_err(|why| Stop::Skipped { why, loss })
}

/// The steps that one call of `cargo xtask test` runs.
pub(crate) enum Choice {
    /// Only collects the names.
    Names,
    /// Every step of an ordinary run.
    Ordinary,
    /// Every step, those that take minutes included.
    All,
    /// The steps of these names.
    Only(Vec<String>),
    /// The steps of a storey.
    Storey(&'static Storey),
}

struct Row {
    name: String,
    wall: Duration,
    cpu: Duration,
    result: Result<(), Stop>,
}

/// The steps that have been run so far.
pub(crate) struct Report {
    choice: Choice,
    rows: Vec<Row>,
    /// Each name that was offered, and whether only `--all` runs it.
    names: Vec<(String, bool)>,
}

impl Report {
    pub(crate) fn new(choice: Choice) -> Report {
        Report { choice, rows: Vec::new(), names: Vec::new() }
    }

    /// Returns whether steps shall go through more schedules than in an ordinary run.
    pub(crate) fn is_all(&self) -> bool {
        matches!(self.choice, Choice::All)
    }

    /// Runs a step of every run.
    pub(crate) fn step(&mut self, name: &str, action: impl FnOnce() -> Result<(), Stop>) {
        self.offer(name, false, action);
    }

    /// Runs a step that only `--all` has, or `--only` with its name.
    pub(crate) fn long_step(&mut self, name: &str, action: impl FnOnce() -> Result<(), Stop>) {
        self.offer(name, true, action);
    }

    fn offer(&mut self, name: &str, is_long: bool, action: impl FnOnce() -> Result<(), Stop>) {
        self.names.push((name.to_owned(), is_long));
        let is_chosen = match &self.choice {
            Choice::Names => false,
            Choice::Ordinary => !is_long,
            Choice::All => true,
            Choice::Only(names) => names.iter().any(|chosen| chosen == name),
            Choice::Storey(storey) => storey.has(name),
        };
        if !is_chosen {
            return;
        }
        println!("\n==> {name}");
        let (start, before) = (Instant::now(), cpu_time());
        let result = action();
        let name = name.to_owned();
        let row =
            Row { name, wall: start.elapsed(), cpu: cpu_time().saturating_sub(before), result };
        println!("<== {row}");
        self.rows.push(row);
    }

    /// Returns the storey whose steps run; None if the steps of several may.
    pub(crate) fn storey(&self) -> Option<&'static Storey> {
        if let Choice::Storey(storey) = self.choice { Some(storey) } else { None }
    }

    /// Returns the names of the steps that an ordinary run has.
    #[cfg(test)]
    pub(crate) fn ordinary(&self) -> Vec<&str> {
        let ordinary = self.names.iter().filter(|(_, is_long)| !is_long);
        ordinary.map(|(name, _)| name.as_str()).collect()
    }

    /// Prints each name that was offered.
    pub(crate) fn list(self) -> ExitCode {
        for (name, is_long) in self.names {
            println!("{name}{}", if is_long { "  (only with --all or --only)" } else { "" });
        }
        ExitCode::SUCCESS
    }

    /// Returns an error that names the nearest steps, if a name belongs to none.
    pub(crate) fn find(&self, names: &[String]) -> Result<()> {
        for name in names {
            if !self.names.iter().any(|(known, _)| known == name) {
                bail!("no step is called '{name}'; {}", nearest(name, &self.names));
            }
        }
        Ok(())
    }

    /// Prints the table; its last line is the count that CI reads.
    pub(crate) fn finish(self) -> ExitCode {
        println!("\n  wall s   CPU s  outcome  step");
        for row in &self.rows {
            println!("{row}");
        }
        let wall: Duration = self.rows.iter().map(|row| row.wall).sum();
        let cpu: Duration = self.rows.iter().map(|row| row.cpu).sum();
        println!("{:>8.1}{:>8.1}  in all", wall.as_secs_f64(), cpu.as_secs_f64());

        let count = |matches: fn(&Row) -> bool| self.rows.iter().filter(|row| matches(row)).count();
        let passed = count(|row| row.result.is_ok());
        let failed = count(|row| matches!(row.result, Err(Stop::Failed(_))));
        let skipped = self.rows.len() - passed - failed;
        println!("{passed} passed, {failed} failed, {skipped} skipped");
        ExitCode::from(u8::from(failed > 0))
    }
}

/// Formats the names that come near to a wrong one, or points to the list if none does.
fn nearest(wrong: &str, names: &[(String, bool)]) -> String {
    let wrong = wrong.to_lowercase();
    let mut near: Vec<(f64, &str)> = names
        .iter()
        .map(|(name, _)| {
            let is_part = name.to_lowercase().contains(&wrong);
            let likeness = if is_part { 1.0 } else { strsim::jaro_winkler(&wrong, name) };
            (likeness, name.as_str())
        })
        .filter(|(likeness, _)| *likeness > 0.75)
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    let near: Vec<String> = near.iter().take(5).map(|(_, name)| format!("'{name}'")).collect();
    match near.is_empty() {
        true => "`cargo xtask test --list` prints all names".to_owned(),
        false => format!("near names: {}", near.join(", ")),
    }
}

/// Returns the CPU time of this process and of every child that has ended, with their children.
///
/// The kernel counts in hundredths of a second. Off Linux the time is zero.
fn cpu_time() -> Duration {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The second field is the program's name, which may hold spaces and ends with the last `)`.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    // utime, stime, cutime, cstime are fields 14 to 17; the first of these is field 3.
    let ticks = fields.split_whitespace().skip(11).take(4);
    Duration::from_millis(10 * ticks.filter_map(|field| field.parse::<u64>().ok()).sum::<u64>())
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outcome = match &self.result {
            Ok(()) => "passed",
            Err(Stop::Failed(_)) => "FAILED",
            Err(Stop::Skipped { .. }) => "SKIPPED",
        };
        let (wall, cpu) = (self.wall.as_secs_f64(), self.cpu.as_secs_f64());
        write!(f, "{wall:>8.1}{cpu:>8.1}  {outcome:<8} {}", self.name)?;
        match &self.result {
            Ok(()) => Ok(()),
            Err(Stop::Failed(error)) => write!(f, ": {error:#}"),
            Err(Stop::Skipped { why, loss }) => write!(f, ": {why:#}; not checked: {loss}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offered(choice: Choice) -> Report {
        let mut report = Report::new(choice);
        report.step("miri, streams", || Ok(()));
        report.long_step("thread sanitizer", || Ok(()));
        report
    }

    #[test]
    fn the_choice_decides_which_steps_run() {
        let ran = |choice| -> Vec<_> {
            offered(choice).rows.into_iter().map(|row| row.name).collect::<Vec<_>>()
        };
        assert!(ran(Choice::Names).is_empty());
        assert_eq!(ran(Choice::Ordinary), ["miri, streams"]);
        assert_eq!(ran(Choice::All), ["miri, streams", "thread sanitizer"]);
        let only = Choice::Only(vec!["thread sanitizer".to_owned()]);
        assert_eq!(ran(only), ["thread sanitizer"]);
    }

    #[test]
    fn a_wrong_name_lists_near_ones() {
        let report = offered(Choice::Names);
        assert!(report.find(&["miri, streams".to_owned()]).is_ok());
        for wrong in ["miri", "Miri streams", "thread"] {
            let error = report.find(&[wrong.to_owned()]).unwrap_err().to_string();
            assert!(error.contains("near names: '"), "{error}");
        }
        let error = report.find(&["xyz".to_owned()]).unwrap_err().to_string();
        assert!(error.contains("--list"), "{error}");
    }

    #[test]
    fn cpu_time_counts_what_this_process_uses() {
        let (before, start) = (cpu_time(), Instant::now());
        while cpu_time() < before + Duration::from_millis(50) {
            assert!(start.elapsed() < Duration::from_secs(60), "{:?}", cpu_time());
        }
    }
}
