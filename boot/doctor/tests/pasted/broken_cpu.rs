//! HW022: the kernel's words about a broken instruction.

use super::{of_log, one, ready_with};
use headwater_doctor::{Id, Severity, Verdict};

/// The kernel's sources say what it does after each message.
#[test]
fn a_broken_instruction_is_found_in_a_log_alone() {
    let funky = concat!(
        "RDRAND gi",
        "ves funky smelling output, might consider not using it by booting with \"nordrand\""
    );
    for (kernel, line, severity, title) in [
        ("5.4.0", funky, Severity::Warning, "continues to use it"),
        (
            "5.10.0",
            "BIOS may not properly restore RDRAND after suspend, but hypervisor does not support \
             hiding RDRAND via CPUID.",
            Severity::Warning,
            "continues to use it",
        ),
        (
            "6.1.0",
            "RDRAND is not reliable on this platform; disabling.",
            Severity::Warning,
            "programs still see it",
        ),
        ("5.4.0", "rdrand: disabled", Severity::Warning, "programs still see it"),
        (
            "6.18.0",
            "RDSEED32 is broken. Disabling the corresponding CPUID bit.",
            Severity::Note,
            "hides",
        ),
        (
            "5.10.0",
            "BIOS may not properly restore RDRAND after suspend, hiding RDRAND via CPUID. Use \
             rdrand=force to reenable.",
            Severity::Note,
            "hides",
        ),
    ] {
        let report = of_log(&ready_with(kernel, line));
        let broken = one(&report, Id::CpuRngBroken);
        assert_eq!(broken.severity, severity, "{line}");
        assert!(broken.title.contains(title), "{line}: {}", broken.title);
        assert!(broken.evidence[0].says.contains(line), "{broken:?}");
        let first = &broken.fixes[0];
        assert!(first.what.contains("microcode"), "{line}: {}", first.what);
    }
    // Its equal numbers were counted as entropy.
    let trusting = "random: crng done (trusting CPU's manufacturer)";
    let report = of_log(&ready_with("5.4.0", &format!("{funky}\n[    0.200000] {trusting}")));
    assert_eq!(one(&report, Id::CpuRngBroken).severity, Severity::Critical);
    let report = of_log(&ready_with("5.4.0", "usb 1-1: new device"));
    assert_eq!(report.verdict(), Verdict::Healthy);
    assert!(!report.passed.contains(&Id::CpuRngBroken), "a log alone cannot show a sound CPU");
}
