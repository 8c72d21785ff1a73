//! One line of a trace.

use super::clock::{Time, time};
use crate::journal::stamp::seconds;
use memchr::memmem;

/// One line of a trace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Record<'a> {
    /// The process, with `-f`; 0 for the only one.
    pub(super) pid: u32,
    pub(super) time: Option<Time>,
    /// What `-T` says that it took.
    pub(super) took: Option<f64>,
    pub(super) told: Told<'a>,
}

/// What a line tells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Told<'a> {
    /// A call of getrandom that ended.
    Getrandom,
    /// One that goes on while another process's lines come.
    GetrandomBegins,
    /// Its end.
    GetrandomResumes,
    /// A program is started: the call's arguments.
    Execve(&'a str),
    /// Any other call.
    Call,
    /// A signal, an exit, strace's own words.
    Other,
}

/// Reads a line; `None` where it is no line of a trace.
pub(super) fn read(line: &[u8]) -> Option<Record<'_>> {
    let mut rest = line.trim_ascii();
    let mut pid = 0;
    if let Some(after) = rest.strip_prefix(b"[pid ") {
        let end = memchr::memchr(b']', after)?;
        pid = number(after[..end].trim_ascii())?;
        rest = after[end + 1..].trim_ascii_start();
    }
    let mut at = None;
    // `PID TIME (+ SINCE) call`: a number without a point is the process, one with it or with colons the time.
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
    let told = call(rest)?;
    Some(Record { pid, time: at, took: took(rest), told })
}

fn number(word: &[u8]) -> Option<u32> {
    let digits = word.len() <= 10 && word.iter().all(u8::is_ascii_digit);
    digits.then(|| std::str::from_utf8(word).ok()?.parse().ok())?
}

fn call(rest: &[u8]) -> Option<Told<'_>> {
    if rest.starts_with(b"+++ ") || rest.starts_with(b"--- ") || rest.starts_with(b"strace: ") {
        return Some(Told::Other);
    }
    if let Some(resumed) = rest.strip_prefix(b"<... ") {
        let resumes = resumed.starts_with(b"getrandom resumed");
        return Some(if resumes { Told::GetrandomResumes } else { Told::Call });
    }
    let end = memchr::memchr(b'(', &rest[..rest.len().min(40)])?;
    let name = &rest[..end];
    let is_name = !name.is_empty()
        && name
            .iter()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'_')
        && name[0].is_ascii_lowercase();
    is_name.then_some(())?;
    Some(match name {
        b"getrandom" if memmem::find(&rest[end..], b"<unfinished ...>").is_some() => {
            Told::GetrandomBegins
        }
        b"getrandom" => Told::Getrandom,
        b"execve" => Told::Execve(std::str::from_utf8(&rest[end + 1..]).unwrap_or_default()),
        _ => {
            // A word and a parenthesis are in any text; a call has a result, or is unfinished.
            let ends = memmem::find(rest, b" = ").is_some()
                || rest.ends_with(b"...>")
                || rest.ends_with(b"...");
            return ends.then_some(Told::Call);
        }
    })
}

/// `<0.000123>` at the end.
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
            (format!("     0.000123 {call}"), 0, Some(Time::Since(0.000_123)), None),
            (format!("06:07:30 {call} <0.5>"), 0, Some(Time::OfDay(22_050.0)), Some(0.5)),
            (
                format!("06:07:30.250000 (+     0.000000) {call}"),
                0,
                Some(Time::OfDay(22_050.25)),
                None,
            ),
            (
                format!("[pid  4711] 1763791650.500000 {call}"),
                4711,
                Some(Time::Epoch(1_763_791_650.5)),
                None,
            ),
            (
                format!("4711  06:07:30.250000 {call} <0.000001>"),
                4711,
                Some(Time::OfDay(22_050.25)),
                Some(0.000_001),
            ),
            (format!("4711  {call}"), 4711, None, None),
        ] {
            let told = Told::Getrandom;
            assert_eq!(read(line.as_bytes()), Some(Record { pid, time, took, told }), "{line}");
        }
    }

    #[test]
    fn unfinished_and_resumed_calls_and_programs_are_told_apart() {
        let told = |line: &'static str| read(line.as_bytes()).map(|told| told.told);
        assert_eq!(told("[pid 7] getrandom( <unfinished ...>"), Some(Told::GetrandomBegins));
        assert_eq!(told("7 getrandom(0x7ff, 32, 0 <unfinished ...>"), Some(Told::GetrandomBegins));
        assert_eq!(
            told("[pid 7] <... getrandom resumed>\"\\x01\", 1, 0) = 1 <2.5>"),
            Some(Told::GetrandomResumes)
        );
        assert_eq!(told("[pid 7] <... read resumed>\"\", 1) = 0"), Some(Told::Call));
        assert_eq!(told("+++ killed by SIGTERM +++"), Some(Told::Other));
        assert_eq!(told("--- SIGCHLD {si_signo=SIGCHLD} ---"), Some(Told::Other));
        assert_eq!(
            told("execve(\"/bin/a\", [\"a\"], 0x1) = 0"),
            Some(Told::Execve("\"/bin/a\", [\"a\"], 0x1) = 0"))
        );
        assert_eq!(told("openat(AT_FDCWD, \"x(\", O_RDONLY) = 3"), Some(Told::Call));
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
