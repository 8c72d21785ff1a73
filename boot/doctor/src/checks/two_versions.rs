//! HW053: several versions of headwater on one machine.

use super::Answer;
use crate::finding::evidence;
use crate::fixes::Cause;
use crate::host::installed::{Installed, InstalledKind, Version, number_after};
use crate::{Case, Evidence, Finding, Host, Id, Severity};
use std::collections::BTreeSet;

/// Ends of the names of mapped files; a version follows the first one.
const LIBRARY: &str = "/libheadwater.so.";
const OTHERS: [&str; 2] = ["/libheadwater_preload.so", "/ossl-modules/headwater.so"];
/// The kernel's note on a mapped file that has no name any more.
const DELETED: &str = " (deleted)";
/// The limit of processes whose memory maps are read, which takes about 20 µs each.
const MOST: usize = 5_000;

pub(super) fn check(case: &Case) -> Answer {
    let Some(host) = &case.host else { return Answer::NotAsked };
    let parts = host.installed();
    let versions: BTreeSet<&Version> = parts.iter().map(|part| &part.version).collect();
    let loader = loader_versions(&parts);
    let running = running(host, &loader);
    let (severity, title) = if let Some(title) = running_title(&running, &loader) {
        (Severity::Warning, title)
    } else if conflicts(&parts) {
        let (count, names) = (count(loader.len()), listed(&loader));
        let title =
            format!("the loader has {count} versions of libheadwater to choose from: {names}");
        (Severity::Warning, title)
    } else if versions.len() > 1 {
        let (count, names) = (count(versions.len()), listed(&versions));
        (Severity::Note, format!("{count} versions of headwater are installed: {names}"))
    } else {
        return Answer::fine_unless(host.lacks_programs());
    };
    let mut proof: Vec<Evidence> =
        running.into_iter().take(10).map(|process| process.evidence).collect();
    proof.extend(parts.into_iter().take(10).map(|part| part.evidence));
    Finding {
        id: Id::TwoVersions,
        severity,
        title,
        evidence: proof,
        why: "A program uses the version that it loaded when it started. A fix that was installed later, for example of a \
              repeat after a fork or a clone, has no effect in it. Where several versions are installed, the order of directories \
              decides which one a program loads, and the version of the command says nothing about it."
            .to_owned(),
        fixes: case.fixes(Cause::TwoVersions),
        verify: "headwater doctor --only HW053, as root, after the programs were started again".to_owned(),
    }
    .into()
}

/// Returns the versions that the loader can choose from.
fn loader_versions(parts: &[Installed]) -> BTreeSet<&Version> {
    let libraries = parts.iter().filter(|part| part.kind == InstalledKind::Library);
    libraries.map(|part| &part.version).collect()
}

/// Returns whether two directories have libraries of different versions. In one directory the link
/// libheadwater.so.0 decides, and the other file is only a leftover.
fn conflicts(parts: &[Installed]) -> bool {
    let libraries = || parts.iter().filter(|part| part.kind == InstalledKind::Library);
    libraries().any(|a| libraries().any(|b| a.directory != b.directory && a.version != b.version))
}

/// A process that maps a file which is not the installed one.
struct Running {
    is_deleted: bool,
    evidence: Evidence,
}

/// Finds processes that map a deleted library, or one of a version that is not installed. Without
/// root, the kernel shows the maps of the user's own processes only.
fn running(host: &Host, installed: &BTreeSet<&Version>) -> Vec<Running> {
    let mut found = Vec::new();
    for process in host.processes.iter().take(MOST) {
        let place = format!("/proc/{}/maps", process.pid);
        let Ok(text) = host.root.text(&place) else { continue };
        let file = text.lines().filter_map(path).find_map(|path| {
            let file = path.strip_suffix(DELETED).unwrap_or(path);
            let is_deleted = file.len() < path.len();
            let version = number_after(file, LIBRARY);
            let is_ours = version.is_some() || OTHERS.iter().any(|end| file.ends_with(end));
            let is_other = version
                .is_some_and(|version| !installed.is_empty() && !installed.contains(&version));
            (is_ours && (is_deleted || is_other)).then_some((path, is_deleted))
        });
        if let Some((file, is_deleted)) = file {
            let says = format!("{} maps {file}", process.name);
            found.push(Running { is_deleted, evidence: evidence(place, says) });
        }
    }
    found
}

/// Returns the path of a line of /proc/PID/maps, the rest of the line after five fields.
fn path(line: &str) -> Option<&str> {
    line.find('/').map(|at| &line[at..])
}

fn running_title(running: &[Running], installed: &BTreeSet<&Version>) -> Option<String> {
    let deleted = running.iter().filter(|process| process.is_deleted).count();
    Some(match (deleted, running.len()) {
        (0, 0) => return None,
        (0, other) => format!(
            "{} another libheadwater than the installed one, which is {}",
            if other == 1 { "1 program runs".to_owned() } else { format!("{other} programs run") },
            listed(installed)
        ),
        (1, _) => {
            "1 program still runs a libheadwater that was replaced or removed since it started"
                .to_owned()
        }
        (deleted, _) => format!(
            "{deleted} programs still run a libheadwater that was replaced or removed since they started"
        ),
    })
}

fn count(count: usize) -> String {
    match count {
        2 => "two".to_owned(),
        3 => "three".to_owned(),
        more => more.to_string(),
    }
}

fn listed(versions: &BTreeSet<&Version>) -> String {
    let names: Vec<String> = versions.iter().map(ToString::to_string).collect();
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}
