//! HW042: a VMClock that programs cannot read.

use super::Answer;
use crate::finding::evidence;
use crate::fixes::Cause;
use crate::{Case, Finding, Id, Platform, Severity};

const NODE: &str = "/dev/vmclock0";
const READ_BY_OTHERS: u32 = 0o004;

pub(super) fn check(case: &Case) -> Answer {
    let (Some(kernel), Some(host)) = (case.kernel(), &case.host) else { return Answer::NotAsked };
    let Some(device) = host.clones.vmclock.clone() else { return Answer::fine() };
    // The driver of an assumed kernel cannot be seen, only its version.
    let driver = host.clones.vmclock_driver.clone().filter(|_| case.assumed.is_none());
    let (title, proof, cause) = if let (false, Some(driver)) = (host.clones.vmclock_node, driver) {
        let lack = match case.platform() {
            Some(Platform::Container) => "this container has no /dev/vmclock0",
            _ => "/dev/vmclock0 was not made",
        };
        (
            format!("the kernel drives the machine's VMClock, and {lack}"),
            evidence(&driver, format!("a device is bound, and {NODE} is not there")),
            Cause::VmclockHidden,
        )
    } else if !host.clones.vmclock_node {
        let reason = match kernel.has_vmclock() {
            Some(true) => {
                "is built without its driver (CONFIG_PTP_1588_CLOCK_VMCLOCK), or has not loaded it"
            }
            _ => "is older than its driver (Linux 6.13)",
        };
        (
            format!("the hypervisor has a VMClock, and kernel {kernel} {reason}"),
            evidence(NODE, "is not there"),
            Cause::VmclockNoDriver,
        )
    } else if let Some(mode) = mode(case).filter(|mode| mode & READ_BY_OTHERS == 0) {
        (
            "the VMClock can be read by root only".to_owned(),
            evidence(NODE, format!("mode {:04o}", mode & 0o7777)),
            Cause::VmclockUnreadable,
        )
    } else {
        return Answer::fine();
    };
    Finding {
        id: Id::VmclockUnreadable,
        // With vmgenid, only the moment between the clone and the kernel's reseed remains.
        severity: if host.clones.listens.is_some() { Severity::Note } else { Severity::Warning },
        title,
        evidence: vec![device, proof],
        why: "The page changes before a cloned VM's CPUs run on, while the kernel reseeds some milliseconds later, when the \
              interrupt of vmgenid is served. A program that can read the page discards its buffered bytes in time, as \
              headwater does. Without the page headwater notices a clone when the kernel does."
            .to_owned(),
        fixes: case.fixes(cause),
        verify: "`ls -l /dev/vmclock0` begins with cr--r--r-- or crw-r--r--, and headwater status says: vmclock mapped".to_owned(),
    }
    .into()
}

/// Returns the permissions of the device. A recording has none.
fn mode(case: &Case) -> Option<u32> {
    case.host.as_ref()?.root.mode(NODE)
}
