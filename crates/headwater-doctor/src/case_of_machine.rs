//! A case made of a machine, live or recorded.

use crate::host::live::kernel_log;
use crate::{Case, Host, LogError, Root, journal, strace};

/// Where a recording keeps the machine's own log, the fuller ones first.
const LOGS: [&str; 3] = ["/log/journal", "/log/kernel", "/log/journal-kernel"];
/// Where a recording keeps a trace.
const TRACE: &str = "/log/strace";

impl Case {
    /// A machine: its facts, its log, the starts of its services. On a live machine this takes well under a second and waits for
    /// nothing.
    ///
    /// # Errors
    ///
    /// If a log that lies in a recording is none. A log that is not there, or may not be read, is told in the report.
    pub fn of_machine(root: Root) -> Result<Case, LogError> {
        let mut case = if root.is_live() {
            Case { of: "this machine".to_owned(), ..Case::default() }
        } else {
            Case { of: root.path("/").display().to_string(), ..Case::default() }
        };
        case.read_log(&root)?;
        if !root.is_live() && root.exists(TRACE) {
            case.traces.push(strace::read_file(&root.path(TRACE))?);
        }
        let host = Host::look(root);
        match (host.units(), case.boots.last_mut()) {
            (Ok(units), Some(boot)) => boot.units.extend(units),
            (Ok(_), None) => {}
            (Err(why), _) => case.log_trouble = Some(format!("the services' starts: {why}")),
        }
        case.host = Some(host);
        Ok(case)
    }

    fn read_log(&mut self, root: &Root) -> Result<(), LogError> {
        if root.is_live() {
            match kernel_log() {
                Ok(text) => self.boots = journal::read(text.as_bytes(), "/dev/kmsg")?,
                Err(error) => {
                    self.log_trouble = Some(format!("the kernel's log: {error}; root can read it"));
                }
            }
        } else if let Some(log) = LOGS.into_iter().find(|log| root.exists(log)) {
            self.boots = journal::read_file(&root.path(log))?;
        }
        Ok(())
    }
}
