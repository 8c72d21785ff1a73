//! The measurement of one cell: interleaved rounds, in each of which every contender is timed once.

use crate::Error;
use crate::case::Case;
use crate::contender::Contender;
use crate::crew::{Gone, Meeting};
use crate::latency::{Counts, Latencies, Percentiles};
use crate::plan::Cell;
use crate::process::Shared;
use crate::station::{Station, arm_if_switching};
use crate::stretch::Counters;
use crate::work::Work;
use crate::{procs, stats};
use serde::{Deserialize, Serialize};
use std::io;
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Instant;

/// What was measured of one contender.
pub(crate) struct Timing {
    /// Calls of each thread in each round.
    pub(crate) calls: u64,
    /// For each round, nanoseconds per call of a thread.
    pub(crate) ns: Vec<f64>,
    /// The mode that headwater was in, for a contender that has modes.
    pub(crate) mode: Option<&'static str>,
    /// What it counted as discarded.
    pub(crate) discarded_bytes: Option<u64>,
    /// What it has to say of itself.
    pub(crate) note: Option<&'static str>,
    /// Of single calls, where they were timed one by one.
    pub(crate) percentiles: Option<Percentiles>,
    /// These events were counted at headwater's pools, in the case `crowd` only.
    pub(crate) counters: Option<Counters>,
}

/// One thread's part of one sample: nanoseconds since the crew's epoch.
#[derive(Debug, Deserialize, Serialize)]
struct Sample {
    start: u64,
    end: u64,
    /// The median of its calls, where they were timed one by one.
    single: Option<f64>,
}

/// For each contender, for each round.
type Log = Vec<Vec<Sample>>;

/// What one thread brings home.
#[derive(Debug, Default, Deserialize, Serialize)]
struct Part {
    log: Log,
    /// For each contender, where calls were timed one by one.
    latencies: Vec<Counts>,
}

/// Measures all contenders of `cell`.
pub(crate) fn measure(cell: &Cell) -> Result<Vec<Timing>, Error> {
    let _lent = cell.pins.lend(0)?;
    let mut station = Station::open(cell, Contender::arm)?;
    let failed = |error: io::Error| Error::Process(error.to_string());
    let meeting = Shared::new(Meeting::new(cell.procs * cell.threads)).map_err(failed)?;
    let crew = Crew {
        cell,
        calls: station.calibrate(cell)?,
        meeting: &meeting,
        epoch: Instant::now(),
        failure: Mutex::new(None),
    };
    // All of them before there is a thread.
    let others = (1..cell.procs).map(|process| procs::start(|| crew.other_process(process)));
    let others = others.collect::<io::Result<Vec<_>>>().map_err(failed)?;
    let parts = thread::scope(|scope| {
        let readers: Vec<_> = others
            .into_iter()
            .map(|other| scope.spawn(|| other.finish().map_err(|reason| crew.lost(reason))))
            .collect();
        let mut parts = crew.process(&mut station, 0);
        for reader in readers {
            let theirs: Result<Vec<Part>, Gone> = joined(reader.join());
            parts.extend(theirs.into_iter().flatten());
        }
        parts
    });
    match crew.failure.into_inner() {
        Ok(None) => {}
        Ok(Some(error)) => return Err(error),
        Err(_) => unreachable!("a thread that panics is joined, and its panic goes on, above"),
    }
    let timings = crew.calls.iter().enumerate().map(|(contender, &calls)| Timing {
        calls,
        ns: (0..parts[0].log[contender].len())
            .map(|round| per_call(&parts, contender, round, calls))
            .collect(),
        mode: station.modes[contender],
        // Several threads or processes have several pools, of which one would show; switching modes
        // discards by itself.
        discarded_bytes: station
            .discarded_bytes(contender)
            .filter(|_| cell.threads == 1 && cell.procs == 1 && !cell.switches_modes()),
        percentiles: percentiles(cell, &parts, contender),
        note: station.workers[contender].note(),
        counters: None,
    });
    Ok(timings.collect())
}

