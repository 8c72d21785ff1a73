//! HW022: the CPU's random instruction is broken or has an erratum.
//!
//! Sources: AMD-SB-7055 and Linux, arch/x86/kernel/cpu/amd.c (`zen5_rdseed_microcode`: the
//! revisions below; families 15h and 16h after a resume: `rdrand=`); Intel SA-00320 (SRBDS).

use super::Answer;
use crate::boot::HintKind;
use crate::finding::evidence;
use crate::fixes::Cause;
use crate::{Case, Finding, Host, Id, Platform, Severity};
use headwater_status::CpuRng;

/// Zen 5 models whose RDSEED returns 0 with success, and the microcode that fixes them.
const ZEN5: [(u16, u64); 2] = [(0x02, 0x0b00_215a), (0x11, 0x0b10_1054)];

pub(super) fn check(case: &Case) -> Answer {
    let Some(host) = &case.host else { return Answer::NotAsked };
    let mut findings = Vec::new();
    let mut add = |severity, title: String, proof, why: &str| {
        findings.push(Finding {
            id: Id::CpuRngBroken,
            severity,
            title,
            evidence: vec![proof],
            why: why.to_owned(),
            fixes: case.fixes(Cause::CpuRngBroken),
            verify: "headwater status says: cpu_rng good".to_owned(),
        });
    };
    if case.live().is_some_and(|live| live.status.cpu_rng == CpuRng::Broken) {
        add(
            Severity::Critical,
            "the CPU's random instruction returns 0, all ones, a repeat, or nothing".to_owned(),
            evidence("headwater::status()", "cpu_rng: broken"),
            "The kernel and every program that trusts it get no entropy from it; on some CPUs it says success all the same.",
        );
    }
    if let Some((proof, why)) = erratum(host) {
        add(
            Severity::Warning,
            "the CPU's random instruction has an erratum that is not fixed here".to_owned(),
            proof,
            why,
        );
    }
    let hidden = case
        .boot()
        .and_then(|boot| boot.hints.iter().find(|hint| hint.kind == HintKind::RdrandErratum));
    if let Some(hint) = hidden {
        add(
            Severity::Note,
            "the kernel hides a random instruction of this CPU because of an erratum".to_owned(),
            hint.moment.evidence.clone(),
            "Nothing that asks the kernel or /proc/cpuinfo uses it. Programs built for this very CPU (-march=znver5) may.",
        );
    }
    Answer::Found(findings)
}

fn erratum(host: &Host) -> Option<(crate::Evidence, &'static str)> {
    let cpu = &host.cpu;
    let (family, model, _) = cpu.model?;
    let told_to = host.option("rdrand") == Some("force");
    if cpu.vendor == "AuthenticAMD"
        && (family == 0x15 || family == 0x16)
        && cpu.has("rdrand")
        && told_to
    {
        return Some((
            evidence("/proc/cmdline", "rdrand=force"),
            "On AMD families 15h and 16h RDRAND may return the same number for ever after a resume; the kernel hides it, and \
             was configured not to.",
        ));
    }
    // In a VM the revision is the hypervisor's invention.
    let is_own = host.platform == Platform::BareMetal;
    let mended = ZEN5.iter().find(|(of, _)| *of == model).map(|(_, microcode)| *microcode);
    if cpu.vendor == "AuthenticAMD"
        && family == 0x1a
        && is_own
        && cpu.has("rdseed")
        && cpu.microcode.zip(mended).is_some_and(|(has, needs)| has < needs)
    {
        return Some((
            evidence(
                "/proc/cpuinfo",
                format!("microcode {:#x}", cpu.microcode.unwrap_or_default()),
            ),
            "RDSEED of 16 and 32 bits may return 0 with success (AMD-SB-7055). The microcode fixes it; newer kernels hide \
             the instruction.",
        ));
    }
    let place = "/sys/devices/system/cpu/vulnerabilities/srbds";
    let says = host.root.text(place).ok().filter(|says| says.starts_with("Vulnerable"))?;
    Some((
        evidence(place, says),
        "Another core can read the numbers that RDRAND gave (SRBDS, Intel SA-00320) until new microcode is loaded.",
    ))
}
