//! HW023: no cycle counter to gather jitter with.

use super::Answer;
use crate::finding::evidence;
use crate::fixes::Cause;
use crate::{Case, Finding, Id, Severity};

pub(super) fn check(case: &Case) -> Answer {
    let (Some(kernel), Some(host)) = (case.kernel(), &case.host) else { return Answer::NotAsked };
    let Some(clock) = host.clock_source.as_deref() else {
        return Answer::CouldNot("/sys/devices/system/clocksource cannot be read".to_owned());
    };
    let is_coarse = clock == "jiffies" || clock == "refined-jiffies";
    // A finer clock replaces a missing counter, and with a counter the kernel needs no clock.
    let has_counter = !host.cpu.is_x86() || host.cpu.has("tsc");
    if !is_coarse || has_counter || kernel.heeds_missing_tsc() == Some(false) {
        return Answer::fine();
    }
    if kernel.heeds_missing_tsc().is_none() && !case.is_starved() {
        return Answer::fine();
    }
    let has_source = case.trusts_cpu() == Some(true) || host.hwrng.current.is_some();
    Finding {
        id: Id::NoCycleCounter,
        severity: if has_source { Severity::Warning } else { Severity::Critical },
        title: format!(
            "the CPU shows no cycle counter and the only clock is {clock}: the kernel cannot gather entropy by itself"
        ),
        evidence: vec![
            evidence("/proc/cpuinfo", "flags without tsc"),
            evidence("/sys/devices/system/clocksource/clocksource0/current_clocksource", clock),
        ],
        why: "The kernel fills its generator in about a second from the jitter of a counter. A clock that only moves with the \
              timer's tick never differs between two readings, so the loop stops, and an idle machine may wait for ever."
            .to_owned(),
        fixes: case.fixes(Cause::NoCycleCounter),
        verify: "cat /sys/devices/system/clocksource/clocksource0/current_clocksource says tsc, kvm-clock, hpet or acpi_pm".to_owned(),
    }
    .into()
}
