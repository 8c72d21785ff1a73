//! Hibernation to the machine's only disk, and the resume from it
//! (Documentation/power/swsusp.rst).

use crate::linux::kernel;
use std::time::Duration;
use std::{fs, io};

const DISK: &std::ffi::CStr = c"/dev/vda";
const NUMBER: &str = "/sys/block/vda/dev";

/// Writes the machine's memory to the disk and switches the machine off. Returns in each machine
/// that resumes.
pub(crate) fn hibernate() -> io::Result<()> {
    // SAFETY: a constant string that ends in a zero byte, which the call only reads.
    if unsafe { libc::swapon(DISK.as_ptr(), 0) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // `platform` would call the firmware, which is not part of the lab.
    fs::write("/sys/power/disk", "shutdown")?;
    fs::write("/sys/power/state", "disk")
}

/// Resumes from the disk. Returns only if it has no image.
pub(crate) fn resume() {
    kernel::load_modules(|_, _| ());
    for _ in 0..500 {
        if let Ok(number) = fs::read_to_string(NUMBER) {
            let _ = fs::write("/sys/power/resume", number.trim());
            return;
        }
        std::thread::sleep(Duration::from_millis(10)); // until the disk's driver has found it
    }
}
