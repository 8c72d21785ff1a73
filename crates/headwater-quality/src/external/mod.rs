//! Other people's batteries, as processes of the user: fed by a pipe, their words read, their versions recorded.
//!
//! None is linked, shipped or asked to be installed: what is missing is said.

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

/// What one battery said.
#[derive(Debug, Serialize)]
pub struct Battery {
    /// Its name.
    pub name: String,
    /// As it was called.
    pub command: String,
    /// As it tells, or as its package does.
    pub version: Option<String>,
    /// What it took.
    pub bytes: u64,
    /// Its tests.
    pub results: Vec<Outcome>,
    /// Why there are none.
    pub skipped: Option<String>,
}

/// What it said of one test.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outcome {
    /// Its name there.
    pub test: String,
    /// Its p-value, if it tells one.
    pub p: Option<f64>,
    /// Its own words.
    pub words: String,
    /// How it is taken here.
    pub verdict: Verdict,
}

impl Battery {
    /// The worst of its tests.
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

/// How a battery is called, and how its words are read.
struct Known {
    name: &'static str,
    program: &'static str,
    arguments: fn(Effort) -> Vec<Vec<&'static str>>,
    /// Bytes after which its input ends; some stop by themselves before.
    limit: fn(Effort) -> u64,
    /// Asked for the version, if what it says of itself while it runs does not tell.
    version: Option<&'static [&'static str]>,
    read: fn(&str) -> (Option<String>, Vec<Outcome>),
}

const KNOWN: [Known; 4] = [ent::KNOWN, rngtest::KNOWN, dieharder::KNOWN, practrand::KNOWN];

/// Runs what is installed, if it was asked for.
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
                    let reason = format!("its words were not understood, the last being: {last}");
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

/// How a p-value of somebody else's is taken: by the thresholds of their own authors, which are much the same everywhere.
fn by_p(p: f64) -> Verdict {
    match p.min(1.0 - p) {
        p if p < 1e-8 => Verdict::Failed,
        p if p < 1e-4 => Verdict::Weak,
        _ => Verdict::Clean,
    }
}
