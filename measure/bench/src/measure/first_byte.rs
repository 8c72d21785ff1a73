//! The time until a process has its first random bytes, after a fork and after its start.
//!
//! Only a fresh process can show it, because the second draw of a process is warm, so each figure
//! costs one. The forked ones are children of this process, in which every generator is warm. The
//! others must not inherit anything, so they are this program, started again by [`child`].

use crate::case::{Case, FIRST_BYTE_LEN};
use crate::draw::verify;
use crate::draw::work::{Work, Worker};
use crate::error::Error;
use crate::impls;
use crate::impls::variant::Variant;
use crate::measure::helper;
use crate::measure::row::Row;
use crate::plan::comparison::Comparison;
use crate::system::process::{self, Shared};
use crate::system::restart::{HELPER, STARTS_AGAIN, starts_again};
use memmap2::{Mmap, MmapMut};
use std::ffi::OsStr;
use std::hint::black_box;
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Instant;

/// Extra mappings of a fresh process, and what their rows say: none, and as many as a large program
/// has. headwater looks for a mapping among them, the others do not.
const MAPPINGS: [(usize, &str); 2] = [(0, "as started"), (2000, "2000 mappings")];

/// The result of a child's draw.
struct Answer {
    /// Nanoseconds; 0 until it is done.
    ns: AtomicU64,
    bytes: [AtomicU8; FIRST_BYTE_LEN],
}

/// Returns one row for each variant. Each round forks a child for each variant, and times the draw
/// in the child.
pub(crate) fn after_fork(comparison: &Comparison) -> Result<Vec<Row>, Error> {
    let _lent = comparison.pins.lend(0)?;
    let failed =
        |error: std::io::Error| Error::Process(format!("{}: {error}", comparison.case.name()));
    let mut parents = Vec::new();
    for variant in &comparison.variants {
        variant.set_mode().map_err(|error| variant.refused(error.to_string()))?;
        parents.push(Parent { worker: checked(variant)?, ns: Vec::new(), repeats: 0, mode: None });
    }
    for _ in comparison.pace.begin() {
        for (variant, parent) in comparison.variants.iter().zip(&mut parents) {
            variant.set_mode().map_err(|error| variant.refused(error.to_string()))?;
            parent.mode = variant.mode_now();
            let gave_out = |_| variant.gave_out();
            let mut bytes = [0; FIRST_BYTE_LEN];
            parent.worker.draw(Work::Fill, &mut bytes).map_err(gave_out)?;
            let answer = Answer { ns: AtomicU64::new(0), bytes: bytes.map(AtomicU8::new) };
            let answer = Shared::new(answer).map_err(failed)?;
            let child = process::fork(|| answer.draw(&mut *parent.worker)).map_err(failed)?;
            child.wait().map_err(failed)?;
            parent.worker.draw(Work::Fill, &mut bytes).map_err(gave_out)?;
            let childs = answer.bytes.each_ref().map(|byte| byte.load(Ordering::Relaxed));
            parent.repeats += u32::from(childs == bytes); // by chance: 2^-128
            match answer.ns.load(Ordering::Relaxed) {
                0 => {
                    return Err(
                        variant.refused("it returns no random bytes after a fork".to_owned())
                    );
                }
                ns => parent.ns.push(ns as f64),
            }
        }
    }
    let rows = comparison.variants.iter().zip(parents).map(|(variant, parent)| Row {
        note: (parent.repeats > 0).then(|| "the child's bytes are its parent's".to_owned()),
        mode: parent.mode.map(str::to_owned),
        ..row(comparison, variant, parent.ns)
    });
    Ok(rows.collect())
}

/// A variant in the process that forks.
struct Parent {
    worker: Box<dyn Worker>,
    ns: Vec<f64>,
    /// Children that drew what their parent drew next.
    repeats: u32,
    mode: Option<&'static str>,
}

