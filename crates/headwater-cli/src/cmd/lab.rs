//! `headwater lab`: real kernels in QEMU.

use crate::failure::Failure;
use crate::output;
use headwater_lab::{Cache, Verb, Wanted, boot, clone, recording, text};
use std::io::Write;

pub(crate) fn run(args: &headwater_lab::Args) -> Result<(), Failure> {
    if let Verb::Record(record) = &args.verb {
        recording::of_host(&record.folder)?;
        return Ok(());
    }
    let cache = Cache::open(args.cache.as_deref())?;
    match &args.verb {
        Verb::Setup(setup) => {
            let wanted =
                Wanted { only: setup.only.clone(), list: setup.list, refresh: setup.refresh };
            wanted.check().map_err(|error| Failure::Usage(error.to_string()))?;
            let manifest = headwater_lab::setup(&cache, &wanted, &say)?;
            if setup.list {
                return Ok(());
            }
            for kernel in &manifest.kernels {
                output::text(&format!("{:<6} {}\n", kernel.series, kernel.release))?;
            }
            output::text(&format!("{}\n", manifest.qemu.unwrap_or_default()))?;
        }
        Verb::Boot(args) => {
            let report = boot::boot(&cache, &args.plan())?;
            if args.json {
                output::json(&report)?;
            } else {
                output::text(&text::boot(&report))?;
            }
        }
        Verb::Clone(args) => {
            let pair = clone::clone(&cache, &args.plan())?;
            if args.json {
                output::json(&pair)?;
            } else {
                output::text(&text::pair(&pair))?;
            }
        }
        Verb::Record(_) | Verb::All(_) => {}
    }
    Ok(())
}

/// Words on stderr, of work that takes long.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "headwater lab: {line}");
}
