//! A case made of a machine, live or recorded.

use crate::boot::Boot;
use crate::host::live::{journal_of_the_kernel, kernel_log};
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
    /// If a trace that lies in a recording is none. A log that is not there, or cannot be read, is told in the report.
    pub fn of_machine(root: Root) -> Result<Case, LogError> {
        let mut case = if root.is_live() {
            Case { of: "this machine".to_owned(), ..Case::default() }
        } else {
            Case { of: root.path("/").display().to_string(), ..Case::default() }
        };
        case.read_log(&root);
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

    fn read_log(&mut self, root: &Root) {
        let read = if root.is_live() {
            read_live()
        } else {
            match LOGS.into_iter().find(|log| root.exists(log)) {
                Some(log) => journal::read_file(&root.path(log)).map_err(|error| error.to_string()),
                None => return,
            }
        };
        match read {
            Ok(boots) => self.boots = boots,
            Err(why) => self.log_trouble = Some(why),
        }
    }
}

fn read_live() -> Result<Vec<Boot>, String> {
    let text =
        kernel_log().map_err(|error| format!("the kernel's log: {error}; root can read it"))?;
    let boots = journal::read(text.as_bytes(), "/dev/kmsg").map_err(|error| error.to_string())?;
    // A log without its beginning does not tell when the generator was ready; the journal may.
    if boots.last().is_some_and(|boot| boot.kernel.is_some()) {
        return Ok(boots);
    }
    let kept = journal_of_the_kernel().ok();
    let kept = kept.and_then(|text| journal::read(text.as_bytes(), "journalctl -k -b 0").ok());
    Ok(kept.filter(|kept| kept.iter().any(|boot| boot.kernel.is_some())).unwrap_or(boots))
}
