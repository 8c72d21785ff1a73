//! Where the threads of a measurement meet.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

/// Somebody left for good: nobody may wait for them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gone;

/// A barrier that wakes its threads within nanoseconds of each other, because they spin; sleeping ones
/// would start tens of microseconds apart, which is a tenth of a sample.
///
/// Unlike the standard library's it can be abandoned, so that a thread that fails or panics does not
/// leave the others waiting.
pub(crate) struct Rendezvous {
    threads: usize,
    arrived: AtomicUsize,
    turn: AtomicUsize,
    abandoned: AtomicBool,
}

/// What the threads of a measurement share, in whichever process they are.
pub(crate) struct Meeting {
    pub(crate) rendezvous: Rendezvous,
    /// Set by the leading thread before the last round's meeting.
    pub(crate) stop: AtomicBool,
}

impl Meeting {
    pub(crate) fn new(threads: usize) -> Meeting {
        Meeting { rendezvous: Rendezvous::new(threads), stop: AtomicBool::new(false) }
    }
}

/// Spins before a waiting thread offers its CPU to others, who may be the ones it waits for.
const SPINS: u32 = 1000;

impl Rendezvous {
    pub(crate) fn new(threads: usize) -> Rendezvous {
        Rendezvous {
            threads,
            arrived: AtomicUsize::new(0),
            turn: AtomicUsize::new(0),
            abandoned: AtomicBool::new(false),
        }
    }

    /// Returns when every thread has called it. What each did before is visible to all after.
    pub(crate) fn wait(&self) -> Result<(), Gone> {
        let turn = self.turn.load(Ordering::Acquire);
        // Release for what this thread did, acquire (in the last one) for what the others did.
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            // Before the turn: nobody arrives for the next meeting until the turn has changed.
            self.arrived.store(0, Ordering::Relaxed);
            self.turn.store(turn.wrapping_add(1), Ordering::Release); // pairs with the loads of `turn`
        }
        let mut spins = 0;
        while self.turn.load(Ordering::Acquire) == turn {
            if self.abandoned.load(Ordering::Relaxed) {
                return Err(Gone);
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

    /// Lets everybody go who waits now or later for a thread that will not come.
    pub(crate) fn abandon(&self) {
        self.abandoned.store(true, Ordering::Relaxed);
    }

    /// A guard that abandons the meeting if its thread panics.
    pub(crate) fn attend(&self) -> Attendance<'_> {
        Attendance(self)
    }
}

/// See [`Rendezvous::attend`].
pub(crate) struct Attendance<'a>(&'a Rendezvous);

impl Drop for Attendance<'_> {
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
        let rendezvous = Rendezvous::new(THREADS);
        let count = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    for round in 1..=100 {
                        count.fetch_add(1, Ordering::Relaxed);
                        rendezvous.wait().unwrap();
                        assert_eq!(count.load(Ordering::Relaxed), round * THREADS);
                        rendezvous.wait().unwrap();
                    }
                });
            }
        });
    }

    #[test]
    fn a_panic_lets_the_others_go() {
        let rendezvous = Rendezvous::new(2);
        thread::scope(|scope| {
            let fallen = scope.spawn(|| {
                let _attendance = rendezvous.attend();
                panic!("this panic is part of the test");
            });
            assert!(rendezvous.wait().is_err());
            assert!(fallen.join().is_err());
        });
    }
}
