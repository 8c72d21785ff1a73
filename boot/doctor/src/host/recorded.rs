//! Parts of a machine that a recording can be without: its programs and its processes.
//!
//! `headwater lab record` takes the files that name no user and no program. A check of the others
//! finds nothing there, which must not read as "there is nothing".

use super::Host;

/// Directories of which every system has one.
const PROGRAMS: [&str; 6] =
    ["/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib64", "/usr/local", "/lib"];

impl Host {
    /// Returns why nothing is known of programs and libraries that are installed, if so.
    pub(crate) fn lacks_programs(&self) -> Option<String> {
        let is_there = self.root.is_live() || PROGRAMS.iter().any(|path| self.root.exists(path));
        (!is_there).then(|| "the recording has neither programs nor libraries".to_owned())
    }

    /// Returns why nothing is known of the processes, if so. A recording has the names of processes
    /// 1 and 2, by which a container is known.
    pub(crate) fn lacks_processes(&self) -> Option<String> {
        let is_there = self.root.is_live()
            || self.processes.iter().any(|process| process.pid > 2 || process.started.is_some());
        (!is_there).then(|| "the recording has no processes".to_owned())
    }
}
