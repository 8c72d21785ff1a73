//! The time at the head of a line, as journalctl(1), dmesg(1), rsyslog and the kernel itself write
//! it.

use super::calendar::{both, english, iso_date, month, without_article};
use super::cpu_mark::without_thread;
use super::split::split_at;

/// The time of a line, as far as the line shows it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Stamp {
    /// Seconds since the kernel started.
    pub(super) kernel: Option<f64>,
    /// Seconds by the wall clock from an origin of the format's: only differences have a meaning.
    pub(super) wall: Option<f64>,
    /// True if the wall clock's seconds are whole, so that a difference is off by up to one.
    pub(super) is_coarse: bool,
    /// True if only the minute of the first line in it is known.
    pub(super) is_minute: bool,
    /// Local time in seconds since 1 January. The year is left out, because most formats omit it.
    /// Every format with a calendar has the rest, so files in different formats share this scale.
    pub(super) civil: Option<f64>,
}

impl Stamp {
    const NONE: Stamp =
        Stamp { kernel: None, wall: None, is_coarse: false, is_minute: false, civil: None };

    fn kernel(seconds: f64) -> Stamp {
        Stamp { kernel: Some(seconds), ..Stamp::NONE }
    }

    /// Returns the stamp of a day of the calendar and a time of that day.
    fn date((days, civil): (f64, f64), time: TimeOfDay) -> Stamp {
        let TimeOfDay { seconds, is_coarse } = time;
        Stamp { civil: Some(civil * DAY + seconds), is_coarse, ..Stamp::wall(days * DAY + seconds) }
    }

    fn wall(seconds: f64) -> Stamp {
        Stamp { wall: Some(seconds), ..Stamp::NONE }
    }
}

/// A time of the day. The text shows whether its seconds are whole, and the number does not: `dmesg
/// --time-format iso` prints the kernel's first lines with the fraction `,000000`, and such a line
/// must not make the whole log one of whole seconds.
#[derive(Clone, Copy)]
struct TimeOfDay {
    seconds: f64,
    is_coarse: bool,
}

/// A leap year in seconds. Dates in some formats have no year, so 1 January seems to lie before 31
/// December. If a date jumps back that far, the log has therefore reached the next year, and this
/// many seconds are added to later dates.
pub(super) const YEAR: f64 = 366.0 * DAY;
pub(super) const DAY: f64 = 86_400.0;

/// The part of a line that follows its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Follows {
    /// The message, as in the kernel's buffer.
    Message,
    /// `HOST NAME[PID]: ` and the message, as in a log.
    Name,
    /// Message or name, because dmesg's format and journalctl's short-monotonic begin alike.
    Either,
}

/// Takes the time off the head of a line; `None` where the line does not begin with one.
pub(super) fn take(line: &str) -> Option<(Stamp, Follows, &str)> {
    if let Some(taken) = plain(line) {
        return Some(taken);
    }
    let line = line.trim_start();
    match line.as_bytes().first()? {
        b'[' => bracketed(line),
        b'@' => tai64n(line),
        b'0'..=b'9' => plain_iso(line)
            .or_else(|| iso(line))
            .or_else(|| kmsg(line))
            .or_else(|| unix(line))
            .or_else(|| short(line)),
        _ => short(line).or_else(|| full(line)).or_else(|| ctime(line)),
    }
}

/// Reads `Nov 22 06:07:30 ` as [`short`] does. Most large logs have this form, so it is tried
/// first, and by the bytes' places.
fn plain(line: &str) -> Option<(Stamp, Follows, &str)> {
    let (head, rest) = line.as_bytes().split_first_chunk::<16>()?;
    let spaces = head[3] == b' ' && head[6] == b' ' && head[15] == b' ';
    (spaces && head[9] == b':' && head[12] == b':').then_some(())?;
    let digit = |at: usize| head[at].is_ascii_digit().then(|| head[at] - b'0');
    let number = |at: usize| Some(digit(at)? * 10 + digit(at + 1)?);
    let day = if head[4] == b' ' { digit(5)? } else { number(4)? };
    let (hour, minute, second) = (number(7)?, number(10)?, number(13)?);
    (hour < 24 && minute < 60 && second < 61).then_some(())?;
    let (_, day) = both(2000, english(&head[..3])?, day)?;
    let seconds = u32::from(hour) * 3600 + u32::from(minute) * 60 + u32::from(second);
    let rest = &line[line.len() - rest.len()..];
    let time = TimeOfDay { seconds: f64::from(seconds), is_coarse: true };
    Some((Stamp::date((day, day), time), Follows::Name, rest))
}

