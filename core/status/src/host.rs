//! The machine that headwater runs on.

use crate::{Kmsg, Text};
use core::ffi::{CStr, c_int};

/// The machine that headwater runs on; unknown facts are `None`.
#[derive(Clone, Copy, Debug)]
pub struct Host {
    /// The kernel's release, such as 6.12.9-amd64.
    pub kernel: Option<Text>,
    /// The C library and its version.
    pub libc: Option<Text>,
    /// Name of the hypervisor, or "none".
    pub hypervisor: Option<Text>,
    /// Vendor in the firmware's tables, where clouds often name themselves.
    pub vendor: Option<Text>,
    /// Facts from the kernel's log.
    pub kmsg: Kmsg,
}

impl Host {
    /// Returns the facts of this machine. Reads four files and executes two instructions. Changes
    /// errno.
    pub fn read() -> Host {
        Host {
            kernel: first_line(c"/proc/sys/kernel/osrelease"),
            libc: libc_version(),
            hypervisor: hypervisor(),
            vendor: first_line(c"/sys/class/dmi/id/sys_vendor"),
            kmsg: Kmsg::read(),
        }
    }
}

fn first_line(path: &CStr) -> Option<Text> {
    let mut bytes = [0; 256];
    Text::first_line(File::open(path)?.read(&mut bytes).ok()?)
}

/// A file open for reading, closed when dropped.
///
/// The calls go through syscall(2). The C library's open, read and close are cancellation points: a
/// thread with a pending cancellation would end inside headwater_status_json().
pub(crate) struct File(c_int);

impl File {
    /// Opens without blocking, because a read after the last record of the kernel's log would
    /// block.
    pub(crate) fn open(path: &CStr) -> Option<File> {
        let flags = libc::O_RDONLY | libc::O_CLOEXEC | libc::O_NONBLOCK;
        // SAFETY: openat reads a C string.
        let fd = unsafe { libc::syscall(libc::SYS_openat, libc::AT_FDCWD, path.as_ptr(), flags) };
        c_int::try_from(fd).ok().filter(|fd| *fd >= 0).map(File)
    }

    /// Reads once, again after a signal, and returns the bytes or the errno.
    pub(crate) fn read<'b>(&self, buf: &'b mut [u8]) -> Result<&'b [u8], c_int> {
        loop {
            // SAFETY: `buf` is valid for writes of its length.
            let given =
                unsafe { libc::syscall(libc::SYS_read, self.0, buf.as_mut_ptr(), buf.len()) };
            if let Ok(given) = usize::try_from(given) {
                return buf.get(..given).ok_or(libc::EIO);
            }
            // SAFETY: errno's address is valid.
            match unsafe { *libc::__errno_location() } {
                libc::EINTR => {}
                errno => return Err(errno),
            }
        }
    }
}

impl Drop for File {
    fn drop(&mut self) {
        // SAFETY: this object owns the descriptor, and this is its last use.
        unsafe { libc::syscall(libc::SYS_close, self.0) };
    }
}

#[cfg(target_env = "gnu")]
fn libc_version() -> Option<Text> {
    // SAFETY: the function returns a constant string.
    let version = unsafe { CStr::from_ptr(libc::gnu_get_libc_version()) };
    let mut text = Text::from("glibc ");
    text.push(version.to_str().ok()?);
    Some(text)
}

/// Returns the name alone, because musl hides its version on purpose.
#[cfg(target_env = "musl")]
fn libc_version() -> Option<Text> {
    Some(Text::from("musl"))
}

#[cfg(not(any(target_env = "gnu", target_env = "musl")))]
fn libc_version() -> Option<Text> {
    None
}

/// Signatures of hypervisors in CPUID leaf 0x4000_0000, and their names. Sources: the vendors'
/// manuals; Linux, arch/x86/kernel/cpu/.
#[cfg(target_arch = "x86_64")]
const HYPERVISORS: [(&[u8; 12], &str); 8] = [
    (b"KVMKVMKVM\0\0\0", "KVM"),
    (b"TCGTCGTCGTCG", "QEMU TCG"),
    (b"XenVMMXenVMM", "Xen"),
    (b"VMwareVMware", "VMware"),
    (b"Microsoft Hv", "Hyper-V"),
    (b"bhyve bhyve ", "bhyve"),
    (b" QNXQVMBSQG ", "QNX"),
    (b"ACRNACRNACRN", "ACRN"),
];

/// Reads CPUID: a bit of leaf 1 means "in a VM", leaf 0x4000_0000 holds the signature.
#[cfg(target_arch = "x86_64")]
fn hypervisor() -> Option<Text> {
    use core::arch::x86_64::__cpuid;
    #[allow(unused_unsafe)] // safe from Rust 1.92 on
    // SAFETY: every x86-64 CPU has CPUID and leaf 1. The other leaf belongs to the hypervisor.
    let leaf = |leaf| unsafe { __cpuid(leaf) };
    if leaf(1).ecx >> 31 & 1 == 0 {
        return Some(Text::from("none"));
    }
    let answer = leaf(0x4000_0000);
    Some(named([answer.ebx, answer.ecx, answer.edx]))
}

/// Returns `None`: other architectures have no register that names the hypervisor.
#[cfg(not(target_arch = "x86_64"))]
fn hypervisor() -> Option<Text> {
    None
}

/// Returns the hypervisor's name, or the printable part of an unknown signature.
#[cfg(target_arch = "x86_64")]
fn named(registers: [u32; 3]) -> Text {
    let mut signature = [0; 12];
    let bytes = registers.into_iter().flat_map(u32::to_le_bytes);
    signature.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
    if let Some((_, name)) = HYPERVISORS.iter().find(|(known, _)| **known == signature) {
        return Text::from(*name);
    }
    signature
        .iter_mut()
        .filter(|byte| !byte.is_ascii_graphic() && **byte != b' ')
        .for_each(|byte| *byte = 0xFF); // not UTF-8, so `first_line` drops it
    let mut text = Text::from("signature '");
    text.push(Text::first_line(&signature).as_deref().unwrap_or_default());
    text.push("'");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn a_signature_is_named_or_printable() {
        let of = |bytes: &[u8; 12]| {
            let register = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
            named([register(0), register(4), register(8)]).to_string()
        };
        assert_eq!(of(b"New\0\x1bHv\xFF 1\n\0"), "signature 'NewHv 1'");
        assert_eq!(of(b"KVMKVMKVM\0\0\0"), "KVM");
    }

    #[test]
    fn what_is_not_there_is_unknown() {
        assert_eq!(first_line(c"/proc/no/such/file"), None);
    }

    #[test]
    fn the_kernel_has_a_release_where_proc_shows_one() {
        let shown = std::fs::read_to_string("/proc/sys/kernel/osrelease").ok();
        let kernel = Host::read().kernel.map(|kernel| kernel.to_string());
        assert_eq!(kernel, shown.map(|text| text.trim().to_string()));
    }
}