fn joined<T>(outcome: thread::Result<T>) -> T {
    outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Nanoseconds of one call: the time from the first thread's start to the last one's end, shared among a
/// thread's calls; or the median over the threads, where calls were timed one by one.
fn per_call(parts: &[Part], contender: usize, round: usize, calls: u64) -> f64 {
    let samples = parts.iter().map(|part| &part.log[contender][round]);
    let singles: Vec<f64> = samples.clone().filter_map(|sample| sample.single).collect();
    if !singles.is_empty() {
        return stats::median(&singles);
    }
    let start = samples.clone().map(|sample| sample.start).min();
    let end = samples.map(|sample| sample.end).max();
    match (start, end) {
        (Some(start), Some(end)) => (end - start) as f64 / calls as f64,
        _ => f64::NAN,
    }
}

fn percentiles(cell: &Cell, parts: &[Part], contender: usize) -> Option<Percentiles> {
    if cell.case != Case::Latency {
        return None;
    }
    let mut all = Latencies::new();
    parts.iter().for_each(|part| all.merge(&part.latencies[contender]));
    all.percentiles()
}

/// The threads of a measurement, in this process and in others. Each runs the same rounds in step; the one
/// that called [`measure`] leads: it decides when to stop. The first thread of each process sets headwater's
/// mode, which is one for the process.
struct Crew<'a> {
    cell: &'a Cell,
    calls: Vec<u64>,
    meeting: &'a Meeting,
    epoch: Instant,
    failure: Mutex<Option<Error>>,
}