/// Returns the number in two bytes, if they are digits.
fn two_digits(bytes: &[u8]) -> Option<u8> {
    let [tens, ones] = *bytes else { return None };
    (tens.is_ascii_digit() && ones.is_ascii_digit()).then(|| (tens - b'0') * 10 + (ones - b'0'))
}

/// Reads `2026-11-22T06:07:30.123456+00:00 ` as [`iso`] does, by the bytes' places.
fn plain_iso(line: &str) -> Option<(Stamp, Follows, &str)> {
    let (head, rest) = line.as_bytes().split_first_chunk::<19>()?;
    let is_form = head[4] == b'-' && head[7] == b'-' && head[10] == b'T';
    (is_form && head[13] == b':' && head[16] == b':').then_some(())?;
    let at = |at: usize| two_digits(&head[at..at + 2]);
    let year = u32::from(at(0)?) * 100 + u32::from(at(2)?);
    let (hour, minute) = (at(11)?, at(14)?);
    (hour < 24 && minute < 60).then_some(())?;
    let digits = rest.get(1..)?.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let length = match rest[0] {
        b'.' if digits > 0 => digits + 1,
        b'Z' | b'+' | b'-' => 0,
        _ => return None,
    };
    let second = seconds(line.get(17..19 + length)?).filter(|second| *second < 61.0)?;
    let (offset, zone) = match *rest.get(length..)? {
        [b'Z', b' ', ..] => (0.0, 1),
        [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2, b' ', ..] => {
            (offset_of(sign, [h1, h2], [m1, m2])?, 6)
        }
        [sign @ (b'+' | b'-'), h1, h2, m1, m2, b' ', ..] => {
            (offset_of(sign, [h1, h2], [m1, m2])?, 5)
        }
        _ => return None,
    };
    let days = both(year, at(5)?, at(8)?)?;
    let seconds = f64::from(hour) * 3600.0 + f64::from(minute) * 60.0 + second;
    let stamp = Stamp::date(days, TimeOfDay { seconds, is_coarse: length == 0 });
    let stamp = Stamp { wall: stamp.wall.map(|wall| wall - offset), ..stamp };
    Some((stamp, Follows::Name, line.get(19 + length + zone + 1..)?))
}

fn offset_of(sign: u8, hours: [u8; 2], minutes: [u8; 2]) -> Option<f64> {
    let (hours, minutes) = (two_digits(&hours)?, two_digits(&minutes)?);
    let seconds = f64::from(hours) * 3600.0 + f64::from(minutes) * 60.0;
    Some(if sign == b'-' { -seconds } else { seconds })
}

/// Reads the time of OpenWrt's logread: `Fri Jun 30 00:29:07 2023 kern.notice kernel: `.
fn ctime(line: &str) -> Option<(Stamp, Follows, &str)> {
    let (weekday, rest) = line.split_once(' ')?;
    (weekday.len() == 3).then_some(())?;
    let (name, rest) = rest.split_once(' ')?;
    let (day, rest) = rest.trim_start().split_once(' ')?;
    let (time, rest) = rest.split_once(' ')?;
    let (year, rest) = rest.split_once(' ')?;
    let days = both(year.parse().ok()?, month(name)?, day.parse().ok()?)?;
    Some((Stamp::date(days, clock(time)?), Follows::Name, rest))
}

