//! HW003: a process is waiting for the kernel's generator.

use super::Answer;
use crate::finding::evidence;
use crate::fixes::Cause;
use crate::host::{Host, Ready};
use crate::{Case, Finding, Id, Severity};

pub(super) fn check(case: &Case) -> Answer {
    let Some(host) = &case.host else { return Answer::NotAsked };
    // A ready generator blocks no process, so the files of some thousand processes need not be
    // read.
    if host.live.as_ref().is_some_and(|live| live.ready == Ready::Yes) {
        return Answer::fine();
    }
    let (mut waiting, mut seen, mut unseen) = (Vec::new(), 0_usize, 0_usize);
    for process in &host.processes {
        match process.waits_for_randomness(&host.root) {
            Ok(call) => {
                seen += 1;
                waiting.extend(call.map(|call| (process, call)));
            }
            Err(_) => unseen += 1,
        }
    }
    let findings: Vec<Finding> = finding(case, host, &waiting).into_iter().collect();
    match (host.live.as_ref(), seen, unseen) {
        (Some(live), _, 1..) if !live.is_root => Answer::InPart(
            findings,
            format!("{unseen} processes of other users could not be read; root can"),
        ),
        // A recording without these files.
        (None, 0, _) => Answer::NotAsked,
        _ => Answer::Found(findings),
    }
}

fn finding(
    case: &Case,
    host: &Host,
    waiting: &[(&crate::host::Process, String)],
) -> Option<Finding> {
    let (first, _) = waiting.first()?;
    let since = host.uptime().zip(first.started).map(|(now, started)| now - started);
    let since = since.map_or(String::new(), |seconds| format!(", for up to {seconds:.0} s"));
    let mut names: Vec<&str> = waiting.iter().map(|(process, _)| process.name.as_str()).collect();
    names.dedup();
    names.truncate(5);
    let title = match waiting.len() {
        1 => format!("{} waits for the kernel's random generator{since}", first.name),
        count => {
            format!(
                "{count} processes wait for the kernel's random generator{since}: {}",
                names.join(", ")
            )
        }
    };
    Some(Finding {
        id: Id::Blocked,
        severity: Severity::Critical,
        title,
        evidence: waiting
            .iter()
            .take(10)
            .map(|(process, call)| evidence(format!("process {} ({})", process.pid, process.name), call))
            .collect(),
        why: "The process continues only when the generator is ready. Programs that depend on it hang too, and systemd kills a \
              service whose start takes longer than its limit (90 s unless set)."
            .to_owned(),
        fixes: case.fixes(Cause::NoSeed),
        verify: "headwater wait --timeout 10 returns at once after a reboot".to_owned(),
    })
}
