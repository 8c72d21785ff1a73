//! The measurement of one cell: interleaved rounds, in each of which every contender is timed once.

use crate::Error;
use crate::clock::Clock;
use crate::contender::Contender;
use crate::crew::{Gone, Meeting};
use crate::latency::{self, Counts, Latencies, Percentiles};
use crate::plan::{Batch, Case, Cell};
use crate::process::Shared;
use crate::verify;
use crate::work::{Drawn, Refused, Work, Worker};
use crate::{procs, stats};
use serde::{Deserialize, Serialize};
use std::io;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

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

/// What one thread needs: its own state of each generator, and a buffer for all.
struct Station {
    workers: Vec<Box<dyn Worker>>,
    modes: Vec<Option<&'static str>>,
    /// What each had counted as discarded when it was opened.
    discarded_before: Vec<Option<u64>>,
    /// The calls of one sample, timed one by one, and for each contender those of all samples.
    ticks: Vec<u64>,
    latencies: Vec<Latencies>,
    memory: Vec<u8>,
    /// The part of `memory` that is drawn into.
    window: Range<usize>,
}

impl Station {
    /// Opens everything, checks its output in this thread, and so touches every page and warms every path.
    fn open(
        cell: &Cell,
        arm: impl Fn(&Contender) -> Result<(), headwater::Error>,
    ) -> Result<Station, Error> {
        // All lengths start on a cache line, because malloc's alignment would be part of the result.
        const LINE: usize = 64;
        let len = cell.output_len();
        let memory = vec![0; len + LINE];
        let start = memory.as_ptr().align_offset(LINE).min(LINE);
        let mut station = Station {
            workers: Vec::new(),
            modes: Vec::new(),
            discarded_before: Vec::new(),
            ticks: Vec::new(),
            latencies: Vec::new(),
            memory,
            window: start..start + len,
        };
        for contender in &cell.contenders {
            if cell.switches_modes() {
                arm(contender).map_err(|error| contender.refused(error.to_string()))?;
            }
            let mut worker = contender.open().map_err(|absent| contender.refused(absent.0))?;
            station.discarded_before.push(worker.discarded_bytes());
            let buf = &mut station.memory[station.window.clone()];
            verify::check(&mut *worker, cell.work, buf).map_err(|fault| contender.faulty(fault))?;
            station.modes.push(contender.mode_now());
            station.workers.push(worker);
            if cell.case == Case::Latency {
                station.latencies.push(Latencies::new());
            }
        }
        Ok(station)
    }

    fn discarded_bytes(&self, contender: usize) -> Option<u64> {
        let before = self.discarded_before[contender]?;
        Some(self.workers[contender].discarded_bytes()?.saturating_sub(before))
    }

    /// As [`batch`](Station::batch), each call timed; gives their median in nanoseconds.
    fn singles(&mut self, contender: usize, calls: u64) -> Result<(f64, Range<Instant>), Refused> {
        let buf = &mut self.memory[self.window.clone()];
        self.ticks.resize(calls as usize, 0); // at most CALLS_MAX
        let start = Instant::now();
        self.workers[contender].fill_timed(Clock::get(), &mut self.ticks, buf)?;
        let span = start..Instant::now();
        Ok((self.latencies[contender].add(&self.ticks), span))
    }

    fn batch(&mut self, contender: usize, work: Work, calls: u64) -> Drawn {
        let buf = &mut self.memory[self.window.clone()];
        self.workers[contender].batch(work, calls, buf)
    }

    /// How long the last batch took, which somebody else may know better than the caller.
    fn took(&self, contender: usize, elapsed: Duration) -> Duration {
        self.workers[contender].own_time().unwrap_or(elapsed)
    }

    /// How long a batch takes, at least: tried again while it takes `enough`, because one that was interrupted
    /// would make every sample so small that it measures cold caches and the clock.
    fn shortest(
        &mut self,
        contender: usize,
        work: Work,
        calls: u64,
        enough: Duration,
    ) -> Result<Duration, Refused> {
        const ATTEMPTS: u32 = 3;
        /// Nothing interrupts for so long, and what takes so long need not be done again.
        const LONG: Duration = Duration::from_millis(50);
        let mut shortest = Duration::MAX;
        for _ in 0..ATTEMPTS {
            let start = Instant::now();
            self.batch(contender, work, calls)?;
            shortest = shortest.min(self.took(contender, start.elapsed()));
            if shortest < enough || shortest >= LONG {
                break;
            }
        }
        Ok(shortest)
    }

    /// Calls that make a sample of each contender; the doubling up to them is the warm-up.
    fn calibrate(&mut self, cell: &Cell) -> Result<Vec<u64>, Error> {
        let target = match cell.pace.batch {
            Batch::Calls(calls) => return Ok(vec![calls; cell.contenders.len()]),
            Batch::Lasting(target) => target,
        };
        let mut batches = Vec::new();
        for (index, contender) in cell.contenders.iter().enumerate() {
            arm_if_switching(cell, contender)?;
            let warm_up = self.workers[index].warm_up();
            let begin = Instant::now();
            let mut calls = 1;
            let took = loop {
                let took = self.shortest(index, cell.work, calls, target / 2);
                let took = took.map_err(|_| contender.gave_out())?;
                if took < target / 2 {
                    calls *= 2;
                } else if begin.elapsed() >= warm_up {
                    break took;
                }
            };
            let scaled = calls as f64 * target.as_secs_f64() / took.as_secs_f64();
            let most = if cell.case == Case::Latency { latency::CALLS_MAX } else { u64::MAX };
            batches.push((scaled as u64).clamp(1, most));
        }
        Ok(batches)
    }
}

fn arm_if_switching(cell: &Cell, contender: &Contender) -> Result<(), Error> {
    if cell.switches_modes() {
        contender.arm().map_err(|error| contender.refused(error.to_string()))?;
    }
    Ok(())
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
    use crate::impls::Implementation;
    use crate::pin::Pins;
    use crate::plan::{Case, Pace};
    use crate::work::Generator;

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

    /// Sleeps once, as if something else had the CPU.
    struct Interrupted(u32);

    impl Generator for Interrupted {
        fn fill(&mut self, buf: &mut [u8]) -> Drawn {
            self.0 += 1;
            if self.0 == 40 {
                thread::sleep(Duration::from_millis(10));
            }
            headwater::fill(buf).map_err(|_| Refused)
        }
    }

    /// Otherwise a sample would be a handful of calls, and the figure several times what a call takes.
    #[test]
    fn an_interruption_does_not_make_samples_small() {
        const INTERRUPTED: Implementation = Implementation {
            name: "interrupted",
            version: &|| None,
            has_modes: false,
            open: &|| Ok(Box::new(Interrupted(0))),
        };
        let cell = Cell {
            counts: false,
            case: Case::Fill,
            work: Work::Fill,
            len: 16,
            threads: 1,
            procs: 1,
            pins: Pins::default(),
            contenders: vec![Contender::from(&INTERRUPTED)],
            pace: Pace {
                batch: Batch::Lasting(Duration::from_micros(500)),
                rounds: 1..=1,
                budget: Duration::ZERO,
            },
        };
        let mut station = Station::open(&cell, Contender::arm).unwrap();
        let calls = station.calibrate(&cell).unwrap();
        assert!(calls[0] >= 40, "{calls:?}"); // those of about 10 µs or less each
    }
}
