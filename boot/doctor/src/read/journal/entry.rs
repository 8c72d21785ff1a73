//! A line of a log: its time, its writer, its message.

use super::capture::{captured_line, within};
use super::cpu_mark::without_thread;
use super::programs::{JOB, START_JOB, without_count};
use super::split::{split_at, split_at_colon};
use super::stamp::{self, Follows, Stamp};
use std::borrow::Cow;

/// The program that wrote a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writer {
    /// The kernel.
    Kernel,
    /// systemd as the first program, not as a user's manager.
    Init,
    /// systemd-random-seed.
    Seed,
    /// The audit daemon's stream, which also has the kills of filters.
    Audit,
    /// criu(8).
    Criu,
    /// A program that sets the clock, or reports that it was set.
    Clock,
    /// strace(1) with this process number, where a service runs under it.
    Strace(u32),
    /// Any other program. It may quote the kernel, or guess, so its words about the random
    /// generator are not believed.
    Other,
}

/// A line of a log.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry<'a> {
    pub(super) stamp: Stamp,
    pub(super) writer: Writer,
    pub(super) message: Cow<'a, str>,
    /// The unit that it is about, where the format has a field for it.
    pub(super) unit: Option<Cow<'a, str>>,
    /// The boot's id, likewise.
    pub(super) boot: Option<Cow<'a, str>>,
}

impl Writer {
    /// Returns the writer by the name before the colon and the process's number.
    pub(super) fn by_name(name: &str, pid: Option<&str>) -> Writer {
        match name {
            "kernel" if pid.is_none() => Writer::Kernel,
            // `-o with-unit` names the unit that the line comes from.
            "systemd" | "init.scope" if pid == Some("1") => Writer::Init,
            "systemd-random-seed" => Writer::Seed,
            "audit" => Writer::Audit,
            "criu" => Writer::Criu,
            "systemd-timesyncd" | "systemd-resolved" | "chronyd" | "ntpd" | "ntpdate"
            | "connmand" | "vboxadd-service" | "VBoxService" => Writer::Clock,
            "strace" => Writer::Strace(pid.and_then(|pid| pid.parse().ok()).unwrap_or(0)),
            _ => Writer::Other,
        }
    }
}

/// Reads a line of a text format; `None` where it has no form that is known.
pub(super) fn parse(line: &str) -> Option<Entry<'_>> {
    parse_at(line, Depth::Outer)
}

/// The place of a line: as it stands in the file, or after the stamp of a capture. There is no
/// third one, because a line of nothing but stamps would otherwise lead the reader as deep as it is
/// long.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Depth {
    Outer,
    Captured,
}

pub(super) fn parse_at(line: &str, depth: Depth) -> Option<Entry<'_>> {
    let line = without_level(unquoted(line.trim_end()));
    if let Some(entry) = of_talos(line) {
        return Some(entry);
    }
    if let Some(rest) = line.strip_prefix("1 ")
        && let Some(entry) = rfc5424(rest)
    {
        return Some(entry);
    }
    let Some((stamp, follows, rest)) = stamp::take(line) else {
        if let Some((stamp, rest)) = stamp::captured(line) {
            let (writer, message) = direct(rest);
            // Programs write a date in brackets as well, in front of messages of their own.
            let is_console = stamp.civil.is_none() || is_kernels(rest);
            return is_console.then(|| entry(stamp, writer, message));
        }
        return without_time(line);
    };
    if (follows, depth) == (Follows::Name, Depth::Outer)
        && let Some(inner) = captured_line(rest)
    {
        return Some(within(stamp, inner));
    }
    let (writer, message) = match (follows, head(rest)) {
        (Follows::Message, _) => direct(rest),
        (Follows::Name, head) => head?,
        (Follows::Either, Some((Writer::Kernel, message))) => (Writer::Kernel, message),
        (Follows::Either, Some(head)) if named_by_journal(rest) => head,
        (Follows::Either, _) => direct(rest),
    };
    Some(match stamp::take_kernels(message) {
        Some((kernel, message)) if writer == Writer::Kernel => {
            entry(Stamp { kernel: Some(kernel), ..stamp }, writer, message)
        }
        _ => entry(stamp, writer, message),
    })
}

