//! `headwater stream write`: fills devices and files from a seed.

use super::source::{StreamSource, watched};
use super::{ask, interrupt};
use crate::failure::Failure;
use crate::output;
use crate::progress::Progress as Bar;
use headwater_storage::{
    Access, End, Error, Pattern, Progress, State, Target, Writing, Written, describe, table, uses,
};
use headwater_text::size;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

/// Fill devices or files with bytes that follow from a seed, for 'stream verify' to find again
#[derive(clap::Args)]
#[group(skip)]
#[command(after_help = "\
Byte o of a target is byte o of 'headwater stream' with the same options. After Ctrl-C, kill -9 or a
full disk, the same command with --resume continues, and asks again before it overwrites the rest;
where there is no terminal, add --yes. Exit status: 0 complete; 2 wrong usage, or the
target is in use; 3 could not write, or stopped.")]
pub(super) struct Args {
    #[command(flatten)]
    source: StreamSource,

    /// Size of a file that is made or becomes longer
    #[arg(long, value_name = "BYTES", value_parser = size::parse, allow_negative_numbers = true)]
    size: Option<u64>,

    /// Print the result as JSON (schema headwater.stream-write/1)
    #[arg(long)]
    json: bool,

    /// Overwrite without a question
    #[arg(long)]
    yes: bool,

    /// Overwrite even a device or file that is mounted or in use
    #[arg(long)]
    force: bool,

    /// Continue where an earlier run of the same command ended
    #[arg(long)]
    resume: bool,

    /// Keep the state of one target here [default: TARGET.headwater-state; a device's is here]
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
}

/// One target, ready to be written.
struct Plan {
    target: Target,
    pattern: Pattern,
    state: State,
    begin: u64,
    to: u64,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    // Before the work: a table that no reader can get would come after hours.
    output::unbuffered()?;
    if args.state.is_some() && args.source.targets.len() > 1 {
        return Err(Failure::Usage("--state names the state of one target only".to_owned()));
    }
    args.source.refuse_equal_names()?;
    refuse_uses(args)?;
    let mut plans = Vec::new();
    for path in &args.source.targets {
        let made = plan(args, path);
        if made.is_err() {
            remove_created(&plans);
        }
        plans.push(made?);
    }
    let confirmed = refuse_twins(&plans).and_then(|()| confirm(args, &plans));
    let progress = Progress::default();
    // After the question, which Ctrl-C answers too, and before a file reaches its limit.
    let _ = interrupt::sets(&progress.stop);
    let ready = confirmed
        .and_then(|()| plans.iter().try_for_each(|plan| Ok(plan.target.reserve(plan.to)?)));
    if let Err(failure) = ready {
        remove_created(&plans);
        return Err(failure);
    }
    let mut bar = Bar::before_results(plans.iter().map(|plan| plan.to - plan.begin).sum());
    let write = || write_all(args, &mut plans, &progress);
    let results = watched(write, || bar.at(progress.done.load(Relaxed)));
    drop(bar);
    let document = args.json.then(|| Written::new(&plans[0].pattern, &results));
    report(&results, document.as_ref())
}

/// Refuses targets that something uses, before any of them is opened for writing.
fn refuse_uses(args: &Args) -> Result<(), Failure> {
    if args.force {
        return Ok(());
    }
    for path in &args.source.targets {
        let uses = uses(path);
        if !uses.is_empty() {
            let uses = uses.join("; ");
            let name = path.display();
            return Err(Failure::Usage(format!(
                "{name} is in use: {uses}; end that use, or overwrite it with --force"
            )));
        }
    }
    Ok(())
}

