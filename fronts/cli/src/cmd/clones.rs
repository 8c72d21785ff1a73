//! `headwater clones`: what repeats in copies.

use crate::failure::Failure;
use crate::output;
use anyhow::Context;
use headwater_clones::{
    Comparison, Interrupted, OutputArgs, RepairArgs, Usage, Verb, WatchArgs, html, junit, text,
};
use std::io::Write;
use std::path::Path;

pub(crate) fn run(args: &headwater_clones::Args) -> Result<(), Failure> {
    match &args.verb {
        Verb::Check(args) => {
            check_files(&args.output)?;
            let comparison = headwater_clones::check(args, &progress).map_err(failure)?;
            print(&comparison, &args.output)
        }
        Verb::Compare(args) => {
            check_files(&args.output)?;
            print(&headwater_clones::files(args).map_err(failure)?, &args.output)
        }
        Verb::Plant(args) => Ok(output::text(&headwater_clones::plant(args).map_err(failure)?)?),
        Verb::Draw(args) => Ok(output::json(&headwater_clones::draw(args)?)?),
        Verb::Repair(args) => repair(args),
        Verb::Watch(args) => watch(args),
        Verb::Uproot(args) => Ok(headwater_clones::uproot(args)?),
        Verb::Witness { name } => Ok(headwater_clones::witness(name)?),
    }
}

/// Repairs this copy, and lets the gated command run only then.
fn repair(args: &RepairArgs) -> Result<(), Failure> {
    let repair = headwater_clones::repair(args).map_err(failure)?;
    if args.json {
        output::json(&repair)?;
    } else if !args.gate || !repair.repaired {
        // With a gate, standard output belongs to the gated command.
        output::text(&text::repair(&repair))?;
    }
    match repair.repaired {
        true if args.gate => Err(headwater_clones::pass_gate(&args.command).into()),
        true => Ok(()),
        false => Err(Failure::Verdict(1)),
    }
}

/// Watches for copies of this machine, with a line for each.
fn watch(args: &WatchArgs) -> Result<(), Failure> {
    // Now, and not at the first copy: one that is closed would end a watch of months.
    output::text("")?;
    let (page, json) = (args.page.display().to_string(), args.json);
    let mut began = |beginning: &headwater_clones::Beginning| {
        progress(&format!("{page} counts copies, by {}", beginning.signals.join("; ")));
        Ok(())
    };
    let report = move |response: &headwater_clones::Response| -> anyhow::Result<()> {
        let written = match json {
            true => output::json_line(response),
            false => output::text(&text::response(response)),
        };
        written.context("the watch ends, since standard output takes no report; start it anew")
    };
    Ok(headwater_clones::watch(args, &mut began, report)?)
}

fn check_files(args: &OutputArgs) -> Result<(), Failure> {
    [&args.html, &args.junit].into_iter().flatten().try_for_each(|file| output::check_file(file))
}

/// Prints a comparison. A source that repeats and can be renewed is a finding. A comparison without
/// any verdict is none: a build must not pass because CRIU, or each copy, did not work.
fn print(comparison: &Comparison, args: &OutputArgs) -> Result<(), Failure> {
    // Before the text, because the reader of standard output may close it.
    if let Some(file) = &args.html {
        write(file, &html::comparison(comparison))?;
    }
    if let Some(file) = &args.junit {
        write(file, &junit::comparison(comparison)?)?;
    }
    if args.json {
        output::json(comparison)?;
    } else {
        output::text(&text::comparison(comparison, args.all))?;
    }
    match (comparison.repeats, comparison.not_renewable + comparison.differs) {
        (0, 0) => {
            let why = comparison.absent.first().map(|absent| absent.why.as_str());
            let why = why.or_else(|| comparison.rows.first()?.why.as_deref());
            let why = why.unwrap_or("the copies have no witness");
            Err(anyhow::anyhow!("no source was shown to repeat or to differ: {why}").into())
        }
        (0, _) if !comparison.is_late() => Ok(()),
        _ => Err(Failure::Verdict(1)),
    }
}

fn write(file: &Path, text: &str) -> anyhow::Result<()> {
    headwater_text::file::replace(file, text)
        .with_context(|| format!("cannot write {}", file.display()))
}

/// Returns the error as a wrong command line where it is one.
fn failure(error: anyhow::Error) -> Failure {
    if let Some(usage) = error.downcast_ref::<Usage>() {
        return Failure::Usage(usage.to_string());
    }
    match error.downcast_ref::<Interrupted>() {
        Some(interrupted) => Failure::Stopped(interrupted.to_string()),
        None => error.into(),
    }
}

/// Prints a line about the progress of a long run to stderr.
fn progress(line: &str) {
    let _ = writeln!(std::io::stderr(), "headwater clones: {line}");
}
