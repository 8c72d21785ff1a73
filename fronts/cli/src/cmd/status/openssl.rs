//! `headwater status --openssl`: does OpenSSL in these processes, or in this command, draw from
//! headwater?
//!
//! OpenSSL does not say that a configuration is gone, so a program can have lost its generator
//! without a sign. A running process shows the module in its memory map. For a command the module
//! itself counts: the counters are exact also for a program that ends after a millisecond, which no
//! look at /proc would meet. Looks at /proc add the programs that run without the module beside
//! others that have it.

use crate::failure::Failure;
use crate::openssl::Seen;
use crate::output;
use crate::preload::{Relay, Stats};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};
use std::{fs, thread};

/// Time between two looks at the processes of the command.
const PERIOD: Duration = Duration::from_millis(50);
/// A program may take this long to load the module after OpenSSL's library: Node on a busy machine
/// takes half a second. A program that ends earlier, beside others that have the module, is not
/// reported.
const START: Duration = Duration::from_secs(2);

/// Reports on running processes: status 1 unless each that has OpenSSL has the module, and one has.
pub(super) fn processes(ids: &[u32]) -> Result<(), Failure> {
    let mut text = String::new();
    let (mut ours, mut others) = (0, 0);
    // For the end: one of many processes may have gone since the caller listed them, which is no
    // reason to lose the report on the others.
    let mut failed = Vec::new();
    for id in ids {
        let seen = match Seen::read(*id) {
            Ok(seen) => seen,
            Err(error) => {
                failed.push(format!("cannot read process {id}: {error}"));
                continue;
            }
        };
        ours += usize::from(seen.is_ours());
        others += usize::from(!seen.is_ours() && seen.library.is_some());
        text.push_str(&format!("{id} {}\n", seen.describe()));
    }
    output::text(&text)?;
    if !failed.is_empty() {
        return Err(Failure::Run { status: 3, what: failed.join("; ") });
    }
    verdict(ours > 0 && others == 0)
}

/// Runs the command in its present environment, and reports when it has ended.
pub(super) fn command(words: &[OsString]) -> Result<(), Failure> {
    let failed = |what| Failure::Run { status: 3, what };
    let stats = Stats::new().map_err(failed)?;
    let relay = Relay::start().map_err(failed)?;
    let (program, arguments) = words.split_first().expect("clap requires one word");
    let mut command = Command::new(program);
    command.args(arguments).env("HEADWATER_STATS", stats.path());
    let has_ended = AtomicBool::new(false);
    let (ended, seen) = thread::scope(|scope| {
        let watch = thread::Builder::new()
            .spawn_scoped(scope, || watch(stats.path(), &has_ended))
            .map_err(|error| failed(format!("cannot watch the command: {error}")))?;
        let ended = relay.run(&mut command);
        has_ended.store(true, Relaxed);
        Ok::<_, Failure>((ended, watch.join().expect("the watch does not panic")))
    })?;
    let ended =
        ended.map_err(|error| failed(format!("cannot run '{}': {error}", program.display())))?;
    let counts = stats.openssl().map_err(|error| failed(format!("the counters: {error}")))?;
    let mut lines = vec![counts.summary()];
    let mut others = 0;
    for (id, (seen, since)) in &seen {
        // A program that has just started may not have read its configuration yet. Where no program
        // has loaded the module at all, there is nothing to wait for.
        let is_late = *since >= START || counts.programs == 0;
        if seen.library.is_some() && !seen.is_ours() && is_late {
            others += 1;
            lines.push(format!("{id} {}", seen.describe()));
        }
    }
    if !ended.success() {
        lines.push(format!("the command itself: {ended}"));
    }
    for line in lines {
        // A full stderr changes no verdict.
        let _ = writeln!(io::stderr(), "headwater: {line}");
    }
    drop(stats);
    verdict(counts.draws > 0 && others == 0)
}

fn verdict(is_good: bool) -> Result<(), Failure> {
    if is_good { Ok(()) } else { Err(Failure::Verdict(1)) }
}

/// The last look at each process, and the time since OpenSSL was first seen there.
type Watched = BTreeMap<u32, (Seen, Duration)>;

/// Looks at all processes that have this file of counters in their environment, which all
/// descendants of the command have, daemons too.
fn watch(stats: &Path, has_ended: &AtomicBool) -> Watched {
    let mut watched: BTreeMap<u32, (Seen, Instant, Duration)> = BTreeMap::new();
    let mark = [b"HEADWATER_STATS=", stats.as_os_str().as_bytes()].concat();
    let own = std::process::id();
    while !has_ended.load(Relaxed) {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        for id in ids.filter(|id| *id != own) {
            let environment = fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
            let is_marked = environment.split(|byte| *byte == 0).any(|entry| entry == mark);
            if let Some(seen) = is_marked.then(|| Seen::read(id).ok()).flatten() {
                let now = Instant::now();
                let before = watched.get(&id).filter(|(before, ..)| before.library.is_some());
                let first = before.map_or(now, |(_, first, _)| *first);
                watched.insert(id, (seen, first, now - first));
            }
        }
        thread::sleep(PERIOD);
    }
    watched.into_iter().map(|(id, (seen, _, since))| (id, (seen, since))).collect()
}
