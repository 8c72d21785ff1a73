//! `headwater clones`: what repeats in copies.

use crate::failure::Failure;
use crate::output;
use anyhow::Context;
use headwater_clones::{
    Comparison, DrawArgs, Interrupted, OutputArgs, PlantArgs, RepairArgs, UprootArgs, Usage, Verb,
    WatchArgs, html, junit, text,
};
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

pub(crate) fn run(args: &headwater_clones::Args) -> Result<(), Failure> {
    match &args.verb {
        Verb::Check(args) => {
            check_files(&args.output)?;
            let comparison = headwater_clones::check(args, &progress).map_err(failure)?;
            print(&comparison, &args.output)
        }
        Verb::Compare(args) => {
            check_files(&args.output)?;
            check_inputs(&args.output, &args.files)?;
            print(&headwater_clones::files(args).map_err(failure)?, &args.output)
        }
        Verb::Plant(args) => plant(args),
        Verb::Draw(args) => draw(args),
        Verb::Repair(args) => repair(args),
        Verb::Watch(args) => watch(args),
        Verb::Uproot(args) => Ok(headwater_clones::uproot(args)?),
        Verb::Witness { name } => Ok(headwater_clones::witness(name)?),
    }
}

/// Plants, and says what. A planting of which the caller learns nothing is removed, as after any
/// other error. But a reader that closed the pipe has all it asked for, and the planting stays.
fn plant(args: &PlantArgs) -> Result<(), Failure> {
    // Now, while nothing is planted.
    output::text("")?;
    match output::text(&headwater_clones::plant(args).map_err(failure)?) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            let error = anyhow::Error::from(error);
            let error = match headwater_clones::uproot(&UprootArgs { dir: args.dir.clone() }) {
                Ok(()) => {
                    error.context("cannot write to standard output, so the planting is removed")
                }
                Err(left) => error.context(format!(
                    "cannot write to standard output, and the planting stays: {left:#}"
                )),
            };
            Err(error.into())
        }
        other => Ok(other?),
    }
}

/// Lets the witnesses draw, and prints their draws.
fn draw(args: &DrawArgs) -> Result<(), Failure> {
    // Now, while nothing is lost.
    output::text("")?;
    let draws = headwater_clones::draw(args)?;
    // Also if a reader closed the pipe: half of the draws are no file that can be compared.
    Ok(output::json(&draws).context(
        "cannot write to standard output; the draws are lost, because each witness draws once: \
         plant anew",
    )?)
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

/// Returns an error for a report that cannot be written, and for two that would be one file.
fn check_files(args: &OutputArgs) -> Result<(), Failure> {
    for file in [&args.html, &args.junit].into_iter().flatten() {
        output::check_file(file)?;
    }
    if let (Some(html), Some(junit)) = (&args.html, &args.junit)
        && let (Some(one), Some(other)) = (place(html), place(junit))
        && one == other
    {
        let name = junit.display();
        return Err(Failure::Usage(format!("--html and --junit name one file, {name}")));
    }
    Ok(())
}

/// Returns an error for a report that would replace one of the files that are compared.
fn check_inputs(args: &OutputArgs, inputs: &[PathBuf]) -> Result<(), Failure> {
    let inputs: Vec<_> = inputs.iter().filter_map(|file| place(file)).collect();
    for report in [&args.html, &args.junit].into_iter().flatten() {
        if place(report).is_some_and(|place| inputs.contains(&place)) {
            let name = report.display();
            return Err(Failure::Usage(format!("the report {name} would replace a file of draws")));
        }
    }
    Ok(())
}

/// Returns what a name stands for: the device, inode and name of a file to be, or the device and
/// inode of one that is there. A device or a pipe, which is written to and not replaced, has none.
fn place(file: &Path) -> Option<(u64, u64, Option<OsString>)> {
    if let Ok(metadata) = fs::metadata(file) {
        return metadata.is_file().then(|| (metadata.dev(), metadata.ino(), None));
    }
    let directory = file.parent().filter(|parent| !parent.as_os_str().is_empty());
    let directory = fs::metadata(directory.unwrap_or(Path::new("."))).ok()?;
    Some((directory.dev(), directory.ino(), file.file_name().map(ToOwned::to_owned)))
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
