//! The hypervisor's VMClock device (`include/uapi/linux/vmclock-abi.h`), read as a file.
//!
//! Why not a mapping, as in the core? Because a read also settles what the device has notified of:
//! from Linux 7.0 on, poll(2) reports the device as readable from a change until it is read.

use anyhow::{Context, Result, ensure};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::{Mode, OFlags};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

const MAGIC: u32 = 0x4B4C_4356; // "VCLK"
const DISRUPTION_MARKER: usize = 16;
const FLAGS: usize = 24;
/// VMCLOCK_FLAG_VM_GEN_COUNTER_PRESENT: the counter moves when a snapshot is loaded.
const COUNTS_GENERATIONS: u64 = 1 << 8;
/// VMCLOCK_FLAG_NOTIFICATION_PRESENT: the hypervisor interrupts after a change.
const NOTIFIES: u64 = 1 << 9;
const VM_GENERATION: usize = 104;
const LEN: usize = 112;

/// The device, and its number when it was last read.
pub(super) struct Vmclock {
    device: OwnedFd,
    number: u64,
    wakes: bool,
}

impl Vmclock {
    /// Opens the device. Returns None where there is none that can be read.
    pub(super) fn open() -> Option<Vmclock> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let device = rustix::fs::open("/dev/vmclock0", flags, Mode::empty()).ok()?;
        let page = read(&device).ok()?;
        // A kernel without poll(2) for this device reports it as readable at all times, also after
        // it was read.
        let wakes = field(&page, FLAGS) & NOTIFIES != 0 && !is_readable(&device);
        Some(Vmclock { device, number: number(&page), wakes })
    }

    /// Returns whether a change wakes a sleeper.
    pub(super) fn wakes(&self) -> bool {
        self.wakes
    }

    /// Returns whether the number moved since the last call.
    pub(super) fn has_moved(&mut self) -> Result<bool> {
        let now = number(&read(&self.device)?);
        Ok(std::mem::replace(&mut self.number, now) != now)
    }
}

impl AsFd for Vmclock {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }
}

/// Returns the number that moves at a copy: the counter of loaded snapshots, or where the
/// hypervisor keeps none, the marker, which moves at live migrations as well.
fn number(page: &[u8; LEN]) -> u64 {
    let counts = field(page, FLAGS) & COUNTS_GENERATIONS != 0;
    field(page, if counts { VM_GENERATION } else { DISRUPTION_MARKER })
}

fn field(page: &[u8; LEN], at: usize) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&page[at..at + 8]);
    u64::from_le_bytes(bytes)
}

fn read(device: &OwnedFd) -> Result<[u8; LEN]> {
    let mut page = [0; LEN];
    let length = rustix::io::pread(device, &mut page, 0).context("cannot read /dev/vmclock0")?;
    let is_clock = length == LEN && page[..4] == MAGIC.to_le_bytes();
    ensure!(is_clock, "/dev/vmclock0 is not a VMClock page");
    Ok(page)
}

fn is_readable(device: &OwnedFd) -> bool {
    let mut set = [PollFd::new(device, PollFlags::IN)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    rustix::event::poll(&mut set, Some(&now)).is_ok_and(|ready| ready > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counter_is_followed_where_the_hypervisor_keeps_one() {
        let mut page = [0; LEN];
        page[DISRUPTION_MARKER] = 5;
        page[VM_GENERATION] = 9;
        assert_eq!(number(&page), 5);
        page[FLAGS..FLAGS + 8].copy_from_slice(&COUNTS_GENERATIONS.to_le_bytes());
        assert_eq!(number(&page), 9);
    }
}
