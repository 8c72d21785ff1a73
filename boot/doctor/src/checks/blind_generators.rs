//! HW045: programs whose generators do not notice a clone.

use super::Answer;
use crate::finding::evidence;
use crate::fixes::Cause;
use crate::host::{Host, Process};
use crate::{Case, Evidence, Finding, Id, Severity};

/// Directories of shared libraries; multi-arch distributions have them one level below /usr/lib.
const LIBRARIES: [&str; 4] =
    ["/usr/lib64", "/usr/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu"];
const NODE: [&str; 2] = ["/usr/bin/node", "/usr/local/bin/node"];
/// Parts of the names of mapped files that belong to such a generator.
const MAPPED: [&str; 4] = ["/libcrypto.so", "/libjvm.so", "/bin/node", "/libgnutls.so"];

pub(super) fn check(case: &Case) -> Answer {
    let Some(host) = &case.host else { return Answer::NotAsked };
    if !host.platform.snapshots_memory() {
        return Answer::fine();
    }
    let running = started_before_a_clone(case, host);
    let (severity, title, proof) = if running.is_empty() {
        let found = installed(host);
        if found.is_empty() {
            return Answer::fine_unless(host.lacks_programs());
        }
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        let title =
            format!("generators here that do not notice a clone of the VM: {}", names.join(", "));
        (Severity::Note, title, found.into_iter().map(|(_, proof)| proof).collect())
    } else {
        let title = format!(
            "{} running {} from before this VM was cloned, with a generator that did not notice",
            running.len(),
            if running.len() == 1 { "program is" } else { "programs are" }
        );
        (Severity::Warning, title, running)
    };
    Finding {
        id: Id::BlindGenerators,
        severity,
        title,
        evidence: proof,
        why: "OpenSSL, GnuTLS, Java and Node keep random state in the process and reseed by time or number of calls. Two clones \
              of the VM continue from the same state and make the same numbers until then, although the kernel has reseeded."
            .to_owned(),
        fixes: case.fixes(Cause::BlindGenerators),
        verify: "headwater doctor --only HW045 after the programs were started again".to_owned(),
    }
    .into()
}

/// Finds installed libraries by their files.
fn installed(host: &Host) -> Vec<(String, Evidence)> {
    let root = &host.root;
    let mut found = Vec::new();
    for folder in LIBRARIES {
        for name in root.names(folder) {
            let version = name
                .strip_prefix("libcrypto.so.")
                .filter(|name| name.starts_with(|c: char| c.is_ascii_digit()));
            if let Some(version) = version {
                found.push((
                    format!("OpenSSL {version} (libcrypto)"),
                    evidence(format!("{folder}/{name}"), "exists"),
                ));
            }
        }
    }
    let java = "/usr/lib/jvm";
    for name in root.names(java) {
        let place = format!("{java}/{name}/release");
        let Ok(text) = root.text(&place) else { continue };
        if let Some(line) = text.lines().find(|line| line.starts_with("JAVA_VERSION=")) {
            let version = line.trim_start_matches("JAVA_VERSION=").trim_matches('"');
            found.push((format!("Java {version}"), evidence(place, line)));
        }
    }
    if let Some(path) = NODE.into_iter().find(|path| root.exists(path)) {
        found.push(("Node".to_owned(), evidence(path, "exists")));
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found.dedup_by(|a, b| a.0 == b.0);
    found
}

/// Finds programs that map such a library and ran when the VM was last cloned, by the kernel's log.
fn started_before_a_clone(case: &Case, host: &Host) -> Vec<Evidence> {
    let last = case.boot().and_then(|boot| boot.forks.last()?.at);
    let Some(last) = last else { return Vec::new() };
    let old = host.processes.iter().filter(|process| process.started.is_some_and(|at| at < last));
    old.filter_map(|process| maps(host, process)).take(10).collect()
}

fn maps(host: &Host, process: &Process) -> Option<Evidence> {
    let place = format!("/proc/{}/maps", process.pid);
    let text = host.root.text(&place).ok()?;
    let file = text
        .lines()
        .filter_map(|line| line.split_whitespace().nth(5))
        .find(|file| MAPPED.iter().any(|part| file.contains(part)))?;
    Some(evidence(place, format!("{} maps {file}", process.name)))
}
