//! Reads all inputs that the arguments name, and makes a report of them.

use crate::deep::Deep;
use crate::host::Ready;
use crate::identity::{self, Identity, Origin};
use crate::{Args, Case, Error, Report, Root, diagnose, journal, strace};
use std::path::Path;

/// Reads the machine or the named files, makes all checks, and returns the report.
///
/// # Errors
///
/// Returns an error if an input does not exist or cannot be read.
pub fn run(args: &Args) -> Result<Report, Error> {
    let files = || args.journal.iter().chain(&args.strace).map(|file| file.display().to_string());
    let mut case = match &args.root {
        Some(path) => Case::of_machine(recorded(path)?)?,
        // A log or a trace may come from another machine, so nothing of this machine is read.
        None if files().next().is_some() => {
            Case { of: files().collect::<Vec<String>>().join(", "), ..Case::default() }
        }
        None => Case::of_machine(Root::live())?,
    };
    if let Some(path) = &args.root {
        let all: Vec<String> = std::iter::once(path.display().to_string()).chain(files()).collect();
        case.of = all.join(", ");
    }
    let logs = args.journal.iter().map(|file| journal::read_file(file));
    case.boots.extend(journal::put_together(logs.collect::<Result<_, _>>()?));
    for file in &args.strace {
        case.traces.push(strace::read_file(file)?);
    }
    case.assumed = args.assume_kernel.clone();
    if let Some(host) = &case.host {
        let salt = args.salt.as_deref();
        case.time = host.root.is_live().then(identity::now).flatten();
        case.origin = Origin::read(&host.root, salt);
        case.identity = args.identity.then(|| Identity::read(&host.root, salt.unwrap_or_default()));
    }
    if args.deep {
        let ready = case.live().is_none_or(|live| live.ready != Ready::No);
        case.deep = Some(Deep::measure(&Root::live(), case.kernel().as_ref(), ready));
    }
    let mut report = diagnose(case);
    report.keep(&args.only, &args.ignore);
    Ok(report)
}

fn recorded(path: &Path) -> Result<Root, Error> {
    let wrong = |reason: String| Error::Root { path: path.to_owned(), reason };
    let root = Root::open(path).map_err(|reason| wrong(reason.to_string()))?;
    if !["/proc", "/sys", "/etc", "/log"].into_iter().any(|path| root.exists(path)) {
        return Err(wrong("it contains none of proc/, sys/, etc/ and log/".to_owned()));
    }
    Ok(root)
}
