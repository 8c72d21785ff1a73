//! One line of a trace.

use super::clock::{TimeColumn, time};
use super::kernel_tools::{ftrace, perf};
use crate::journal::stamp::seconds;
use memchr::memmem;

/// One line of a trace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TraceLine<'a> {
    /// The process, with `-f`; 0 for the only one.
    pub(super) pid: u32,
    pub(super) time: Option<TimeColumn>,
    /// The duration by `-T`.
    pub(super) took: Option<f64>,
    pub(super) event: TraceEvent<'a>,
    /// The program, where each line names it.
    pub(super) program: Option<&'a str>,
}

/// The event in a line of a trace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum TraceEvent<'a> {
    /// A call of getrandom that ended.
    Getrandom,
    /// A call of getrandom that cannot wait.
    GetrandomNonblock,
    /// The begin of a call of getrandom that lines of another process interrupt.
    GetrandomBegins,
    /// The end of a call that began in an earlier line.
    GetrandomResumes,
    /// /dev/random is opened under this number.
    OpensRandom(u32),
    /// A read or a poll of this number, which may be /dev/random's.
    Reads {
        fd: u32,
        /// `-y` names the file.
        is_random: bool,
        /// The call continues while another process's lines come.
        is_unfinished: bool,
    },
    /// A select of these numbers, one of which may be /dev/random's.
    Selects {
        /// The text between the brackets of the numbers to read: `3 5`; with `-y`
        /// `3</dev/random>`.
        set: &'a [u8],
        /// The call continues while another process's lines come.
        is_unfinished: bool,
    },
    /// A program is started: the call's arguments.
    Execve(&'a str),
    /// Any other call.
    Call,
    /// A signal, an exit, strace's own words.
    Other,
}

/// Reads a line; returns `None` if it is not a line of a trace.
pub(super) fn read(line: &[u8]) -> Option<TraceLine<'_>> {
    let text = std::str::from_utf8(line).ok();
    by_strace(line).or_else(|| text.and_then(|text| perf(text).or_else(|| ftrace(text))))
}

fn by_strace(line: &[u8]) -> Option<TraceLine<'_>> {
    let mut rest = line.trim_ascii();
    let mut pid = 0;
    if let Some(after) = rest.strip_prefix(b"[pid ") {
        let end = memchr::memchr(b']', after)?;
        pid = number(after[..end].trim_ascii())?;
        rest = after[end + 1..].trim_ascii_start();
    }
    let mut at = None;
    // `PID TIME (+ SINCE) call`: a number without a point is the process; a number with a point or
    // colons is the time.
    for _ in 0..4 {
        let end = rest.iter().position(u8::is_ascii_whitespace)?;
        let word = &rest[..end];
        if word == b"(+" {
            let end = memchr::memchr(b')', rest)?;
            rest = rest[end + 1..].trim_ascii_start();
            continue;
        }
        if !word[0].is_ascii_digit() {
            break;
        }
        match number(word) {
            Some(number) if pid == 0 && at.is_none() => pid = number,
            _ => at = Some(time(std::str::from_utf8(word).ok()?)?),
        }
        rest = rest[end..].trim_ascii_start();
    }
    let event = call(rest)?;
    Some(TraceLine { pid, time: at, took: took(rest), event, program: None })
}

fn number(word: &[u8]) -> Option<u32> {
    let digits = word.len() <= 10 && word.iter().all(u8::is_ascii_digit);
    digits.then(|| std::str::from_utf8(word).ok()?.parse().ok())?
}

fn call(rest: &[u8]) -> Option<TraceEvent<'_>> {
    if rest.starts_with(b"+++ ") || rest.starts_with(b"--- ") || rest.starts_with(b"strace: ") {
        return Some(TraceEvent::Other);
    }
    if let Some(resumed) = rest.strip_prefix(b"<... ") {
        let resumes = resumed.starts_with(b"getrandom resumed");
        return Some(if resumes { TraceEvent::GetrandomResumes } else { TraceEvent::Call });
    }
    let end = memchr::memchr(b'(', &rest[..rest.len().min(40)])?;
    let name = &rest[..end];
    let is_name = !name.is_empty()
        && name
            .iter()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'_')
        && (name[0].is_ascii_lowercase() || name == b"_newselect");
    is_name.then_some(())?;
    Some(match name {
        // A call that does not block cannot have waited, whatever it took.
        b"getrandom" if memmem::find(&rest[end..], b"GRND_NONBLOCK").is_some() => {
            TraceEvent::GetrandomNonblock
        }
        b"open" | b"openat" if memmem::find(&rest[end..], b"\"/dev/random\"").is_some() => {
            result(rest).map_or(TraceEvent::Call, TraceEvent::OpensRandom)
        }
        b"read" | b"pread64" | b"readv" | b"poll" | b"ppoll" => {
            let arguments = &rest[end + 1..];
            let number = arguments.strip_prefix(b"[{fd=").unwrap_or(arguments);
            let digits = number.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let fd = self::number(&number[..digits])?;
            let is_unfinished = memmem::find(arguments, b"<unfinished ...>").is_some();
            let is_random = number[digits..].starts_with(b"</dev/random>");
            TraceEvent::Reads { fd, is_random, is_unfinished }
        }
        b"select" | b"_newselect" | b"pselect6" | b"compat_select" | b"pselect6_time64" => {
            let arguments = &rest[end + 1..];
            let (_, after) = arguments.split_at(memmem::find(arguments, b", ")? + 2);
            let set =
                after.strip_prefix(b"[").and_then(|set| Some(&set[..memchr::memchr(b']', set)?]));
            let is_unfinished = memmem::find(arguments, b"<unfinished ...>").is_some();
            TraceEvent::Selects { set: set.unwrap_or_default(), is_unfinished }
        }
        b"getrandom" if memmem::find(&rest[end..], b"<unfinished ...>").is_some() => {
            TraceEvent::GetrandomBegins
        }
        b"getrandom" => TraceEvent::Getrandom,
        b"execve" => TraceEvent::Execve(std::str::from_utf8(&rest[end + 1..]).unwrap_or_default()),
        _ => {
            // A word and a parenthesis are in any text; a call has a result, or is unfinished.
            let ends = memmem::find(rest, b" = ").is_some()
                || rest.ends_with(b"...>")
                || rest.ends_with(b"...");
            return ends.then_some(TraceEvent::Call);
        }
    })
}

