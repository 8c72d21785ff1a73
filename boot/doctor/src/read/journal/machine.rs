//! Facts about the machine in a log's lines: firmware, hypervisor, architecture, encrypted memory.
//!
//! The texts are those of Linux (arch/*/kernel/setup.c, drivers/firmware/dmi_scan.c, arch/x86/coco,
//! the NSM drivers of Nitro Enclaves) and of systemd's src/core/main.c.

use crate::boot::{LogMachine, NITRO_ENCLAVES};

/// A fact about the machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum MachineFact<'a> {
    /// The firmware's name for the machine.
    Dmi(&'a str),
    /// The hypervisor's name.
    Hypervisor(&'a str),
    /// The device tree's name for the machine.
    Model(&'a str),
    /// The technology of a guest whose owner does not trust the hypervisor.
    Confidential(&'a str),
    /// systemd's word for a virtual machine or a container.
    Virtualization(&'a str),
    /// The CPU's architecture, in systemd's words.
    Architecture(&'static str),
    /// The maker of the ACPI tables, with the tables' own name.
    Firmware(&'a str),
    /// The kernel of an s390x machine says how it runs.
    S390(&'a str),
}

impl MachineFact<'_> {
    /// Writes the fact down. The first line counts, because a log may repeat it.
    pub(super) fn note(self, machine: &mut LogMachine) {
        let set = |field: &mut Option<String>, value: &str| {
            field.get_or_insert_with(|| value.to_owned());
        };
        match self {
            MachineFact::Dmi(name) => set(&mut machine.dmi, name),
            MachineFact::Hypervisor(name) => set(&mut machine.hypervisor, name),
            MachineFact::Model(name) => set(&mut machine.model, name),
            MachineFact::Confidential(name) => set(&mut machine.confidential, name),
            MachineFact::Virtualization(name) => set(&mut machine.virtualization, name),
            MachineFact::Architecture(name) => set(&mut machine.architecture, name),
            MachineFact::Firmware(name) => set(&mut machine.firmware, name),
            MachineFact::S390(how) => {
                set(&mut machine.architecture, "s390x");
                if how.contains("KVM") {
                    set(&mut machine.virtualization, "kvm");
                } else if how.contains("z/VM") {
                    set(&mut machine.virtualization, "zvm");
                }
            }
        }
    }
}

/// Reads a message of systemd as the first program, or of its console.
pub(super) fn by_systemd(message: &str) -> Option<MachineFact<'_>> {
    let detected = message.strip_prefix("Detected ")?;
    let word = |name: &str| Some(detected.strip_prefix(name)?.trim_end().trim_end_matches('.'));
    if let Some(name) = word("confidential virtualization ") {
        // Plain SEV encrypts memory without its integrity, and the hypervisor is still trusted.
        return (!matches!(name, "sev" | "sev-es")).then_some(MachineFact::Confidential(name));
    }
    if let Some(name) = word("virtualization ") {
        return Some(MachineFact::Virtualization(name));
    }
    architecture(word("architecture ")?).map(MachineFact::Architecture)
}

/// Reads a message of the kernel that begins with a fact. Most lines end at their first letter.
pub(super) fn by_start(message: &str) -> Option<MachineFact<'_>> {
    if !matches!(message.as_bytes().first()?, b'A' | b'D' | b'H' | b'N' | b'S' | b'n' | b's' | b't')
    {
        return None;
    }
    if let Some(name) = message.strip_prefix("DMI: ") {
        return Some(MachineFact::Dmi(name.trim()));
    }
    // A line of a crash repeats the firmware's name, or that of the device tree.
    if let Some(name) = message.strip_prefix("Hardware name: ") {
        return Some(match name.trim().strip_suffix(" (DT)") {
            Some(model) => MachineFact::Model(model),
            None => MachineFact::Dmi(name.trim()),
        });
    }
    // Other lines of confidential guests: before the kernel lists its features, or after. The list
    // alone is not enough, because a guest of SEV-SNP under a paravisor is listed as "AMD SEV"
    // only; its own line says "vTom".
    if message.starts_with("tdx: Guest detected") {
        return Some(MachineFact::Confidential("Intel TDX"));
    }
    if message.starts_with("SEV: S") && (message.contains("SNP") || message.contains("vTom")) {
        return Some(MachineFact::Confidential("AMD SEV-SNP"));
    }
    // The module and the device of an enclave, which exist nowhere else.
    if message.starts_with("nsm: ") || message.starts_with("NSM RNG: ") {
        return Some(MachineFact::Confidential(NITRO_ENCLAVES));
    }
    if let Some(how) = message.strip_prefix("setup: Linux is running ") {
        return Some(MachineFact::S390(how));
    }
    if let Some(rest) = message.strip_prefix("ACPI: XSDT ") {
        let (_, table) = rest.split_once("(v")?;
        return Some(MachineFact::Firmware(table.get(3..)?));
    }
    by_systemd(message)
}

/// Reads a message of the kernel that holds a fact after other words.
pub(super) fn inside(message: &str) -> Option<MachineFact<'_>> {
    if let Some((_, name)) = message.split_once("Hypervisor detected: ") {
        return Some(MachineFact::Hypervisor(name));
    }
    if let Some((_, name)) = message.split_once("Machine model: ") {
        return Some(MachineFact::Model(name));
    }
    let (_, name) = message.split_once("Memory Encryption Features active: ")?;
    (name.contains("SNP") || name.contains("TDX")).then_some(MachineFact::Confidential(name))
}

/// Returns the architecture that the text of "Linux version" shows: by the release, by the name of
/// the compiler, which has its target in front, and by the builder's name last.
pub(super) fn of_version(version: &str) -> Option<&'static str> {
    let (release, rest) = version.split_once(' ').unwrap_or((version, ""));
    let (builder, compiler) = rest.split_once(") ").unwrap_or((rest, ""));
    let compiler = compiler.find("gcc").and_then(|end| compiler.get(..end)).unwrap_or_default();
    let named = |text: &str| words(text).find_map(architecture);
    // A builder may have any name, so only a whole word counts.
    let whole = |text: &str| {
        words(text).find_map(|word| {
            architecture(word).filter(|name| [*name, "amd64", "ppc64el"].contains(&word))
        })
    };
    named(release).or_else(|| named(compiler)).or_else(|| whole(builder))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
}

/// Returns the architecture with whose name a word begins. The names are those of uname(2), of
/// Debian and of systemd.
pub(super) fn architecture(word: &str) -> Option<&'static str> {
    const NAMES: [(&str, &str); 20] = [
        ("x86-64", "x86-64"),
        ("x86_64", "x86-64"),
        ("amd64", "x86-64"),
        ("i686", "x86"),
        ("aarch64", "arm64"),
        ("arm64", "arm64"),
        ("arm", "arm"),
        ("raspi", "arm"),
        ("s390", "s390x"),
        ("ppc64-le", "ppc64-le"),
        ("ppc64le", "ppc64-le"),
        ("ppc64el", "ppc64-le"),
        ("powerpc64le", "ppc64-le"),
        ("ppc64", "ppc64"),
        ("powerpc", "ppc"),
        ("ppc", "ppc"),
        ("riscv", "riscv64"),
        ("mips", "mips"),
        ("loong", "loongarch64"),
        ("microblaze", "microblaze"),
    ];
    NAMES.iter().find(|(name, _)| word.starts_with(name)).map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by_kernel(message: &str) -> Option<MachineFact<'_>> {
        by_start(message).or_else(|| inside(message))
    }

    #[test]
    fn a_confidential_guest_is_known_by_any_of_its_lines() {
        for (message, name) in [
            ("Memory Encryption Features active: Intel TDX", "Intel TDX"),
            ("tdx: Guest detected", "Intel TDX"),
            ("SEV: SNP guest platform device initialized.", "AMD SEV-SNP"),
            ("SEV: SNP guest platform devices initialized.", "AMD SEV-SNP"),
            ("SEV: Status: SEV SEV-ES SEV-SNP", "AMD SEV-SNP"),
            ("SEV: Status: vTom", "AMD SEV-SNP"),
            ("nsm: loading out-of-tree module taints kernel.", "Nitro Enclaves"),
            ("NSM RNG: returning rand bytes = 64", "Nitro Enclaves"),
            ("Detected confidential virtualization tdx.", "tdx"),
        ] {
            assert_eq!(by_kernel(message), Some(MachineFact::Confidential(name)), "{message}");
        }
        for message in [
            "Memory Encryption Features active: AMD SEV",
            "tdx: Attributes: SEPT_VE_DISABLE",
            "SEV: Status: SEV SEV-ES",
            "SEV-SNP: RMP table physical range [0x0 - 0x1]",
            "Detected confidential virtualization sev.",
        ] {
            assert_eq!(by_kernel(message), None, "{message}");
        }
    }

    #[test]
    fn the_architecture_is_the_targets_and_not_the_builders() {
        for (version, architecture) in [
            ("6.12.1 (u@b) (mips-openwrt-linux-musl-gcc (OpenWrt GCC 14.3.0) 14.3.0)", "mips"),
            ("6.1.0 (buildd@amd64-1) (aarch64-linux-gnu-gcc (Ubuntu) 15)", "arm64"),
            ("6.6.32-0-lts (buildozer@build-edge-s390x) (gcc (Alpine) 13)", "s390x"),
            ("4.18.0-147.el8.s390x (u@b) (gcc version 8)", "s390x"),
            ("5.14.0-70.el9.x86_64 (u@b) (gcc version 11)", "x86-64"),
        ] {
            assert_eq!(of_version(version), Some(architecture), "{version}");
        }
        for version in
            ["5.0.0-rc3 (root@build) (gcc version 7.5.0)", "6.1.0 (root@armory) (gcc version 9)"]
        {
            assert_eq!(of_version(version), None);
        }
    }
}
