//! In the case `crowd`, threads draw together for much longer than a scheduler's slice.
//!
//! A batch of half a millisecond ends before the kernel preempts a thread in the middle of a draw.
//! This case lasts long enough for preempted holders of a lock to make the other threads wait.

use crate::case::CROWD_LEN;
use crate::draw::crowd::{Counters, Stretch};
use crate::draw::verify;
use crate::draw::work::{Refused, Work, Worker};
use crate::error::Error;
use crate::impls::variant::Variant;
use crate::measure::thread_state::{ThreadState, set_mode_if_switching};
use crate::measure::timing::Timing;
use crate::plan::comparison::{Batch, Comparison};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

/// A thread makes so many draws between two looks at the flag that ends a stretch.
const DRAWS: u64 = 256;

/// A thread reports its part of a sample.
struct Part {
    calls: u64,
    span: Range<Instant>,
}

/// Measures all variants of `comparison`, in turns within each round.
pub(crate) fn measure(comparison: &Comparison) -> Result<Vec<Timing>, Error> {
    let Batch::Lasting(lasting) = comparison.pace.batch else {
        unreachable!("`pace` makes no other");
    };
    // The threads of a sample are new ones. This thread opens each generator once, to know that the
    // generator works before anything is measured.
    let mut state = ThreadState::open(comparison, Variant::set_mode)?;
    let mut samples: Vec<Vec<Stretch>> = comparison.variants.iter().map(|_| Vec::new()).collect();
    for _ in comparison.pace.begin() {
        for (index, variant) in comparison.variants.iter().enumerate() {
            set_mode_if_switching(comparison, variant)?;
            let elsewhere = state.workers[index].crowd(comparison.threads, lasting);
            samples[index].push(match elsewhere {
                Some(sample) => sample.map_err(|reason| variant.refused(reason))?,
                None => together(comparison.threads, lasting, |thread| {
                    opened(comparison, variant, thread)
                })?,
            });
        }
    }
    let threads = comparison.threads as f64;
    let timings = samples.iter().enumerate().map(|(index, samples)| {
        let calls: u64 = samples.iter().map(|sample| sample.calls).sum();
        let counters = samples.iter().map(|sample| sample.counters);
        let counts = comparison.variants[index].counts_events();
        Timing {
            calls: (calls / (comparison.threads * samples.len()) as u64).max(1),
            ns: samples.iter().map(|one| one.ns as f64 * threads / one.calls as f64).collect(),
            mode: state.modes[index],
            discarded_bytes: None,
            note: state.workers[index].note(),
            percentiles: None,
            counters: counts.then(|| counters.fold(Counters::default(), Counters::plus)),
        }
    });
    Ok(timings.collect())
}

/// Opens a variant for a thread, and checks its output there.
fn opened(
    comparison: &Comparison,
    variant: &Variant,
    thread: usize,
) -> Result<Box<dyn Worker>, Error> {
    comparison.pins.take(thread)?;
    let mut worker = variant.open().map_err(|absent| variant.refused(absent.0))?;
    verify::check(&mut *worker, Work::Fill, &mut [0; CROWD_LEN])
        .map_err(|fault| variant.faulty(fault))?;
    Ok(worker)
}

