//! Something is made in private and published: the state of the process, and the pages of handles.

use crate::linux::atomic::AtomicPtr;
use crate::linux::sync::once_ptr::OncePtr;
use crate::{every_order, most_orders};
use core::ptr::null_mut;
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

/// The state of a process: plain fields, written before publication, read by every thread
/// afterwards.
struct Process {
    made_by: UnsafeCell<u32>,
}

struct Place(OncePtr<Process>);

impl Place {
    fn empty() -> Arc<Place> {
        Arc::new(Place(OncePtr(AtomicPtr::new(null_mut()))))
    }

    /// Sets up as `setup::process`: returns the published state, or this thread's, and its maker.
    fn set_up(&self, me: u32) -> u32 {
        if let Some(made_by) = self.look() {
            return made_by;
        }
        let mine = Box::into_raw(Box::new(Process { made_by: UnsafeCell::new(0) }));
        // SAFETY: made by this thread and not published yet; the checker watches.
        unsafe { (*mine).made_by.with_mut(|made_by| *made_by = me) };
        match self.0.publish(null_mut(), mine) {
            Ok(()) => me,
            Err(theirs) => {
                // SAFETY: no other thread has seen it, as `discard`.
                drop(unsafe { Box::from_raw(mine) });
                // SAFETY: published, and freed only with the place.
                unsafe { (*theirs).made_by.with(|made_by| *made_by) }
            }
        }
    }

    /// Loads as `setup::published`.
    fn look(&self) -> Option<u32> {
        let process = self.0.get();
        // SAFETY: null, or published and freed only with the place.
        unsafe { process.as_ref().map(|process| process.made_by.with(|made_by| *made_by)) }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // SAFETY: published by `set_up`, and no thread reads it any more.
        drop(unsafe { Box::from_raw(self.0.get()) });
    }
}

#[test]
fn a_reader_sees_a_complete_arena_or_none() {
    every_order(|| {
        let place = Place::empty();
        let other = place.clone();
        let making = thread::spawn(move || other.set_up(7));
        let other = place.clone();
        let reading = thread::spawn(move || assert!(matches!(other.look(), None | Some(7))));
        making.join().unwrap();
        reading.join().unwrap();
        assert_eq!(place.look(), Some(7));
    });
}

#[test]
fn threads_that_race_for_set_up_all_use_the_first_that_is_done() {
    most_orders(|| {
        let place = Place::empty();
        let threads = [1, 2].map(|me| {
            let place = place.clone();
            thread::spawn(move || place.set_up(me))
        });
        let mine = place.set_up(3);
        for thread in threads {
            assert_eq!(thread.join().unwrap(), mine);
        }
    });
}
