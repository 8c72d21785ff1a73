//! `headwater lab`: real kernels in QEMU.

use crate::failure::Failure;
use crate::output;
use headwater_lab::{Cache, Scope, Verb, Wanted, boot, clone, criu, html, recording, text};
use std::io::Write;

pub(crate) fn run(args: &headwater_lab::Args) -> Result<(), Failure> {
    if let Verb::Record(record) = &args.verb {
        recording::of_host(&record.path)?;
        return Ok(());
    }
    // After the words have been looked at: whoever has misspelt one need not wait for another lab to end.
    let open = || Cache::open(args.cache.as_deref());
    match &args.verb {
        Verb::Setup(setup) => {
            let wanted =
                Wanted { only: setup.only.clone(), list: setup.list, refresh: setup.refresh };
            wanted.check().map_err(|error| Failure::Usage(error.to_string()))?;
            let manifest = headwater_lab::setup(&open()?, &wanted, &say)?;
            if setup.list {
                return Ok(());
            }
            for kernel in &manifest.kernels {
                output::text(&format!("{:<6} {}\n", kernel.series, kernel.release))?;
            }
            output::text(&format!("{}\n", manifest.qemu.unwrap_or_default()))?;
        }
        Verb::Boot(args) if args.matrix => {
            let kernels = args.parts().map_err(Failure::Usage)?;
            let guest = args.guest.clone();
            let scope = Scope { boots: true, kernels, guest, ..Scope::default() };
            return all(&open()?, &scope);
        }
        Verb::Clone(args) if args.table => {
            let scope = Scope {
                clones: true,
                only: args.only.clone(),
                kernels: args.parts().map_err(Failure::Usage)?,
                guest: args.guest.clone(),
                ..Scope::default()
            };
            return all(&open()?, &scope);
        }
        Verb::All(args) => {
            let scope = Scope {
                boots: true,
                clones: true,
                short: args.short,
                only: Vec::new(),
                kernels: Vec::new(),
                guest: args.guest.clone(),
                recordings: args.recordings.clone(),
                out: args.out.clone(),
            };
            return all(&open()?, &scope);
        }
        Verb::Boot(args) => {
            let report = boot::boot(&open()?, &args.plan())?;
            // First: whoever reads standard output may stop reading.
            if let Some(file) = &args.html {
                html::write(&report, file)?;
            }
            if args.json {
                output::json(&report)?;
            } else {
                output::text(&text::boot(&report))?;
            }
        }
        Verb::Clone(args) => {
            let pair = clone::clone(&open()?, &args.plan())?;
            if args.json {
                output::json(&pair)?;
            } else {
                output::text(&text::pair(&pair))?;
            }
        }
        Verb::Criu(args) => {
            let images = criu::all(&open()?, args.guest.as_deref(), &say)?;
            let findings = criu::findings(&images);
            if args.json {
                output::json(&images)?;
            } else {
                output::text(&(text::images(&images) + &text::findings(&findings)))?;
            }
            if !findings.is_empty() {
                return Err(Failure::Findings(findings.len()));
            }
        }
        Verb::Record(_) => {}
    }
    Ok(())
}

/// Runs whatever the scope holds; an error if a promise does not hold.
fn all(cache: &Cache, scope: &Scope) -> Result<(), Failure> {
    let outcome = headwater_lab::run(cache, scope, &say)?;
    output::text(&outcome.text())?;
    match outcome.findings.len() {
        0 => Ok(()),
        findings => Err(Failure::Findings(findings)),
    }
}

/// Words on stderr, of work that takes long.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "headwater lab: {line}");
}
