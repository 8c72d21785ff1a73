//! The verbs, as the command calls them.

use crate::Usage;
use crate::args::{CheckArgs, CompareArgs, DrawArgs, PlantArgs, UprootArgs};
use crate::compare::compare;
use crate::comparison::{Comparison, Copied};
use crate::draw::Draws;
use crate::driven::Lines;
use crate::plant::{Garden, selected};
use crate::{criu, draw as draws, planting, stop};
use anyhow::{Context, Result, bail, ensure};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Witnesses that start, and are copied, in a moment: one of each kind of state.
const SHORT: [&str; 9] =
    ["kernel", "machine", "libc", "openssl", "rust", "headwater-auto", "bash", "perl", "python"];

/// More than the draws of a day. A file comes from a copy, and is read into memory.
const MOST: u64 = 64 << 20;

fn names(only: &[String], short: bool) -> Result<Vec<&'static str>> {
    match short {
        true => selected(&SHORT.map(str::to_owned)),
        false => selected(only),
    }
}

fn directory(given: Option<&Path>) -> Result<PathBuf> {
    given.map_or_else(planting::default_directory, |path| Ok(path.to_owned()))
}

/// Makes copies, and compares their draws. `progress` receives a line for each step.
///
/// # Errors
///
/// If the copies cannot be made, or do not draw.
pub fn check(args: &CheckArgs, progress: &dyn Fn(&str)) -> Result<Comparison> {
    let names = names(&args.only, args.short)?;
    stop::listen().context("cannot listen for signals")?;
    let copies = usize::from(args.copies);
    let (Some(spawn), Some(exec)) = (&args.spawn, &args.exec) else {
        let criu = criu::Criu::find(args.criu.as_deref())?;
        let directory = directory(args.dir.as_deref())?;
        progress(&format!("planting {} witnesses in {}", names.len(), directory.display()));
        let garden = Garden::plant(&directory, &names)?;
        // Removed on any way out of here, because the witnesses that were not dumped end with it.
        let _removed = Removed(&directory);
        progress(&format!("CRIU {}: one dump and {copies} restores of each", criu.version));
        let mut comparison = compare(&criu::copies(&criu, garden, copies)?, Copied::Process)?;
        comparison.note = criu.note();
        return Ok(comparison);
    };
    let mut plant = format!("{} clones plant", args.inside);
    let mut draw = format!("{} clones draw", args.inside);
    if let Some(directory) = &args.dir {
        // The name passes through this shell and often through that of a login, so that no quotes
        // are right for all lines.
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
        if !directory.to_str().is_some_and(|name| name.chars().all(is_plain)) {
            bail!(Usage(format!(
                "--dir '{}' is no plain path: with --spawn it consists of letters, digits and -_./",
                directory.display()
            )));
        }
        let _ = write!(plant, " --dir {}", directory.display());
        let _ = write!(draw, " --dir {}", directory.display());
    }
    if args.short {
        plant += " --short";
    } else if !args.only.is_empty() {
        let _ = write!(plant, " --only {}", args.only.join(","));
    }
    let lines = Lines {
        template: args.template.as_deref(),
        snapshot: args.snapshot.as_deref(),
        spawn,
        exec,
        stop: args.stop.as_deref(),
        is_planted: args.planted,
        plant,
        draw,
        limit: Duration::from_secs(args.timeout),
    };
    lines.check()?;
    // The line of --exec may run on this machine, and a planting that stays would stop the next
    // check. We cannot ask the line to remove it: a snapshot may have ended the original, and then
    // the line would hang. But a directory that was not there before, and is now, is this check's.
    let planted = directory(args.dir.as_deref()).ok();
    let planted = planted.filter(|directory| !args.planted && !directory.exists());
    let _removed = planted.as_deref().map(Removed);
    progress(&format!("making {copies} copies"));
    let comparison = compare(&lines.copies(copies)?, copied(args.processes))?;
    Ok(Comparison { reseed_limit_ms: args.reseed_within, ..comparison })
}

fn copied(processes: bool) -> Copied {
    if processes { Copied::Process } else { Copied::Machine }
}

/// A planting that is removed when it is no longer needed, if it is on this machine.
struct Removed<'a>(&'a Path);

impl Drop for Removed<'_> {
    fn drop(&mut self) {
        if self.0.exists()
            && let Err(error) = planting::remove(self.0)
        {
            eprintln!("headwater clones: {error:#}");
        }
    }
}

/// Plants witnesses, and returns a line for each: its title, or why it is absent.
///
/// # Errors
///
/// If the directory exists or cannot be made.
pub fn plant(args: &PlantArgs) -> Result<String> {
    let names = names(&args.only, args.short)?;
    let directory = directory(args.dir.as_deref())?;
    stop::listen().context("cannot listen for signals")?;
    let garden = Garden::plant(&directory, &names)?;
    let mut text = format!("planted in {}\n", garden.directory.display());
    for planted in &garden.planted {
        let witness = draws::collect(planted.name, &planted.post, Duration::ZERO, &garden.key)?;
        let state = match &planted.process {
            Ok(_) => format!("warm: {}", witness.title),
            Err(why) => format!("skipped: {why}"),
        };
        let _ = writeln!(text, "  {:<18} {state}", planted.name);
    }
    Ok(text)
}

/// Lets the witnesses of this copy draw.
///
/// # Errors
///
/// If nothing is planted here, or the witnesses drew already.
pub fn draw(args: &DrawArgs) -> Result<Draws> {
    draws::draw(&directory(args.dir.as_deref())?, Duration::from_secs(args.seconds))
}

/// Compares files that `draw` printed.
///
/// # Errors
///
/// If a file cannot be read, or the files do not belong together.
pub fn files(args: &CompareArgs) -> Result<Comparison> {
    let mut seen = BTreeSet::new();
    let copies = args.files.iter().map(|name| -> Result<Draws> {
        let file = File::open(name).with_context(|| name.display().to_string())?;
        let metadata = file.metadata()?;
        if !seen.insert((metadata.dev(), metadata.ino())) {
            let name = name.display();
            bail!(Usage(format!("{name} is named twice, and every source of it would repeat")));
        }
        let mut bytes = Vec::new();
        file.take(MOST + 1).read_to_end(&mut bytes).with_context(|| name.display().to_string())?;
        ensure!(bytes.len() as u64 <= MOST, "{} is larger than 64 MiB", name.display());
        let draws: Draws = serde_json::from_slice(&bytes)
            .with_context(|| format!("{} is not what `clones draw` prints", name.display()))?;
        draws.check_schema().with_context(|| name.display().to_string())?;
        Ok(draws)
    });
    let copies = copies.collect::<Result<Vec<_>>>()?;
    for (name, draws) in args.files.iter().zip(&copies) {
        ensure!(
            draws.planting == copies[0].planting,
            "{} and {} come from two plantings: plant once, and copy that",
            args.files[0].display(),
            name.display()
        );
    }
    let comparison = compare(&copies, copied(args.processes))?;
    Ok(Comparison { reseed_limit_ms: args.reseed_within, ..comparison })
}

/// Removes a planting.
///
/// # Errors
///
/// If the directory holds none.
pub fn uproot(args: &UprootArgs) -> Result<()> {
    planting::remove(&directory(args.dir.as_deref())?)
}
