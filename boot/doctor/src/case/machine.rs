//! A case made of a machine, live or recorded.

use crate::boot::Boot;
use crate::host::live::{journal_of_the_kernel, kernel_log};
use crate::identity::Origin;
use crate::{Case, Host, LogError, Root, journal, observe, strace};

/// Places of the machine's own log in a recording, the fuller ones first.
const LOGS: [&str; 3] = ["/log/journal", "/log/kernel", "/log/journal-kernel"];
/// The place of a trace in a recording.
const TRACE: &str = "/log/strace";

impl Case {
    /// Reads a machine: its facts, its log, the starts of its services. On a live machine this
    /// takes well under a second and never waits.
    ///
    /// # Errors
    ///
    /// Returns an error if the recording contains a file at log/strace that is not strace output. A
    /// log that is missing or cannot be read is not an error but listed in the report.
    pub fn of_machine(root: Root) -> Result<Case, LogError> {
        let mut case = Case { of: root.name().to_owned(), ..Case::default() };
        case.read_log(&root);
        if !root.is_live() && root.exists(TRACE) {
            let name = place(&root, TRACE);
            let source = root.reader(TRACE).map_err(|reason| LogError::read(&name, reason))?;
            case.traces.push(strace::read(source, &name)?);
        }
        let host = Host::look(root);
        match (host.units(), case.boots.last_mut()) {
            (Ok(units), Some(boot)) => boot.units.extend(units),
            (Ok(_), None) => {}
            (Err(why), _) => case.log_error = Some(format!("the services' starts: {why}")),
        }
        case.origin = Origin::read(&host.root, None);
        case.observed = observe::records(&host.root);
        case.host = Some(host);
        Ok(case)
    }

    fn read_log(&mut self, root: &Root) {
        let read = if root.is_live() {
            read_live()
        } else {
            match LOGS.into_iter().find(|log| root.exists(log)) {
                Some(log) => read_recorded(root, log),
                None => return,
            }
        };
        match read {
            Ok(boots) => self.boots = boots,
            Err(why) => self.log_error = Some(why),
        }
    }
}

/// Returns the name of a recording's file for evidence: `x.host: log/kernel`.
fn place(root: &Root, path: &str) -> String {
    format!("{}: {}", root.name(), path.trim_start_matches('/'))
}

fn read_recorded(root: &Root, log: &str) -> Result<Vec<Boot>, String> {
    let name = place(root, log);
    let source = root.reader(log).map_err(|reason| LogError::read(&name, reason).to_string())?;
    journal::read(source, &name).map_err(|error| error.to_string())
}

fn read_live() -> Result<Vec<Boot>, String> {
    let text =
        kernel_log().map_err(|error| format!("the kernel's log: {error}; root can read it"))?;
    let boots = journal::read(text.as_bytes(), "/dev/kmsg").map_err(|error| error.to_string())?;
    // The kernel's buffer has lost its beginning and with it the line that says when the generator
    // was ready; the journal may have kept it.
    if boots.last().is_some_and(|boot| boot.kernel.is_some()) {
        return Ok(boots);
    }
    let kept = journal_of_the_kernel().ok();
    let kept = kept.and_then(|text| journal::read(text.as_bytes(), "journalctl -k -b 0").ok());
    Ok(kept.filter(|kept| kept.iter().any(|boot| boot.kernel.is_some())).unwrap_or(boots))
}
