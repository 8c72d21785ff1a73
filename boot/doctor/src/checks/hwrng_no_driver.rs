//! HW025: a random device without its driver.

use super::Answer;
use crate::finding::evidence;
use crate::fixes::Cause;
use crate::{Case, Finding, Id, Severity};

pub(super) fn check(case: &Case) -> Answer {
    let Some(host) = &case.host else { return Answer::NotAsked };
    let Some(device) = host.hwrng.virtio.clone().filter(|_| !host.hwrng.has_virtio_driver()) else {
        return Answer::fine();
    };
    Finding {
        id: Id::HwrngNoDriver,
        severity: if case.is_starved() { Severity::Critical } else { Severity::Warning },
        title: "the hypervisor provides a random device (virtio-rng), and no driver uses it".to_owned(),
        evidence: vec![device, evidence("/sys/class/misc/hw_random/rng_available", "without virtio_rng")],
        why: "The device does nothing until the module virtio_rng is loaded. Minimal kernels leave it out, and in most \
              distributions it is a module that the initial RAM disk does not have."
            .to_owned(),
        fixes: case.fixes(Cause::HwrngNoDriver),
        verify: "cat /sys/class/misc/hw_random/rng_current says virtio_rng.0".to_owned(),
    }
    .into()
}
