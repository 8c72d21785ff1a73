//! Batteries of other authors, run as processes: fed through a pipe, their output parsed, their
//! versions recorded.
//!
//! They are not linked, shipped or installed. The report names those that are missing.

mod dieharder;
mod ent;
mod feed;
mod own;
mod practrand;
mod rngtest;

use crate::Error;
use crate::args::Request;
use crate::effort::Effort;
use crate::report::Verdict;
use crate::sources::Source;
use serde::Serialize;

/// The results of one battery.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Battery {
    /// The battery's name.
    pub name: String,
    /// The command line.
    pub command: String,
    /// The version that the battery or its package reports.
    pub version: Option<String>,
    /// Number of bytes that it read.
    pub bytes: u64,
    /// Results of its tests.
    pub results: Vec<BatteryOutcome>,
    /// The reason, if there are no results.
    pub skipped: Option<String>,
}

/// The result of one test of a battery.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BatteryOutcome {
    /// The battery's name for the test.
    pub test: String,
    /// The p-value, if the battery reports one.
    pub p: Option<f64>,
    /// The battery's own words.
    pub words: String,
    /// The verdict that follows here.
    pub verdict: Verdict,
}

impl Battery {
    /// Returns the worst verdict of its tests.
    pub(crate) fn verdict(&self) -> Verdict {
        self.results.iter().map(|outcome| outcome.verdict).max().unwrap_or(Verdict::Clean)
    }

    fn skipped(name: &str, command: &str, reason: String) -> Battery {
        Battery {
            name: name.to_owned(),
            command: command.to_owned(),
            version: None,
            bytes: 0,
            results: Vec::new(),
            skipped: Some(reason),
        }
    }
}

/// A battery: its command line and the parser of its output.
struct Known {
    name: &'static str,
    program: &'static str,
    arguments: fn(Effort) -> Vec<Vec<&'static str>>,
    /// Number of bytes after which its input ends. Some batteries stop earlier by themselves.
    limit: fn(Effort) -> u64,
    /// Command that prints the version, if the battery's output does not contain it.
    version: Option<&'static [&'static str]>,
    read: fn(&str) -> (Option<String>, Vec<BatteryOutcome>),
}

const KNOWN: [Known; 4] = [ent::KNOWN, rngtest::KNOWN, dieharder::KNOWN, practrand::KNOWN];

/// Runs the installed batteries that the request asks for.
pub(crate) fn run(
    request: &Request,
    open: impl Fn() -> Result<Box<dyn Source>, Error>,
) -> Vec<Battery> {
    let mut batteries = Vec::new();
    if request.external {
        batteries.extend(KNOWN.iter().map(|known| one(known, request.effort, &open)));
    }
    batteries
        .extend(request.batteries.iter().map(|command| own::run(command, request.effort, &open)));
    batteries
}

fn one(
    known: &Known,
    effort: Effort,
    open: &impl Fn() -> Result<Box<dyn Source>, Error>,
) -> Battery {
    let calls = (known.arguments)(effort);
    let command = |arguments: &[&str]| [&[known.program], arguments].concat().join(" ");
    let shown = command(&calls[0]);
    let mut battery = Battery::skipped(known.name, &shown, String::new());
    battery.command = calls.iter().map(|call| command(call)).collect::<Vec<_>>().join("; ");
    let mut source = match open() {
        Ok(source) => source,
        Err(error) => return Battery::skipped(known.name, &shown, error.to_string()),
    };
    for call in &calls {
        match feed::run(known.program, call, &mut *source, (known.limit)(effort)) {
            Ok(done) => {
                let (version, results) = (known.read)(&done.words);
                battery.bytes += done.bytes;
                battery.version = battery.version.or(version);
                if results.is_empty() {
                    let last = done.words.lines().rev().find(|line| !line.trim().is_empty());
                    let last = last.unwrap_or("nothing");
                    let reason = format!("unknown output; its last line: {last}");
                    return Battery::skipped(known.name, &shown, reason);
                }
                battery.results.extend(results);
            }
            Err(reason) => return Battery::skipped(known.name, &shown, reason),
        }
    }
    battery.skipped = None;
    if battery.version.is_none() {
        battery.version =
            known.version.and_then(feed::first_line).or_else(|| feed::package(known.program));
    }
    battery
}

/// Judges a p-value of another battery by the thresholds of the batteries' authors, which hardly
/// differ.
fn by_p(p: f64) -> Verdict {
    match p.min(1.0 - p) {
        p if p < 1e-8 => Verdict::Failed,
        p if p < 1e-4 => Verdict::Weak,
        _ => Verdict::Clean,
    }
}
