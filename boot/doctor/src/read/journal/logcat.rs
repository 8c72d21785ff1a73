//! The kernel's buffer as Android's logcat prints it (`adb logcat -b kernel`). logd takes the text
//! before a message's first colon for a tag and pads it, so that "random: crng init done" becomes
//! "random  : crng init done". The lines are written again as those of a syslog, with the same
//! numbers, so that one reader serves both.

use super::cpu_mark::without_thread;

/// The number of lines that decide.
const LOOKED_AT: usize = 1000;

/// Returns whether a file is logcat's and has lines of the kernel.
pub(super) fn is_one(first: &[u8]) -> bool {
    let mut lines = first.split(|&byte| byte == b'\n').take(LOOKED_AT);
    lines.any(|line| {
        std::str::from_utf8(line).ok().and_then(Line::read).is_some_and(|line| line.is_kernels())
    })
}

/// Returns the log as a syslog of a host "android".
pub(super) fn as_syslog(log: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(log.len());
    for line in log.split(|&byte| byte == b'\n') {
        match std::str::from_utf8(line).ok().and_then(Line::read) {
            Some(read) => text.extend(read.as_syslog().bytes()),
            None => text.extend(line),
        }
        text.push(b'\n');
    }
    text
}

/// A line of logcat.
struct Line<'a> {
    month: &'a str,
    day: &'a str,
    time: &'a str,
    pid: &'a str,
    tag: &'a str,
    message: &'a str,
}

impl<'a> Line<'a> {
    /// Reads `11-20 10:11:12.345     0     0 I random  : crng init done`, with a user's name before
    /// the numbers if there is one, or `11-20 10:11:12.345 I/random  (    0): crng init done`.
    fn read(line: &'a str) -> Option<Line<'a>> {
        let (date, rest) = line.trim_end().split_once(' ')?;
        let (month, day) = date.split_once('-')?;
        let is_date = [month, day]
            .iter()
            .all(|part| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit()));
        let (time, rest) = rest.split_once(' ')?;
        let is_time = time.len() >= 12 && time.as_bytes()[2] == b':' && time.as_bytes()[8] == b'.';
        (is_date && is_time).then_some(())?;
        let (pid, tag, message) = brief(rest).or_else(|| threadtime(rest))?;
        Some(Line { month, day, time, pid, tag: tag.trim(), message })
    }

    /// Returns whether the kernel wrote it: no process has the number 0.
    fn is_kernels(&self) -> bool {
        self.pid == "0"
    }

    fn as_syslog(&self) -> String {
        const MONTHS: [&str; 12] =
            ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
        let month = self.month.parse::<usize>().ok().and_then(|month| MONTHS.get(month - 1));
        let Line { day, time, pid, tag, message, .. } = self;
        let head = format!("{} {day} {time} android", month.unwrap_or(&"Jan"));
        match (self.is_kernels(), tag.is_empty()) {
            // Without a tag logd may have met a telephone's marks of CPU and process.
            (true, true) => format!("{head} kernel: {}", without_thread(message)),
            (true, false) => format!("{head} kernel: {tag}: {message}"),
            (false, _) => format!("{head} {}[{pid}]: {message}", tag.replace([' ', ':'], "_")),
        }
    }
}

/// Reads `I/random  (    0): crng init done`.
fn brief(rest: &str) -> Option<(&str, &str, &str)> {
    let (level, rest) = rest.trim_start().split_once('/')?;
    let (head, message) = rest.split_once("): ")?;
    let (tag, pid) = head.rsplit_once('(')?;
    is_level(level).then_some((pid.trim(), tag, message))
}

/// Reads `    0     0 I random  : crng init done`.
fn threadtime(rest: &str) -> Option<(&str, &str, &str)> {
    let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    let word = |rest: &'_ str| -> Option<(usize, usize)> {
        let begin = rest.len() - rest.trim_start().len();
        let length = rest.get(begin..)?.find(' ')?;
        Some((begin, begin + length))
    };
    let (mut begin, mut end) = word(rest)?;
    let mut after = &rest[end..];
    if !is_number(&rest[begin..end]) {
        // The user's name.
        let (from, to) = word(after)?;
        (begin, end) = (end + from, end + to);
        after = &rest[end..];
    }
    let pid = rest.get(begin..end).filter(|pid| is_number(pid))?;
    let (_, to) = word(after)?;
    let after = after.get(to + 1..)?;
    let (level, message) = after.split_once(' ')?;
    let (tag, message) =
        message.split_once(": ").or_else(|| Some((message.strip_suffix(':')?, "")))?;
    is_level(level).then_some((pid, tag, message))
}

fn is_level(text: &str) -> bool {
    matches!(text, "V" | "D" | "I" | "W" | "E" | "F")
}
