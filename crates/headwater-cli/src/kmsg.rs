//! What the kernel's log says about its random generator.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;

/// What is left of it in the log; `None` where the log cannot be read or no longer goes back so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Kmsg {
    /// When the generator was seeded, in seconds after boot.
    pub(crate) seeded_at_s: Option<f64>,
    /// How often it was reseeded because the VM was cloned or restored, since then.
    pub(crate) vm_fork_reseeds: Option<u64>,
}

impl Kmsg {
    /// Reads /dev/kmsg, which an ordinary user may not do where `kernel.dmesg_restrict` is set.
    pub(crate) fn read() -> Kmsg {
        let log = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_NONBLOCK) // or the read past the last record waits for the next
            .open("/dev/kmsg");
        log.map_or_else(|_| Kmsg::default(), |log| Kmsg::of(records(log)))
    }

    fn of(records: impl IntoIterator<Item = String>) -> Kmsg {
        let mut found = Kmsg::default();
        for record in records {
            let Some((seconds, text)) = kernel_message(&record) else {
                continue;
            };
            // "crng done (trusting CPU's manufacturer)" in Linux 4.19 to 5.17.
            if text.starts_with("random: crng init done") || text.starts_with("random: crng done") {
                found.seeded_at_s.get_or_insert(seconds);
                // From here on the log is whole, so that no line means none.
                found.vm_fork_reseeds.get_or_insert(0);
            } else if text.starts_with("random: crng reseeded due to virtual machine fork") {
                found.vm_fork_reseeds = found.vm_fork_reseeds.map(|count| count + 1);
            }
        }
        found
    }
}

/// The records from the oldest to the newest: each `read` gives one.
fn records(mut log: File) -> impl Iterator<Item = String> {
    let mut record = [0; 8192]; // the kernel's own limit on what a record is written out as
    std::iter::from_fn(move || {
        loop {
            match log.read(&mut record) {
                Ok(0) => return None,
                Ok(length) => return Some(String::from_utf8_lossy(&record[..length]).into_owned()),
                // Overwritten while we read; the next one is the oldest that is left.
                Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return None,
            }
        }
    })
}

/// Seconds after boot and text of a record `level,sequence,microseconds,flags[,...];text`, if the
/// kernel itself wrote it: root may write there too, and its records carry a facility above 0.
fn kernel_message(record: &str) -> Option<(f64, &str)> {
    let (head, text) = record.split_once(';')?;
    let mut fields = head.split(',');
    let level: u32 = fields.next()?.parse().ok()?;
    let microseconds: u64 = fields.nth(1)?.parse().ok()?;
    (level < 8).then_some((microseconds as f64 / 1e6, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(records: &[&str]) -> Kmsg {
        Kmsg::of(records.iter().map(ToString::to_string))
    }

    #[test]
    fn a_whole_log() {
        let log = of(&[
            "5,0,0,-;Linux version 6.18.0\n",
            "5,77,109223,-;random: crng init done\n",
            "6,78,110000,-,caller=T1;usb 1-1: new device\n SUBSYSTEM=usb\n",
            "5,341,1276080,-;random: crng reseeded due to virtual machine fork\n",
        ]);
        assert_eq!(log.seeded_at_s, Some(0.109223));
        assert_eq!(log.vm_fork_reseeds, Some(1));
    }

    #[test]
    fn no_clone_is_zero_only_where_the_log_goes_back_far_enough() {
        let whole = of(&["5,7,4000000,-;random: crng done (trusting CPU's manufacturer)\n"]);
        assert_eq!(whole.seeded_at_s, Some(4.0));
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
