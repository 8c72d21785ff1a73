//! The processes: their names, who waits for random bytes, who started when.

use crate::Root;

/// The limit of processes that are read, so that a machine with more is done within the second.
const MOST: usize = 20_000;

/// A process.
#[derive(Clone, Debug, PartialEq)]
pub struct Process {
    /// The number of the process.
    pub pid: u32,
    /// The name of the process, which the kernel cuts to 15 bytes.
    pub name: String,
    /// The time of its start, in seconds after the kernel's.
    pub started: Option<f64>,
}

/// Returns the processes of the machine, up to `MOST`.
pub(super) fn all(root: &Root) -> Vec<Process> {
    let pids = root.names("/proc").into_iter().filter_map(|name| name.parse::<u32>().ok());
    pids.take(MOST)
        .filter_map(|pid| {
            let name = root.text(&format!("/proc/{pid}/comm")).ok()?;
            Some(Process { pid, name, started: started(root, pid) })
        })
        .collect()
}

/// Reads field 22 of /proc/PID/stat, in hundredths of a second on every architecture that Debian
/// has (proc_pid_stat(5)). The name before it may contain spaces and brackets.
fn started(root: &Root, pid: u32) -> Option<f64> {
    let stat = root.text(&format!("/proc/{pid}/stat")).ok()?;
    let ticks = stat.rsplit_once(')')?.1.split_whitespace().nth(19)?;
    Some(ticks.parse::<u64>().ok()? as f64 / 100.0)
}

impl Process {
    /// Returns the call in which the process waits for the kernel's generator. Without root, the
    /// kernel refuses the answer for other users' processes, which is the error.
    pub fn waits_for_randomness(&self, root: &Root) -> Result<Option<String>, std::io::Error> {
        let place = format!("/proc/{}/wchan", self.pid);
        // A user who may not see it reads "0", as he does for a process that waits for nothing.
        let wchan = root.text(&place)?;
        if wchan == "wait_for_random_bytes" || wchan == "random_read" || wchan == "_random_read" {
            return Ok(Some(format!("{place}: {wchan}")));
        }
        let place = format!("/proc/{}/syscall", self.pid);
        let call = root.text(&place)?;
        // A process that runs says "running".
        let number = call.split(' ').next().unwrap_or_default();
        let is_getrandom = match cfg_number(root) {
            Some(expected) => number == expected,
            None => false,
        };
        Ok(is_getrandom.then(|| format!("{place}: {call}")))
    }
}

/// Returns the number of getrandom on the machine, by the form of its /proc/cpuinfo.
fn cfg_number(root: &Root) -> Option<&'static str> {
    let info = root.text("/proc/cpuinfo").ok()?;
    let has = |text: &str| info.contains(text);
    Some(match () {
        () if has("IBM/S390") => "349",
        () if has("vendor_id") => "318",
        () if has("CPU architecture: 8") || has("isa\t\t: rv") || has("Loongson") => "278",
        () if has("CPU architecture:") => "384",
        () if has("POWER") || has("PowerPC") => "359",
        () if has("Features") => "278",
        () => return None,
    })
}
