//! Logs whose lines have to be put in order, or given times, before they can be read: `journalctl
//! -r` has the last line first, and `dmesg -H` has the distance to the line before.
//!
//! Both need the lines that hold none of the words, too, so such a file is held in memory. That is
//! why its size is limited; a log in the usual order passes in blocks.

use super::entry;
use super::stamp::seconds;
use crate::read::logs::unpainted;
use std::fmt::Write;

/// The largest file that is put in order.
pub(super) const MOST: u64 = 64 << 20;
/// The number of lines that decide.
const LOOKED_AT: usize = 1000;

/// The order of a log's lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrangement {
    /// The first line first, each with its time.
    Usual,
    /// The last line first.
    Reversed,
    /// Times are distances, but for the first line of each minute.
    Distances,
}

/// Returns the order that the first lines show. A log is reversed if times only fall, and do so
/// twice, because a clock that was set falls once.
pub(super) fn arrangement(first: &[u8]) -> Arrangement {
    let (mut up, mut down, mut last) = (0, 0, None);
    let mut minutes = false;
    for line in first.split(|&byte| byte == b'\n').take(LOOKED_AT) {
        let line = unpainted(line);
        minutes |= minute(&line).is_some();
        if minutes && distance(&line).is_some() {
            return Arrangement::Distances;
        }
        let stamp = entry::parse(&line).map(|entry| entry.stamp);
        let Some(now) = stamp.and_then(|stamp| stamp.kernel.or(stamp.wall)) else { continue };
        if let Some(last) = last.replace(now) {
            up += usize::from(now > last);
            down += usize::from(now < last);
        }
    }
    if up == 0 && down >= 2 { Arrangement::Reversed } else { Arrangement::Usual }
}

/// Returns the lines from the last to the first, and their number.
pub(super) fn reversed(log: &[u8]) -> (Vec<u8>, u64) {
    let log = log.strip_suffix(b"\n").unwrap_or(log);
    let mut lines: Vec<&[u8]> = log.split(|&byte| byte == b'\n').collect();
    lines.reverse();
    (lines.join(&b'\n'), lines.len() as u64)
}

/// Adds to each line of `dmesg -H` its minute and the seconds since: `[Apr17 12:47 +3.141592] `.
pub(super) fn with_minutes(log: &[u8]) -> Vec<u8> {
    let mut out = String::new();
    let (mut begun, mut since) = (String::new(), 0.0);
    for line in log.split(|&byte| byte == b'\n') {
        let line = unpainted(line);
        let message = if let Some((time, message)) = minute(&line) {
            (begun, since) = (time.to_owned(), 0.0);
            message
        } else if let Some((seconds, message)) = distance(&line) {
            since += seconds;
            message
        } else {
            let _ = writeln!(out, "{line}");
            continue;
        };
        let _ = writeln!(out, "[{begun} +{since:.6}] {message}");
    }
    out.into_bytes()
}

/// Splits `[Apr17 12:47] message`.
fn minute(line: &str) -> Option<(&str, &str)> {
    let (time, message) = line.trim_start().strip_prefix('[')?.split_once(']')?;
    let (day, clock) = time.split_once(' ')?;
    let (month, number) = day.split_at_checked(3)?;
    let (hour, minute) = clock.trim().split_once(':')?;
    let is_number = |text: &str, most: usize| {
        (1..=most).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    let is_month = month.bytes().all(|byte| byte.is_ascii_alphabetic());
    let is_time = is_number(number, 2) && is_number(hour, 2) && is_number(minute, 2);
    (is_month && is_time).then_some((time, message.strip_prefix(' ').unwrap_or(message)))
}

/// Splits `[  +0.000123] message`.
fn distance(line: &str) -> Option<(f64, &str)> {
    let (time, message) = line.trim_start().strip_prefix('[')?.split_once(']')?;
    let seconds = seconds(time.trim().strip_prefix('+')?.trim())?;
    Some((seconds, message.strip_prefix(' ').unwrap_or(message)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_recognised() {
        let usual = "[    1.0] a\n[    2.0] b\n[    3.0] c\n";
        let reversed = "[    3.0] c\n[    2.0] b\n[    1.0] a\n";
        let set = "Nov 22 06:07:30 h kernel: a\nNov 22 05:07:30 h kernel: b\n";
        let human = "[Apr17 12:47] a\n[  +0.5] b\n";
        for (log, expected) in [
            (usual, Arrangement::Usual),
            (reversed, Arrangement::Reversed),
            (set, Arrangement::Usual),
            (human, Arrangement::Distances),
            ("", Arrangement::Usual),
        ] {
            assert_eq!(arrangement(log.as_bytes()), expected, "{log}");
        }
        assert_eq!(super::reversed(reversed.as_bytes()), (usual.trim_end().into(), 3));
    }

    #[test]
    fn distances_add_up_within_a_minute() {
        let log = b"[Apr17 12:47] a\n[  +0.5] b\n[  +1.25] c\nplain\n[Apr17 12:49] d\n[  +2.0] e";
        let text = String::from_utf8(with_minutes(log)).unwrap();
        let expected = "[Apr17 12:47 +0.000000] a\n[Apr17 12:47 +0.500000] b\n\
                        [Apr17 12:47 +1.750000] c\nplain\n[Apr17 12:49 +0.000000] d\n\
                        [Apr17 12:49 +2.000000] e\n";
        assert_eq!(text, expected);
    }
}
