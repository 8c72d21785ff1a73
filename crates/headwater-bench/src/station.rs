//! What one thread measures with.

use crate::Error;
use crate::case::Case;
use crate::clock::Clock;
use crate::contender::Contender;
use crate::latency::{self, Latencies};
use crate::plan::{Batch, Cell};
use crate::verify;
use crate::work::{Drawn, Refused, Work, Worker};
use std::ops::Range;
use std::time::{Duration, Instant};

/// What one thread needs: its own state of each generator, and a buffer for all.
pub(crate) struct Station {
    pub(crate) workers: Vec<Box<dyn Worker>>,
    pub(crate) modes: Vec<Option<&'static str>>,
    /// What each had counted as discarded when it was opened.
    discarded_before: Vec<Option<u64>>,
    /// The calls of one sample, timed one by one, and for each contender those of all samples.
    ticks: Vec<u64>,
    pub(crate) latencies: Vec<Latencies>,
    memory: Vec<u8>,
    /// The part of `memory` that is drawn into.
    window: Range<usize>,
}

impl Station {
    /// Opens everything, checks its output in this thread, and so touches every page and warms every path.
    pub(crate) fn open(
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

    pub(crate) fn discarded_bytes(&self, contender: usize) -> Option<u64> {
        let before = self.discarded_before[contender]?;
        Some(self.workers[contender].discarded_bytes()?.saturating_sub(before))
    }

    /// As [`batch`](Station::batch), each call timed; gives their median in nanoseconds.
    pub(crate) fn singles(
        &mut self,
        contender: usize,
        calls: u64,
    ) -> Result<(f64, Range<Instant>), Refused> {
        let buf = &mut self.memory[self.window.clone()];
        self.ticks.resize(calls as usize, 0); // at most CALLS_MAX
        let start = Instant::now();
        self.workers[contender].fill_timed(Clock::get(), &mut self.ticks, buf)?;
        let span = start..Instant::now();
        Ok((self.latencies[contender].add(&self.ticks), span))
    }

    pub(crate) fn batch(&mut self, contender: usize, work: Work, calls: u64) -> Drawn {
        let buf = &mut self.memory[self.window.clone()];
        self.workers[contender].batch(work, calls, buf)
    }

    /// How long the last batch took, which somebody else may know better than the caller.
    pub(crate) fn took(&self, contender: usize, elapsed: Duration) -> Duration {
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
    pub(crate) fn calibrate(&mut self, cell: &Cell) -> Result<Vec<u64>, Error> {
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

pub(crate) fn arm_if_switching(cell: &Cell, contender: &Contender) -> Result<(), Error> {
    if cell.switches_modes() {
        contender.arm().map_err(|error| contender.refused(error.to_string()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::impls::Implementation;
    use crate::pin::Pins;
    use crate::plan::Pace;
    use crate::work::Generator;
    use std::thread;

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
