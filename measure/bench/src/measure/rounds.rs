//! The measurement of one comparison: interleaved rounds, in each of which every variant is timed
//! once.

use crate::case::Case;
use crate::draw::work::Work;
use crate::error::Error;
use crate::impls::variant::Variant;
use crate::measure::latency::{Counts, Latencies, Percentiles};
use crate::measure::thread_state::{ThreadState, set_mode_if_switching};
use crate::measure::timing::Timing;
use crate::plan::comparison::Comparison;
use crate::stats;
use crate::system::barrier::{Abandoned, RoundControl};
use crate::system::process::Shared;
use crate::system::procs;
use serde::{Deserialize, Serialize};
use std::io;
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Instant;

/// One thread's part of one sample: nanoseconds since the measurement's epoch.
#[derive(Debug, Deserialize, Serialize)]
struct Sample {
    start: u64,
    end: u64,
    /// The median of its calls, where they were timed one by one.
    single: Option<f64>,
}

/// The samples of each variant, in the order of the rounds.
type Log = Vec<Vec<Sample>>;

/// The results of one thread.
#[derive(Debug, Default, Deserialize, Serialize)]
struct Part {
    log: Log,
    /// The times of single calls of each variant, where each call was timed by itself.
    latencies: Vec<Counts>,
}

/// Measures all variants of `comparison`.
pub(crate) fn measure(comparison: &Comparison) -> Result<Vec<Timing>, Error> {
    let _lent = comparison.pins.lend(0)?;
    let mut state = ThreadState::open(comparison, Variant::set_mode)?;
    let failed = |error: io::Error| Error::Process(error.to_string());
    let control =
        Shared::new(RoundControl::new(comparison.procs * comparison.threads)).map_err(failed)?;
    let measurement = Measurement {
        comparison,
        calls: state.calibrate(comparison)?,
        control: &control,
        epoch: Instant::now(),
        failure: Mutex::new(None),
    };
    // All processes start before the first thread does. A fork copies only the thread that calls
    // it, so a lock that another thread holds at that moment would stay locked in the child.
    let others =
        (1..comparison.procs).map(|process| procs::start(|| measurement.other_process(process)));
    let others = others.collect::<io::Result<Vec<_>>>().map_err(failed)?;
    let parts = thread::scope(|scope| {
        let readers: Vec<_> = others
            .into_iter()
            .map(|other| scope.spawn(|| other.finish().map_err(|reason| measurement.lost(reason))))
            .collect();
        let mut parts = measurement.process(&mut state, 0);
        for reader in readers {
            let theirs: Result<Vec<Part>, Abandoned> = joined(reader.join());
            parts.extend(theirs.into_iter().flatten());
        }
        parts
    });
    match measurement.failure.into_inner() {
        Ok(None) => {}
        Ok(Some(error)) => return Err(error),
        Err(_) => unreachable!("a thread that panics is joined, and its panic continues above"),
    }
    let timings = measurement.calls.iter().enumerate().map(|(variant, &calls)| Timing {
        calls,
        ns: (0..parts[0].log[variant].len())
            .map(|round| per_call(&parts, variant, round, calls))
            .collect(),
        mode: state.modes[variant],
        // Only one thread in one process draws from one pool. With more, this count would show one
        // pool of many. A change of mode discards bytes as well, and they would be counted here.
        discarded_bytes: state.discarded_bytes(variant).filter(|_| {
            comparison.threads == 1 && comparison.procs == 1 && !comparison.switches_modes()
        }),
        percentiles: percentiles(comparison, &parts, variant),
        note: state.workers[variant].note(),
        counters: None,
    });
    Ok(timings.collect())
}

