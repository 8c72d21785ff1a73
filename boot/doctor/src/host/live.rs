//! Facts that need system calls on the live machine.

use rustix::io::Errno;
use rustix::rand::{GetRandomFlags, getrandom};
use std::fs::OpenOptions;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::process::Command;

/// The state of the kernel's generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ready {
    /// The generator is ready.
    Yes,
    /// The generator is not seeded, so a call without GRND_NONBLOCK waits.
    No,
    /// The kernel refuses getrandom(2) with this errno: in a sandbox, or because it lacks the call.
    Refused(i32),
}

/// Facts of a live machine.
#[derive(Clone, Debug)]
pub struct Live {
    /// The state of the kernel's generator.
    pub ready: Ready,
    /// The status of this process: mode, detectors, and the worth of the CPU's random instruction.
    pub status: headwater_status::Status,
    /// The hypervisor's name by CPUID, or "none"; `None` if the CPU does not say.
    pub hypervisor: Option<String>,
    /// The C library that programs here are linked with, such as "glibc 2.36".
    pub libc: Option<String>,
    /// True for root.
    pub is_root: bool,
}

impl Live {
    /// Asks the kernel. No call waits, even if the generator is not ready.
    pub(super) fn look() -> Live {
        let host = headwater_status::Host::read();
        Live {
            ready: match getrandom(&mut [0; 1], GetRandomFlags::NONBLOCK) {
                Ok(_) => Ready::Yes,
                Err(Errno::AGAIN) => Ready::No,
                Err(errno) => Ready::Refused(errno.raw_os_error()),
            },
            status: headwater_status::status(),
            hypervisor: host.hypervisor.map(|name| name.to_string()),
            libc: host.libc.map(|name| name.to_string()),
            is_root: rustix::process::geteuid().is_root(),
        }
    }
}

/// Reads the kernel's log in dmesg(1)'s raw form, `[    1.234567] text`. Lines that user space
/// wrote into it are left out, because any root process can write there.
///
/// # Errors
///
/// Returns the error of open(2): an ordinary user may not read the log if kernel.dmesg_restrict is
/// set.
pub(crate) fn kernel_log() -> std::io::Result<String> {
    let mut log = OpenOptions::new()
        .read(true)
        .custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32)
        .open("/dev/kmsg")?;
    let mut text = String::new();
    let mut record = [0; 8192]; // the kernel's own limit on what a record is written out as
    loop {
        match log.read(&mut record) {
            Ok(0) => return Ok(text),
            Ok(length) => {
                line(&String::from_utf8_lossy(record.get(..length).unwrap_or_default()), &mut text);
            }
            // Overwritten while we read; the next one is the oldest that is left.
            Err(error) if error.raw_os_error() == Some(Errno::PIPE.raw_os_error()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return Ok(text),
            Err(error) => return Err(error),
        }
    }
}

/// Reads the kernel's log of this boot from the journal, which keeps lines that the kernel's own
/// buffer has overwritten.
///
/// # Errors
///
/// Returns the reason in a clause.
pub(crate) fn journal_of_the_kernel() -> Result<String, String> {
    let mut command = Command::new("journalctl");
    command.args(["-k", "-b", "0", "-q", "--no-pager", "--no-hostname", "-o", "short-monotonic"]);
    super::services::output(command)
}

/// Converts a record `level,sequence,microseconds,flags[,...];text`. Its further lines describe the
/// device.
fn line(record: &str, text: &mut String) {
    let Some((head, message)) = record.split_once(';') else { return };
    let mut fields = head.split(',');
    let level = fields.next().and_then(|number| number.parse::<u64>().ok());
    let microseconds = fields.nth(1).and_then(|number| number.parse::<u64>().ok());
    let (Some(0..8), Some(at)) = (level, microseconds) else { return };
    let message = message.lines().next().unwrap_or_default();
    text.push_str(&format!("[{:5}.{:06}] {message}\n", at / 1_000_000, at % 1_000_000));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_becomes_a_line_and_a_forged_one_does_not() {
        let mut text = String::new();
        line("5,77,109223,-;random: crng init done\n SUBSYSTEM=x\n", &mut text);
        line("13,78,109224,-;random: crng init done\n", &mut text);
        line("nonsense", &mut text);
        assert_eq!(text, "[    0.109223] random: crng init done\n");
    }
}