impl Answer {
    /// Does the child's part, which is one draw, and leaves the time and the bytes for the parent.
    fn draw(&self, worker: &mut dyn Worker) {
        let mut bytes = [1; FIRST_BYTE_LEN]; // has the stack's page copied before the clock starts
        black_box(Instant::now()); // and likewise the clock's
        let start = Instant::now();
        let drawn = worker.draw(Work::Fill, black_box(&mut bytes));
        let took = start.elapsed();
        if drawn.is_ok() {
            for (shared, byte) in self.bytes.iter().zip(bytes) {
                shared.store(byte, Ordering::Relaxed); // the parent reads after this process
            }
            self.ns.store((took.as_nanos() as u64).max(1), Ordering::Relaxed);
        }
    }
}

/// Opens the variant and looks at its output, which warms the variant.
fn checked(variant: &Variant) -> Result<Box<dyn Worker>, Error> {
    let mut worker = variant.open().map_err(|absent| variant.refused(absent.0))?;
    verify::check(&mut *worker, Work::Fill, &mut [0; FIRST_BYTE_LEN])
        .map_err(|fault| variant.faulty(fault))?;
    Ok(worker)
}

fn row(comparison: &Comparison, variant: &Variant, ns: Vec<f64>) -> Row {
    Row {
        version: (variant.implementation.version)(),
        pin: Some(comparison.pins.pin.name().to_owned()),
        ..Row::new(comparison.case.name(), &variant.name(), FIRST_BYTE_LEN, 1, ns)
    }
}

/// The argument that makes this program a child, followed by a variant and a number of mappings.
const ARGUMENT: &str = "--headwater-bench-child";

