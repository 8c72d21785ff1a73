//! HW040: a VM without a clone signal.

use super::Answer;
use crate::finding::evidence;
use crate::fixes::Cause;
use crate::{Case, Finding, Id, Severity};

pub(super) fn check(case: &Case) -> Answer {
    let Some(host) = &case.host else { return Answer::NotAsked };
    // A container's host is what would be cloned, and cannot be seen from within.
    if !host.platform.snapshots_memory() || host.clones.vmgenid.is_some() {
        return Answer::fine();
    }
    // The clone signal may be there and hidden by a /sys that is not.
    if !host.root.exists("/sys/bus/acpi/devices")
        && !host.root.exists("/sys/firmware/devicetree/base")
    {
        return Answer::CouldNot("neither /sys/bus/acpi nor a device tree can be read".to_owned());
    }
    let has_cpu_rng = host.cpu.random_flag().is_some();
    Finding {
        id: Id::NoVmgenid,
        severity: Severity::Warning,
        title: "nothing signals to this VM that it was cloned or rolled back: both copies then draw the same bytes".to_owned(),
        evidence: vec![evidence("/sys/bus/acpi/devices", "no generation device (vmgenid: VMGENCTR, QEMUVGID, VM_GEN_COUNTER)")],
        why: format!(
            "After a snapshot is started twice, getrandom() returns to both machines the same bytes until the kernel reseeds by \
             its timer, up to a minute later: the same keys, the same session names. {} It matters only if snapshots of \
             the running machine are ever started.",
            if has_cpu_rng {
                "headwater's hedged mode keeps them apart by the CPU's instruction; others do not."
            } else {
                "There is no CPU instruction that could keep them apart either."
            }
        ),
        fixes: case.fixes(Cause::NoVmgenid),
        verify: "ls /sys/bus/platform/drivers/vmgenid shows a device".to_owned(),
    }
    .into()
}
