//! HW026: the driver of the random device came late.

use super::Answer;
use crate::finding::evidence;
use crate::fixes::Cause;
use crate::{Case, Finding, Id, Severity};

pub(super) fn check(case: &Case) -> Answer {
    let Some(host) = &case.host else { return Answer::NotAsked };
    if !host.hwrng.has_virtio_driver() || !host.hwrng.is_module {
        return Answer::fine();
    }
    let Some(waited) = case.waited() else {
        return Answer::CouldNot(
            "no log shows when the generator was ready; root can read the log of the kernel"
                .to_owned(),
        );
    };
    let ready = case.boot().and_then(|boot| boot.ready.as_ref());
    let (true, Some(ready)) = (case.is_starved(), ready) else { return Answer::fine() };
    Finding {
        id: Id::HwrngLate,
        severity: Severity::Critical,
        title: format!(
            "the random device is there, and its driver came so late that programs had to wait {}",
            waited.words()
        ),
        evidence: vec![ready.evidence.clone(), evidence("/proc/modules", "virtio_rng: a module")],
        why: "The wait ends when the module virtio_rng is loaded. Unless the initial RAM disk has the module, it is loaded after \
              the root file system is mounted, and often after the first service has asked for random bytes."
            .to_owned(),
        fixes: case.fixes(Cause::HwrngLate),
        verify: "after a reboot dmesg has \"crng init done\" within a second of \"Run /init\"".to_owned(),
    }
    .into()
}
