//! The kernel's log on its random generator.

use crate::host::File;

/// Facts from the log; `None` if the log is unreadable or starts too late.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kmsg {
    /// Time at which the generator was seeded, in microseconds after boot.
    pub seeded_at_us: Option<u64>,
    /// Number of reseeds since then for a clone or restore of the VM.
    pub vm_fork_reseeds: Option<u64>,
}

impl Kmsg {
    /// Reads /dev/kmsg, which needs root if `kernel.dmesg_restrict` is set.
    pub fn read() -> Kmsg {
        let mut found = Kmsg::default();
        let Some(log) = File::open(c"/dev/kmsg") else { return found };
        let mut record = [0; 8192]; // CONSOLE_EXT_LOG_MAX, the kernel's limit of one record
        loop {
            match log.read(&mut record) {
                Ok(&[]) => return found,
                Ok(record) => found.add(record),
                // Overwritten while we read; the next read returns the oldest record left.
                Err(libc::EPIPE) => {}
                Err(_) => return found, // EAGAIN after the last one
            }
        }
    }

    fn add(&mut self, record: &[u8]) {
        if is_copy_reported(record) {
            self.vm_fork_reseeds = self.vm_fork_reseeds.map(|count| count + 1);
            return;
        }
        let Some((microseconds, text)) = kernel_message(record) else { return };
        // "crng done (trusting CPU's manufacturer)" in Linux 4.19 to 5.17.
        let seeded: [&[u8]; 2] = [b"random: crng init done", b"random: crng done"];
        if seeded.iter().any(|seeded| text.starts_with(seeded)) {
            self.seeded_at_us.get_or_insert(microseconds);
            // The log is complete from here on, so no later line means no such reseed.
            self.vm_fork_reseeds.get_or_insert(0);
        }
    }
}

/// Returns whether a record of /dev/kmsg is the kernel's line about a copy of the machine, which
/// it writes after it has reseeded (`add_vmfork_randomness`, Linux 5.18).
pub fn is_copy_reported(record: &[u8]) -> bool {
    kernel_message(record).is_some_and(|(_, text)| {
        text.starts_with(b"random: crng reseeded due to virtual machine fork")
    })
}

/// Splits a record `level,sequence,microseconds,flags[,...];text` into microseconds after boot and
/// text. Returns `None` for records that the kernel did not write: those of root have a facility
/// above 0.
fn kernel_message(record: &[u8]) -> Option<(u64, &[u8])> {
    let mut halves = record.splitn(2, |&byte| byte == b';');
    let mut fields = halves.next()?.split(|&byte| byte == b',');
    let text = halves.next()?;
    let level = number(fields.next()?)?;
    let microseconds = number(fields.nth(1)?)?;
    (level < 8).then_some((microseconds, text))
}

fn number(digits: &[u8]) -> Option<u64> {
    core::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(records: &[&str]) -> Kmsg {
        let mut found = Kmsg::default();
        records.iter().for_each(|record| found.add(record.as_bytes()));
        found
    }

    #[test]
    fn a_whole_log() {
        let log = of(&[
            "5,0,0,-;Linux version 6.18.0\n",
            "5,77,109223,-;random: crng init done\n",
            "6,78,110000,-,caller=T1;usb 1-1: new device\n SUBSYSTEM=usb\n",
            "5,341,1276080,-;random: crng reseeded due to virtual machine fork\n",
        ]);
        assert_eq!(log.seeded_at_us, Some(109_223));
        assert_eq!(log.vm_fork_reseeds, Some(1));
    }

    #[test]
    fn no_clone_is_zero_only_where_the_log_goes_back_far_enough() {
        let whole = of(&["5,7,4000000,-;random: crng done (trusting CPU's manufacturer)\n"]);
        assert_eq!(whole.seeded_at_us, Some(4_000_000));
        assert_eq!(whole.vm_fork_reseeds, Some(0));
        let rotated = of(&["5,9000,5000000,-;random: crng reseeded due to virtual machine fork\n"]);
        assert_eq!(rotated, Kmsg::default());
    }

    #[test]
    fn only_the_kernel_is_believed() {
        let forged = of(&["13,77,109223,-;random: crng init done\n", "nonsense", ""]);
        assert_eq!(forged, Kmsg::default());
    }
}