/// Finds the kernel's own stamp after a stamp that a capture of the console has put in front, in
/// whichever form: `2026-11-22 06:07:30 [ 1.234567] `. A capture's own time counts only if the
/// kernel has none: `[18:04:51.071][Moby ][Info ] random: crng init done`, or with a date, as Xen's
/// console daemon writes it: `[2026-11-22 06:07:30] random: crng init done`.
pub(super) fn captured(line: &str) -> Option<(Stamp, &str)> {
    const HEAD: usize = 80;
    let head = line.char_indices().take_while(|(at, _)| *at < HEAD);
    for (at, _) in head.filter(|(_, letter)| *letter == '[').skip_while(|(at, _)| *at == 0) {
        if let Some((stamp @ Stamp { kernel: Some(_), .. }, _, rest)) = bracketed(line.get(at..)?) {
            // A line that was copied out of a message in Markdown.
            return Some((stamp, rest.trim_end_matches('`')));
        }
    }
    let (time, mut rest) = line.strip_prefix('[')?.split_once(']')?;
    if let Some((days, time)) = time.split_once(' ')
        && let (Some(days), Some(time)) = (iso_date(days), clock(time))
    {
        return Some((Stamp::date(days, time), rest.trim_start()));
    }
    let TimeOfDay { seconds, is_coarse } = clock(time)?;
    while let Some((_, after)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        rest = after;
    }
    Some((Stamp { is_coarse, ..Stamp::wall(seconds) }, rest.trim_start()))
}

/// Takes the kernel's own time from the front of a message, where syslog keeps it. Returns the time
/// and the rest.
pub(super) fn take_kernels(message: &str) -> Option<(f64, &str)> {
    let begins = |first: char| first == '[' || first.is_ascii_digit();
    message.trim_start().starts_with(begins).then_some(())?;
    let (stamp, _, rest) = take(message)?;
    Some((stamp.kernel?, rest))
}

/// Reads a time by ISO 8601 that stands alone: `2021-05-10T12:00:00.123456789Z`.
pub(super) fn alone(text: &str) -> Option<Stamp> {
    let (days, time) = text.split_once('T')?;
    let zone = time.find(['Z', '+', '-']).unwrap_or(time.len());
    let (local, offset) = (clock(&time[..zone])?, offset(&time[zone..])?);
    let stamp = Stamp::date(iso_date(days)?, local);
    Some(Stamp { wall: stamp.wall.map(|wall| wall - offset), ..stamp })
}

