//! Positive evidence that the machine is not a virtual one.
//!
//! The question is asked only if the reseed generation is live and neither vmgenid nor VMClock is
//! there: bare metal needs neither, but a virtual machine without them may be cloned unnoticed. So
//! a file that cannot be read counts as a virtual machine: a masked /sys, arm64 without DMI. A
//! hypervisor may hide its CPUID bit and show the names of its host, so that the bit and the names
//! alone prove nothing ([`look`]).

use super::read_file;
use crate::linux::cpu::features::Features;
use crate::linux::failpoint::{Force, forced};
use crate::linux::guards::vmgenid::has_device;
use crate::linux::sys::Fd;
use crate::status::Hardware;
use core::ffi::CStr;

/// The marks of hypervisors, their firmware and clouds in DMI, in lower case and without spaces. A
/// metal instance of a cloud that names itself like its virtual ones is taken for virtual, the safe
/// way.
const VIRTUAL: [&str; 31] = [
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
    "redhat",
    "nutanix",
    "alibaba",
    "tencent",
    "huaweicloud",
    "digitalocean",
    "virtual",
    "cloudhypervisor",
    "crosvm",
    "firecracker",
    // Firmware and chassis, which a host's names passed to the guest leave as they are.
    "seabios",
    "ovmf",
    "edk2",
    "edkii",
    "efidevelopmentkit",
    "pc-q35",
    "pc-i440fx",
];

/// Makers of PCI devices that no hardware holds, as vendor or as subsystem vendor of the host
/// bridge: Red Hat (two), VMware, Xen, Microsoft, VirtualBox, Amazon, Google, Bochs, Parallels,
/// bhyve.
const VIRTUAL_MAKERS: [&[u8]; 11] = [
    b"00001AF4",
    b"00001B36",
    b"000015AD",
    b"00005853",
    b"00001414",
    b"000080EE",
    b"00001D0F",
    b"00001AE0",
    b"00001234",
    b"00001AB8",
    b"00001275",
];

/// Intel's host bridges that hypervisors emulate: 440FX, 440BX with and without AGP, Q35, and Cloud
/// Hypervisor's own choice. The chipsets are of 1996 to 2007, and a kernel that shows its reseed
/// generation has not been seen on one.
const EMULATED_BRIDGES: [&[u8]; 5] =
    [b"00001237", b"00007190", b"00007192", b"000029C0", b"00000D57"];
const INTEL: &[u8] = b"00008086";

/// Asks the machine, at most seven small files, and only where nothing else has decided.
///
/// The hypervisor's CPUID bit comes first. Recipes for graphics cards in guests hide the bit (`-cpu
/// host,-hypervisor`) and pass the host's names for system and board (`-smbios`, libvirt's `smbios
/// mode='host'`, VMware's `reflectHost`), so that neither is proof. Each file below is readable by
/// every user:
///
/// * DMI's `sys_vendor` and `product_name`: the names of all who hide nothing. They must be there.
/// * DMI's `modalias`: firmware, board and chassis in one read. libvirt passes no chassis, and
///   QEMU's says QEMU.
/// * `modalias` of the host bridge, PCI 0000:00:00.0: QEMU's has Red Hat as subsystem vendor,
///   VMware's has VMware, and the chipset is decades old. It must be there: hardware with DMI and
///   without PCI is not known.
/// * `/sys/bus/virtio/devices`: any device.
/// * ACPI's `QEMU0002:00`, QEMU's configuration device: listed whether its driver is there or not.
/// * `/sys/hypervisor/type`: Xen, whose paravirtual guests see the CPUID of the hardware.
///
/// Left out: all other PCI devices (a file each, hundreds on a server), names of disks (the same),
/// ACPI's tables (for root), `/sys/firmware/qemu_fw_cfg` (needs a driver, and `QEMU0002:00` does
/// not), clock sources (kvm-clock and Hyper-V's depend on the hidden bit), the CPU's name (`-cpu
/// host` passes it), frequency scaling and temperature sensors (many servers show none).
///
/// So a guest that fakes all seven is taken for hardware. But a file that cannot be read proves
/// nothing, so it never speaks for hardware.
pub(crate) fn look(features: Features) -> Hardware {
    if forced(Force::BareMetal) {
        return Hardware::BareMetal;
    }
    if features.hypervisor {
        return Hardware::Virtual;
    }
    match evidence() {
        // Other CPUs have no bit by which a hypervisor shows itself, so that an unknown vendor
        // proves nothing there.
        Some(Hardware::BareMetal) if !cfg!(target_arch = "x86_64") => Hardware::Unknown,
        Some(found) => found,
        None => Hardware::Unknown,
    }
}

