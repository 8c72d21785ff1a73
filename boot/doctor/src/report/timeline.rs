//! The drawing of a boot: start of programs, readiness of the generator, and the services that
//! waited between.

use crate::boot::{AttemptOutcome, Boot, Clock, Unit};

/// The limit of rows; more would make the drawing harder to read.
const MOST_UNITS: usize = 14;

/// A drawing in seconds; the page scales it.
#[derive(Debug, PartialEq)]
pub(super) struct Timeline {
    /// The end of the drawing.
    pub(super) until: f64,
    /// The start of the first program.
    pub(super) init: Option<f64>,
    /// The time at which the generator was ready; `None` if the log does not show it.
    pub(super) ready: Option<f64>,
    /// The times at which the kernel found that the machine was cloned.
    pub(super) forks: Vec<f64>,
    /// Random bytes drawn too early: time and reader.
    pub(super) early: Vec<(f64, String)>,
    /// The services that matter, in the order of their starts.
    pub(super) rows: Vec<TimelineRow>,
    /// Services left out.
    pub(super) left_out: usize,
}

/// One service.
#[derive(Debug, PartialEq)]
pub(super) struct TimelineRow {
    pub(super) name: String,
    pub(super) bars: Vec<TimelineBar>,
}

/// One start of it.
#[derive(Debug, PartialEq)]
pub(super) struct TimelineBar {
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) outcome: AttemptOutcome,
    /// Began before the generator was ready, and ended after it.
    pub(super) straddles: bool,
}

impl Timeline {
    /// Returns the timeline of a boot; `None` if the log has no times, or nothing happened in it.
    pub(super) fn of(boot: &Boot) -> Option<Timeline> {
        if boot.clock == Clock::None {
            return None;
        }
        let ready = boot.ready.as_ref().and_then(|ready| ready.at);
        let init = boot.init.as_ref().and_then(|init| init.at);
        let forks: Vec<f64> = boot.forks.iter().filter_map(|fork| fork.at).collect();
        let readers = boot.early_reads.iter().map(|read| (read.moment.at, &read.program));
        let callers = boot.early_callers.iter().map(|caller| (caller.moment.at, &caller.caller));
        let early =
            readers.chain(callers).filter_map(|(at, who)| Some((at?, who.clone()))).collect();
        let end = boot.end.or(ready)?;
        let mut rows: Vec<TimelineRow> =
            boot.units.iter().map(|unit| row(unit, ready, end)).collect();
        rows.retain(|row| !row.bars.is_empty());
        let all = rows.len();
        // Services that waited or were started more than once come first, then the slowest.
        rows.sort_by(|a, b| b.weight().total_cmp(&a.weight()));
        rows.truncate(MOST_UNITS);
        let left_out = all - rows.len();
        rows.sort_by(|a, b| a.from().total_cmp(&b.from()));
        let last = rows.iter().flat_map(|row| &row.bars).map(|bar| bar.to).fold(0.0, f64::max);
        // The drawing ends with the boot, because a log may continue for months.
        let interesting = [ready.unwrap_or(end), init.unwrap_or(0.0), last];
        let until = 1.05 * interesting.into_iter().fold(0.0, f64::max);
        let forks: Vec<f64> = forks.into_iter().filter(|at| *at <= until).collect();
        (until > 0.0).then_some(Timeline { until, init, ready, forks, early, rows, left_out })
    }

    /// Returns a round distance for the marks of the axis, of which there are six at most.
    pub(super) fn step(&self) -> f64 {
        let least = self.until / 6.0;
        let decade = 10_f64.powf(least.log10().floor());
        let steps = [1.0, 2.0, 5.0, 10.0].map(|digit| digit * decade);
        steps.into_iter().find(|step| *step >= least).unwrap_or(10.0 * decade)
    }
}

impl TimelineRow {
    fn from(&self) -> f64 {
        self.bars.first().map_or(0.0, |bar| bar.from)
    }

    fn weight(&self) -> f64 {
        let waited = self.bars.iter().any(|bar| bar.straddles) || self.bars.len() > 1;
        let long: f64 = self.bars.iter().map(|bar| bar.to - bar.from).sum();
        long + if waited { 1e9 } else { 0.0 }
    }
}

fn row(unit: &Unit, ready: Option<f64>, end: f64) -> TimelineRow {
    let bars = unit.attempts.iter().filter_map(|attempt| {
        let from = attempt.began.at?;
        // A start that the log does not see end goes as far as the log.
        let to = attempt.ended.as_ref().map_or(Some(end), |ended| ended.at)?.max(from);
        let straddles =
            from < ready.unwrap_or(f64::INFINITY) && ready.is_none_or(|ready| to >= ready);
        Some(TimelineBar { from, to, outcome: attempt.outcome, straddles })
    });
    TimelineRow { name: unit.name.clone(), bars: bars.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::{late_boot, moment};

    #[test]
    fn the_services_that_waited_are_drawn_first_of_all() {
        let mut boot = late_boot();
        for i in 0..40 {
            let mut unit = boot.units[0].clone();
            unit.name = format!("quick{i}.service");
            unit.attempts.truncate(1);
            unit.attempts[0].began = moment(2.0, "");
            unit.attempts[0].ended = Some(moment(2.1, ""));
            boot.units.insert(0, unit);
        }
        let timeline = Timeline::of(&boot).unwrap();
        assert_eq!((timeline.rows.len(), timeline.left_out), (MOST_UNITS, 29));
        let ssh = timeline.rows.iter().find(|row| row.name == "ssh.service").unwrap();
        assert_eq!(ssh.bars.iter().map(|bar| bar.straddles).collect::<Vec<bool>>(), [false, true]);
        assert!(timeline.until > 101.7 && timeline.until < 110.0, "{}", timeline.until);
        assert_eq!(timeline.step(), 20.0);
    }

    #[test]
    fn without_times_there_is_nothing_to_draw() {
        let boot = Boot { clock: Clock::None, ..late_boot() };
        assert_eq!(Timeline::of(&boot), None);
        assert_eq!(Timeline::of(&Boot::default()), None);
    }
}
