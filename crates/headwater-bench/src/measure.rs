//! The measurement of one cell: interleaved rounds, in each of which every contender is timed once.

use crate::Error;
use crate::contender::Contender;
use crate::crew::{Gone, Rendezvous};
use crate::plan::{Batch, Cell};
use crate::verify::{self, Fault};
use crate::work::{Drawn, Refused, Work, Worker};
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
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
}

/// When a thread began its sample, and when it ended: for each contender, for each round.
type Log = Vec<Vec<Range<Instant>>>;

/// Measures all contenders of `cell`.
pub(crate) fn measure(cell: &Cell) -> Result<Vec<Timing>, Error> {
    let mut station = Station::open(cell, Contender::arm)?;
    let crew = Crew {
        cell,
        calls: station.calibrate(cell)?,
        rendezvous: Rendezvous::new(cell.threads),
        stop: AtomicBool::new(false),
        failure: Mutex::new(None),
    };
    let logs = thread::scope(|scope| {
        let others: Vec<_> = (1..cell.threads).map(|_| scope.spawn(|| crew.follow())).collect();
        let mut logs = vec![crew.lead(&mut station)];
        for other in others {
            logs.push(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        logs
    });
    match crew.failure.into_inner() {
        Ok(None) => {}
        Ok(Some(error)) => return Err(error),
        Err(_) => unreachable!("a thread that panics is joined, and its panic goes on, above"),
    }
    let timings = crew.calls.iter().enumerate().map(|(contender, &calls)| Timing {
        calls,
        ns: (0..logs[0][contender].len())
            .map(|round| wall(&logs, contender, round) / calls as f64)
            .collect(),
        mode: station.modes[contender],
        // With several threads one pool of several would show, and switching modes discards by itself.
        discarded_bytes: station.workers[contender]
            .discarded_bytes()
            .filter(|_| cell.threads == 1 && !cell.switches_modes()),
        note: station.workers[contender].note(),
    });
    Ok(timings.collect())
}

/// Nanoseconds from the first thread's start to the last one's end.
fn wall(logs: &[Log], contender: usize, round: usize) -> f64 {
    let spans = logs.iter().map(|log| &log[contender][round]);
    let start = spans.clone().map(|span| span.start).min();
    let end = spans.map(|span| span.end).max();
    match (start, end) {
        (Some(start), Some(end)) => end.duration_since(start).as_nanos() as f64,
        _ => f64::NAN,
    }
}

/// What one thread needs: its own state of each generator, and a buffer for all.
struct Station {
    workers: Vec<Box<dyn Worker>>,
    modes: Vec<Option<&'static str>>,
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
        let mut station =
            Station { workers: Vec::new(), modes: Vec::new(), memory, window: start..start + len };
        for contender in &cell.contenders {
            if cell.switches_modes() {
                arm(contender).map_err(|error| refused(contender, error.to_string()))?;
            }
            let mut worker = contender.open().map_err(|absent| refused(contender, absent.0))?;
            let buf = &mut station.memory[station.window.clone()];
            verify::check(&mut *worker, cell.work, buf).map_err(|fault| match fault {
                Fault::Refused => gave_out(contender),
                Fault::Defect(defect) => {
                    Error::WrongOutput { implementation: contender.name(), defect }
                }
            })?;
            let has_modes = contender.implementation.has_modes;
            station.modes.push(has_modes.then(|| headwater::status().mode.name()));
            station.workers.push(worker);
        }
        Ok(station)
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
                let took = took.map_err(|_| gave_out(contender))?;
                if took < target / 2 {
                    calls *= 2;
                } else if begin.elapsed() >= warm_up {
                    break took;
                }
            };
            let scaled = calls as f64 * target.as_secs_f64() / took.as_secs_f64();
            batches.push((scaled as u64).max(1));
        }
        Ok(batches)
    }
}

fn refused(contender: &Contender, reason: String) -> Error {
    Error::Refused { implementation: contender.name(), reason }
}

fn gave_out(contender: &Contender) -> Error {
    refused(contender, "it gives no random bytes".to_owned())
}

fn arm_if_switching(cell: &Cell, contender: &Contender) -> Result<(), Error> {
    if cell.switches_modes() {
        contender.arm().map_err(|error| refused(contender, error.to_string()))?;
    }
    Ok(())
}

/// The threads of a measurement. Each runs the same rounds in step; the one that called [`measure`] leads:
/// it decides when to stop and sets headwater's mode, which is one for the process.
struct Crew<'a> {
    cell: &'a Cell,
    calls: Vec<u64>,
    rendezvous: Rendezvous,
    stop: AtomicBool,
    failure: Mutex<Option<Error>>,
}

impl Crew<'_> {
    fn lead(&self, station: &mut Station) -> Log {
        let _attendance = self.rendezvous.attend();
        let pace = &self.cell.pace;
        let start = Instant::now();
        let mut done = 0;
        let mut decide = || {
            let more = done < *pace.rounds.start()
                || (done < *pace.rounds.end() && start.elapsed() < pace.budget);
            done += 1;
            more
        };
        self.rounds(station, Some(&mut decide))
    }

    fn follow(&self) -> Log {
        let _attendance = self.rendezvous.attend();
        match Station::open(self.cell, |_| Ok(())) {
            Ok(mut station) => self.rounds(&mut station, None),
            Err(error) => {
                self.fail(error);
                Log::new()
            }
        }
    }

    /// Whatever was logged until somebody failed is returned, and not used.
    fn rounds(&self, station: &mut Station, mut decide: Option<&mut dyn FnMut() -> bool>) -> Log {
        let mut log = vec![Vec::new(); self.cell.contenders.len()];
        let leads = decide.is_some();
        loop {
            if let Some(decide) = &mut decide {
                self.stop.store(!decide(), Ordering::Relaxed); // ordered by the meetings around it
            }
            if self.rendezvous.wait().is_err() || self.stop.load(Ordering::Relaxed) {
                return log;
            }
            for index in 0..self.cell.contenders.len() {
                match self.sample(station, index, leads) {
                    Ok(span) => log[index].push(span),
                    Err(Gone) => return log,
                }
            }
        }
    }

    /// One thread's part of one sample.
    fn sample(
        &self,
        station: &mut Station,
        index: usize,
        leads: bool,
    ) -> Result<Range<Instant>, Gone> {
        let contender = &self.cell.contenders[index];
        if self.cell.switches_modes() && contender.implementation.has_modes {
            if leads {
                arm_if_switching(self.cell, contender).map_err(|error| self.fail(error))?;
            }
            self.rendezvous.wait()?;
            // A mode begins with empty pools, which is not what a sample of it is about.
            self.draw(station, Work::U64, index, 1)?;
        }
        self.rendezvous.wait()?;
        let start = Instant::now();
        self.draw(station, self.cell.work, index, self.calls[index])?;
        let elapsed = start.elapsed();
        Ok(start..start + station.took(index, elapsed))
    }

    fn draw(
        &self,
        station: &mut Station,
        work: Work,
        index: usize,
        calls: u64,
    ) -> Result<(), Gone> {
        station
            .batch(index, work, calls)
            .map_err(|_| self.fail(gave_out(&self.cell.contenders[index])))
    }

    /// Notes the first failure, and lets everybody go.
    fn fail(&self, error: Error) -> Gone {
        if let Ok(mut failure) = self.failure.lock() {
            failure.get_or_insert(error);
        }
        self.rendezvous.abandon();
        Gone
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::impls::Implementation;
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
