//! HW041: a clone signal that the kernel does not listen to.

use super::Answer;
use crate::finding::evidence;
use crate::fixes::Cause;
use crate::{Case, Finding, Id, Severity};

pub(super) fn check(case: &Case) -> Answer {
    let (Some(kernel), Some(host)) = (case.kernel(), &case.host) else { return Answer::NotAsked };
    let Some(device) = host.clones.vmgenid.clone() else { return Answer::fine() };
    let can = kernel.has_vmgenid(host.clones.by_device_tree);
    // An assumed kernel's drivers cannot be seen, only its version.
    if (case.assumed.is_none() && host.clones.listens.is_some())
        || (case.assumed.is_some() && can == Some(true))
    {
        return Answer::fine();
    }
    let reason = match can {
        Some(false) => {
            "which is older than its driver (Linux 5.18; 6.10 where a device tree announces it)"
        }
        _ if kernel.is_debian_cloud() => "Debian's cloud flavour, which is built without it",
        _ => "which is built without CONFIG_VMGENID, or has not loaded the module",
    };
    Finding {
        id: Id::VmgenidNoDriver,
        severity: Severity::Warning,
        title: "the hypervisor signals clones (vmgenid), and this kernel does not listen: clones draw the same bytes".to_owned(),
        evidence: vec![
            device,
            evidence("/sys/bus/{platform,acpi}/drivers/vmgenid", "no device bound"),
            evidence("/proc/sys/kernel/osrelease", format!("{kernel}, {reason}")),
        ],
        why: "With the driver the kernel reseeds within milliseconds of a clone or restore. Without it getrandom() returns to both \
              machines the same bytes until the timer reseeds, up to a minute later."
            .to_owned(),
        fixes: case.fixes(Cause::VmgenidNoDriver),
        verify: "after a clone dmesg has \"crng reseeded due to virtual machine fork\"".to_owned(),
    }
    .into()
}
