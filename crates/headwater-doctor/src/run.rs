//! From what was asked for to a report.

use crate::{Args, Case, Error, Host, Report, Root, diagnose};
use std::path::Path;

/// Looks, and judges.
///
/// # Errors
///
/// If there is nothing to look at where the arguments point.
pub fn run(args: &Args) -> Result<Report, Error> {
    let mut case = Case { assumed: args.assume_kernel.clone(), ..Case::default() };
    if let Some(folder) = &args.root {
        case.of = folder.display().to_string();
        case.host = Some(Host::look(recorded(folder)?));
    } else if args.journal.is_empty() && args.strace.is_empty() {
        case.of = "this machine".to_owned();
        case.host = Some(Host::look(Root::live()));
    }
    let mut report = diagnose(case);
    report.keep(&args.only, &args.ignore);
    Ok(report)
}

fn recorded(folder: &Path) -> Result<Root, Error> {
    let wrong = |reason: &str| Error::Root { folder: folder.to_owned(), reason: reason.to_owned() };
    if !folder.is_dir() {
        return Err(wrong("it is no folder"));
    }
    let root = Root::recorded(folder);
    if !["/proc", "/sys", "/etc", "/log"].into_iter().any(|path| root.exists(path)) {
        return Err(wrong("none of proc, sys, etc and log is in it"));
    }
    Ok(root)
}
