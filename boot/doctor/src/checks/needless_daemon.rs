//! HW051: an entropy daemon without a use.

use super::Answer;
use crate::finding::evidence;
use crate::fixes::Cause;
use crate::{Case, Finding, Id, Severity};

/// The daemons' names, which the kernel cuts to 15 bytes, and the reason why each is without a use.
const DAEMONS: [(&str, &str); 4] = [
    (
        "haveged",
        "haveged's own documentation says that it is hardly needed since Linux 5.4; it credits what it takes from the timing of caches, which cannot be tested.",
    ),
    (
        "rngd",
        "The kernel itself reads the devices that rngd reads (in its thread hwrng), and the CPU's instruction.",
    ),
    ("jitterentropy-r", "The kernel gathers the same jitter by itself when it needs to."),
    ("audio-entropyd", "The kernel no longer runs out of entropy once it is ready."),
];

pub(super) fn check(case: &Case) -> Answer {
    let (Some(kernel), Some(host)) = (case.kernel(), &case.host) else { return Answer::NotAsked };
    // Before 5.6 /dev/random ran dry, and such a daemon kept it going.
    if !kernel.is_at_least(5, 6) {
        return Answer::fine();
    }
    let found = host.processes.iter().find_map(|process| {
        let (name, why) = DAEMONS.iter().find(|(name, _)| *name == process.name)?;
        Some((process, *name, *why))
    });
    let Some((process, name, why)) = found else {
        return Answer::fine_unless(host.lacks_processes());
    };
    let fips = host.root.text("/proc/sys/crypto/fips_enabled").is_ok_and(|flag| flag == "1");
    Finding {
        id: Id::NeedlessDaemon,
        severity: Severity::Note,
        title: format!("{name} runs without a use: since Linux 5.6 the kernel's generator does not run dry"),
        evidence: vec![evidence(format!("/proc/{}/comm", process.pid), name)],
        why: format!(
            "{why} Some hardening profiles (STIG) still demand an entropy daemon{}; keep it where an audit asks for it, it \
             does no harm once the machine is up.",
            if fips { ", and this machine is in FIPS mode" } else { "" }
        ),
        fixes: case.fixes(Cause::NeedlessDaemon),
        verify: "headwater doctor --only HW001,HW002 stays silent after a reboot without it".to_owned(),
    }
    .into()
}