/// Reads a line of talosctl's dmesg, which follows the node's address: `10.5.0.2: kern:  notice:
/// [2021-05-10T12:00:00.123456789Z]: random: crng init done`.
fn of_talos(line: &str) -> Option<Entry<'_>> {
    let line = line
        .split_once(": kern:")
        .map_or_else(|| line.strip_prefix("kern:"), |(_, rest)| Some(rest))?;
    let (_level, rest) = line.trim_start().split_once(": [")?;
    let (time, message) = rest.split_once("]: ")?;
    let stamp = stamp::alone(time)?;
    Some(entry(stamp, Writer::Kernel, message.trim_start()))
}

/// Reads a line of a console or of dmesg without times.
fn without_time(line: &str) -> Option<Entry<'_>> {
    if let Some(message) = status(line) {
        return Some(entry(Stamp::default(), Writer::Init, message));
    }
    let line = without_thread(without_cpu(line.trim_start()));
    let (writer, message) = direct(line);
    if is_kernels(line) || line.starts_with("systemd-") && writer != Writer::Kernel {
        return Some(entry(Stamp::default(), writer, message));
    }
    // A console shows the kernel's message after the words of a script: "Saving random seed:
    // random: dd: uninitialized urandom read (512 bytes read)".
    let message = &line[line.find(": random: ")? + 2..];
    let is_read = message.contains(": uninitialized urandom read");
    is_read.then(|| entry(Stamp::default(), Writer::Kernel, message))
}

/// Removes the marks of a mail that quotes a log, and the name that a test's log puts in front of a
/// console's lines.
fn unquoted(line: &str) -> &str {
    let text = line.trim_start();
    if !text.starts_with(['>', 'c']) {
        return line;
    }
    let quoted = text.trim_start_matches(['>', ' ']);
    let rest = if text.starts_with('>') { quoted } else { text };
    match rest.strip_prefix("console: ") {
        Some(rest) => rest,
        None if text.starts_with('>') => rest,
        None => line,
    }
}

/// Reads a line of systemd's on the console: `[  OK  ] Started NAME.`, `         Starting NAME...`,
/// `[***   ] A start job is running for NAME (7s / 10min)`.
fn status(line: &str) -> Option<&str> {
    // A job's line is written over and over; `cat -v` prints the return as ^M.
    let line = line.rsplit(['\r']).find(|part| !part.is_empty())?;
    let line = line.strip_prefix("^M").unwrap_or(line);
    // Copied without the stars in front.
    let job = without_count(line);
    if job.starts_with(START_JOB) || job.starts_with(JOB) {
        return Some(line);
    }
    if let Some(message) = line.strip_prefix("         ") {
        return message.starts_with("Starting ").then_some(message);
    }
    let (inside, message) = line.strip_prefix('[')?.split_once("] ")?;
    let is_status = match inside.trim() {
        "OK" | "FAILED" | "DEPEND" | "TIME" | "SKIP" | "INFO" => inside.len() == 6,
        stars => inside.len() == 6 && !stars.is_empty() && stars.bytes().all(|byte| byte == b'*'),
    };
    is_status.then(|| message.trim_start())
}

/// Removes the number of the CPU that some real-time kernels' consoles have: ` 000: `.
fn without_cpu(line: &str) -> &str {
    match line.split_once(": ") {
        Some((cpu, rest)) if cpu.len() == 3 && cpu.bytes().all(|byte| byte.is_ascii_digit()) => {
            rest
        }
        _ => line,
    }
}

/// Returns the stamp of a line that only a program can have written: journald's or syslog's, and
/// not the kernel's own time.
pub(super) fn written_by_a_program(line: &str) -> Option<Stamp> {
    let (stamp, follows, _) = stamp::take(without_level(unquoted(line.trim_end())))?;
    let is_logged = follows == Follows::Name && stamp.kernel.is_none();
    (is_logged && parse(line)?.stamp.kernel.is_none()).then_some(stamp)
}

/// Reads a message of `dmesg --json`. Its time is on the line before: `"time":     1.234567,`.
pub(super) fn of_dmesg_json(line: &str, before: &[u8]) -> Option<Entry<'static>> {
    let text = line.trim().strip_prefix("\"msg\":")?.trim().trim_end_matches(',');
    let message: String = serde_json::from_str(text).ok()?;
    let before = std::str::from_utf8(before).ok()?.trim();
    let time = before.strip_prefix("\"time\":")?.trim().trim_end_matches(',');
    let (writer, message) = direct(&message);
    Some(Entry {
        stamp: Stamp { kernel: Some(stamp::seconds(time)?), ..Stamp::default() },
        writer,
        message: Cow::Owned(message.to_owned()),
        unit: None,
        boot: None,
    })
}

