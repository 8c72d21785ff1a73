//! Whether the machine positively says that it is not a virtual one.
//!
//! Only asked when the kernel's word is live and neither vmgenid nor VMClock is there: bare metal needs
//! none of them, a virtual machine without them may be cloned unnoticed. So what cannot be read counts as
//! a virtual machine: a hypervisor that hides its CPUID bit, a masked /sys, arm64 without DMI.

use super::read_file;
use crate::linux::features::Features;
use crate::linux::force::{Force, forced};
use crate::status::Hardware;

/// What hypervisors and clouds write into `sys_vendor` and `product_name` (lower case here). A metal
/// instance of a cloud that names itself like its virtual ones is taken for virtual, the safe way.
const VIRTUAL: [&str; 22] = [
    "qemu",
    "kvm",
    "vmware",
    "virtualbox",
    "innotek",
    "xen",
    "bochs",
    "parallels",
    "bhyve",
    "microsoft",
    "google",
    "amazon",
    "openstack",
    "kubevirt",
    "red hat",
    "nutanix",
    "alibaba",
    "tencent",
    "huawei cloud",
    "digitalocean",
    "apple virtualization",
    "virtual",
];

pub(crate) fn look(features: Features) -> Hardware {
    if forced(Force::BareMetal) {
        return Hardware::BareMetal;
    }
    if features.hypervisor {
        return Hardware::Virtual;
    }
    let mut text = [0; 256];
    let mut known = false;
    for path in [c"/sys/class/dmi/id/sys_vendor", c"/sys/class/dmi/id/product_name"] {
        let Some(name) = read_file(path, &mut text).map(<[u8]>::trim_ascii) else {
            return Hardware::Unknown;
        };
        if VIRTUAL.iter().any(|mark| contains_ignoring_case(name, mark.as_bytes())) {
            return Hardware::Virtual;
        }
        known |= !name.is_empty();
    }
    // Other CPUs have no bit by which a hypervisor shows itself, so that a vendor nobody has heard of proves
    // nothing there.
    let has_hypervisor_bit = cfg!(target_arch = "x86_64");
    if known && has_hypervisor_bit { Hardware::BareMetal } else { Hardware::Unknown }
}

fn contains_ignoring_case(text: &[u8], mark: &[u8]) -> bool {
    text.windows(mark.len().max(1)).any(|window| window.eq_ignore_ascii_case(mark))
}

/// Whether the CPU's random instruction carries the SRBDS mitigation, by which it takes microseconds and
/// a lock across cores. `Unknown` is what a guest reads whose hypervisor does not say.
pub(crate) fn random_instruction_is_slow() -> bool {
    let mut text = [0; 128];
    let file = read_file(c"/sys/devices/system/cpu/vulnerabilities/srbds", &mut text);
    file.is_some_and(|text| {
        text.starts_with(b"Mitigation: Microcode") || text.starts_with(b"Unknown")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_any_case() {
        assert!(contains_ignoring_case(b"Microsoft Corporation", b"microsoft"));
        assert!(contains_ignoring_case(b"Standard PC (Q35 + ICH9, 2009) QEMU", b"qemu"));
        assert!(!contains_ignoring_case(b"Dell Inc.", b"qemu"));
        assert!(!contains_ignoring_case(b"", b"qemu"));
    }
}