fn plan(args: &Args, path: &Path) -> Result<Plan, Failure> {
    let source = &args.source;
    let pattern = source.pattern(path, None, source.pass)?;
    let access = if args.force { Access::Force } else { Access::Write };
    let size = args.size;
    let target = Target::open(path, access, size)?;
    let to = source.end(path, target.size, size).inspect_err(|_| remove(&target))?;
    if target.is_device() && to > target.size {
        let (name, size) = (path.display(), target.size);
        return Err(Failure::Usage(format!("{name} ends at byte {size}, before byte {to}")));
    }
    let place = State::default_path(path, target.is_device());
    let place = args.state.clone().unwrap_or(place);
    let mut state = State::new(place, &target, &pattern.fingerprint(), source.from, to);
    let begin = if args.resume { state.resume() } else { state.discard().map(|()| source.from) };
    // Before the first byte: a state that cannot be kept would be noticed a second later.
    let begin = begin.and_then(|begin| state.check().map(|()| begin));
    let begin = begin.inspect_err(|_| remove(&target))?;
    if args.resume && !state.continues() {
        // The state goes when a write is complete, so this may be a write of everything once more.
        let (state, begin) = (state.path().display(), size::exact(begin));
        eprintln!("headwater: there is no {state} to continue from; the write begins at {begin}");
    }
    Ok(Plan { target, pattern, state, begin, to })
}

/// Refuses one device or file under two names: its second writer would overwrite the first.
fn refuse_twins(plans: &[Plan]) -> Result<(), Failure> {
    for (i, plan) in plans.iter().enumerate() {
        if let Some(twin) =
            plans[..i].iter().find(|twin| twin.target.identity == plan.target.identity)
        {
            let (one, other) = (twin.target.path.display(), plan.target.path.display());
            return Err(Failure::Usage(format!("{one} and {other} are the same target")));
        }
    }
    Ok(())
}

fn confirm(args: &Args, plans: &[Plan]) -> Result<(), Failure> {
    let losses: Vec<_> = plans
        .iter()
        .filter(|plan| plan.begin < plan.target.size)
        .map(|plan| describe(&plan.target, plan.begin, plan.to))
        .collect();
    ask::overwrite(&losses, args.yes)
}

/// Removes a file that this run has made and not filled.
fn remove(target: &Target) {
    if target.created {
        let _ = std::fs::remove_file(&target.path);
    }
}

fn remove_created(plans: &[Plan]) {
    plans.iter().for_each(|plan| remove(&plan.target));
}

/// Writes all targets at the same time, because each has a device of its own.
fn write_all(args: &Args, plans: &mut [Plan], progress: &Progress) -> Vec<Writing> {
    std::thread::scope(|scope| {
        let each = |plan| scope.spawn(move || write(args, plan, progress));
        let threads: Vec<_> = plans.iter_mut().map(each).collect();
        let join = |thread: std::thread::ScopedJoinHandle<'_, Writing>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        threads.into_iter().map(join).collect()
    })
}

fn write(args: &Args, plan: &mut Plan, progress: &Progress) -> Writing {
    let job = args.source.job(&plan.target, plan.begin, plan.to, progress);
    let begun = Instant::now();
    let end = if plan.begin < plan.to {
        headwater_storage::write(&plan.target, &plan.pattern, &job, &mut plan.state)
    } else {
        Ok(End::Complete)
    };
    let seconds = begun.elapsed().as_secs_f64();
    let end = end.and_then(|end| match end {
        End::Complete => plan.state.remove().map(|()| end),
        End::Stopped(_) => Ok(end),
    });
    let done = match end {
        Ok(End::Complete) => plan.to,
        Ok(End::Stopped(done)) => done,
        // Nothing is claimed of a write that failed.
        Err(_) => plan.begin,
    };
    Writing {
        path: plan.target.path.display().to_string(),
        model: plan.target.identity.model.clone(),
        serial: plan.target.identity.serial.clone(),
        from: plan.begin,
        to: plan.to,
        written: done - plan.begin,
        seconds,
        direct: plan.target.is_direct(),
        end: end.map_err(|error: Error| error.to_string()),
    }
}

fn report(results: &[Writing], document: Option<&Written>) -> Result<(), Failure> {
    match document {
        Some(document) => output::json(document)?,
        None => output::text(&table(results))?,
    }
    let mut failures = results.iter().filter_map(|result| result.end.as_ref().err()).peekable();
    if failures.peek().is_some() {
        for failure in failures {
            let _ = writeln!(std::io::stderr(), "headwater: {failure}");
        }
        return Err(Failure::Verdict(3));
    }
    if results.iter().any(|result| matches!(result.end, Ok(End::Stopped(_)))) {
        let command = interrupt::command_with("--resume");
        return Err(Failure::Stopped(format!("stopped; to continue: {command}")));
    }
    Ok(())
}
