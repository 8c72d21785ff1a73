//! The fork canary: threads that race for an epoch, and forks in the middle.

use crate::linux::fork::{Canary, Epoch};
use crate::{every_order, most_orders};
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, Ordering::Relaxed};
use loom::thread;

/// One process.
#[derive(Default)]
struct Process {
    epoch: AtomicU64,
    reserved: AtomicU64,
}

impl Process {
    fn canary(&self) -> Canary<'_> {
        Canary { epoch: &self.epoch, reserved: &self.reserved, slots: 4 }
    }

    fn enter(&self) -> Epoch {
        self.canary().current().unwrap_or_else(|| self.canary().choose())
    }

    /// Returns a child with the kernel's effect on the two words. The canary is cleared, and the
    /// counter is as the thread that forks sees it.
    fn fork(&self) -> Process {
        let reserved = AtomicU64::new(self.reserved.load(Relaxed));
        Process { epoch: AtomicU64::new(0), reserved }
    }
}

#[test]
fn threads_that_race_for_an_epoch_agree_on_one() {
    most_orders(|| {
        let process = Arc::new(Process::default());
        let threads = [process.clone(), process.clone()]
            .map(|process| thread::spawn(move || process.enter()));
        let mine = process.enter();
        assert!(process.canary().is(mine));
        for thread in threads {
            assert_eq!(thread.join().unwrap(), mine);
        }
    });
}

/// The frames that continue in a child are those of the thread that forked, in the epoch it was in.
#[test]
fn a_child_never_gets_the_epoch_of_a_frame_of_its_parent() {
    every_order(|| {
        let process = Arc::new(Process::default());
        let other = process.clone();
        let thread = thread::spawn(move || other.enter());
        if let Some(frame) = process.canary().current() {
            let child = process.fork();
            assert!(!child.canary().is(frame));
            assert_ne!(child.enter(), frame);
            assert!(!child.canary().is(frame));
        }
        let frame = process.enter();
        assert_ne!(process.fork().enter(), frame);
        thread.join().unwrap();
    });
}

/// A fork between the two steps of `choose`: the frame's number is reserved, and published in the
/// child.
#[test]
fn a_frame_that_was_choosing_and_its_childs_child_never_share_an_epoch() {
    every_order(|| {
        let process = Arc::new(Process::default());
        let other = process.clone();
        let thread = thread::spawn(move || other.enter());
        // The frame has reserved a number; the fork comes here; the handler in the child has drawn.
        let number = process.reserved.fetch_add(1, Relaxed) + 1;
        let child = process.fork();
        let handler = child.enter();
        // The frame continues in the child: its exchange fails, and it takes what is there.
        assert!(handler.get() >> 16 > number);
        assert_eq!(child.enter(), handler);
        assert_ne!(child.fork().enter(), handler);
        thread.join().unwrap();
    });
}