fn joined<T>(outcome: thread::Result<T>) -> T {
    outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Returns the nanoseconds of one call: the time from the first thread's start to the last one's
/// end, shared among a thread's calls; or the median over the threads, where calls were timed one
/// by one.
fn per_call(parts: &[Part], variant: usize, round: usize, calls: u64) -> f64 {
    let samples = parts.iter().map(|part| &part.log[variant][round]);
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

fn percentiles(comparison: &Comparison, parts: &[Part], variant: usize) -> Option<Percentiles> {
    if comparison.case != Case::Latency {
        return None;
    }
    let mut all = Latencies::new();
    parts.iter().for_each(|part| all.merge(&part.latencies[variant]));
    all.percentiles()
}

/// The threads of a measurement, in this process and in others. Each runs the same rounds in step.
/// If each watched the clock, they would stop in different rounds, so the one that called
/// [`measure`] decides for all. The mode of headwater is one for a process, so only the first
/// thread of each sets it.
struct Measurement<'a> {
    comparison: &'a Comparison,
    calls: Vec<u64>,
    control: &'a RoundControl,
    epoch: Instant,
    failure: Mutex<Option<Error>>,
}

impl Measurement<'_> {
    /// Runs all of one process's part. The caller is the first thread of the process, and has
    /// opened its state.
    fn process(&self, state: &mut ThreadState, process: usize) -> Vec<Part> {
        let first = process * self.comparison.threads;
        thread::scope(|scope| {
            let others: Vec<_> = (1..self.comparison.threads)
                .map(|thread| scope.spawn(move || self.follow(first + thread)))
                .collect();
            let mut parts =
                vec![if process == 0 { self.lead(state) } else { self.rounds(state, true, None) }];
            parts.extend(others.into_iter().map(|other| joined(other.join())));
            parts
        })
    }

    /// Runs the part of a forked process, whose state of every generator is its own.
    fn other_process(&self, process: usize) -> Result<Vec<Part>, String> {
        let _guard = self.control.barrier.abandon_on_panic();
        let state = self.comparison.pins.take(process * self.comparison.threads);
        let state = state.and_then(|()| ThreadState::open(self.comparison, Variant::set_mode));
        let parts = match state {
            Ok(mut state) => self.process(&mut state, process),
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

    fn lead(&self, state: &mut ThreadState) -> Part {
        let _guard = self.control.barrier.abandon_on_panic();
        let pace = &self.comparison.pace;
        let start = Instant::now();
        let mut done = 0;
        let mut decide = || {
            let more = done < *pace.rounds.start()
                || (done < *pace.rounds.end() && start.elapsed() < pace.budget);
            done += 1;
            more
        };
        self.rounds(state, true, Some(&mut decide))
    }

    fn follow(&self, index: usize) -> Part {
        let _guard = self.control.barrier.abandon_on_panic();
        let state = self.comparison.pins.take(index);
        match state.and_then(|()| ThreadState::open(self.comparison, |_| Ok(()))) {
            Ok(mut state) => self.rounds(&mut state, false, None),
            Err(error) => {
                self.fail(error);
                Part::default()
            }
        }
    }

    /// Runs rounds until the leading thread stops them. After a failure it returns the samples so
    /// far, and the caller does not use them.
    fn rounds(
        &self,
        state: &mut ThreadState,
        sets_mode: bool,
        mut decide: Option<&mut dyn FnMut() -> bool>,
    ) -> Part {
        let mut log: Log = self.calls.iter().map(|_| Vec::new()).collect();
        let stop = &self.control.stop;
        'rounds: loop {
            if let Some(decide) = &mut decide {
                stop.store(!decide(), Ordering::Relaxed); // ordered by the waits around it
            }
            if self.control.barrier.wait().is_err() || stop.load(Ordering::Relaxed) {
                break;
            }
            for (index, log) in log.iter_mut().enumerate() {
                match self.sample(state, index, sets_mode) {
                    Ok(sample) => log.push(sample),
                    Err(Abandoned) => break 'rounds,
                }
            }
        }
        Part { log, latencies: state.latencies.iter().map(Latencies::counts).collect() }
    }

    /// Takes one thread's part of one sample.
    fn sample(
        &self,
        state: &mut ThreadState,
        index: usize,
        sets_mode: bool,
    ) -> Result<Sample, Abandoned> {
        let variant = &self.comparison.variants[index];
        let gave_out = |_| self.fail(variant.gave_out());
        if self.comparison.switches_modes() && variant.implementation.has_modes {
            if sets_mode {
                set_mode_if_switching(self.comparison, variant)
                    .map_err(|error| self.fail(error))?;
            }
            self.control.barrier.wait()?;
            // A mode begins with empty pools, which is not what a sample of it is about.
            state.batch(index, Work::U64, 1).map_err(gave_out)?;
        }
        self.control.barrier.wait()?;
        let calls = self.calls[index];
        let (single, span) = if self.comparison.case == Case::Latency {
            let (median, span) = state.singles(index, calls).map_err(gave_out)?;
            (Some(median), span)
        } else {
            let start = Instant::now();
            state.batch(index, self.comparison.work, calls).map_err(gave_out)?;
            let elapsed = start.elapsed();
            (None, start..start + state.took(index, elapsed))
        };
        let since = |at: Instant| at.duration_since(self.epoch).as_nanos() as u64;
        Ok(Sample { start: since(span.start), end: since(span.end), single })
    }

    /// Notes that another process is lost.
    fn lost(&self, reason: String) -> Abandoned {
        self.fail(Error::Process(reason))
    }

    /// Notes the first failure, and releases all waiting threads.
    fn fail(&self, error: Error) -> Abandoned {
        if let Ok(mut failure) = self.failure.lock() {
            failure.get_or_insert(error);
        }
        self.control.barrier.abandon();
        Abandoned
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::work::{Drawn, Refused, Worker};
    use crate::impls::implementation::Implementation;
    use crate::plan::comparison::{Batch, Pace};
    use crate::system::clock::Clock;
    use crate::system::pin::Pins;
    use std::time::Duration;

    /// A worker whose calls take a microsecond each by its own clock, and no time by another.
    struct Clocked(u64);

    impl Worker for Clocked {
        fn draw(&mut self, _: Work, buf: &mut [u8]) -> Drawn {
            headwater::fill(buf).map_err(|_| crate::draw::work::Refused)
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
        let variants = vec![Variant::from(&CLOCKED)];
        let comparison = Comparison {
            counts: false,
            case: Case::Fill,
            work: Work::Fill,
            len: 16,
            threads: 1,
            procs: 1,
            pins: Pins::default(),
            variants,
            pace,
        };
        let timings = measure(&comparison).unwrap();
        assert_eq!(timings[0].calls, 500);
        assert_eq!(timings[0].ns, [1000.0; 6]);
    }
}
