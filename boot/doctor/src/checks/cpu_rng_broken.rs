//! HW022: the CPU's random instruction is broken or has an erratum.
//!
//! Sources: AMD-SB-7055 and Linux, arch/x86/kernel/cpu/amd.c (`zen5_rdseed_microcode`: the
//! revisions below; families 15h and 16h after a resume: `rdrand=`); Intel SA-00320 (SRBDS).

use super::Answer;
use crate::boot::{Hint, HintKind};
use crate::finding::evidence;
use crate::fixes::Cause;
use crate::{Case, Evidence, Finding, Host, Id, Platform, Severity};
use headwater_status::CpuRng;

/// Zen 5 models whose RDSEED returns 0 with success, and the microcode that fixes them.
const ZEN5: [(u16, u64); 2] = [(0x02, 0x0b00_215a), (0x11, 0x0b10_1054)];

pub(super) fn check(case: &Case) -> Answer {
    let findings: Vec<Finding> = case.host.iter().flat_map(|host| by_machine(case, host)).collect();
    let findings = [findings, by_log(case).into_iter().collect()].concat();
    // A log names a broken CPU, but its silence says nothing about a CPU, because most kernels test
    // none.
    if case.host.is_none() && findings.is_empty() {
        return Answer::NotAsked;
    }
    Answer::Found(findings)
}

fn finding(
    case: &Case,
    severity: Severity,
    title: &str,
    proof: Evidence,
    why: impl Into<String>,
) -> Finding {
    Finding {
        id: Id::CpuRngBroken,
        severity,
        title: title.to_owned(),
        evidence: vec![proof],
        why: why.into(),
        fixes: case.fixes(Cause::CpuRngBroken),
        verify: "headwater status says: cpu_rng good".to_owned(),
    }
}

/// Judges the machine's own instruction and its model.
fn by_machine(case: &Case, host: &Host) -> Vec<Finding> {
    let is_broken = case.live().is_some_and(|live| live.status.cpu_rng == CpuRng::Broken);
    let drawn = is_broken.then(|| {
        finding(
            case,
            Severity::Critical,
            "the CPU's random instruction returns 0, all ones, a repeat, or nothing",
            evidence("headwater::status()", "cpu_rng: broken"),
            "The kernel and every program that trusts it get no entropy from it; on some CPUs it says success all the same.",
        )
    });
    let known = erratum(host).map(|(proof, why)| {
        let title = "the CPU's random instruction has an erratum that is not fixed here";
        finding(case, Severity::Warning, title, proof, why)
    });
    drawn.into_iter().chain(known).collect()
}

/// Judges the kernel's own words about the instruction, by those who still use it after the
/// message: no program, programs that ask CPUID, or the kernel itself.
fn by_log(case: &Case) -> Option<Finding> {
    let boot = case.boot()?;
    let find = |kind| boot.hints.iter().find(|hint| hint.kind == kind);
    let proof = |hint: &Hint| hint.moment.evidence.clone();
    if let Some(hint) = find(HintKind::RdrandKept) {
        // A kernel that trusts the CPU's maker took these numbers for its whole seed.
        let trusted = find(HintKind::TrustedCpu);
        let severity = if trusted.is_some() { Severity::Critical } else { Severity::Warning };
        let counted = match trusted {
            Some(_) => "counted its numbers as entropy at this boot",
            None => "mixes its numbers with those of other sources, which do not get worse by that",
        };
        return Some(Finding {
            evidence: std::iter::once(hint).chain(trusted).map(proof).collect(),
            ..finding(
                case,
                severity,
                "the kernel found the CPU's RDRAND unreliable, and continues to use it",
                proof(hint),
                format!(
                    "The kernel {counted}. It hides the instruction from no program, so that \
                     those that use it alone may get the same numbers again and again."
                ),
            )
        });
    }
    if let Some(hint) = find(HintKind::RdrandGivenUp) {
        return Some(finding(
            case,
            Severity::Warning,
            "the kernel found the CPU's RDRAND broken and has given it up; programs still see it",
            proof(hint),
            "The kernel uses neither RDRAND nor RDSEED and takes both out of /proc/cpuinfo. But CPUID still names them, and a program that \
             asks CPUID may get the same numbers again and again.",
        ));
    }
    let hint = find(HintKind::RdrandErratum)?;
    Some(finding(
        case,
        Severity::Note,
        "the kernel hides a random instruction of this CPU because of an erratum",
        proof(hint),
        "Nothing that asks the kernel or /proc/cpuinfo uses it. Programs built for this very CPU (-march=znver5) may.",
    ))
}

fn erratum(host: &Host) -> Option<(Evidence, &'static str)> {
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
