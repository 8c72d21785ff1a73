//! Reader of strace(1): summaries (`-c`), and traces with any kind of time (`-T`, `-r`, `-t`,
//! `-tt`, `-ttt`), of one process or of several (`-f`).
//!
//! With `-T` the trace states the duration of each call. Otherwise we let a call last until the
//! same process's next line. That is too long by the program's own work, but for a call that
//! blocks, the work is negligible. If only getrandom was traced (`-e getrandom`), the next line may
//! come an hour later, so such a trace shows nothing without `-T`.
//!
//! `perf trace` and the kernel's own tracer (tracefs, trace-cmd) show the same calls in other
//! words, and are read too.

mod clock;
mod kernel_tools;
mod line;
mod summary;
mod waits;

use crate::LogError;
use crate::read::logs::{Blocks, Input, quoted, unpack};
use crate::trace::Trace;
use line::TraceEvent;
use std::io::Read;
use std::path::Path;
pub(crate) use waits::Waits;

/// The number of lines that decide whether a file is a trace.
const LOOKED_AT: usize = 200;

/// Reads a file; `-` is standard input. On a terminal, a bar is shown while a large one is read.
///
/// # Errors
///
/// Returns an error if the source cannot be read, is not a trace, or has no times.
pub fn read_file(path: &Path) -> Result<Trace, LogError> {
    let input = Input::open(path)?;
    let name = input.name.clone();
    read(input, &name)
}

/// Reads a stream that evidence calls `name`.
///
/// # Errors
///
/// Returns an error if the source cannot be read, is not a trace, or has no times.
pub fn read(source: impl Read, name: &str) -> Result<Trace, LogError> {
    let source = unpack(source).map_err(|reason| LogError::read(name, reason))?;
    let mut blocks = Blocks::new(source);
    let first = blocks.peek().map_err(|reason| LogError::read(name, reason))?;
    if let Some(error) = LogError::by_magic(name, first) {
        return Err(error);
    }
    if !is_trace(first) {
        return Err(LogError::Wrong {
            of: name.to_owned(),
            seems: "not output of strace, of perf trace or of the kernel's tracer",
            instead: "give what `strace -f -tt -T -o FILE PROGRAM` wrote, or the table of `strace -c -w PROGRAM`",
        });
    }
    let (mut waits, mut table) = (Waits::default(), summary::Table::new(name));
    while let Some(whole) = blocks.next().map_err(|reason| LogError::read(name, reason))? {
        let mut number = whole.first;
        let mut from = 0;
        for end in memchr::memchr_iter(b'\n', whole.text).chain([whole.text.len()]) {
            let line = &whole.text[from..end];
            from = (end + 1).min(whole.text.len());
            if line.is_empty() {
                number += 1;
                continue;
            }
            match line::read(line) {
                Some(record) => waits.note(&record, || evidence(name, number, line)),
                None => table.note(line, number),
            }
            number += 1;
        }
    }
    // `-C` prints both, and the trace is more precise.
    waits.finish().or_else(|| table.finish()).ok_or_else(|| LogError::Wrong {
        of: name.to_owned(),
        seems: "a trace without the duration of calls",
        instead: "trace again with `strace -f -tt -T -o FILE PROGRAM`",
    })
}

/// Returns whether strace's output begins like this: the table's head, or mostly calls.
pub(crate) fn is_trace(first: &[u8]) -> bool {
    let (mut lines, mut calls) = (0, 0);
    for line in first
        .split(|&byte| byte == b'\n')
        .filter(|line| !line.trim_ascii().is_empty() && !line.starts_with(b"#"))
        .take(LOOKED_AT)
    {
        if summary::is_head(line) {
            return true;
        }
        lines += 1;
        calls += usize::from(
            line::read(line).is_some_and(|line| !matches!(line.event, TraceEvent::Other)),
        );
    }
    calls > lines / 2
}

fn evidence(name: &str, number: u64, line: &[u8]) -> crate::Evidence {
    crate::Evidence {
        place: format!("{name}:{number}"),
        says: quoted(&crate::read::logs::unpainted(line)),
    }
}