pub(super) fn entry(stamp: Stamp, writer: Writer, message: &str) -> Entry<'_> {
    Entry { stamp, writer, message: Cow::Borrowed(message), unit: None, boot: None }
}

/// Splits `HOST NAME[PID]: message` or `NAME[PID]: message` into writer and message. BusyBox's
/// syslogd writes a level as well: `HOST kern.notice NAME: message`.
pub(super) fn head(rest: &str) -> Option<(Writer, &str)> {
    let (head, message) = split_at_colon(rest).or_else(|| Some((rest.strip_suffix(':')?, "")))?;
    let mut words = head.split_ascii_whitespace();
    let name = match (words.next(), words.next(), words.next(), words.next()) {
        (Some(name), None, ..) | (Some(_), Some(name), None, _) => name,
        (Some(_), Some(level), Some(name), None) if is_level(level) => name,
        _ => return None,
    };
    let (name, pid) = match name.strip_suffix(']').and_then(|name| split_at(name, b'[')) {
        Some((name, pid)) => (name, Some(pid)),
        None => (name, None),
    };
    // Some syslog daemons write a number after the kernel's name, that of klogd or their own.
    let is_kernel = matches!(name, "kernel" | "klogd");
    Some((
        Writer::by_name(if is_kernel { "kernel" } else { name }, pid.filter(|_| !is_kernel)),
        message,
    ))
}

/// Returns whether the rest of a line, after a time since the kernel's start, begins with
/// journalctl's `HOST NAME[PID]: `. Otherwise the rest is a message of the kernel.
fn named_by_journal(rest: &str) -> bool {
    let head = split_at_colon(rest).map_or("", |(head, _)| head);
    let (host, name) = split_at(head, b' ').unwrap_or(("", head));
    let pid = name.strip_suffix(']').and_then(|name| split_at(name, b'['));
    let has_pid = pid
        .is_some_and(|(_, pid)| !pid.is_empty() && pid.bytes().all(|byte| byte.is_ascii_digit()));
    has_pid && !name.contains(' ') && !host.ends_with(':')
}

/// Reads a line by RFC 5424: `2026-11-22T06:07:30.5Z HOST APP PROCID MSGID DATA message`, after
/// `<PRI>1 `.
fn rfc5424(line: &str) -> Option<Entry<'_>> {
    let (stamp, _, rest) = stamp::take(line)?;
    let mut words = rest.splitn(5, ' ');
    let (_host, app, pid, _id) = (words.next()?, words.next()?, words.next()?, words.next()?);
    let rest = words.next()?;
    // The data is `-`, or elements in brackets.
    let message = match rest.strip_prefix("- ") {
        Some(message) => message,
        None => rest.starts_with('[').then(|| rest.rsplit_once("] ")).flatten()?.1,
    };
    let writer = Writer::by_name(app, Some(pid).filter(|pid| *pid != "-"));
    let message = message.trim_start_matches('\u{feff}');
    Some(match stamp::take_kernels(message) {
        Some((kernel, message)) if writer == Writer::Kernel => {
            entry(Stamp { kernel: Some(kernel), ..stamp }, writer, message)
        }
        _ => entry(stamp, writer, message),
    })
}

/// Splits a line of the kernel's buffer, which also holds lines of programs that run before the
/// journal: `systemd[1]: ` and the like.
pub(super) fn direct(rest: &str) -> (Writer, &str) {
    let mut ends = memchr::memchr_iter(b']', rest.as_bytes());
    let end = ends.find(|at| rest.as_bytes().get(at + 1..at + 3) == Some(b": "));
    let head = end.and_then(|end| {
        let (head, message) = (rest.get(..end)?, rest.get(end + 3..)?);
        let (name, pid) = split_at(head, b'[')?;
        let is_pid =
            !pid.is_empty() && pid.len() <= 7 && pid.bytes().all(|byte| byte.is_ascii_digit());
        (is_pid && !name.is_empty() && !name.contains([' ', ':'])).then_some((name, pid, message))
    });
    match head {
        // Only programs have a number in brackets; a program named "kernel" is still a program.
        Some((name, pid, message)) => match Writer::by_name(name, Some(pid)) {
            Writer::Kernel => (Writer::Other, message),
            writer => (writer, message),
        },
        None => (Writer::Kernel, rest),
    }
}

