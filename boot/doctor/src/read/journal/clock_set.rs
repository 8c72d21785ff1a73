//! Reports of programs that set the wall clock.
//!
//! A step of the clock looks like a wait, so each report is read for the seconds that it states.
//! Programs that only steer the clock, by adjtime(3) or a slew, print lines that are much alike
//! ("adjusting local clock by 0.4s", "time slew"), but such a clock is never off by more than the
//! stamps are, and to take a gap before their line for a step would hide a true wait.
//!
//! Sources: systemd's timesyncd and resolved, chrony's reference.c, ntp's ntp_loopfilter.c and
//! ntpdate.c, OpenNTPD's ntpd.c, BusyBox's ntpd.c, connman's ntp.c, VirtualBox's
//! VBoxServiceTimeSync.cpp.

use super::stamp::seconds;

/// A step of the wall clock immediately before a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ClockStep {
    /// A step by so many seconds, which are negative if the clock went back.
    By(f64),
    /// A step whose length the line does not state.
    Unstated,
    /// Maybe a step, and then one of at least so many seconds.
    Possible(f64),
}

/// timesyncd steers the clock by up to so many seconds, and steps it beyond (NTP_MAX_ADJUST).
const STEERED_S: f64 = 0.4;

/// Reports that state the step, by the words before the number.
const STATED: [&[&str]; 8] = [
    &["step time server ", " offset "],
    &[" clock_step "],
    &["time set "],
    &["time reset "],
    &["setting time to ", "(offset "],
    &["set local clock to ", "(offset "],
    &["adjust (jump): "],
    &["System clock was stepped by "],
];

/// Reports that do not.
const UNSTATED: [&str; 7] = [
    "Initial synchronization to time server",
    "Initial clock synchronization",
    "Synchronized to time server",
    "System clock time unset or jumped backwards",
    "Clock change detected",
    "vgsvcTimeSyncWorker: Radical guest time change",
    "vgsvcTimeSyncWorker: Radical host time change",
];

/// Reads a report of a program that sets the clock.
pub(super) fn clock_set(message: &str) -> Option<ClockStep> {
    let stated = || STATED.iter().find_map(|words| number_after(message, words));
    if let Some(seconds) = stated() {
        return Some(ClockStep::By(seconds));
    }
    if UNSTATED.iter().any(|text| message.contains(text)) {
        return Some(ClockStep::Unstated);
    }
    // timesyncd says this at its first answer, whether it then steps the clock or steers it.
    if message.starts_with("Contacted time server") {
        return Some(ClockStep::Possible(STEERED_S));
    }
    // chronyd says by how much the clock is off, and steers it, or steps it and says that as well.
    number_after(message, &["System clock wrong by "])
        .map(|seconds| ClockStep::Possible(seconds.abs()))
}

/// Reads a report of systemd as the first program.
pub(super) fn set_by_systemd(message: &str) -> Option<ClockStep> {
    ["Time has been changed", "System time before build time", "System time advanced to"]
        .iter()
        .any(|text| message.starts_with(text))
        .then_some(ClockStep::Unstated)
}

/// Returns the number, with its sign, after the words in this order.
fn number_after(message: &str, words: &[&str]) -> Option<f64> {
    let text = words.iter().try_fold(message, |rest, word| Some(rest.split_once(word)?.1))?;
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1.0, digits),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    let end = digits.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(digits.len());
    Some(sign * seconds(digits.get(..end)?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_read_with_its_sign() {
        for (message, expected) in [
            ("time reset -0.250000 s", Some(ClockStep::By(-0.25))),
            ("System clock was stepped by -3600.5 seconds", Some(ClockStep::By(-3600.5))),
            ("step time server 192.0.2.1 offset 12.5 sec", Some(ClockStep::By(12.5))),
            ("System clock wrong by -7.5 seconds", Some(ClockStep::Possible(7.5))),
            ("time slew +0.1 s", None),
            ("adjusting local clock by 0.4s", None),
            ("adjust time server 192.0.2.1 offset 0.1 sec", None),
            ("setting time to noon", None),
        ] {
            assert_eq!(clock_set(message), expected, "{message}");
        }
    }
}
