//! HW024: a VM without a random device.

use super::Answer;
use crate::finding::evidence;
use crate::fixes::Cause;
use crate::{Case, Finding, Id, Severity};

pub(super) fn check(case: &Case) -> Answer {
    let Some(host) = &case.host else { return Answer::NotAsked };
    let hwrng = &host.hwrng;
    if !host.is_vm() || hwrng.virtio.is_some() || !hwrng.available.is_empty() {
        return Answer::fine();
    }
    // A /sys that is hidden or was not copied shows no device either.
    let places = ["/sys/class/misc/hw_random", "/sys/bus/virtio/devices", "/sys/bus/pci/devices"];
    if !places.into_iter().any(|place| host.root.exists(place)) {
        return Answer::CouldNot("/sys cannot be read".to_owned());
    }
    // The device is not missed if the CPU seeds the kernel, or if the firmware has done so before
    // the first program.
    let seeded_early = case.was_seeded_early();
    if case.trusts_cpu() == Some(true) || seeded_early {
        return Answer::fine();
    }
    Finding {
        id: Id::NoHwrng,
        severity: if case.is_starved() { Severity::Critical } else { Severity::Warning },
        title: "this VM has no random device, and no CPU instruction that the kernel credits".to_owned(),
        evidence: vec![
            evidence("/sys/bus/{virtio,pci}/devices", "no device of virtio type 4 (1af4:1005, 1af4:1044)"),
            evidence("/sys/class/misc/hw_random/rng_available", "none"),
        ],
        why: "A virtio random device (virtio-rng) hands the host's random bytes to the guest, and ends the wait at boot the \
              moment its driver is loaded."
            .to_owned(),
        fixes: case.fixes(Cause::NoHwrng),
        verify: "cat /sys/class/misc/hw_random/rng_current says virtio_rng.0".to_owned(),
    }
    .into()
}
