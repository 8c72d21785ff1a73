//! `headwater lab`: real kernels in QEMU.

use crate::failure::Failure;
use crate::output;
use headwater_lab::{
    Cache, NodesReport, Output, RunArgs, SERIES, Scope, SectionsArgs, SectionsReport, SetupRequest,
    Verb, boot, clone, criu, html, job, nodes, nothing_ran, recording, sections, series_in, text,
};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::io::{self, Write};

pub(crate) fn run(args: &headwater_lab::Args) -> Result<(), Failure> {
    // One that the caller ignores stays ignored, as nohup(1) asks.
    let signals: Vec<i32> = [SIGINT, SIGTERM, SIGHUP]
        .into_iter()
        .filter(|&signal| headwater_clones::is_ignored(signal) != Some(true))
        .collect();
    headwater_lab::clean_up_on(&signals)?;
    if let Verb::Record(record) = &args.verb {
        recording::of_host(&record.path)?;
        return Ok(());
    }
    // Opened only after the arguments are checked, so that a typo does not wait for another lab.
    let open = || Cache::open(args.cache.as_deref());
    match &args.verb {
        Verb::Setup(setup) => {
            let request =
                SetupRequest { only: setup.only.clone(), list: setup.list, refresh: setup.refresh };
            request.check().map_err(|error| Failure::Usage(error.to_string()))?;
            let cache = Cache::create(args.cache.as_deref())?;
            let manifest = headwater_lab::setup(&cache, &request, &progress)?;
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
            return all(open, &scope);
        }
        Verb::Clone(args) if args.table => {
            let scope = Scope {
                clones: true,
                only: args.only.clone(),
                kernels: args.parts().map_err(Failure::Usage)?,
                guest: args.guest.clone(),
                ..Scope::default()
            };
            return all(open, &scope);
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
            return all(open, &scope);
        }
        Verb::Boot(args) => {
            let plan = args.plan().map_err(Failure::Usage)?;
            args.html.as_deref().map_or(Ok(()), output::check_file)?;
            args.record.as_deref().map_or(Ok(()), recording::ensure_is_free)?;
            let report = boot::boot(&open()?, &plan)?;
            // Before the text, because the reader of standard output may close it.
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
            let plan = args.plan().map_err(Failure::Usage)?;
            let pair = clone::clone(&open()?, &plan)?;
            if args.json {
                output::json(&pair)?;
            } else {
                output::text(&text::pair(&pair))?;
            }
        }
        Verb::Criu(args) => {
            let images = criu::all(&open()?, args.guest.as_deref(), &progress)?;
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
        Verb::Sections(args) => return sections(&open()?, args),
        Verb::Nodes(args) => {
            let planned = args.plan().map_err(Failure::Usage)?;
            let guest = args.guest.as_deref();
            let reports = nodes::nodes(&open()?, args.kernel(), planned, guest)?;
            let findings: Vec<_> = reports.iter().flat_map(NodesReport::findings).collect();
            if args.json {
                output::json(&reports)?;
            } else {
                output::text(&(text::nodes(&reports) + &text::findings(&findings)))?;
            }
            if !findings.is_empty() {
                return Err(Failure::Findings(findings.len()));
            }
        }
        Verb::Kernel(args) => {
            let guest = args.guest.as_deref();
            let report =
                headwater_lab::kernel(&open()?, &args.kernel, args.seconds, guest, &progress)?;
            if args.json {
                output::json(&report)?;
            } else {
                output::text(&report.text())?;
            }
            if !report.findings.is_empty() {
                return Err(Failure::Findings(report.findings.len()));
            }
        }
        Verb::Run(args) => return job(args, open),
        Verb::Record(_) => {}
    }
    Ok(())
}

/// Runs a program in a guest, and ends with its exit status.
fn job(args: &RunArgs, open: impl Fn() -> anyhow::Result<Cache>) -> Result<(), Failure> {
    // Not 3, which a program may end with as well.
    let failed = |error| Failure::Run { status: 125, what: format!("{error:#}") };
    // A reader that has closed the output does not end the program: its status is still wanted.
    let mut forward = |written: &Output| {
        let _ = match written.error {
            true => io::stderr().write_all(&written.bytes),
            false => io::stdout().write_all(&written.bytes).and_then(|()| io::stdout().flush()),
        };
    };
    let cache = open().map_err(failed)?;
    let ended = job::run(&cache, &args.plan(), &mut forward).map_err(failed)?;
    if ended.left > 0 {
        progress(&format!("processes that outlived the program, and were killed: {}", ended.left));
    }
    match ended.status.unwrap_or_else(|| 128 + ended.signal.unwrap_or(0)) {
        0 => Ok(()),
        status => Err(Failure::Verdict(status as u8)),
    }
}

/// Stresses restartable sequences on one kernel, or on each in the cache.
fn sections(cache: &Cache, args: &SectionsArgs) -> Result<(), Failure> {
    let kernels = match &args.kernel {
        Some(kernel) => vec![kernel.as_str()],
        // Without a named kernel, a series that no mirror serves is not an error.
        None => series_in(cache)?,
    };
    if args.kernel.is_none() {
        for series in SERIES.iter().filter(|series| !kernels.contains(&series.name)) {
            progress(&format!("skipped: no kernel of series {} in the cache", series.name));
        }
    }
    if kernels.is_empty() {
        return Err(nothing_ran(cache, "no kernel in the cache").into());
    }
    let (mut reports, mut failed) = (Vec::new(), None);
    for kernel in kernels {
        progress(&format!("stressing kernel {kernel}"));
        let guest = args.guest.as_deref();
        let stressed = match args.forgetful {
            true => sections::forgetful(cache, kernel, args.seconds, guest).map(|one| vec![one]),
            false => sections::sections(cache, kernel, args.seconds, guest),
        };
        match stressed {
            Ok(more) => reports.extend(more),
            // The reports of other kernels have cost minutes, and are printed first.
            Err(error) => {
                progress(&format!("kernel {kernel}: {error:#}"));
                failed.get_or_insert(error);
            }
        }
    }
    if let Some(error) = failed.take_if(|_| reports.is_empty()) {
        return Err(error.into());
    }
    let findings: Vec<_> = match args.forgetful {
        true => reports.iter().filter_map(SectionsReport::missed).collect(),
        false => reports.iter().flat_map(SectionsReport::findings).collect(),
    };
    if args.json {
        output::json(&reports)?;
    } else {
        output::text(&(text::sections(&reports) + &text::findings(&findings)))?;
    }
    match (findings.len(), failed) {
        (0, None) => Ok(()),
        (0, Some(error)) => Err(error.into()),
        (findings, _) => Err(Failure::Findings(findings)),
    }
}

/// Runs the experiments of a scope. A broken promise is an error.
fn all(open: impl Fn() -> anyhow::Result<Cache>, scope: &Scope) -> Result<(), Failure> {
    scope.check().map_err(Failure::Usage)?;
    let results = headwater_lab::run(&open()?, scope, &progress)?;
    output::text(&results.text())?;
    match results.findings.len() {
        0 => Ok(()),
        findings => Err(Failure::Findings(findings)),
    }
}

/// Prints a line about the progress of a long run to stderr.
fn progress(line: &str) {
    let _ = writeln!(std::io::stderr(), "headwater lab: {line}");
}
