//! The machine that headwater runs on. What cannot be told is `None`.

use crate::kmsg::Kmsg;
use std::fs;

pub(crate) struct Host {
    /// The kernel's release, such as 6.12.9-amd64.
    pub(crate) kernel: Option<String>,
    /// The C library and its version.
    pub(crate) libc: Option<String>,
    /// What runs this machine: a hypervisor's name, or "none".
    pub(crate) hypervisor: Option<String>,
    /// Who made the machine, by its firmware; a cloud often names itself there.
    pub(crate) vendor: Option<String>,
    pub(crate) kmsg: Kmsg,
}

impl Host {
    pub(crate) fn read() -> Host {
        Host {
            kernel: line("/proc/sys/kernel/osrelease"),
            libc: libc_version(),
            hypervisor: hypervisor(),
            vendor: line("/sys/class/dmi/id/sys_vendor"),
            kmsg: Kmsg::read(),
        }
    }
}

/// The one line of a kernel file.
fn line(path: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_string())
}

#[cfg(target_env = "gnu")]
fn libc_version() -> Option<String> {
    // SAFETY: it takes nothing, and returns a string that is a constant of the library.
    let version = unsafe { std::ffi::CStr::from_ptr(libc::gnu_get_libc_version()) };
    Some(format!("glibc {}", version.to_str().ok()?))
}

/// musl does not tell its version, on purpose.
#[cfg(target_env = "musl")]
fn libc_version() -> Option<String> {
    Some("musl".to_string())
}

#[cfg(not(any(target_env = "gnu", target_env = "musl")))]
fn libc_version() -> Option<String> {
    None
}

/// What CPUID says: leaf 1 has a bit for "in a VM", leaf 0x4000_0000 the hypervisor's signature.
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
fn hypervisor() -> Option<String> {
    use raw_cpuid::{CpuId, Hypervisor};
    let cpu = CpuId::new();
    if !cpu.get_feature_info()?.has_hypervisor() {
        return Some("none".to_string());
    }
    let name = match cpu.get_hypervisor_info()?.identify() {
        Hypervisor::KVM => "KVM",
        Hypervisor::QEMU => "QEMU TCG",
        Hypervisor::Xen => "Xen",
        Hypervisor::VMware => "VMware",
        Hypervisor::HyperV => "Hyper-V",
        Hypervisor::Bhyve => "bhyve",
        Hypervisor::QNX => "QNX",
        Hypervisor::ACRN => "ACRN",
        Hypervisor::Unknown(b, c, d) => return Some(signature([b, c, d])),
    };
    Some(name.to_string())
}

/// No register tells it on other machines.
#[cfg(not(any(target_arch = "x86", target_arch = "x86_64")))]
fn hypervisor() -> Option<String> {
    None
}

/// The signature of a hypervisor that has no name here, as far as it is text.
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
fn signature(registers: [u32; 3]) -> String {
    let bytes: Vec<u8> = registers.into_iter().flat_map(u32::to_le_bytes).collect();
    let text: String = bytes
        .utf8_chunks()
        .flat_map(|chunk| chunk.valid().chars())
        .filter(|c| c.is_ascii_graphic() || *c == ' ')
        .collect();
    format!("signature '{}'", text.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    fn a_signature_is_printable() {
        let [b, c, d] = [*b"New\0", *b"\x1bHv\xFF", *b" 1\n\0"].map(u32::from_le_bytes);
        assert_eq!(signature([b, c, d]), "signature 'NewHv 1'");
    }

    #[test]
    fn what_is_not_there_is_unknown() {
        assert_eq!(line("/proc/no/such/file"), None);
    }
}