impl Crew<'_> {
    /// All of one process's part, on its first thread, which has opened its station.
    fn process(&self, station: &mut Station, process: usize) -> Vec<Part> {
        let first = process * self.cell.threads;
        thread::scope(|scope| {
            let others: Vec<_> = (1..self.cell.threads)
                .map(|thread| scope.spawn(move || self.follow(first + thread)))
                .collect();
            let mut parts = vec![if process == 0 {
                self.lead(station)
            } else {
                self.rounds(station, true, None)
            }];
            parts.extend(others.into_iter().map(|other| joined(other.join())));
            parts
        })
    }

    /// What a forked process does. Its state of every generator is its own.
    fn other_process(&self, process: usize) -> Result<Vec<Part>, String> {
        let _attendance = self.meeting.rendezvous.attend();
        let station = self.cell.pins.take(process * self.cell.threads);
        let station = station.and_then(|()| Station::open(self.cell, Contender::arm));
        let parts = match station {
            Ok(mut station) => self.process(&mut station, process),
            Err(error) => {
                self.fail(error);
                Vec::new()
            }
        };
        match self.failure.lock() {
            Ok(failure) => failure.as_ref().map_or(Ok(parts), |error| Err(error.to_string())),
            Err(_) => Err("a thread panicked".to_owned()),
        }
    }

    fn lead(&self, station: &mut Station) -> Part {
        let _attendance = self.meeting.rendezvous.attend();
        let pace = &self.cell.pace;
        let start = Instant::now();
        let mut done = 0;
        let mut decide = || {
            let more = done < *pace.rounds.start()
                || (done < *pace.rounds.end() && start.elapsed() < pace.budget);
            done += 1;
            more
        };
        self.rounds(station, true, Some(&mut decide))
    }

    fn follow(&self, index: usize) -> Part {
        let _attendance = self.meeting.rendezvous.attend();
        let station = self.cell.pins.take(index);
        match station.and_then(|()| Station::open(self.cell, |_| Ok(()))) {
            Ok(mut station) => self.rounds(&mut station, false, None),
            Err(error) => {
                self.fail(error);
                Part::default()
            }
        }
    }

    /// Whatever was logged until somebody failed is returned, and not used.
    fn rounds(
        &self,
        station: &mut Station,
        arms: bool,
        mut decide: Option<&mut dyn FnMut() -> bool>,
    ) -> Part {
        let mut log: Log = self.calls.iter().map(|_| Vec::new()).collect();
        let stop = &self.meeting.stop;
        'rounds: loop {
            if let Some(decide) = &mut decide {
                stop.store(!decide(), Ordering::Relaxed); // ordered by the meetings around it
            }
            if self.meeting.rendezvous.wait().is_err() || stop.load(Ordering::Relaxed) {
                break;
            }
            for (index, log) in log.iter_mut().enumerate() {
                match self.sample(station, index, arms) {
                    Ok(sample) => log.push(sample),
                    Err(Gone) => break 'rounds,
                }
            }
        }
        Part { log, latencies: station.latencies.iter().map(Latencies::counts).collect() }
    }

    /// One thread's part of one sample.
    fn sample(&self, station: &mut Station, index: usize, arms: bool) -> Result<Sample, Gone> {
        let contender = &self.cell.contenders[index];
        let gave_out = |_| self.fail(contender.gave_out());
        if self.cell.switches_modes() && contender.implementation.has_modes {
            if arms {
                arm_if_switching(self.cell, contender).map_err(|error| self.fail(error))?;
            }
            self.meeting.rendezvous.wait()?;
            // A mode begins with empty pools, which is not what a sample of it is about.
            station.batch(index, Work::U64, 1).map_err(gave_out)?;
        }
        self.meeting.rendezvous.wait()?;
        let calls = self.calls[index];
        let (single, span) = if self.cell.case == Case::Latency {
            let (median, span) = station.singles(index, calls).map_err(gave_out)?;
            (Some(median), span)
        } else {
            let start = Instant::now();
            station.batch(index, self.cell.work, calls).map_err(gave_out)?;
            let elapsed = start.elapsed();
            (None, start..start + station.took(index, elapsed))
        };
        let since = |at: Instant| at.duration_since(self.epoch).as_nanos() as u64;
        Ok(Sample { start: since(span.start), end: since(span.end), single })
    }

    /// Notes that another process is lost.
    fn lost(&self, reason: String) -> Gone {
        self.fail(Error::Process(reason))
    }

    /// Notes the first failure, and lets everybody go.
    fn fail(&self, error: Error) -> Gone {
        if let Ok(mut failure) = self.failure.lock() {
            failure.get_or_insert(error);
        }
        self.meeting.rendezvous.abandon();
        Gone
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::impls::Implementation;
    use crate::pin::Pins;
    use crate::plan::{Batch, Pace};
    use crate::work::{Drawn, Refused, Worker};
    use std::time::Duration;

    /// Its calls take a microsecond each by its own clock, and nothing by anybody else's.
    struct Clocked(u64);

    impl Worker for Clocked {
        fn draw(&mut self, _: Work, buf: &mut [u8]) -> Drawn {
            headwater::fill(buf).map_err(|_| crate::work::Refused)
        }

        fn batch(&mut self, _: Work, calls: u64, _: &mut [u8]) -> Drawn {
            self.0 = calls;
            Ok(())
        }

        fn discarded_bytes(&self) -> Option<u64> {
            None
        }

        fn note(&self) -> Option<&'static str> {
            None
        }

        fn fill_timed(&mut self, _: &Clock, _: &mut [u64], _: &mut [u8]) -> Drawn {
            Err(Refused)
        }

        fn own_time(&self) -> Option<Duration> {
            Some(Duration::from_micros(self.0))
        }
    }

    static CLOCKED: Implementation = Implementation {
        name: "clocked",
        version: &|| None,
        has_modes: false,
        open: &|| Ok(Box::new(Clocked(0))),
    };

    #[test]
    fn a_clock_nearer_to_the_calls_is_the_one_that_counts() {
        let pace = Pace {
            batch: Batch::Lasting(Duration::from_micros(500)),
            rounds: 6..=6,
            budget: Duration::ZERO,
        };
        let contenders = vec![Contender::from(&CLOCKED)];
        let cell = Cell {
            counts: false,
            case: Case::Fill,
            work: Work::Fill,
            len: 16,
            threads: 1,
            procs: 1,
            pins: Pins::default(),
            contenders,
            pace,
        };
        let timings = measure(&cell).unwrap();
        assert_eq!(timings[0].calls, 500);
        assert_eq!(timings[0].ns, [1000.0; 6]);
    }
}
