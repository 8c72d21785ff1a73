//! The mode follows from facts that several threads change: quiesce in one, a word that is retired,
//! or an instruction that lies, in another.

use crate::linux::atomic::AtomicPtr;
use crate::linux::sync::recompute::recompute;
use crate::{every_order, most_orders};
use core::ptr::from_ref;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, AtomicU8, Ordering::Relaxed};
use loom::thread;

const BUFFERED: u8 = 1;
const HEDGED: u8 = 2;
const STRICT: u8 = 3;

/// The facts in `Process` from which the mode is chosen, each stored and loaded relaxed.
struct Process {
    mode: AtomicU8,
    quiesced: AtomicBool,
    retired: AtomicBool,
    broken: AtomicBool,
}

impl Process {
    fn new() -> Arc<Process> {
        Arc::new(Process {
            mode: AtomicU8::new(BUFFERED),
            quiesced: AtomicBool::new(false),
            retired: AtomicBool::new(false),
            broken: AtomicBool::new(false),
        })
    }

    /// Chooses as `Process::choose_mode`.
    fn choose_mode(&self) {
        recompute(&self.mode, || {
            match [&self.quiesced, &self.retired, &self.broken].map(|fact| fact.load(Relaxed)) {
                [true, ..] | [_, true, true] => STRICT,
                [_, true, _] => HEDGED,
                _ => BUFFERED,
            }
        });
    }

    fn quiesce(&self, quiesced: bool) {
        self.quiesced.store(quiesced, Relaxed);
        self.choose_mode();
    }

    fn retire(&self) {
        self.retired.store(true, Relaxed);
        self.choose_mode();
    }

    fn distrust(&self) {
        self.broken.store(true, Relaxed);
        self.choose_mode();
    }
}

#[test]
fn quiesce_is_never_lost_to_a_refill_that_chooses_the_mode() {
    every_order(|| {
        let process = Process::new();
        let other = process.clone();
        let thread = thread::spawn(move || other.retire());
        process.quiesce(true);
        // No other thread would choose buffered again, nor hedged.
        thread.join().unwrap();
        assert_eq!(process.mode.load(Relaxed), STRICT);
    });
}

#[test]
fn a_retired_word_is_never_lost_to_the_end_of_a_quiesce() {
    every_order(|| {
        let process = Process::new();
        process.quiesce(true);
        let other = process.clone();
        let thread = thread::spawn(move || other.retire());
        process.quiesce(false);
        thread.join().unwrap();
        assert_eq!(process.mode.load(Relaxed), HEDGED);
    });
}

#[test]
fn three_facts_that_change_at_once_all_count() {
    most_orders(|| {
        let process = Process::new();
        let (second, third) = (process.clone(), process.clone());
        let threads =
            [thread::spawn(move || second.retire()), thread::spawn(move || third.distrust())];
        process.choose_mode();
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(process.mode.load(Relaxed), STRICT);
    });
}

/// The race of `KernelGeneration::pick_live`: two refills retire one look-alike each; none is left,
/// or the one that is left.
#[test]
fn a_candidate_that_one_refill_retired_is_never_live_after_another() {
    every_order(|| {
        static NONE: u8 = 0;
        static WORDS: [u8; 2] = [1, 2];
        struct Words {
            candidates: [AtomicBool; 2],
            live: AtomicPtr<u8>,
        }
        impl Words {
            fn retire(&self, which: usize) {
                self.candidates[which].store(false, Relaxed);
                recompute(&self.live, || {
                    let left = [0, 1].map(|i| self.candidates[i].load(Relaxed));
                    from_ref(match left {
                        [true, false] => &WORDS[0],
                        [false, true] => &WORDS[1],
                        _ => &NONE,
                    })
                    .cast_mut()
                });
            }
        }
        let words = Arc::new(Words {
            candidates: [AtomicBool::new(true), AtomicBool::new(true)],
            live: AtomicPtr::new(from_ref(&NONE).cast_mut()),
        });
        let other = words.clone();
        let thread = thread::spawn(move || other.retire(1));
        words.retire(0);
        thread.join().unwrap();
        assert_eq!(words.live.load(Relaxed).cast_const(), from_ref(&NONE));
    });
}
