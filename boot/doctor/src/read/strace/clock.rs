//! The time in front of a call, in any of strace's forms, as one clock.

use crate::journal::stamp::seconds;

/// A time in front of a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum TimeColumn {
    /// `-t`, `-tt`: of the day.
    OfDay(f64),
    /// `-ttt`: since 1970.
    Epoch(f64),
    /// `-r`: since the line before.
    Since(f64),
}

const DAY: f64 = 86_400.0;

/// Reads a word as a time.
pub(super) fn time(word: &str) -> Option<TimeColumn> {
    if let Some((hour, rest)) = word.split_once(':') {
        let (minute, second) = rest.split_once(':')?;
        let (hour, minute) = (hour.parse::<u8>().ok()?, minute.parse::<u8>().ok()?);
        let second = seconds(second)?;
        (hour < 24 && minute < 60 && second < 61.0).then_some(())?;
        return Some(TimeColumn::OfDay(
            f64::from(hour) * 3600.0 + f64::from(minute) * 60.0 + second,
        ));
    }
    let (whole, _) = word.split_once('.')?;
    let value = seconds(word)?;
    // Nine digits are the year 1973; no wait is that long.
    Some(if whole.len() >= 9 { TimeColumn::Epoch(value) } else { TimeColumn::Since(value) })
}

/// One clock of all lines' times.
#[derive(Default)]
pub(super) struct TraceClock {
    now: Option<f64>,
    /// Midnights that were passed.
    days: f64,
    first: Option<f64>,
}

impl TraceClock {
    /// Returns the line's time on the clock.
    pub(super) fn at(&mut self, time: TimeColumn) -> f64 {
        let now = match time {
            TimeColumn::Epoch(seconds) => seconds,
            TimeColumn::Since(seconds) => self.now.unwrap_or(0.0) + seconds,
            TimeColumn::OfDay(seconds) => {
                let before = self.now.unwrap_or(0.0);
                if seconds + self.days < before - DAY / 2.0 {
                    self.days += DAY;
                }
                seconds + self.days
            }
        };
        self.first.get_or_insert(now);
        self.now = Some(now);
        now
    }

    /// Returns the time of the last line.
    pub(super) fn now(&self) -> Option<f64> {
        self.now
    }

    /// Returns the seconds from the first line to the last.
    pub(super) fn span(&self) -> Option<f64> {
        Some((self.now? - self.first?).max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_every_kind_are_read() {
        assert_eq!(time("06:07:30"), Some(TimeColumn::OfDay(22_050.0)));
        assert_eq!(time("06:07:30.250000"), Some(TimeColumn::OfDay(22_050.25)));
        assert_eq!(time("1763791650.250000"), Some(TimeColumn::Epoch(1_763_791_650.25)));
        assert_eq!(time("101.673209"), Some(TimeColumn::Since(101.673_209)));
        for word in ["", "7", "25:00:00", "1e9.0", "-1.0", "getrandom(", "0x1.0", "6:7"] {
            assert_eq!(time(word), None, "{word}");
        }
    }

    #[test]
    fn midnight_is_passed_and_differences_are_added_up() {
        let mut clock = TraceClock::default();
        assert_eq!(clock.at(TimeColumn::OfDay(86_399.0)), 86_399.0);
        assert_eq!(clock.at(TimeColumn::OfDay(1.0)), 86_401.0);
        assert_eq!(clock.span(), Some(2.0));
        let mut clock = TraceClock::default();
        clock.at(TimeColumn::Since(0.0));
        assert_eq!(clock.at(TimeColumn::Since(1.5)), 1.5);
        assert_eq!(clock.at(TimeColumn::Since(0.25)), 1.75);
    }
}
