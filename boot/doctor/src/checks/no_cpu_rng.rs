//! HW020: the CPU has no random instruction.

use super::Answer;
use crate::finding::evidence;
use crate::fixes::Cause;
use crate::{Case, Finding, Id, Severity};

pub(super) fn check(case: &Case) -> Answer {
    let Some(host) = &case.host else { return Answer::NotAsked };
    let cpu = &host.cpu;
    if cpu.flags.is_empty() {
        return Answer::CouldNot("/proc/cpuinfo cannot be read, or names no features".to_owned());
    }
    if cpu.random_flag().is_some() {
        return Answer::fine();
    }
    let (instruction, key) =
        if cpu.is_x86() { ("RDRAND or RDSEED", "flags") } else { ("RNDR", "Features") };
    // Every x86 CPU since 2012 to 2015 has the instruction, so a VM without it has a CPU model that
    // hides it. Few arm64 CPUs have one.
    let severity = match (case.is_starved(), cpu.is_x86() && host.is_vm()) {
        (true, _) => Severity::Critical,
        (false, true) => Severity::Warning,
        (false, false) => Severity::Note,
    };
    let name = if cpu.name.is_empty() { "the CPU" } else { cpu.name.as_str() };
    Finding {
        id: Id::NoCpuRng,
        severity,
        title: if cpu.is_x86() && host.is_vm() {
            format!("the VM's CPU model ({name}) has no random instruction ({instruction})")
        } else {
            format!("{name} has no random instruction ({instruction})")
        },
        evidence: vec![evidence("/proc/cpuinfo", format!("{key} without {}", instruction.to_lowercase()))],
        why: "With this instruction the kernel's generator is ready before the first program starts. The instruction also keeps \
              the bytes of two clones apart if nothing signals the clone to the kernel."
            .to_owned(),
        fixes: case.fixes(Cause::NoCpuRng),
        verify: "grep -c rdrand /proc/cpuinfo is not 0, and dmesg has \"crng init done\" before the first program starts".to_owned(),
    }
    .into()
}
