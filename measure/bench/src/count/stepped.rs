//! The steps of calls, and what they add up to.

use crate::count::counted::{Count, Mean};
use crate::draw::verify;
use crate::impls::variant::Variant;
use crate::plan::comparison::Comparison;
use headwater_stepper::{Crew, CrewPlace, Pinned, Tracee, allowed_cpus};
use std::collections::BTreeSet;
use std::io;

/// A cache line of every x86-64 CPU.
const LINE: u64 = 64;
/// Calls at full speed before the first that is looked at.
const WARM_UP: u64 = 512;
/// Bytes that the calls draw which are looked at: two refills of any pool of up to a page.
const BYTES: usize = 8192;
/// Unless that takes too many instructions; but never fewer calls than this.
/// An unoptimised call takes about three times as many as an optimised one.
const BUDGET: u64 = if cfg!(debug_assertions) { 250_000 } else { 100_000 };
const FEWEST_CALLS: usize = 9;
/// A call that takes more is given up; in tests sooner, because a step takes microseconds.
const TOO_LONG: usize = if cfg!(test) { 10_000 } else { 200_000 };

/// The work between two stops.
#[derive(Clone, Debug, Default)]
struct Tally {
    instructions: u64,
    locked: u64,
    syscalls: u64,
    rdrand: u64,
    /// The cache lines that it wrote.
    lines: BTreeSet<u64>,
}

/// Counts what calls of this variant do.
pub(super) fn count(comparison: &Comparison, variant: &Variant) -> Result<Count, String> {
    let cpus = match *allowed_cpus() {
        [first, .., last] => vec![first, last],
        [only] => vec![only],
        [] => vec![0],
    };
    look(comparison, variant, &cpus).map_err(|error| error.to_string())
}

fn look(comparison: &Comparison, variant: &Variant, cpus: &[usize]) -> io::Result<Count> {
    let mut crew = Crew::fork(cpus, |place| draw_as_told(comparison, variant, place))?;
    let mut threads: Vec<(&mut Tracee, Vec<Tally>)> =
        crew.threads.iter_mut().map(|thread| (thread, Vec::new())).collect();
    let mut spent = 0;
    for calls in 0..BYTES.div_ceil(comparison.len).max(FEWEST_CALLS) {
        if calls >= FEWEST_CALLS && spent >= BUDGET {
            break;
        }
        // In turns, so that each finds what the other's last call left.
        for ((thread, tallies), &cpu) in threads.iter_mut().zip(cpus) {
            let _beside = Pinned::to(cpu);
            if tallies.is_empty() {
                tallies.push(step_through(thread, 0)?);
            }
            tallies.push(step_through(thread, 1)?);
        }
        spent += threads[0].1.last().map_or(0, |call| call.instructions);
    }
    let mut tallies = threads.into_iter().map(|(_, tallies)| tallies);
    let ours = calls(tallies.next().unwrap_or_default());
    let others: Option<BTreeSet<u64>> =
        tallies.next().map(|tallies| tallies.into_iter().flat_map(|call| call.lines).collect());
    sum_up(&ours, others.as_ref()).ok_or_else(|| io::Error::other("no call was seen"))
}

/// Makes as many calls as the other process asks for, again and again, in one thread. It is ready
/// once it is warm.
fn draw_as_told(
    comparison: &Comparison,
    variant: &Variant,
    place: &mut CrewPlace,
) -> Result<(), String> {
    let mut worker = variant.open().map_err(|absent| absent.0)?;
    let len = comparison.output_len();
    let mut memory = vec![0; len + LINE as usize];
    let start = memory.as_ptr().align_offset(LINE as usize).min(LINE as usize);
    let buf = &mut memory[start..start + len];
    let refused = "it returns no random bytes";
    verify::check(&mut *worker, comparison.work, buf).map_err(|_| refused)?;
    worker.batch(comparison.work, WARM_UP, buf).map_err(|_| refused)?;
    loop {
        let calls = place.told();
        worker.batch(comparison.work, calls, buf).map_err(|_| refused)?;
    }
}

