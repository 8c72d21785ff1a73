//! The barrier that the threads of a measurement share.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

/// The error of a barrier that a thread has left for good: no other thread may wait for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Abandoned;

/// A barrier that wakes its threads within nanoseconds of each other, because they spin; sleeping
/// ones would start tens of microseconds apart, which is a tenth of a sample.
///
/// Unlike the standard library's it can be abandoned, so that a thread that fails or panics does
/// not leave the others waiting.
pub(crate) struct Barrier {
    threads: usize,
    arrived: AtomicUsize,
    turn: AtomicUsize,
    abandoned: AtomicBool,
}

/// The state that the threads of a measurement share, across processes.
pub(crate) struct RoundControl {
    pub(crate) barrier: Barrier,
    /// Set by the leading thread before the last round begins.
    pub(crate) stop: AtomicBool,
}

impl RoundControl {
    pub(crate) fn new(threads: usize) -> RoundControl {
        RoundControl { barrier: Barrier::new(threads), stop: AtomicBool::new(false) }
    }
}

/// Spins before a waiting thread offers its CPU to others, who may be the ones it waits for.
const SPINS: u32 = 1000;

impl Barrier {
    pub(crate) fn new(threads: usize) -> Barrier {
        Barrier {
            threads,
            arrived: AtomicUsize::new(0),
            turn: AtomicUsize::new(0),
            abandoned: AtomicBool::new(false),
        }
    }

    /// Returns when every thread has called it. Writes of each thread before the call are visible
    /// to all threads after it.
    pub(crate) fn wait(&self) -> Result<(), Abandoned> {
        let turn = self.turn.load(Ordering::Acquire);
        // Release for what this thread did, acquire (in the last one) for what the others did.
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            // Reset before the turn changes: no thread arrives for the next round until then.
            self.arrived.store(0, Ordering::Relaxed);
            self.turn.store(turn.wrapping_add(1), Ordering::Release); // pairs with the loads
        }
        let mut spins = 0;
        while self.turn.load(Ordering::Acquire) == turn {
            if self.abandoned.load(Ordering::Relaxed) {
                return Err(Abandoned);
            }
            if spins < SPINS {
                spins += 1;
                spin_loop();
            } else {
                thread::yield_now();
            }
        }
        Ok(())
    }

    /// Releases all threads that wait now or later for a thread that will not come.
    pub(crate) fn abandon(&self) {
        self.abandoned.store(true, Ordering::Relaxed);
    }

    /// Returns a guard that abandons the barrier if its thread panics.
    pub(crate) fn abandon_on_panic(&self) -> AbandonOnPanic<'_> {
        AbandonOnPanic(self)
    }
}

/// The guard of [`Barrier::abandon_on_panic`].
pub(crate) struct AbandonOnPanic<'a>(&'a Barrier);

impl Drop for AbandonOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.abandon();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_threads_see_what_all_did_before() {
        const THREADS: usize = 4;
        let barrier = Barrier::new(THREADS);
        let count = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    for round in 1..=100 {
                        count.fetch_add(1, Ordering::Relaxed);
                        barrier.wait().unwrap();
                        assert_eq!(count.load(Ordering::Relaxed), round * THREADS);
                        barrier.wait().unwrap();
                    }
                });
            }
        });
    }

    #[test]
    fn a_panic_lets_the_others_go() {
        let barrier = Barrier::new(2);
        thread::scope(|scope| {
            let fallen = scope.spawn(|| {
                let _guard = barrier.abandon_on_panic();
                panic!("this panic is part of the test");
            });
            assert!(barrier.wait().is_err());
            assert!(fallen.join().is_err());
        });
    }
}
