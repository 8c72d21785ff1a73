//! Reports of programs and of systemd's src/core (219 to 257) about waits and starts.

use super::log_event::LogEvent;
use super::shortened::{SEEDS_UNIT, is_seeds_unit};
use super::waiters::waiter;
use crate::boot::Waiter;
use crate::read::logs::Texts;

/// Tomcat's report of the time that a JVM waited for the seed of its SecureRandom.
pub(super) const SECURE_RANDOM: &str = "Creation of SecureRandom instance";

/// The report of Go's crypto/rand, a minute after its first request.
pub(super) const GO_WAITS: &str = "crypto/rand: blocked for ";

/// Reads a program's own report of a wait.
pub(super) fn of_program(message: &str) -> Option<LogEvent<'_>> {
    secure_random(message)
        .map(LogEvent::SecureRandom)
        .or_else(|| go_waits(message))
        .or_else(|| waiter(message))
}

/// Reads `crypto/rand: blocked for 60 seconds waiting to read random data from the kernel`, with or
/// without `NAME[PID]: ` in front.
fn go_waits(message: &str) -> Option<LogEvent<'_>> {
    let (head, report) = message.split_at_checked(message.find(GO_WAITS)?)?;
    let number = report.strip_prefix(GO_WAITS)?;
    let (seconds, rest) = number.split_once(" seconds ")?;
    // The text in the middle of other words is a quotation.
    let is_own = head.is_empty() || head.ends_with("]: ") && !head.trim_end().contains(' ');
    let seconds: u32 = seconds.parse().ok()?;
    (is_own && rest.starts_with("waiting to read random data"))
        .then_some(LogEvent::ProgramWaits { waiter: Waiter::Go, seconds: Some(seconds.into()) })
}

/// Returns the seconds in Tomcat's `Creation of SecureRandom instance for session ID generation
/// using [SHA1PRNG] took [126,553] milliseconds.`
fn secure_random(message: &str) -> Option<f64> {
    static TEXT: Texts = Texts::new(&[SECURE_RANDOM]);
    let (_, rest) = message.split_at_checked(TEXT.find(message)? + SECURE_RANDOM.len())?;
    let (number, rest) = rest.split_once(" took [")?.1.split_once(']')?;
    // The JVM groups digits by its locale.
    let digits: String = number.chars().filter(char::is_ascii_digit).collect();
    let is_number = number
        .chars()
        .all(|letter| letter.is_ascii_digit() || ",.'\u{a0}\u{202f} ".contains(letter));
    let milliseconds: f64 = digits.parse().ok()?;
    (is_number && digits.len() <= 9 && rest.starts_with(" milliseconds"))
        .then_some(milliseconds / 1e3)
}

pub(super) const START_JOB: &str = "A start job is running for ";

/// The other form of the same line, of a systemd that names units by their names.
pub(super) const JOB: &str = "Job systemd-ra";

/// Reads `A start job is running for Load/Save Random Seed (1min 7s / 10min)`, or `Job
/// systemd-random-seed.service/start running (53s / 10min)`. Where two jobs run, systemd counts
/// them in front: `(2 of 2) `.
pub(super) fn seed_job(message: &str) -> Option<LogEvent<'_>> {
    let message = without_count(message);
    let (name, times) = message
        .strip_prefix(START_JOB)
        .or_else(|| message.starts_with(JOB).then(|| message.strip_prefix("Job "))?)?
        .rsplit_once(" (")?;
    let name = name.strip_suffix("/start running").unwrap_or(name);
    let is_seed =
        name.ends_with("Random Seed") || name.starts_with(SEEDS_UNIT) || is_seeds_unit(name);
    // A mail may have folded the line here.
    let (taken, _) = times.split_once(" /")?;
    let seconds = span(taken).filter(|_| is_seed)?;
    Some(LogEvent::SeedJob { seconds, is_over: false })
}

/// Removes the count of jobs, `(2 of 2) `.
pub(super) fn without_count(message: &str) -> &str {
    let counted = || {
        let (count, rest) = message.strip_prefix('(')?.split_once(") ")?;
        let (one, all) = count.split_once(" of ")?;
        let is_number =
            |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        (is_number(one) && is_number(all)).then_some(rest)
    };
    counted().unwrap_or(message)
}

/// Returns whether a line is of `systemd-analyze blame`: a time span and the name of a unit.
pub(super) fn is_blame(line: &str) -> bool {
    const KINDS: [&str; 6] = [".service", ".mount", ".device", ".socket", ".swap", ".target"];
    let Some((time, unit)) = line.trim().rsplit_once(' ') else { return false };
    let is_unit = KINDS.iter().any(|kind| unit.ends_with(kind)) || unit.contains('…');
    is_unit && span(time).is_some_and(|time| time > 0.0)
}

/// Reads a line of `systemd-analyze` about the seed's unit: of `blame` (`     1min 16.746s
/// systemd-random-seed.service`), of `critical-chain` (`└─systemd-random-seed.service @3.014s
/// +16.746s`), or a label of the picture that `plot` draws.
pub(super) fn blamed(line: &str) -> Option<LogEvent<'_>> {
    let line = line.trim();
    let (before, after) = match line.split_once(SEEDS_UNIT) {
        Some(around) => around,
        // A tree and a picture name it in whole.
        None => {
            let (time, unit) = line.rsplit_once(' ')?;
            (is_seeds_unit(unit).then_some(time)?, "")
        }
    };
    let time = if after.is_empty() {
        before
    } else if before.starts_with("<text ") && before.ends_with('>') {
        after.strip_prefix(" (")?.strip_suffix(")</text>")?
    } else if before.chars().all(|letter| "└├─│ ".contains(letter)) {
        after.strip_prefix(" @")?.split_once(" +")?.1
    } else {
        return None;
    };
    let seconds = span(time).filter(|seconds| *seconds > 0.0)?;
    Some(LogEvent::SeedJob { seconds, is_over: true })
}

/// Reads `Startup finished in 3.2s (firmware) + 1.1s (loader) + 2.034s (kernel) + 1min 3.1s
/// (userspace) = ...`. The event has the seconds since the kernel's start, without firmware and
/// loader, which come before.
pub(super) fn startup(message: &str) -> Option<LogEvent<'_>> {
    let (parts, _) = message.strip_prefix("Startup finished in ")?.split_once(" = ")?;
    let mut seconds = 0.0;
    for part in parts.split(" + ") {
        let (time, name) = part.rsplit_once(" (")?;
        if !matches!(name, "firmware)" | "loader)") {
            seconds += span(time)?;
        }
    }
    Some(LogEvent::StartupFinished(seconds))
}

/// Returns the seconds of a time span in systemd's format: `1min 2.345s`, `345ms`.
fn span(text: &str) -> Option<f64> {
    text.split_ascii_whitespace().try_fold(0.0, |sum, word| {
        let digits = word.find(|c: char| c.is_ascii_alphabetic())?;
        let value: f64 = word.get(..digits)?.parse().ok()?;
        let unit = match word.get(digits..)? {
            "us" | "µs" => 1e-6,
            "ms" => 1e-3,
            "s" => 1.0,
            "min" => 60.0,
            "h" => 3600.0,
            _ => return None,
        };
        Some(sum + value * unit)
    })
}
