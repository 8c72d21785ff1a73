//! HW028: the firmware's seed is not used.

use super::Answer;
use crate::finding::evidence;
use crate::fixes::Cause;
use crate::{Case, CpuTrust, Finding, Id, Severity};

const EFI: &str = "/sys/firmware/efi";

pub(super) fn check(case: &Case) -> Answer {
    let (Some(kernel), Some(host)) = (case.kernel(), &case.host) else { return Answer::NotAsked };
    // Without EFI a seed exists only in a device tree, and the kernel wipes that one.
    if !host.root.exists(EFI) {
        return Answer::fine();
    }
    let built = || host.is_built_with("CONFIG_RANDOM_TRUST_BOOTLOADER");
    let proof = match (kernel.trusts_boot_seed(), host.switch("random.trust_bootloader")) {
        (CpuTrust::Never, _) => evidence(
            "/proc/sys/kernel/osrelease",
            format!("{kernel}: seeds are credited since Linux 5.4"),
        ),
        (_, Some(false)) => evidence("/proc/cmdline", "random.trust_bootloader=off"),
        (CpuTrust::ByOption, None) if built() == Some(false) => evidence(
            format!("/boot/config-{}", kernel.release()),
            "# CONFIG_RANDOM_TRUST_BOOTLOADER is not set",
        ),
        (CpuTrust::ByOption, None) if built().is_none() && !case.was_seeded_early() => {
            return Answer::CouldNot(format!(
                "whether kernel {kernel} credits the firmware's seed is an option of its build, and its configuration is \
                 not there to read"
            ));
        }
        _ => return Answer::fine(),
    };
    Finding {
        id: Id::BootSeedUnused,
        severity: if case.is_starved() { Severity::Warning } else { Severity::Note },
        title: "the firmware (EFI) can seed the generator before the kernel starts, and its seed is not credited".to_owned(),
        evidence: vec![evidence(EFI, "is there"), proof],
        why: "With the firmware's seed the generator is ready at once, even if the CPU has no random instruction: the firmware \
              has drivers of its own, also for a virtio random device. A credited seed means trust in the firmware, and in \
              every program that can write the EFI partition."
            .to_owned(),
        fixes: case.fixes(Cause::BootSeedUnused),
        verify: "after a reboot dmesg has \"crng init done\" before the first program starts".to_owned(),
    }
    .into()
}
