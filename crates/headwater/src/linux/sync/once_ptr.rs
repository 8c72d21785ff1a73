//! A place that holds one thing or another, and everybody uses what it holds.

use crate::linux::atomic::{AtomicPtr, Ordering};

/// Where something is found that was made in private. Several may make one at once: the first is everyone's,
/// the others give theirs back. So nobody waits, as a handler would for the frame it interrupted.
#[repr(transparent)]
pub(crate) struct OncePtr<T>(pub(crate) AtomicPtr<T>);

impl<T> OncePtr<T> {
    /// What is published, complete.
    #[inline(always)]
    pub(crate) fn get(&self) -> *mut T {
        self.0.load(Ordering::Acquire)
    }

    /// The same, if what it leads to was not written by a thread: such a load needs no order.
    #[inline(always)]
    pub(crate) fn get_unordered(&self) -> *mut T {
        self.0.load(Ordering::Relaxed)
    }

    /// Publishes `mine` in place of `now`; what was published meanwhile, if something was.
    ///
    /// A release, for `get`. The winner has nothing to acquire: `now` is not looked into. The loser has.
    pub(crate) fn publish(&self, now: *mut T, mine: *mut T) -> Result<(), *mut T> {
        self.0.compare_exchange(now, mine, Ordering::Release, Ordering::Acquire).map(drop)
    }

    /// Publishes `none`, after `blank` has made what is there worthless to those who still use it.
    ///
    /// An exchange and no store, or one call could hide what was published after another call had done its
    /// work, and leave it unblanked.
    pub(crate) fn withdraw<E>(
        &self,
        none: *mut T,
        blank: impl Fn(*mut T) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut now = self.get();
        while now != none {
            blank(now)?;
            now = self.publish(now, none).err().unwrap_or(none);
        }
        Ok(())
    }
}