/// Makes the measurement in a process that was started to be measured, and returns the exit status.
/// Returns `None` in every other process. Every program that offers a benchmark must call this
/// function first. The cases that start the program again need this call.
pub fn child() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    let first = arguments.next();
    if first.as_deref() == Some(OsStr::new(HELPER)) {
        // A broken pipe means that the other program has ended.
        let _ = helper::serve(std::io::stdin().lock(), std::io::stdout().lock());
        return Some(ExitCode::SUCCESS);
    }
    if first.as_deref() != Some(OsStr::new(ARGUMENT)) {
        STARTS_AGAIN.store(true, Ordering::Relaxed);
        return None;
    }
    let arguments: Vec<String> =
        arguments.map(|argument| argument.to_string_lossy().into_owned()).collect();
    Some(match answer(&arguments) {
        Ok(answer) => {
            println!("{answer}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    })
}

/// Returns the output of a fresh process: nanoseconds, and headwater's mode if it has one.
fn answer(arguments: &[String]) -> Result<String, Error> {
    let usage = || Error::Process(format!("{ARGUMENT} needs an implementation and a number"));
    let [name, mappings, libs @ ..] = arguments else { return Err(usage()) };
    impls::add(libs)?; // before names are read, because they may be theirs
    let variant = Variant::parse(name)?;
    let mappings = extra_mappings(mappings.parse().map_err(|_| usage())?)?;
    // Loads the library that the function belongs to: a program that is linked with it begins like
    // that.
    black_box((variant.implementation.version)());
    let mut bytes = [0; FIRST_BYTE_LEN];
    black_box(Instant::now()); // the clock's own first call is not part of it
    let start = Instant::now();
    if variant.mode.is_some() {
        variant.set_mode().map_err(|error| variant.refused(error.to_string()))?;
    }
    let mut worker = variant.open().map_err(|absent| variant.refused(absent.0))?;
    let drawn = worker.draw(Work::Fill, black_box(&mut bytes));
    let took = start.elapsed();
    drawn.map_err(|_| variant.gave_out())?;
    drop(mappings);
    Ok(format!("{} {}", took.as_nanos(), variant.mode_now().unwrap_or("-")))
}

/// Makes mappings that the kernel cannot merge, because neighbours differ in what they permit.
fn extra_mappings(count: usize) -> Result<Vec<(MmapMut, Mmap)>, Error> {
    let pair = || Ok((MmapMut::map_anon(1)?, MmapMut::map_anon(1)?.make_read_only()?));
    let failed =
        |error: std::io::Error| Error::Process(format!("{count} mappings cannot be made: {error}"));
    (0..count / 2).map(|_| pair().map_err(failed)).collect()
}

/// Returns one row for each variant, and two for headwater's own function. Each figure comes from a
/// fresh process.
pub(crate) fn after_start(comparison: &Comparison) -> Result<Vec<Row>, Error> {
    let _lent = comparison.pins.lend(0)?;
    if !starts_again() {
        let case = Case::FirstByteAfterStart.name();
        return Err(Error::Process(format!("{case}: this program does not start itself again")));
    }
    let mut figures = Vec::new();
    for variant in &comparison.variants {
        checked(variant)?;
        let looks = variant.implementation.name == "headwater";
        let mappings = MAPPINGS.into_iter().take(if looks { 2 } else { 1 });
        figures.extend(mappings.map(|mappings| (variant, mappings, Vec::new(), None)));
    }
    for _ in comparison.pace.begin() {
        for (variant, (mappings, _), ns, mode) in &mut figures {
            let (took, now) = in_fresh_process(variant, *mappings)?;
            ns.push(took);
            *mode = now;
        }
    }
    let rows = figures.into_iter().map(|(variant, (_, note), ns, mode)| Row {
        note: Some(note.to_owned()),
        mode,
        ..row(comparison, variant, ns)
    });
    Ok(rows.collect())
}

/// Returns nanoseconds and mode, as a new process of this program reports them.
fn in_fresh_process(variant: &Variant, mappings: usize) -> Result<(f64, Option<String>), Error> {
    let failed = |reason: String| variant.refused(format!("a fresh process {reason}"));
    let program =
        std::env::current_exe().map_err(|error| failed(format!("has no program: {error}")))?;
    let output = Command::new(program)
        .args([ARGUMENT, &variant.name(), &mappings.to_string()])
        .args(impls::added())
        .stdin(Stdio::null())
        .output()
        .map_err(|error| failed(format!("did not start: {error}")))?;
    let said = String::from_utf8_lossy(if output.status.success() {
        &output.stdout
    } else {
        &output.stderr
    });
    let said = said.trim();
    let answer = said.split_once(' ').filter(|_| output.status.success());
    let (took, mode) = answer.ok_or_else(|| failed(format!("said {said:?}")))?;
    let took = took.parse().map_err(|_| failed(format!("said {said:?}")))?;
    Ok((took, Some(mode).filter(|&mode| mode != "-").map(str::to_owned)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extra_mappings_are_not_merged() {
        let count = || std::fs::read_to_string("/proc/self/maps").unwrap().lines().count();
        let before = count();
        let held = extra_mappings(2000).unwrap();
        let extra = count() - before;
        assert!(extra >= 1990, "{extra} of 2000"); // a few may join other mappings
        drop(held);
    }

    fn said(arguments: &[&str]) -> Result<String, String> {
        let arguments: Vec<String> =
            arguments.iter().map(|&argument| argument.to_owned()).collect();
        answer(&arguments).map_err(|error| error.to_string())
    }

    #[test]
    fn a_child_reports_nanoseconds_and_mode() {
        let text = said(&["headwater", "10"]).unwrap();
        let (ns, mode) = text.split_once(' ').unwrap();
        assert!(ns.parse::<u64>().unwrap() > 0);
        assert!(mode.parse::<headwater::Mode>().is_ok(), "{mode}");
        assert!(said(&["urandom-read", "0"]).unwrap().ends_with(" -"));
    }

    #[test]
    fn a_child_that_was_told_nonsense_says_so() {
        assert!(said(&["headwater"]).unwrap_err().contains("needs an implementation and a number"));
        assert!(said(&["nonesuch", "0"]).unwrap_err().starts_with("unknown implementation"));
    }

    /// Or a program that does not know the argument would run itself without end.
    #[test]
    fn a_program_that_has_not_asked_is_not_started_again() {
        let args = crate::args::Args {
            cases: vec!["first-byte-after-start".to_owned()],
            impls: vec!["headwater".to_owned()],
            ..crate::Args::default()
        };
        let error = crate::run(&args).unwrap_err();
        assert!(error.to_string().ends_with("this program does not start itself again"), "{error}");
    }
}