/// Returns whether the line shows that a log without times is the kernel's.
fn is_kernels(line: &str) -> bool {
    [
        "Linux version ",
        "Freeing unused kernel ",
        "lrng_",
        "random: ",
        "crng init done",
        "Dentry cache hash table entries",
        "Command line: ",
        "Kernel command line: ",
        "Hypervisor detected: ",
        "Detected virtualization ",
        "Detected architecture ",
        "setup: Linux is running ",
        "Run /",
        "systemd[1]: ",
    ]
    .iter()
    .any(|start| line.starts_with(start))
}

/// The names of syslog's facilities; a digit follows `local`.
const FACILITIES: [&str; 13] = [
    "kern", "user", "mail", "daemon", "auth", "syslog", "lpr", "news", "uucp", "cron", "authpriv",
    "ftp", "local",
];

/// Returns whether a word is a facility and a level: `kern.notice`.
pub(super) fn is_level(word: &str) -> bool {
    split_at(word, b'.').is_some_and(|(facility, level)| {
        FACILITIES.contains(&facility.trim_end_matches(|c: char| c.is_ascii_digit()))
            && (3..=7).contains(&level.len())
            && level.bytes().all(|byte| byte.is_ascii_lowercase())
    })
}

/// Removes the level: `<6>` of the kernel's buffer, `kern  :info  : ` of dmesg --decode.
fn without_level(line: &str) -> &str {
    if !line.starts_with(|first: char| first == '<' || first.is_ascii_lowercase()) {
        return line;
    }
    if let Some((level, rest)) = line.strip_prefix('<').and_then(|line| line.split_once('>'))
        && level.len() <= 4
        && level.bytes().all(|byte| byte.is_ascii_digit())
    {
        return rest;
    }
    let mut parts = line.splitn(3, ':');
    let (facility, level, rest) = (parts.next(), parts.next(), parts.next());
    match (facility.map(str::trim_end), level.map(str::trim), rest) {
        (Some(facility), Some(level), Some(rest))
            if FACILITIES.iter().any(|known| facility.starts_with(known))
                && !facility.contains(' ')
                && (3..=6).contains(&level.len())
                && level.bytes().all(|byte| byte.is_ascii_lowercase()) =>
        {
            rest.trim_start()
        }
        _ => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> (Option<f64>, Writer, &str) {
        let entry = parse(line).unwrap_or_else(|| panic!("{line}"));
        let message = match entry.message {
            Cow::Borrowed(message) => message,
            Cow::Owned(_) => unreachable!(),
        };
        (entry.stamp.kernel, entry.writer, message)
    }

    #[test]
    fn the_kernels_line_is_the_kernels_in_every_format() {
        for (line, time) in [
            ("[    1.500000] random: crng init done", Some(1.5)),
            ("<5>[    1.500000] random: crng init done", Some(1.5)),
            ("kern  :notice: [    1.500000] random: crng init done", Some(1.5)),
            ("kern  :notice: [Sun Nov 22 06:07:30 2026] random: crng init done", None),
            ("[Sun Nov 22 06:07:30 2026] random: crng init done", None),
            ("[    1.500000] myhost kernel: random: crng init done", Some(1.5)),
            ("[    1.500000] kernel: random: crng init done", Some(1.5)),
            ("Nov 22 06:07:30 myhost kernel: random: crng init done", None),
            ("Nov 22 06:07:30.123456 kernel: random: crng init done", None),
            ("Nov 22 06:07:30 myhost kernel: [    1.500000] random: crng init done", Some(1.5)),
            ("2026-11-22T06:07:30+0000 myhost kernel: random: crng init done", None),
            ("2026-11-22T06:07:30,123456+00:00 random: crng init done", None),
            ("5,170,1500000,-;random: crng init done", Some(1.5)),
            ("<5>random: crng init done", None),
            ("random: crng init done", None),
        ] {
            assert_eq!(read(line), (time, Writer::Kernel, "random: crng init done"), "{line}");
        }
    }

    #[test]
    fn the_first_program_is_told_from_a_users_manager_and_from_programs() {
        let starting = "Starting ssh.service - OpenBSD Secure Shell server...";
        for head in [
            "[    3.100000] systemd[1]: ",
            "[    3.100000] myhost systemd[1]: ",
            "Nov 22 06:07:30 myhost systemd[1]: ",
            "Nov 22 06:07:30 systemd[1]: ",
            "daemon:info  : [    3.100000] systemd[1]: ",
            "Sun 2026-11-22 06:07:30 UTC myhost init.scope[1]: ",
        ] {
            assert_eq!(parse(&format!("{head}{starting}")).unwrap().writer, Writer::Init, "{head}");
        }
        for head in
            ["Nov 22 06:07:30 myhost systemd[812]: ", "[    3.100000] myhost systemd[812]: "]
        {
            assert_eq!(
                parse(&format!("{head}{starting}")).unwrap().writer,
                Writer::Other,
                "{head}"
            );
        }
    }

    /// A program may quote the kernel's line, for example because it reads logs. The quotation must
    /// not make a boot ready.
    #[test]
    fn a_program_that_quotes_the_kernel_is_not_the_kernel() {
        for line in [
            "Nov 22 06:07:30 myhost sshd[44]: random: crng init done",
            "[   12.500000] myhost sshd[44]: random: crng init done",
            "Nov 22 06:07:30 myhost random: crng init done",
        ] {
            let entry = parse(line).unwrap();
            assert_eq!(entry.writer, Writer::Other, "{line}: {entry:?}");
        }
    }

    #[test]
    fn a_message_of_dmesg_json_takes_its_time_from_the_line_before() {
        let entry = of_dmesg_json(
            r#"         "msg": "random: crng \"init\" done""#,
            b"         \"time\":     1.500000,",
        );
        let entry = entry.unwrap();
        assert_eq!((entry.stamp.kernel, entry.writer), (Some(1.5), Writer::Kernel));
        assert_eq!(entry.message, "random: crng \"init\" done");
    }

    #[test]
    fn captures_and_rfc_5424_are_read() {
        for (line, kernel, writer, message) in [
            (
                "2026-11-22 06:07:30 [    1.5] random: crng init done",
                Some(1.5),
                Writer::Kernel,
                "random: crng init done",
            ),
            (
                "[2026-11-22 06:07:30] random: crng init done",
                None,
                Writer::Kernel,
                "random: crng init done",
            ),
            (
                "[18:04:51.071][Moby           ][Info   ] random: crng init done",
                None,
                Writer::Kernel,
                "random: crng init done",
            ),
            (
                "<6>1 2026-11-22T06:07:30.5Z host kernel - - - [    1.5] random: crng init done",
                Some(1.5),
                Writer::Kernel,
                "random: crng init done",
            ),
            (
                "<30>1 2026-11-22T06:07:30Z host systemd 1 - - Starting a",
                None,
                Writer::Init,
                "Starting a",
            ),
            (
                "Fri Jun 30 00:29:07 2023 kern.notice kernel: [   23.882527] random: crng init done",
                Some(23.882_527),
                Writer::Kernel,
                "random: crng init done",
            ),
            (
                "> [    8.685944] random: crng init done",
                Some(8.685_944),
                Writer::Kernel,
                "random: crng init done",
            ),
            ("[    2.5] udevd[77]: starting", Some(2.5), Writer::Other, "starting"),
        ] {
            assert_eq!(read(line), (kernel, writer, message), "{line}");
        }
    }

    #[test]
    fn quotations_of_a_console_are_read() {
        let caller = "random: get_random_bytes called from start_kernel+0x8d/0x3c2";
        for head in ["> ", "> > ", ">>> ", "  console: ", "> console: "] {
            let line = format!("{head}{caller}");
            assert_eq!(read(&line), (None, Writer::Kernel, caller), "{line}");
        }
        let job = "A start job is running for Load/Save Random Seed (56s / 10min)";
        for head in ["", "> ", "[*     ] ", "console: [  *** ] ", "> > [***   ] "] {
            let line = format!("{head}{job}");
            assert_eq!(read(&line), (None, Writer::Init, job), "{line}");
        }
        for line in ["> A start job is a word", "console: hello", ">", "> > ", "console: "] {
            assert_eq!(parse(line), None, "{line}");
        }
    }

    #[test]
    fn lines_of_other_files_are_no_entries() {
        for line in
            ["", "hello", "{\"a\": 1}", "99.96  101.67  1 getrandom", "execve(\"/bin/true\") = 0"]
        {
            assert_eq!(parse(line), None, "{line}");
        }
    }
}
