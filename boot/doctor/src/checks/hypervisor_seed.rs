//! HW030: a confidential guest that relies on its hypervisor's random bytes.

use super::Answer;
use crate::finding::evidence;
use crate::fixes::Cause;
use crate::{Case, Finding, Id, Severity};

pub(super) fn check(case: &Case) -> Answer {
    let Some(host) = &case.host else { return Answer::NotAsked };
    let Some((kind, by)) = host.confidential.clone() else { return Answer::fine() };
    let is_virtio = |name: &String| name.starts_with("virtio");
    let Some(device) = host.hwrng.current.as_ref().filter(|name| is_virtio(name)) else {
        return Answer::fine();
    };
    // With a credited instruction the device's bytes are only mixed in, which takes nothing away.
    let cause = match (case.trusts_cpu(), host.cpu.random_flag()) {
        (Some(true), _) => return Answer::fine(),
        (_, None) => Cause::NoCpuRng,
        (Some(false), Some(_)) => Cause::CpuRngUntrusted,
        (None, Some(flag)) => {
            return Answer::CouldNot(format!(
                "the kernel's configuration, which decides whether {flag} is credited, is missing"
            ));
        }
    };
    Finding {
        id: Id::HypervisorSeed,
        severity: Severity::Critical,
        title: format!(
            "this {} guest credits random bytes of its hypervisor ({device}) and of no other source",
            kind.name()
        ),
        evidence: vec![by, evidence("/sys/class/misc/hw_random/rng_current", device.clone())],
        why: "A confidential guest protects its memory from the hypervisor. If the hypervisor chooses \
              the only credited bytes, it can know the generator's state, and every key made from it."
            .to_owned(),
        fixes: case.fixes(cause),
        verify: "headwater doctor --only HW030,HW021".to_owned(),
    }
    .into()
}
