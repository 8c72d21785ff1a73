//! HW044: process images are restored here.

use super::Answer;
use crate::boot::HintKind;
use crate::finding::evidence;
use crate::fixes::Cause;
use crate::{Case, Evidence, Finding, Host, Id, Severity};

const PROGRAMS: [&str; 4] =
    ["/usr/sbin/criu", "/usr/bin/criu", "/usr/local/sbin/criu", "/usr/local/bin/criu"];
/// Directories of containers' checkpoints: Kubernetes' kubelet, and below each of Docker's
/// containers.
const KUBELET: &str = "/var/lib/kubelet/checkpoints";
const DOCKER: &str = "/var/lib/docker/containers";

pub(super) fn check(case: &Case) -> Answer {
    let Some(host) = &case.host else { return Answer::NotAsked };
    let used = signs_of_use(case, host);
    let installed = PROGRAMS.into_iter().find(|path| host.root.exists(path));
    let (severity, title, proof) = match (used.is_empty(), installed) {
        (false, _) => (
            Severity::Warning,
            "running processes are saved and restored here (checkpoints): two copies restored from one image draw the same bytes",
            used,
        ),
        (true, Some(path)) => (
            Severity::Note,
            "CRIU is installed: should it restore one image twice, both copies draw the same bytes",
            vec![evidence(path, "is there")],
        ),
        (true, None) => return Answer::fine_unless(host.lacks_programs()),
    };
    Finding {
        id: Id::Checkpointing,
        severity,
        title: title.to_owned(),
        evidence: proof,
        why: "An image holds every buffer of random bytes, the C library's among them, and the kernel does not reseed when an \
              image is restored. So getrandom() itself repeats with glibc 2.41; the system call does not."
            .to_owned(),
        fixes: case.fixes(Cause::Checkpointing),
        verify: "restore one image twice and compare what both draw: headwater lab clone does it with situation criu".to_owned(),
    }
    .into()
}

fn signs_of_use(case: &Case, host: &Host) -> Vec<Evidence> {
    let mut signs = Vec::new();
    if let Some(process) = host.processes.iter().find(|process| process.name == "criu") {
        signs.push(evidence(format!("process {}", process.pid), "criu"));
    }
    if let Some(name) = host.root.names(KUBELET).first() {
        signs.push(evidence(KUBELET, name));
    }
    let kept = host.root.names(DOCKER).into_iter().find_map(|name| {
        let folder = format!("{DOCKER}/{name}/checkpoints");
        let first = host.root.names(&folder).into_iter().next()?;
        Some(evidence(folder, first))
    });
    signs.extend(kept);
    let hints = case.boot().into_iter().flat_map(|boot| &boot.hints);
    signs.extend(
        hints
            .filter(|hint| hint.kind == HintKind::Criu)
            .take(3)
            .map(|hint| hint.moment.evidence.clone()),
    );
    signs
}
