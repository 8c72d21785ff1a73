//! The kernel's vmgenid driver, and whether it has a device (Linux 5.18; device tree: 6.10).
//!
//! With a device, the hypervisor reports a clone by changing a number, and the kernel reseeds,
//! which changes the reseed generation. A driver without a device, or a device without a driver,
//! reports nothing.

use crate::linux::failpoint::{Force, forced};
use crate::linux::sys::Fd;
use crate::status::Vmgenid;
use core::ffi::CStr;

/// Since Linux 6.10 a platform driver, an ACPI driver before.
const DRIVERS: [&CStr; 2] =
    [c"/sys/bus/platform/drivers/vmgenid", c"/sys/bus/acpi/drivers/vmgenid"];

pub(crate) fn look() -> Vmgenid {
    if forced(Force::VmgenidBound) {
        return Vmgenid::Bound;
    }
    if forced(Force::VmgenidNotBound) {
        return Vmgenid::NotBound;
    }
    if DRIVERS.iter().any(|driver| Fd::open_read(driver).is_ok_and(|driver| has_device(&driver))) {
        return Vmgenid::Bound;
    }
    match Fd::open_read(c"/sys/bus/platform/drivers") {
        Ok(_) => Vmgenid::NotBound,
        Err(_) => Vmgenid::Unknown,
    }
}

/// Returns whether a directory of sysfs has a device. A driver's or a bus's holds a symbolic link
/// for each, and a driver's one more, named `module`.
pub(super) fn has_device(folder: &Fd) -> bool {
    // struct linux_dirent64: inode u64, offset u64, length u16, type u8, name.
    const LENGTH: usize = 16;
    const TYPE: usize = 18;
    const NAME: usize = 19;
    let mut buf = [0; 1024];
    while let Ok(len @ 1..) = folder.read_entries(&mut buf) {
        let mut entries = buf.get(..len).unwrap_or(&[]);
        while let Some(length) = entries.get(LENGTH..LENGTH + 2) {
            let length = usize::from(u16::from_ne_bytes([length[0], length[1]]));
            let Some(entry) = entries.get(..length).filter(|entry| entry.len() > NAME) else {
                break;
            };
            if entry[TYPE] == libc::DT_LNK && !entry[NAME..].starts_with(b"module\0") {
                return true;
            }
            entries = &entries[length..];
        }
    }
    false
}
