//! HW021: the CPU's random instruction is not trusted.

use super::Answer;
use crate::finding::evidence;
use crate::fixes::Cause;
use crate::{Case, CpuTrust, Evidence, Finding, Host, Id, Kernel, Severity};

/// The length from which on a user may notice the wait, which credit would have ended.
const FELT_S: f64 = 0.2;

pub(super) fn check(case: &Case) -> Answer {
    let (Some(kernel), Some(host)) = (case.kernel(), &case.host) else { return Answer::NotAsked };
    let Some(flag) = host.cpu.random_flag() else { return Answer::fine() };
    match case.trusts_cpu() {
        Some(true) => return Answer::fine(),
        // Some source seeded the generator in time, so no program had to wait.
        None if case.was_seeded_early() => return Answer::fine(),
        None => {
            return Answer::CouldNot(format!(
                "whether kernel {kernel} credits {flag} is an option of its build, and its configuration is not there to read"
            ));
        }
        Some(false) => {}
    }
    let severity = match case.waited() {
        _ if case.is_starved() => Severity::Critical,
        Some(waited) if waited.at_least > FELT_S => Severity::Warning,
        _ => Severity::Note,
    };
    Finding {
        id: Id::CpuRngUntrusted,
        severity,
        title: format!("the CPU has {flag}, and the kernel does not credit it"),
        evidence: vec![reason(host, &kernel), evidence("/proc/cpuinfo", format!("flags with {flag}"))],
        why: "The kernel mixes the CPU's numbers in without counting them as entropy, so the generator has to wait for another \
              source. Credit means trust in the CPU's maker at boot; the numbers are always mixed with others, never used alone."
            .to_owned(),
        fixes: case.fixes(Cause::CpuRngUntrusted),
        verify: "after a reboot dmesg has \"crng init done\" before the first program starts".to_owned(),
    }
    .into()
}

fn reason(host: &Host, kernel: &Kernel) -> Evidence {
    let word = host
        .command_line
        .iter()
        .rfind(|word| *word == "nordrand" || word.starts_with("random.trust_cpu="));
    match (kernel.cpu_trust(), word) {
        (CpuTrust::Never, _) => {
            evidence("/proc/sys/kernel/osrelease", format!("{kernel}: the option is of Linux 4.19"))
        }
        (_, Some(word)) => evidence("/proc/cmdline", word),
        (_, None) => evidence(
            format!("/boot/config-{}", kernel.release()),
            "# CONFIG_RANDOM_TRUST_CPU is not set",
        ),
    }
}
