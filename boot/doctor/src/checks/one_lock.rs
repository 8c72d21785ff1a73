//! HW011: a kernel whose generator has one lock for all CPUs.

use super::Answer;
use crate::finding::evidence;
use crate::fixes::Cause;
use crate::{Case, Finding, Id, Locking, Severity};

/// The number of CPUs that makes a finding if they share one lock.
const MANY: usize = 16;

pub(super) fn check(case: &Case) -> Answer {
    let (Some(kernel), Some(host)) = (case.kernel(), &case.host) else { return Answer::NotAsked };
    let (cpus, nodes) = (host.cpu.online, host.cpu.nodes.max(1));
    if cpus == 0 {
        return Answer::CouldNot("/sys/devices/system/cpu/online cannot be read".to_owned());
    }
    let (sharing, lock) = match kernel.locking() {
        Some(Locking::PerCpu) => return Answer::fine(),
        Some(Locking::PerNode) => (cpus.div_ceil(nodes), "each memory node has one lock"),
        Some(Locking::Global) => (cpus, "there is one lock"),
        None if cpus < MANY => return Answer::fine(),
        None => {
            return Answer::CouldNot(format!(
                "kernel {kernel} is its maker's own mixture, and the pool's size is not known"
            ));
        }
    };
    if sharing < MANY {
        return Answer::fine();
    }
    Finding {
        id: Id::OneLock,
        severity: Severity::Warning,
        title: format!("{sharing} CPUs share one lock for every random byte of kernel {kernel}"),
        evidence: vec![
            evidence("/proc/sys/kernel/osrelease", kernel.release()),
            evidence("/sys/devices/system/{cpu,node}/online", format!("{cpus} CPUs, {nodes} memory nodes")),
        ],
        why: format!(
            "In this kernel {lock}; programs that draw on many CPUs at once wait for each other. Since the rework of \
             Linux 5.18, which stable series have too (5.10.119, 5.15.44 and others), every CPU has a key of its own."
        ),
        fixes: case.fixes(Cause::OneLock),
        verify: "headwater bench shows getrandom-syscall's rate rise with the number of threads".to_owned(),
    }
    .into()
}
