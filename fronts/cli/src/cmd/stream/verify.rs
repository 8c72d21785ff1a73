//! `headwater stream verify`: reads devices and files again and names each wrong extent.

use super::interrupt;
use super::seed;
use super::source::{StreamSource, watched};
use crate::failure::Failure;
use crate::output;
use crate::progress::Progress as Bar;
use headwater_storage::{
    Access, Document, Pattern, Progress, Suspect, Suspects, Target, TargetReport, Verdict, page,
};
use headwater_streams::Seed;
use headwater_text::{file, size};
use std::fs::Metadata;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

/// Read devices or files and name each extent that is not the seed's, with what stands there
#[derive(clap::Args)]
#[group(skip)]
#[command(after_help = "\
Exit status: 0 every byte is right; 1 wrong bytes found; 2 wrong usage; 3 could not read all of it,
or stopped. A file's own size is believed: --size or --to finds one that became too short.")]
pub(super) struct Args {
    #[command(flatten)]
    source: StreamSource,

    /// Expected size; a shorter file has a missing extent
    #[arg(long, value_name = "BYTES", value_parser = size::parse, allow_negative_numbers = true)]
    size: Option<u64>,

    /// An older seed of the same target, whose data is recognised; may be repeated
    #[arg(long, value_name = "SEED", value_parser = seed, allow_hyphen_values = true)]
    was: Vec<Seed<'static>>,

    /// Print the report as JSON (schema headwater.stream-verify/1)
    #[arg(long)]
    json: bool,

