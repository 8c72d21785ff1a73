//! The start time of this process, which changes when it is restored from an image.
//!
//! CRIU, and with it Podman and the sandboxes that stand on it, makes a process anew and fills it
//! with the image's memory. The kernel notes the time at which it was made (proc_pid_stat(5),
//! field 22), so a process that finds another start time than before has been restored. A process
//! in a copied machine finds its old one: for that there are the other signals.

use anyhow::{Context, Result};

/// The start time, in clock ticks after boot.
pub(super) struct StartTime(u64);

impl StartTime {
    pub(super) fn now() -> Result<StartTime> {
        Ok(StartTime(read()?))
    }

    /// Returns whether it is another one than at the last call.
    pub(super) fn has_changed(&mut self) -> Result<bool> {
        let now = read()?;
        Ok(std::mem::replace(&mut self.0, now) != now)
    }
}

fn read() -> Result<u64> {
    let stat = std::fs::read_to_string("/proc/self/stat").context("/proc/self/stat")?;
    field(&stat).with_context(|| format!("/proc/self/stat has no start time: {stat}"))
}

/// Returns field 22. The name in field 2 may hold blanks and parentheses, so fields are counted
/// from its end.
fn field(stat: &str) -> Option<u64> {
    let (_, rest) = stat.rsplit_once(") ")?;
    rest.split(' ').nth(22 - 3)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_time_is_found_whatever_the_name() {
        let fields: Vec<String> = (4..=52).map(|i| i.to_string()).collect();
        for name in ["headwater", "a b", "a) S 1 (b", ") "] {
            assert_eq!(field(&format!("77 ({name}) S {}", fields.join(" "))), Some(22));
        }
        assert_eq!(field(""), None);
        let mut start = StartTime::now().unwrap();
        assert!(!start.has_changed().unwrap());
        start.0 -= 1;
        assert!(start.has_changed().unwrap());
    }
}