/// Returns the number after the last ` = `, if the call has succeeded.
fn result(rest: &[u8]) -> Option<u32> {
    let at = memmem::rfind(rest, b" = ")? + 3;
    let digits = rest[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    number(&rest[at..at + digits]).filter(|_| digits > 0)
}

/// Returns the seconds in `<0.000123>` at the end of a line.
fn took(rest: &[u8]) -> Option<f64> {
    let rest = rest.strip_suffix(b">")?;
    let begin = memchr::memrchr(b'<', &rest[rest.len().saturating_sub(24)..])?
        + rest.len().saturating_sub(24);
    seconds(std::str::from_utf8(&rest[begin + 1..]).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_every_form_are_read() {
        let call = "getrandom(\"\\x01\\x02\", 2, 0) = 2";
        for (line, pid, time, took) in [
            (call.to_owned(), 0, None, None),
            (format!("{call} <101.673209>"), 0, None, Some(101.673_209)),
            (format!("     0.000123 {call}"), 0, Some(TimeColumn::Since(0.000_123)), None),
            (format!("06:07:30 {call} <0.5>"), 0, Some(TimeColumn::OfDay(22_050.0)), Some(0.5)),
            (
                format!("06:07:30.250000 (+     0.000000) {call}"),
                0,
                Some(TimeColumn::OfDay(22_050.25)),
                None,
            ),
            (
                format!("[pid  4711] 1763791650.500000 {call}"),
                4711,
                Some(TimeColumn::Epoch(1_763_791_650.5)),
                None,
            ),
            (
                format!("4711  06:07:30.250000 {call} <0.000001>"),
                4711,
                Some(TimeColumn::OfDay(22_050.25)),
                Some(0.000_001),
            ),
            (format!("4711  {call}"), 4711, None, None),
        ] {
            let event = TraceEvent::Getrandom;
            let expected = TraceLine { pid, time, took, event, program: None };
            assert_eq!(read(line.as_bytes()), Some(expected), "{line}");
        }
    }

    #[test]
    fn unfinished_and_resumed_calls_and_programs_are_told_apart() {
        let event = |line: &'static str| read(line.as_bytes()).map(|line| line.event);
        assert_eq!(event("[pid 7] getrandom( <unfinished ...>"), Some(TraceEvent::GetrandomBegins));
        assert_eq!(
            event("7 getrandom(0x7ff, 32, 0 <unfinished ...>"),
            Some(TraceEvent::GetrandomBegins)
        );
        assert_eq!(
            event("[pid 7] <... getrandom resumed>\"\\x01\", 1, 0) = 1 <2.5>"),
            Some(TraceEvent::GetrandomResumes)
        );
        assert_eq!(event("[pid 7] <... read resumed>\"\", 1) = 0"), Some(TraceEvent::Call));
        assert_eq!(event("+++ killed by SIGTERM +++"), Some(TraceEvent::Other));
        assert_eq!(event("--- SIGCHLD {si_signo=SIGCHLD} ---"), Some(TraceEvent::Other));
        assert_eq!(
            event("execve(\"/bin/a\", [\"a\"], 0x1) = 0"),
            Some(TraceEvent::Execve("\"/bin/a\", [\"a\"], 0x1) = 0"))
        );
        assert_eq!(event("openat(AT_FDCWD, \"x(\", O_RDONLY) = 3"), Some(TraceEvent::Call));
    }

    #[test]
    fn other_lines_are_none() {
        for line in [
            "",
            "hello",
            "Nov 22 06:07:30 host a(b): c",
            "[    1.5] random: crng init done",
            "a (b) = c",
            "write(1, \"unfinis",
        ] {
            assert_eq!(read(line.as_bytes()), None, "{line}");
        }
    }
}