    /// Write the report as one page with a picture of each target
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

/// One target, ready to be read.
struct Plan {
    target: Target,
    suspects: Suspects,
    to: u64,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    // Before the work: a report that no reader can get would come after hours.
    output::unbuffered()?;
    args.source.refuse_equal_names()?;
    if let Some(path) = &args.html {
        refuse_page(path, &args.source.targets)?;
        file::check(path).map_err(|error| cannot_write(path, error))?;
    }
    let plans: Result<Vec<_>, Failure> =
        args.source.targets.iter().map(|path| plan(args, path)).collect();
    let plans = plans?;
    let progress = Progress::default();
    let _ = interrupt::sets(&progress.stop);
    let opened = plans.iter().filter_map(|plan| plan.as_ref().ok());
    let total = opened.map(|plan| plan.to - args.source.from).sum();
    let mut bar = Bar::before_results(total);
    let verify = || verify_all(args, &plans, &progress);
    let reports = watched(verify, || bar.at(progress.done.load(Relaxed)));
    drop(bar);
    let document = Document::new(&pattern(args, 0)?, reports);
    // Before stdout, whose reader may close the pipe.
    if let Some(path) = &args.html {
        file::replace(path, page(&document)).map_err(|error| cannot_write(path, error))?;
    }
    let printed = if args.json { output::json(&document) } else { output::text(&document.text()) };
    match (printed, document.verdict) {
        // A reader who closes the pipe has what it needs; the status still carries the verdict.
        (Err(error), _) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        (_, Verdict::Intact) => Ok(()),
        (_, Verdict::Wrong) => Err(Failure::Verdict(1)),
        (_, Verdict::Unread | Verdict::Stopped) => Err(Failure::Verdict(3)),
    }
}

/// Refuses a page that would overwrite a target, or any disk.
///
/// A page on standard output, /dev/stdout, or in /dev/null is a device as well, but a character
/// device holds nothing.
fn refuse_page(page: &Path, targets: &[PathBuf]) -> Result<(), Failure> {
    let Ok(metadata) = page.metadata() else { return Ok(()) };
    let identity = |metadata: &Metadata| (metadata.dev(), metadata.ino(), metadata.rdev());
    let is_target = |target: &&PathBuf| {
        target.metadata().is_ok_and(|target| identity(&target) == identity(&metadata))
    };
    let page = page.display();
    if let Some(target) = targets.iter().find(is_target) {
        let target = target.display();
        return Err(Failure::Usage(format!(
            "the page {page} would overwrite the target {target}; name another file with --html"
        )));
    }
    if metadata.file_type().is_block_device() {
        return Err(Failure::Usage(format!(
            "the page {page} would overwrite a disk; name a file with --html"
        )));
    }
    Ok(())
}

fn cannot_write(file: &Path, error: std::io::Error) -> Failure {
    let action = format!("cannot write the page {}", file.display());
    headwater_storage::Error::io(action, error).into()
}

fn pattern(args: &Args, index: usize) -> Result<Pattern, Failure> {
    args.source.pattern(&args.source.targets[index], None, args.source.pass)
}

/// Passes before this one whose data is recognised. Each costs a search in every wrong sector.
const OLDER_PASSES: u32 = 8;
/// Other targets whose data is recognised.
const OTHER_TARGETS: usize = 16;

/// Returns what may stand in a target in place of its data: older seeds, older passes, and the data
/// of the other targets of this command.
fn others(args: &Args, path: &Path) -> Result<Vec<Suspect>, Failure> {
    let source = &args.source;
    let mut others = Vec::new();
    let mut add = |pattern, name, was, is_other_target| {
        others.push(Suspect { pattern, name, was, is_other_target });
    };
    for (was, seed) in args.was.iter().enumerate() {
        let pattern = source.pattern(path, Some(seed), source.pass)?;
        add(pattern, format!("older seed {}", was + 1), Some(was), false);
    }
    for pass in (1..source.pass).rev().take(OLDER_PASSES as usize) {
        add(source.pattern(path, None, pass)?, format!("pass {pass}"), None, false);
    }
    let own = source.pattern(path, None, source.pass)?.fingerprint();
    for target in source.targets.iter().filter(|target| *target != path).take(OTHER_TARGETS) {
        let pattern = source.pattern(target, None, source.pass)?;
        // The same bytes, unless `--child '{name}'` makes each target its own.
        if pattern.fingerprint() != own {
            add(pattern, format!("target {}", target.display()), None, true);
        }
    }
    Ok(others)
}

/// Opens a target. One that cannot be opened becomes a report, so that the others are verified.
fn plan(args: &Args, path: &Path) -> Result<Result<Plan, TargetReport>, Failure> {
    let expected = args.source.pattern(path, None, args.source.pass)?;
    let suspects = Suspects { expected, others: others(args, path)? };
    let target = match Target::open(path, Access::Verify, args.size) {
        Ok(target) => target,
        Err(error) if error.is_usage() => return Err(error.into()),
        Err(error) => {
            return Ok(Err(TargetReport::unread(path.display().to_string(), error.to_string())));
        }
    };
    let to = args.source.end(path, target.size, args.size)?;
    Ok(Ok(Plan { target, suspects, to }))
}

/// Verifies all targets at the same time, because each has a device of its own.
fn verify_all(
    args: &Args,
    plans: &[Result<Plan, TargetReport>],
    progress: &Progress,
) -> Vec<TargetReport> {
    std::thread::scope(|scope| {
        let start = |plan| scope.spawn(move || verify(args, plan, progress));
        let threads: Vec<_> = plans.iter().map(|plan| plan.as_ref().map(start)).collect();
        let reports = threads.into_iter().map(|thread| match thread {
            Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(report) => report.clone(),
        });
        reports.collect()
    })
}

fn verify(args: &Args, plan: &Plan, progress: &Progress) -> TargetReport {
    let from = args.source.from;
    let job = args.source.job(&plan.target, from, plan.to, progress);
    let begun = Instant::now();
    match headwater_storage::verify(&plan.target, &plan.suspects, &job) {
        Ok(found) => {
            let seconds = begun.elapsed().as_secs_f64();
            TargetReport::new(&plan.target, &plan.suspects, (from, plan.to), found, seconds)
        }
        Err(error) => {
            TargetReport::unread(plan.target.path.display().to_string(), error.to_string())
        }
    }
}
