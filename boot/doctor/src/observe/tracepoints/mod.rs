//! The tracepoints of getrandom(2): the kernel writes a line at the begin and the end of each call,
//! with its time. No wait between two looks is missed, and its length is exact.

mod instance;
mod line;
mod progress;
#[cfg(test)]
mod tests;

use super::facts::is_of_the_first_namespace;
use super::victims::Table;
use instance::Instance;
use line::parse;
use progress::Progress;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::read;
use std::thread::available_parallelism;

/// Making an instance takes 1.4 MiB and some milliseconds for each CPU, until its size is set.
const MOST_CPUS: usize = 64;
/// Bytes of the trace that are read at once.
const SPACE: usize = 8192;
/// Reads at one look. Programs that flood the trace cannot keep the observer from looking.
const MOST_READS: usize = 32;

/// The tracepoints in use.
pub(super) struct Tracepoints {
    /// The stream of lines. It is closed before the instance goes, which the stream would keep.
    pipe: OwnedFd,
    /// Removed when it is dropped.
    _instance: Option<Instance>,
    text: Box<[u8; SPACE]>,
    /// Bytes of `text` that begin a line whose end has not been read.
    length: usize,
    /// The rest of a line that was too long is skipped.
    is_skipping: bool,
    progress: Progress,
}

/// Chooses how waits in getrandom are found: by tracepoints if they can be used, else by looks into
/// /proc alone. Nothing else decides this.
///
/// # Errors
///
/// Returns the reason why looks alone must do.
pub(super) fn choose(is_allowed: bool, proc: BorrowedFd<'_>) -> Result<Tracepoints, String> {
    if !is_allowed {
        return Err("--no-tracepoints".to_owned());
    }
    // A line names a thread by its number in the first namespace.
    if !is_of_the_first_namespace(proc) {
        return Err("the process numbers are of a container".to_owned());
    }
    if available_parallelism().map_or(1, usize::from) > MOST_CPUS {
        return Err(format!("more than {MOST_CPUS} CPUs"));
    }
    let instances = instance::instances().map_err(|errno| format!("tracefs: {errno}"))?;
    instance::remove_left(instances.as_fd());
    let instance = Instance::new(instances).map_err(|(step, errno)| format!("{step}: {errno}"))?;
    let pipe = instance.pipe().map_err(|errno| format!("trace_pipe: {errno}"))?;
    Ok(Tracepoints::new(pipe, Some(instance)))
}

/// Removes what killed observers left in tracefs.
pub(super) fn remove_left() {
    if let Ok(instances) = instance::instances() {
        instance::remove_left(instances.as_fd());
    }
}

impl Tracepoints {
    fn new(pipe: OwnedFd, instance: Option<Instance>) -> Tracepoints {
        Tracepoints {
            pipe,
            _instance: instance,
            text: Box::new([0; SPACE]),
            length: 0,
            is_skipping: false,
            progress: Progress::new(),
        }
    }

    /// Returns tracepoints whose lines come from a pipe.
    #[cfg(test)]
    pub(super) fn of_pipe(pipe: OwnedFd) -> Tracepoints {
        Tracepoints::new(pipe, None)
    }

    /// Reads the lines that were written since the last call, and notes the waits that they show.
    pub(super) fn read(&mut self, now: f64, proc: BorrowedFd<'_>, table: &mut Table) {
        for _ in 0..MOST_READS {
            let space = self.text.get_mut(self.length..).unwrap_or_default();
            match read(&self.pipe, space) {
                Ok(length) if length > 0 => self.length += length,
                // EAGAIN: there is no further line.
                _ => break,
            }
            self.take_lines(proc, table);
        }
        self.progress.note_waits(now, proc, table);
    }

    fn take_lines(&mut self, proc: BorrowedFd<'_>, table: &mut Table) {
        let mut from = 0;
        let text = self.text.get(..self.length).unwrap_or_default();
        while let Some(rest) = text.get(from..)
            && let Some(end) = memchr::memchr(b'\n', rest)
        {
            let line = rest.get(..end).unwrap_or_default();
            // Lines of another form are skipped: a name can contain line breaks.
            if !self.is_skipping
                && let Some(line) = parse(line)
            {
                self.progress.take(line, proc, table);
            }
            self.is_skipping = false;
            from += end + 1;
        }
        self.text.copy_within(from..self.length, 0);
        self.length -= from;
        if self.length == SPACE {
            self.length = 0;
            self.is_skipping = true;
        }
    }
}
