//! The place where a process's pool is published.
//!
//! `tests/loom` compiles this file with the model checker's atomics, and tries every order of every
//! race. So it knows nothing but atomics, and nothing in it may make one in a `const fn`.

use super::atomic::{AtomicPtr, AtomicUsize, Ordering};
use super::hook::{Point, hook};

/// How often something begins again that was forked, or lost to somebody.
pub(crate) const TRIES: usize = 4;

/// What is made once and used by everybody, or the mark of a set-up (an odd number), or null. In
/// memory that the kernel clears in a child.
#[repr(transparent)]
pub(crate) struct Place<T>(pub(crate) AtomicPtr<T>);

impl<T> Place<T> {
    /// What is there, complete.
    #[inline(always)]
    pub(crate) fn get(&self) -> Option<*mut T> {
        let now = self.0.load(Ordering::Acquire);
        is_made(now).then_some(now)
    }

    /// Whether `made`, which was there, still is.
    #[inline(always)]
    pub(crate) fn holds(&self, made: *mut T) -> bool {
        self.0.load(Ordering::Relaxed) == made
    }

    /// What is there, made now if need be. None if another set-up is quicker, time and again, or if
    /// it cannot be made.
    ///
    /// `marks` counts the marks given out so far. It is kept by a fork, and counted before a mark
    /// is used; so whatever mark a frame has, no set-up of a child has the same.
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
            // Whose mark is there may be the code that this handler interrupts, or a thread that
            // was killed: it is not waited for, and what it makes is not published.
            let number = marks.fetch_add(1, Ordering::Relaxed);
            let mark = core::ptr::without_provenance_mut(number << 1 | 1);
            if self.0.compare_exchange(now, mark, Ordering::Relaxed, Ordering::Relaxed).is_err() {
                continue;
            }
            hook(Point::Begun);
            let mine = make()?;
            hook(Point::Seeded);
            // Release: pairs with the acquire in `get`, so that whoever finds it finds it complete.
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
