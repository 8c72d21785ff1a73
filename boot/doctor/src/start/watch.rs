//! The limit of a traced program's time.
//!
//! The tracer sits in waitpid(2), which has no limit, and a signal could not end it: another thread
//! of the process may take the signal. So a thread of its own kills the program and its children
//! when the time is over, and their ends are what the tracer waits for.

use super::tracee;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The processes of a traced program, and whether their time is over.
#[derive(Debug)]
pub(super) struct Watch {
    began: Instant,
    limit: Duration,
    state: Mutex<State>,
    is_over: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    processes: BTreeSet<i32>,
    /// The time for which tracing held any of them: the names of a large program take seconds to
    /// read, which are not the program's.
    held: Duration,
}

impl Watch {
    pub(super) fn new(limit: Duration) -> Watch {
        Watch {
            began: Instant::now(),
            limit,
            state: Mutex::default(),
            is_over: AtomicBool::new(false),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A tracer that panicked leaves a set of numbers, which are still right.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enters a process. After the limit it is killed at once.
    pub(super) fn enter(&self, process: i32) {
        self.state().processes.insert(process);
        if self.is_over() {
            tracee::kill(process);
        }
    }

    /// Forgets a process that ended, whose number may soon be another's.
    pub(super) fn leave(&self, process: i32) {
        self.state().processes.remove(&process);
    }

    /// Notes time for which a thread was held.
    pub(super) fn held(&self, time: Duration) {
        self.state().held += time;
    }

    /// Returns whether the limit ended the program.
    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::SeqCst)
    }

    /// Kills all processes when the time is over, unless the other end is closed before.
    pub(super) fn run(&self, ended: &Receiver<()>) {
        loop {
            let left = (self.limit + self.state().held).saturating_sub(self.began.elapsed());
            if left.is_zero() {
                break;
            }
            if ended.recv_timeout(left) == Err(RecvTimeoutError::Disconnected) {
                return;
            }
        }
        self.is_over.store(true, Ordering::SeqCst);
        self.state().processes.iter().copied().for_each(tracee::kill);
    }
}