/// Lets a thread make so many calls.
fn step_through(thread: &mut Tracee, calls: u64) -> io::Result<Tally> {
    let mut tally = Tally::default();
    thread.answer(calls)?;
    for _ in 0..TOO_LONG {
        let step = thread.step()?;
        if step.stop {
            return Ok(tally);
        }
        tally.instructions += u64::from(!step.again);
        tally.locked += u64::from(step.locked);
        tally.syscalls += u64::from(step.syscall);
        tally.rdrand += u64::from(step.rdrand);
        for touch in step.touches.iter().filter(|touch| touch.writes) {
            let last = touch.at + touch.len.max(1) - 1;
            tally.lines.extend(touch.at / LINE..=last / LINE);
        }
    }
    Err(io::Error::other(format!("a call takes more than {TOO_LONG} instructions")))
}

/// Returns the tallies of the calls, less the first tally, which holds the costs without any call.
/// The cache lines that a call wrote stay as they are.
fn calls(tallies: Vec<Tally>) -> Vec<Tally> {
    let mut tallies = tallies.into_iter();
    let Some(none) = tallies.next() else { return Vec::new() };
    let less = |call: Tally| Tally {
        instructions: call.instructions.saturating_sub(none.instructions),
        locked: call.locked.saturating_sub(none.locked),
        syscalls: call.syscalls.saturating_sub(none.syscalls),
        rdrand: call.rdrand.saturating_sub(none.rdrand),
        lines: call.lines,
    };
    tallies.map(less).collect()
}

/// Returns the calls from the first refill to the last, if there were two refills. The number of
/// these calls and the number of their refills belong together.
fn whole_periods(calls: &[Tally], warm: u64) -> &[Tally] {
    let most = calls.iter().map(|call| call.instructions).max().unwrap_or(warm);
    let is_refill = |call: &Tally| call.instructions > warm.midpoint(most);
    match (calls.iter().position(is_refill), calls.iter().rposition(is_refill)) {
        (Some(first), Some(last)) if first < last => &calls[first..last],
        _ => calls,
    }
}