/// Returns the verdict of the files; None if a necessary one cannot be read or is empty.
fn evidence() -> Option<Hardware> {
    const DMI: [&CStr; 3] = [
        c"/sys/class/dmi/id/sys_vendor",
        c"/sys/class/dmi/id/product_name",
        c"/sys/class/dmi/id/modalias",
    ];
    let mut text = [0; 1024];
    let mut known = false;
    for path in DMI {
        let len = read_file(path, &mut text)?.len();
        let name = compact(text.get_mut(..len)?);
        if VIRTUAL.iter().any(|mark| contains(name, mark.as_bytes())) {
            return Some(Hardware::Virtual);
        }
        known |= !name.is_empty();
    }
    let bridge = read_file(c"/sys/bus/pci/devices/0000:00:00.0/modalias", &mut text)?;
    if is_emulated(bridge)? || has_virtio() || is_there(c"/sys/bus/acpi/devices/QEMU0002:00") {
        return Some(Hardware::Virtual);
    }
    if is_there(c"/sys/hypervisor/type") {
        return Some(Hardware::Virtual);
    }
    known.then_some(Hardware::BareMetal)
}

/// Returns whether a host bridge is one of a hypervisor's. The answer is None if `modalias` is not
/// as the kernel writes it: `pci:v00008086d000029C0sv00001AF4sd00001100bc06sc00i00`.
fn is_emulated(modalias: &[u8]) -> Option<bool> {
    let (maker, device) = (modalias.strip_prefix(b"pci:v")?.get(..8)?, modalias.get(14..22)?);
    let subsystem = modalias.get(22..32)?.strip_prefix(b"sv")?;
    let is_virtual = [maker, subsystem].iter().any(|maker| VIRTUAL_MAKERS.contains(maker));
    Some(is_virtual || (maker == INTEL && EMULATED_BRIDGES.contains(&device)))
}

fn has_virtio() -> bool {
    Fd::open_read(c"/sys/bus/virtio/devices").is_ok_and(|devices| has_device(&devices))
}

fn is_there(path: &CStr) -> bool {
    Fd::open_read(path).is_ok()
}

/// Returns the text in lower case and without white space, which DMI's `modalias` leaves out.
///
/// Writes by `get_mut`, because the compiler does not always see that `len` stays below the length,
/// and set-up must not panic.
fn compact(text: &mut [u8]) -> &[u8] {
    let mut len = 0;
    for at in 0..text.len() {
        let byte = text[at].to_ascii_lowercase();
        if !byte.is_ascii_whitespace()
            && let Some(to) = text.get_mut(len)
        {
            *to = byte;
            len += 1;
        }
    }
    text.get(..len).unwrap_or_default()
}

fn contains(text: &[u8], mark: &[u8]) -> bool {
    text.windows(mark.len().max(1)).any(|window| window == mark)
}

/// Returns whether the CPU's random instruction carries the SRBDS mitigation, by which it takes
/// microseconds and a lock across cores. `Unknown` is what a guest reads whose hypervisor does not
/// say.
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
    fn names_are_found_in_any_case_and_across_spaces() {
        let says = |text: &[u8], mark: &str| contains(compact(&mut text.to_vec()), mark.as_bytes());
        assert!(says(b"Microsoft Corporation\n", "microsoft"));
        assert!(says(b"Standard PC (Q35 + ICH9, 2009) QEMU", "qemu"));
        assert!(says(b"Red Hat\n", "redhat"));
        assert!(!says(b"Dell Inc.", "qemu"));
        assert!(!says(b" \n", "qemu"));
        for mark in VIRTUAL {
            assert_eq!(compact(&mut mark.as_bytes().to_vec()), mark.as_bytes());
        }
    }

    #[test]
    fn host_bridges_are_told_apart() {
        let bridge = |ids: &str| is_emulated(format!("pci:{ids}bc06sc00i00\n").as_bytes());
        assert_eq!(bridge("v00008086d000029C0sv00001AF4sd00001100"), Some(true)); // QEMU's Q35
        assert_eq!(bridge("v00008086d00007190sv000015ADsd00001976"), Some(true)); // VMware's
        assert_eq!(bridge("v00008086d00001237sv00000000sd00000000"), Some(true)); // VirtualBox's
        assert_eq!(bridge("v00001275d00001275sv00000000sd00000000"), Some(true)); // bhyve's
        assert_eq!(bridge("v00008086d00003E30sv00001458sd00005000"), Some(false));
        // The same number of another maker does not mean a chipset of Intel's.
        assert_eq!(bridge("v00001022d00001237sv00001022sd00001480"), Some(false));
        for broken in ["", "pci:", "pci:v00008086d000029C0", "acpi:PNP0A08:PNP0A03:"] {
            assert_eq!(is_emulated(broken.as_bytes()), None, "{broken}");
        }
    }
}
