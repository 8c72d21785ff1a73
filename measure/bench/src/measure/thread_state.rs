//! The state of one measuring thread.

use crate::case::Case;
use crate::draw::verify;
use crate::draw::work::{Drawn, Refused, Work, Worker};
use crate::error::Error;
use crate::impls::variant::Variant;
use crate::measure::latency::{self, Latencies};
use crate::plan::comparison::{Batch, Comparison};
use crate::system::clock::Clock;
use std::ops::Range;
use std::time::{Duration, Instant};

/// The state of one measuring thread: a worker for each generator, and a buffer for all.
pub(crate) struct ThreadState {
    pub(crate) workers: Vec<Box<dyn Worker>>,
    pub(crate) modes: Vec<Option<&'static str>>,
    /// The count of discarded bytes of each generator when it was opened.
    discarded_before: Vec<Option<u64>>,
    /// The calls of one sample, timed one by one, and for each variant those of all samples.
    ticks: Vec<u64>,
    pub(crate) latencies: Vec<Latencies>,
    memory: Vec<u8>,
    /// The part of `memory` that is drawn into.
    window: Range<usize>,
}

impl ThreadState {
    /// Opens everything, checks its output in this thread, and so touches every page and warms
    /// every path.
    pub(crate) fn open(
        comparison: &Comparison,
        set_mode: impl Fn(&Variant) -> Result<(), headwater::Error>,
    ) -> Result<ThreadState, Error> {
        // All lengths start on a cache line, because malloc's alignment would be part of the
        // result.
        const LINE: usize = 64;
        let len = comparison.output_len();
        let memory = vec![0; len + LINE];
        let start = memory.as_ptr().align_offset(LINE).min(LINE);
        let mut state = ThreadState {
            workers: Vec::new(),
            modes: Vec::new(),
            discarded_before: Vec::new(),
            ticks: Vec::new(),
            latencies: Vec::new(),
            memory,
            window: start..start + len,
        };
        for variant in &comparison.variants {
            if comparison.switches_modes() {
                set_mode(variant).map_err(|error| variant.refused(error.to_string()))?;
            }
            let mut worker = variant.open().map_err(|absent| variant.refused(absent.0))?;
            state.discarded_before.push(worker.discarded_bytes());
            let buf = &mut state.memory[state.window.clone()];
            verify::check(&mut *worker, comparison.work, buf)
                .map_err(|fault| variant.faulty(fault))?;
            state.modes.push(variant.mode_now());
            state.workers.push(worker);
            if comparison.case == Case::Latency {
                state.latencies.push(Latencies::new());
            }
        }
        Ok(state)
    }

    pub(crate) fn discarded_bytes(&self, variant: usize) -> Option<u64> {
        let before = self.discarded_before[variant]?;
        Some(self.workers[variant].discarded_bytes()?.saturating_sub(before))
    }

    /// Makes a [`batch`](ThreadState::batch) and times each call. Returns their median in
    /// nanoseconds.
    pub(crate) fn singles(
        &mut self,
        variant: usize,
        calls: u64,
    ) -> Result<(f64, Range<Instant>), Refused> {
        let buf = &mut self.memory[self.window.clone()];
        self.ticks.resize(calls as usize, 0); // at most CALLS_MAX
        let start = Instant::now();
        self.workers[variant].fill_timed(Clock::get(), &mut self.ticks, buf)?;
        let span = start..Instant::now();
        Ok((self.latencies[variant].add(&self.ticks), span))
    }

    pub(crate) fn batch(&mut self, variant: usize, work: Work, calls: u64) -> Drawn {
        let buf = &mut self.memory[self.window.clone()];
        self.workers[variant].batch(work, calls, buf)
    }

    /// Returns the time of the last batch: the worker's own, or else the caller's.
    pub(crate) fn took(&self, variant: usize, elapsed: Duration) -> Duration {
        self.workers[variant].own_time().unwrap_or(elapsed)
    }

    /// Returns the shortest time of a batch in a few attempts, as long as it takes `enough`. One
    /// interrupted batch would make every sample so small that it measures cold caches and the
    /// clock.
    fn shortest(
        &mut self,
        variant: usize,
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
            self.batch(variant, work, calls)?;
            shortest = shortest.min(self.took(variant, start.elapsed()));
            if shortest < enough || shortest >= LONG {
                break;
            }
        }
        Ok(shortest)
    }

    /// Finds the number of calls that make a sample of each variant. Doubling up to it is the
    /// warm-up.
    pub(crate) fn calibrate(&mut self, comparison: &Comparison) -> Result<Vec<u64>, Error> {
        let target = match comparison.pace.batch {
            Batch::Calls(calls) => return Ok(vec![calls; comparison.variants.len()]),
            Batch::Lasting(target) => target,
        };
        let mut batches = Vec::new();
        for (index, variant) in comparison.variants.iter().enumerate() {
            set_mode_if_switching(comparison, variant)?;
            let warm_up = self.workers[index].warm_up();
            let begin = Instant::now();
            let mut calls = 1;
            let took = loop {
                let took = self.shortest(index, comparison.work, calls, target / 2);
                let took = took.map_err(|_| variant.gave_out())?;
                if took < target / 2 {
                    calls *= 2;
                } else if begin.elapsed() >= warm_up {
                    break took;
                }
            };
            let scaled = calls as f64 * target.as_secs_f64() / took.as_secs_f64();
            let most = if comparison.case == Case::Latency { latency::CALLS_MAX } else { u64::MAX };
            batches.push((scaled as u64).clamp(1, most));
        }
        Ok(batches)
    }
}

pub(crate) fn set_mode_if_switching(
    comparison: &Comparison,
    variant: &Variant,
) -> Result<(), Error> {
    if comparison.switches_modes() {
        variant.set_mode().map_err(|error| variant.refused(error.to_string()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::work::Generator;
    use crate::impls::implementation::Implementation;
    use crate::plan::comparison::Pace;
    use crate::system::pin::Pins;
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

    /// Otherwise a sample would be a handful of calls, and the figure several times what a call
    /// takes.
    #[test]
    fn an_interruption_does_not_make_samples_small() {
        const INTERRUPTED: Implementation = Implementation {
            name: "interrupted",
            version: &|| None,
            has_modes: false,
            open: &|| Ok(Box::new(Interrupted(0))),
        };
        let comparison = Comparison {
            counts: false,
            case: Case::Fill,
            work: Work::Fill,
            len: 16,
            threads: 1,
            procs: 1,
            pins: Pins::default(),
            variants: vec![Variant::from(&INTERRUPTED)],
            pace: Pace {
                batch: Batch::Lasting(Duration::from_micros(500)),
                rounds: 1..=1,
                budget: Duration::ZERO,
            },
        };
        let mut state = ThreadState::open(&comparison, Variant::set_mode).unwrap();
        let calls = state.calibrate(&comparison).unwrap();
        assert!(calls[0] >= 40, "{calls:?}"); // those of about 10 µs or less each
    }
}