/// Reads a time in brackets: the kernel's own, `[    1.234567] `, journalctl's short-monotonic, and
/// dmesg's -d, -e, -H and -T.
fn bracketed(line: &str) -> Option<(Stamp, Follows, &str)> {
    let (inside, mut rest) = split_at(&line[1..], b']')?;
    // CONFIG_PRINTK_CALLER: "[    1.234567][    T1] ".
    if let Some((caller, after)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'))
        && caller.trim_start().starts_with(['T', 'C'])
    {
        rest = after;
    }
    if rest.trim_start().starts_with(['[', '(', 'c']) {
        rest = without_thread(rest);
    }
    // Amlogic's kernels name the CPU: "[   77.615241@3] ".
    let inside = match split_at(inside, b'@') {
        Some((time, cpu)) if !cpu.is_empty() && cpu.bytes().all(|byte| byte.is_ascii_digit()) => {
            time.trim()
        }
        _ => inside.trim(),
    };
    let stamp = match split_at(inside, b'<').map_or(inside, |(time, _)| time.trim()) {
        // -d with -t: the time since the line before and no other.
        "" => Stamp::NONE,
        // -H: the time since the line before.
        delta if delta.starts_with('+') && seconds(delta[1..].trim()).is_some() => Stamp::NONE,
        // With a point: "[0]" is in any text.
        time => match seconds(time).filter(|_| split_at(time, b'.').is_some()) {
            Some(time) => Stamp::kernel(time),
            None => by_calendar(time)?,
        },
    };
    let follows = if stamp.wall.is_some() { Follows::Message } else { Follows::Either };
    Some((stamp, follows, rest.strip_prefix(' ').unwrap_or(rest)))
}

/// Reads the date of dmesg -T: `Sun Nov 22 06:07:30 2026`. For `Nov22 06:07` of -e and -H it
/// returns no time: minutes are too coarse, because a wait of half a minute would count as none or
/// as a whole one. With the seconds since the minute's first line, which
/// [`arranged`](super::arranged) adds, the time is off by less than a minute.
fn by_calendar(text: &str) -> Option<Stamp> {
    let mut words = text.split_ascii_whitespace().filter(|word| *word != "de");
    let (first, second) = (words.next()?, without_article(words.next()?));
    if let Some(month) = first.get(..3).and_then(month) {
        let (day, clock) = (first.get(3..)?.parse::<u8>().ok()?, second.split_once(':')?);
        let Some(since) = words.next() else { return Some(Stamp::NONE) };
        let since = seconds(since.strip_prefix('+')?)?;
        let (hour, minute) = (clock.0.parse::<u8>().ok()?, clock.1.parse::<u8>().ok()?);
        let (_, day) = both(2000, month, day)?;
        let seconds = f64::from(hour) * 3600.0 + f64::from(minute) * 60.0 + since;
        let time = TimeOfDay { seconds, is_coarse: false };
        return Some(Stamp { is_minute: true, ..Stamp::date((day, day), time) });
    }
    let (day, time, year) = (words.next()?, words.next()?, words.next()?);
    let day = both(year.parse().ok()?, month(second)?, day.parse().ok()?)?;
    Some(Stamp::date(day, clock(time)?))
}

/// Reads the time of journalctl's short-iso and short-iso-precise, of dmesg --time-format=iso, of
/// rsyslog's own format, and of svlogd, which has an underscore in the middle.
fn iso(line: &str) -> Option<(Stamp, Follows, &str)> {
    let (word, rest) = line.split_once(' ')?;
    let (days, time) = word.split_once(['T', '_'])?;
    let days = iso_date(days)?;
    let zone = time.find(['Z', '+', '-']).unwrap_or(time.len());
    let (local, offset) = (clock(&time[..zone])?, offset(&time[zone..])?);
    let stamp = Stamp::date(days, local);
    let stamp = Stamp { wall: stamp.wall.map(|wall| wall - offset), ..stamp };
    // A comma is dmesg's.
    let follows = if time.contains(',') { Follows::Message } else { Follows::Name };
    Some((stamp, follows, rest))
}

/// Reads the time of multilog and of svlogd -t: `@`, and in hexadecimal the seconds since 1970 with
/// the bit 2^62, and the nanoseconds. The scale has leap seconds, which shift all lines alike.
fn tai64n(line: &str) -> Option<(Stamp, Follows, &str)> {
    let (word, rest) = line.strip_prefix('@')?.split_once(' ')?;
    let (whole, nanos) = word.split_at_checked(16).filter(|(_, nanos)| nanos.len() == 8)?;
    let whole = u64::from_str_radix(whole, 16).ok()?.checked_sub(1 << 62)?;
    let nanos = u32::from_str_radix(nanos, 16).ok()?;
    Some((Stamp::wall(whole as f64 + f64::from(nanos) / 1e9), Follows::Name, rest))
}

/// Reads the time of a line of /dev/kmsg: `6,1234,5678901,-;message`.
fn kmsg(line: &str) -> Option<(Stamp, Follows, &str)> {
    let (head, message) = line.split_once(';')?;
    let mut fields = head.split(',');
    let mut number = || fields.next()?.parse::<u64>().ok();
    let (_, _, micros) = (number()?, number()?, number()?);
    fields.next()?;
    Some((Stamp::kernel(micros as f64 / 1e6), Follows::Message, message))
}

/// Reads the time of journalctl's short-unix.
fn unix(line: &str) -> Option<(Stamp, Follows, &str)> {
    let (word, rest) = line.split_once(' ')?;
    let (whole, _) = word.split_once('.')?;
    // Nine digits are the year 1973: no count of anything else is as long.
    (whole.len() >= 9).then_some(())?;
    Some((Stamp::wall(seconds(word)?), Follows::Name, rest))
}

/// Reads the time of journalctl's short and short-precise and of syslog: `Nov 22 06:07:30 `. If the
/// month's language is unknown, only the day counts, so differences within a month are still right.
fn short(line: &str) -> Option<(Stamp, Follows, &str)> {
    let (name, rest) = without_article(line).split_once(' ')?;
    let is_word = name.trim_end_matches('.').chars().all(char::is_alphabetic);
    (name.chars().count() <= 10 && (is_word || month(name).is_some())).then_some(())?;
    let (day, rest) = rest.trim_start().split_once(' ')?;
    let (time, rest) = rest.split_once(' ')?;
    let day: u8 = day.parse().ok().filter(|day| (1..=31).contains(day))?;
    let (_, day) = both(2000, month(name).unwrap_or(1), day)?;
    Some((Stamp::date((day, day), clock(time)?), Follows::Name, rest))
}

/// Reads the time of journalctl's short-full and with-unit: `Sun 2026-11-22 06:07:30 UTC `.
fn full(line: &str) -> Option<(Stamp, Follows, &str)> {
    let (weekday, rest) = line.split_once(' ')?;
    weekday.trim_end_matches('.').chars().all(char::is_alphabetic).then_some(())?;
    let (days, rest) = rest.split_once(' ')?;
    let (time, rest) = rest.split_once(' ')?;
    let (zone, rest) = rest.split_once(' ')?;
    (zone.len() <= 6).then_some(())?;
    Some((Stamp::date(iso_date(days)?, clock(time)?), Follows::Name, rest))
}

/// Reads a time such as `06:07:30`, with a fraction after a point or a comma.
fn clock(text: &str) -> Option<TimeOfDay> {
    let mut parts = text.split(':');
    let (hour, minute, second) = (parts.next()?, parts.next()?, parts.next()?);
    let hour: u8 = hour.parse().ok().filter(|hour| *hour < 24)?;
    let minute: u8 = minute.parse().ok().filter(|minute| *minute < 60)?;
    let is_coarse = !second.contains(['.', ',']);
    let second = match memchr::memchr(b',', second.as_bytes()) {
        Some(_) => seconds(&second.replace(',', ".")),
        None => seconds(second),
    };
    // 60: a leap second.
    let second = second.filter(|second| *second < 61.0)?;
    let seconds = f64::from(hour) * 3600.0 + f64::from(minute) * 60.0 + second;
    parts.next().is_none().then_some(TimeOfDay { seconds, is_coarse })
}

/// Returns the seconds of a time zone: `Z`, `+0100` or `+01:00`. An empty text is zero.
fn offset(text: &str) -> Option<f64> {
    let sign = match text.as_bytes().first() {
        None | Some(b'Z') => return Some(0.0),
        Some(b'+') => 1.0,
        Some(b'-') => -1.0,
        Some(_) => return None,
    };
    let digits = text[1..].replace(':', "");
    let (hours, minutes) =
        (digits.get(..2)?.parse::<u8>().ok()?, digits.get(2..4)?.parse::<u8>().ok()?);
    Some(sign * (f64::from(hours) * 3600.0 + f64::from(minutes) * 60.0))
}

/// Parses digits with a point and more digits, and nothing else: no sign, no exponent, no "nan".
pub(crate) fn seconds(text: &str) -> Option<f64> {
    /// Powers of ten, which f64 holds without an error.
    const POWERS: [f64; 16] =
        [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];
    let plain = text.len() <= 20 && text.starts_with(|c: char| c.is_ascii_digit());
    plain.then_some(())?;
    let (mut digits, mut point) = (0_u64, None);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'0'..=b'9' => digits = digits.wrapping_mul(10).wrapping_add(u64::from(byte - b'0')),
            b'.' if point.is_none() => point = Some(at),
            _ => return None,
        }
    }
    // Up to 15 digits and their power of ten are exact, so that their quotient is rounded once and
    // is the number that a parser returns.
    let places = point.map_or(0, |at| text.len() - at - 1);
    if text.len() <= 16
        && let Some(power) = POWERS.get(places)
    {
        return Some(digits as f64 / power);
    }
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(line: &str) -> (f64, &str) {
        let (stamp, _, rest) = take(line).unwrap();
        (stamp.kernel.unwrap(), rest)
    }

    #[test]
    fn times_since_the_kernels_start_are_read() {
        for line in [
            "[    1.250000] text",
            "[ 1.250000 <    0.000123>] text",
            "[    1.250000][    T1] text",
            "[    1.250000][   C12] text",
            "6,77,1250000,-;text",
            "6,77,1250000,-,caller=T1;text",
        ] {
            assert_eq!(kernel(line), (1.25, "text"), "{line}");
        }
        assert_eq!(kernel("[123456.000001] text").0, 123_456.000_001);
    }

    /// One instant, in every format that has a year.
    #[test]
    fn one_instant_in_every_format_is_one_time() {
        let wall = |line: &str| match take(line) {
            Some((Stamp { wall: Some(wall), .. }, _, "text")) => wall,
            other => panic!("{line}: {other:?}"),
        };
        let instant = wall("[Sun Nov 22 06:07:30 2026] text");
        for line in [
            "2026-11-22T06:07:30+0000 text",
            "2026-11-22T07:07:30+01:00 text",
            "2026-11-22T06:07:30Z text",
            "2026-11-22T06:07:30.000000+00:00 text",
            "2026-11-22T06:07:30,000000+00:00 text",
            "2026-11-22T01:37:30-0430 text",
            "Sun 2026-11-22 06:07:30 UTC text",
            "So. 2026-11-22 06:07:30.000000 CET text",
        ] {
            assert_eq!(wall(line), instant, "{line}");
        }
        assert_eq!(wall("1795327651.500000 text") - wall("1795327650.000000 text"), 1.5);
        assert_eq!(
            wall("Nov 22 06:07:30.250000 text") - wall("Nov  9 06:07:30 text"),
            13.0 * DAY + 0.25
        );
        assert_eq!(wall("Jan  1 00:00:00 text") + YEAR - wall("Dec 31 23:59:58 text"), 2.0);
        // Finnish.
        assert_eq!(wall("marras 05 15:39:06 text") - wall("marras 05 15:37:37 text"), 89.0);
    }

    #[test]
    fn numbers_are_those_of_the_standard_parser() {
        for text in [
            "0",
            "7",
            "7.",
            "0.1",
            "1.250000",
            "59.999999",
            "123456.000001",
            "4294967295.999999",
            "999999999999999",
            "0.00000000000001",
            "1795327650.500000",
            "12345678901234567890",
            "0.3",
            "17179869.184",
            "1234567890123.456789",
        ] {
            assert_eq!(seconds(text), text.parse().ok(), "{text}");
        }
        for text in
            ["", ".", ".5", "1.2.3", "-1", "+1", "1e9", "nan", " 1", "123456789012345678901"]
        {
            assert_eq!(seconds(text), None, "{text}");
        }
        for number in 0..200_000_u32 {
            let text = format!("{}.{:06}", number / 1000, number);
            assert_eq!(seconds(&text), text.parse().ok(), "{text}");
        }
    }

    /// The quick reading of an ISO stamp is the careful one's.
    #[test]
    fn an_iso_stamp_is_read_alike_both_ways() {
        let mut quick = 0;
        for day in
            ["2026-11-22", "2024-02-29", "0001-01-01", "2026-13-01", "2026-00-10", "2026-1-1"]
        {
            for time in [
                "06:07:30",
                "23:59:60.999",
                "24:00:00",
                "00:60:00",
                "06:07:61",
                "6:07:30",
                "06:07:30.",
                "06:07:30.123456",
                "06:07:30,123456",
            ] {
                for zone in ["Z", "+00:00", "-0430", "+05:45", "", "+5", "UTC", "+0a:00"] {
                    for rest in [" text", "", " ", "text"] {
                        let line = format!("{day}T{time}{zone}{rest}");
                        if let Some(read) = plain_iso(&line) {
                            quick += 1;
                            assert_eq!(Some(read), iso(&line), "{line}");
                        }
                    }
                }
            }
        }
        assert!(quick > 50, "{quick}");
    }

    #[test]
    fn deltas_and_minutes_are_no_times() {
        for line in ["[<    0.000000>] text", "[  +0.000012] text", "[Nov22 06:07] text"] {
            assert_eq!(take(line), Some((Stamp::NONE, Follows::Either, "text")), "{line}");
        }
    }

    #[test]
    fn other_lines_have_no_time() {
        for line in [
            "",
            "[",
            "[OK] Started",
            "[-1.0] text",
            "[1e9] text",
            "[nan] text",
            "[0] = text",
            "[    1.2.3] text",
            "Linux version 6.1 (x) #1",
            "random: crng init done",
            "Nov 32 06:07:30 text",
            "Nov 22 24:07:30 text",
            "2026-13-22T06:07:30Z text",
            "12.5 text",
        ] {
            assert_eq!(take(line), None, "{line}");
        }
    }
}
