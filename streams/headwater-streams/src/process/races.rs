//! The place where a process's pool is published.
//!
//! `tests/loom` compiles this file with the model checker's atomics, and tries every order of every
//! race. So the file uses nothing but atomics, and makes none in a `const fn`, which the model
//! checker's atomics do not have.

use super::atomic::{AtomicPtr, AtomicUsize, Ordering};
use super::hook::{Point, hook};

/// Attempts of a draw that a fork interrupts, or of a set-up that loses its race.
pub(crate) const TRIES: usize = 4;

/// A pointer to an object that is made once and shared by all threads, or the mark of a set-up (an
/// odd number, which no object's address is), or null. It is in memory that the kernel clears in a
/// child.
#[repr(transparent)]
pub(crate) struct Place<T>(pub(crate) AtomicPtr<T>);

impl<T> Place<T> {
    /// Returns the published object, complete.
    #[inline(always)]
    pub(crate) fn get(&self) -> Option<*mut T> {
        let now = self.0.load(Ordering::Acquire);
        is_made(now).then_some(now)
    }

    /// Returns whether the place still holds `made`, which it held before.
    #[inline(always)]
    pub(crate) fn holds(&self, made: *mut T) -> bool {
        self.0.load(Ordering::Relaxed) == made
    }

    /// Returns the published object, and makes it if there is none. Returns `None` after `TRIES`
    /// lost races with other set-ups, or if `make` fails.
    ///
    /// `marks` counts the marks of all set-ups so far. A fork keeps the count, and a set-up adds to
    /// it before it uses its mark. So no set-up of a child has the mark of a frame that the fork
    /// interrupted.
    pub(crate) fn set_up(
        &self,
        marks: &AtomicUsize,
        make: impl Fn() -> Option<*mut T>,
        discard: impl Fn(*mut T),
    ) -> Option<*mut T> {
        for _ in 0..TRIES {
            let now = self.0.load(Ordering::Acquire);
            if is_made(now) {
                return Some(now);
            }
            // Replace the mark of another set-up. We would rather wait for its owner, but that may
            // be the code that this handler interrupts, or a thread that was killed, so waiting
            // could last for ever. With its mark gone, the other set-up cannot publish.
            let number = marks.fetch_add(1, Ordering::Relaxed);
            let mark = core::ptr::without_provenance_mut(number << 1 | 1);
            if self.0.compare_exchange(now, mark, Ordering::Relaxed, Ordering::Relaxed).is_err() {
                continue;
            }
            hook(Point::Begun);
            let mine = make()?;
            hook(Point::Seeded);
            // Release: pairs with the acquire in `get`, so that a thread that finds the pointer
            // finds the whole object.
            match self.0.compare_exchange(mark, mine, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return Some(mine),
                Err(_) => discard(mine),
            }
        }
        None
    }
}

#[inline(always)]
fn is_made<T>(pointer: *mut T) -> bool {
    !pointer.is_null() && pointer.addr() & 1 == 0
}