fn sum_up(calls: &[Tally], others: Option<&BTreeSet<u64>>) -> Option<Count> {
    let shared = |call: &Tally| others.map(|others| call.lines.intersection(others).count() as u64);
    let mut sorted: Vec<&Tally> = calls.iter().collect();
    sorted.sort_by_key(|call| call.instructions);
    let warm = *sorted.get((sorted.len().max(1) - 1) / 2)?;
    let periods = whole_periods(calls, warm.instructions);
    let mean = |value: &dyn Fn(&Tally) -> u64| {
        periods.iter().map(value).sum::<u64>() as f64 / periods.len() as f64
    };
    Some(Count {
        instructions: warm.instructions,
        locked: warm.locked,
        syscalls: warm.syscalls,
        rdrand: warm.rdrand,
        shared_lines: shared(warm),
        mean: Mean {
            instructions: mean(&|call| call.instructions),
            locked: mean(&|call| call.locked),
            syscalls: mean(&|call| call.syscalls),
            rdrand: mean(&|call| call.rdrand),
            shared_lines: others.map(|_| mean(&|call| shared(call).unwrap_or(0))),
        },
        calls: calls.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Case;
    use crate::draw::work::{Drawn, Generator, Refused, Work};
    use crate::impls::implementation::{Implementation, Opened};
    use crate::plan::comparison::{Batch, Pace};
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::Duration;

    /// A counter in a cache line of its own.
    #[repr(align(64))]
    struct Alone(AtomicU64);
    static SHARED: [Alone; 2] = [const { Alone(AtomicU64::new(0)) }; 2];

    /// Does as its name says for each call; bytes come from the kernel's own file when it is
    /// opened.
    struct Known {
        own: Box<Alone>,
        locks: usize,
        every: u64,
    }

    impl Generator for Known {
        fn fill(&mut self, buf: &mut [u8]) -> Drawn {
            let calls = self.own.0.fetch_add(1, Ordering::Relaxed);
            for line in &SHARED[..self.locks] {
                line.0.fetch_add(1, Ordering::Relaxed);
            }
            buf.fill((calls as u8).wrapping_mul(37));
            if self.every != 0 && calls.is_multiple_of(self.every) {
                std::fs::metadata("/").map_err(|_| Refused)?;
            }
            Ok(())
        }
    }

    fn known(locks: usize, every: u64) -> Opened {
        Ok(Box::new(Known { own: Box::new(Alone(AtomicU64::new(0))), locks, every }))
    }

    fn implementation(
        name: &'static str,
        open: &'static (dyn Fn() -> Opened + Sync),
    ) -> Implementation {
        Implementation { name, version: &|| None, has_modes: false, open }
    }

    fn counted(implementation: Implementation) -> Option<Count> {
        let variant = Variant::from(&*Box::leak(Box::new(implementation)));
        let comparison = Comparison {
            case: Case::Fill,
            work: Work::Fill,
            len: 128,
            threads: 1,
            procs: 1,
            pins: crate::system::pin::Pins::default(),
            variants: vec![variant],
            pace: Pace { batch: Batch::Calls(1), rounds: 1..=1, budget: Duration::ZERO },
            counts: true,
        };
        match count(&comparison, &variant) {
            Ok(count) => Some(count),
            Err(reason) if reason.contains("ptrace") => {
                eprintln!("skipped: counting: {reason}, WHETHER WHAT CALLS DO IS COUNTED RIGHTLY");
                None
            }
            Err(reason) => panic!("{reason}"),
        }
    }

    #[test]
    fn locks_and_the_lines_that_they_share_are_counted() {
        for (locks, open) in [
            (0, implementation("none", &|| known(0, 0))),
            (1, implementation("one", &|| known(1, 0))),
            (2, implementation("two", &|| known(2, 0))),
        ] {
            let Some(count) = counted(open) else { return };
            // The generator adds one write, to a line that no other thread writes.
            assert_eq!((count.locked, count.mean.locked), (locks + 1, locks as f64 + 1.0));
            assert_eq!((count.syscalls, count.rdrand), (0, 0));
            assert_eq!(count.mean.instructions, count.instructions as f64);
            if allowed_cpus().len() > 1 {
                assert_eq!(count.shared_lines, Some(locks));
                assert_eq!(count.mean.shared_lines, Some(locks as f64));
            }
        }
    }

    #[test]
    fn what_few_calls_do_is_in_the_mean_and_not_in_the_warm_call() {
        let open = implementation("seldom", &|| known(0, 8));
        let Some(count) = counted(open) else { return };
        assert_eq!(count.syscalls, 0);
        assert_eq!(count.mean.syscalls, 0.125, "{count:?}");
        assert!(count.mean.instructions > count.instructions as f64, "{count:?}");
    }

    #[test]
    fn what_no_call_costs_is_no_part_of_one() {
        let tally = |instructions, locked| Tally { instructions, locked, ..Tally::default() };
        let calls = calls(vec![tally(30, 1), tally(50, 2), tally(29, 1)]);
        let seen: Vec<_> = calls.iter().map(|call| (call.instructions, call.locked)).collect();
        assert_eq!(seen, [(20, 1), (0, 0)]);
    }

    #[test]
    fn the_mean_is_over_whole_periods() {
        let call = |instructions| Tally { instructions, ..Tally::default() };
        let calls = [10, 100, 10, 11, 10, 100, 10].map(call);
        let count = sum_up(&calls, None).unwrap();
        assert_eq!((count.instructions, count.mean.instructions), (10, 131.0 / 4.0));
        assert_eq!((count.shared_lines, count.calls), (None, 7));
        let once = [10, 100, 10, 10].map(call);
        assert_eq!(sum_up(&once, None).unwrap().mean.instructions, 130.0 / 4.0);
        assert_eq!(sum_up(&[], None), None);
    }

    #[test]
    fn a_call_without_end_is_given_up() {
        struct Endless;
        impl Generator for Endless {
            fn fill(&mut self, buf: &mut [u8]) -> Drawn {
                for round in 0..TOO_LONG as u64 {
                    let byte = SHARED[0].0.fetch_add(round, Ordering::Relaxed) as u8;
                    buf.fill(byte ^ 1);
                }
                Ok(())
            }
        }
        let variant = implementation("endless", &|| Ok(Box::new(Endless)));
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| counted(variant)));
        if let Err(panic) = outcome {
            let text = panic.downcast_ref::<String>().unwrap();
            assert_eq!(text, "a call takes more than 10000 instructions");
        }
    }
}
