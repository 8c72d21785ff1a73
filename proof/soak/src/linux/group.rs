//! A control group of memory, from which the kernel takes pages while a round runs.
//!
//! Advice for one mapping, as in [`disturb`](super::disturb), empties it by the shortest way. The
//! kernel's own reclaim walks its lists instead, in the context of another process, and takes what
//! was not used for longest: droppable pages among files, stacks and the record. Nothing is limited
//! here, because a limit would end processes, and a soak that kills its own proves nothing.

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

/// The name of a group, before the number of its supervisor.
const PREFIX: &str = "headwater-soak-";
/// Time between two attempts to remove a group.
const LOOK: Duration = Duration::from_millis(10);

/// The group, which is removed at the end.
pub(crate) struct Group {
    folder: PathBuf,
    /// The file that reclaims when it is written to, and what it takes.
    reclaim: (&'static str, &'static str),
}

impl Group {
    /// Makes a group in the one of this process.
    pub(crate) fn new() -> Result<Group> {
        let of_process = fs::read_to_string("/proc/self/cgroup").context("/proc/self/cgroup")?;
        let name = format!("{PREFIX}{}", std::process::id());
        let mut refused = None;
        for (line, mount, file, amount) in [
            ("0::", "/sys/fs/cgroup", "memory.reclaim", "16M"),
            ("memory:", "/sys/fs/cgroup/memory", "memory.force_empty", "0"),
        ] {
            let is_it = |place: &&str| place.split_once(line).is_some();
            let Some(place) = of_process.lines().find(is_it) else { continue };
            let place = place.split_once(line).map_or("", |(_, place)| place);
            let parent = Path::new(mount).join(place.trim_start_matches('/'));
            remove_left(&parent);
            let folder = parent.join(&name);
            if let Err(error) = fs::create_dir(&folder) {
                refused = Some(error);
                continue;
            }
            let group = Group { folder, reclaim: (file, amount) };
            if group.folder.join(file).exists() {
                return Ok(group);
            }
        }
        let why = refused.map_or("no memory controller".to_owned(), |error| error.to_string());
        anyhow::bail!("no control group of memory: {why}")
    }

    /// Takes a process in, and all that it will fork.
    pub(crate) fn take(&self, process: u32) -> Result<()> {
        let file = self.folder.join("cgroup.procs");
        fs::write(&file, process.to_string()).with_context(|| file.display().to_string())
    }

    /// Has the kernel take pages. Returns whether it took as many as it was asked for.
    pub(crate) fn reclaim(&self) -> bool {
        let (file, amount) = self.reclaim;
        fs::write(self.folder.join(file), amount).is_ok()
    }
}

/// Removes the groups of soaks that SIGKILL ended, which could not do it themselves.
fn remove_left(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(process) = name.to_str().and_then(|name| name.strip_prefix(PREFIX)) else {
            continue;
        };
        // The group of a soak that runs is empty between two rounds. One with our own number is of
        // a soak that had it before us, as in a container, where numbers begin anew.
        let runs = |process: u32| {
            process != std::process::id() && Path::new("/proc").join(process.to_string()).exists()
        };
        if process.parse().is_ok_and(|process| !runs(process)) {
            kill_stopped(&entry.path());
            remove(&entry.path());
        }
    }
}

/// Kills what is stopped in a group. A process that a storm of stops had stopped when its soak was
/// killed waits for ever to be continued. All others end by themselves, and one that does not may
/// be another container's, where its soak has the number that is free here.
fn kill_stopped(folder: &Path) {
    let processes = fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
    for process in processes.lines().filter_map(|line| Pid::from_raw(line.parse().ok()?)) {
        if is_stopped(process) {
            let _ = kill_process(process, Signal::KILL);
        }
    }
}

fn is_stopped(process: Pid) -> bool {
    let status = format!("/proc/{}/status", process.as_raw_nonzero());
    let status = fs::read_to_string(status).unwrap_or_default();
    status.lines().any(|line| line.starts_with("State:\tT"))
}

/// Removes a group whose processes have ended, or were killed a moment ago. If one of them still
/// has not ended after two seconds, the group stays, empty of limits.
fn remove(folder: &Path) {
    for _ in 0..200 {
        match fs::remove_dir(folder) {
            Err(error) if error.kind() == ErrorKind::ResourceBusy => sleep(LOOK),
            _ => break,
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        remove(&self.folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Command, Stdio};

    #[test]
    fn what_a_storm_has_stopped_ends_with_its_group() {
        let group = match Group::new() {
            Ok(group) => group,
            Err(error) => {
                return println!("skipped: {error:#}; left groups are not seen to be removed");
            }
        };
        let mut gone = Command::new("true").spawn().unwrap();
        gone.wait().unwrap();
        let left = group.folder.with_file_name(format!("{PREFIX}{}", gone.id()));
        fs::create_dir(&left).unwrap();
        let left = Group { folder: left, reclaim: group.reclaim };
        let stopped =
            Command::new("sleep").arg("600").stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let mut stopped = stopped.unwrap();
        left.take(stopped.id()).unwrap();
        let id = Pid::from_child(&stopped);
        kill_process(id, Signal::STOP).unwrap();
        while !is_stopped(id) {
            sleep(LOOK);
        }
        remove_left(left.folder.parent().unwrap());
        assert!(!left.folder.exists());
        assert_eq!(stopped.wait().unwrap().signal(), Some(Signal::KILL.as_raw()));
    }
}