/// Lets `threads` new threads draw for about `lasting`, each from a generator that `open` returns.
///
/// All threads sleep until the last one is ready, and none waits for another one afterwards.
pub(crate) fn together(
    threads: usize,
    lasting: Duration,
    open: impl Fn(usize) -> Result<Box<dyn Worker>, Error> + Sync,
) -> Result<Stretch, Error> {
    let (gate, stop) = (Gate::default(), AtomicBool::new(false));
    let (ready, others) = mpsc::channel::<()>();
    let draw = |thread: usize, ready: mpsc::Sender<()>| {
        let worker = open(thread);
        // The channel ends when no thread is still at work on its generator.
        drop(ready);
        let mut worker = worker?;
        gate.wait();
        let failed = |_| Error::Process("a generator gave no random bytes any more".to_owned());
        draw_until(&stop, &mut *worker).map_err(failed)
    };
    thread::scope(|scope| {
        let draw = &draw;
        let drawing: Vec<_> = (0..threads)
            .map(|thread| {
                let ready = ready.clone();
                thread::Builder::new().spawn_scoped(scope, move || draw(thread, ready))
            })
            .collect();
        drop(ready);
        let _ = others.recv(); // an error, when all threads have dropped their ends
        let complete = drawing.iter().all(Result::is_ok);
        let before = Counters::now();
        stop.store(!complete, Ordering::Relaxed); // ordered by the gate
        gate.open();
        if complete {
            thread::sleep(lasting);
        }
        stop.store(true, Ordering::Relaxed); // orders nothing: a thread may see it a little later
        let mut parts = Vec::new();
        for thread in drawing {
            let thread = thread.map_err(|error| Error::Process(format!("a thread: {error}")))?;
            parts.push(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
        }
        let start = parts.iter().map(|part| part.span.start).min();
        let end = parts.iter().map(|part| part.span.end).max();
        let took = start.zip(end).map_or(Duration::ZERO, |(start, end)| end - start);
        Ok(Stretch {
            calls: parts.iter().map(|part| part.calls).sum(),
            ns: took.as_nanos() as u64,
            counters: Counters::now().since(before),
        })
    })
}

/// Draws until `stop` is set.
fn draw_until(stop: &AtomicBool, worker: &mut dyn Worker) -> Result<Part, Refused> {
    let (mut calls, mut buf) = (0, [0; CROWD_LEN]);
    let start = Instant::now();
    loop {
        worker.batch(Work::Fill, DRAWS, &mut buf)?;
        calls += DRAWS;
        if stop.load(Ordering::Relaxed) {
            return Ok(Part { calls, span: start..Instant::now() });
        }
    }
}

/// Threads sleep at this barrier, because spinning ones would take the CPUs of other threads.
#[derive(Default)]
struct Gate {
    is_open: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    fn wait(&self) {
        let closed = self.is_open.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.opened.wait_while(closed, |is_open| !*is_open);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    fn open(&self) {
        *self.is_open.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.opened.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::work::{Drawn, Generator};

    const SHORT: Duration = Duration::from_millis(20);

    fn fill(limit: u64) -> impl Fn(usize) -> Result<Box<dyn Worker>, Error> + Sync {
        move |_| Ok(Box::new(Limited(limit)))
    }

    /// This generator ends after so many draws.
    struct Limited(u64);

    impl Generator for Limited {
        fn fill(&mut self, buf: &mut [u8]) -> Drawn {
            self.0 = self.0.checked_sub(1).ok_or(Refused)?;
            headwater::fill(buf).map_err(|_| Refused)
        }
    }

    #[test]
    fn three_threads_count_their_draws() {
        let sample = together(3, SHORT, fill(u64::MAX)).unwrap();
        assert!(sample.calls >= 3 * DRAWS, "{sample:?}");
        assert_eq!(sample.calls % DRAWS, 0);
        assert!(sample.ns >= SHORT.as_nanos() as u64, "{sample:?}");
    }

    #[test]
    fn a_generator_that_fails_in_one_thread_ends_the_stretch() {
        let error = together(3, SHORT, fill(DRAWS - 1)).unwrap_err();
        assert_eq!(error.to_string(), "a generator gave no random bytes any more");
        let refused = |thread| match thread {
            1 => Err(Error::Process("not in this thread".to_owned())),
            _ => fill(u64::MAX)(thread),
        };
        let error = together(3, SHORT, refused).unwrap_err();
        assert_eq!(error.to_string(), "not in this thread");
    }

    #[test]
    fn a_row_counts_the_calls_of_all_threads() {
        let report = crate::run(&crate::args::Args {
            cases: vec!["crowd".to_owned()],
            impls: vec!["headwater".to_owned(), "getrandom-syscall".to_owned()],
            threads: vec!["3".to_owned()],
            time: 0.005,
            ..crate::Args::default()
        })
        .unwrap();
        let [headwater, kernel] = &report.rows[..] else { panic!("{:?}", report.rows) };
        for row in [headwater, kernel] {
            assert_eq!((row.len, row.threads, row.samples), (CROWD_LEN, 3, 6));
            assert!((row.calls_per_s * row.ns_per_call / 3e9 - 1.0).abs() < 1e-9, "{row:?}");
        }
        assert!(headwater.counters.is_some());
        assert_eq!(kernel.counters, None, "the kernel counts nothing that a process sees");
        assert!(report.ratios.iter().any(|ratio| ratio.case == "crowd"));
        let text = crate::table(&report);
        assert!(text.contains("crowd: million draws of 16 B per second"), "{text}");
        assert!(text.contains("| fallbacks |"), "{text}");
    }
}
