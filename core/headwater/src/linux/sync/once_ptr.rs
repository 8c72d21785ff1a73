//! A pointer that is published once, to a thing that was built in private.

use crate::linux::atomic::{AtomicPtr, Ordering};

/// A published pointer. Several threads may build the thing at once; the first is published, and
/// the others discard theirs. That wastes work, but no thread waits. With a lock the work would be
/// done once, and a handler would wait for ever for the frame that it interrupted.
#[repr(transparent)]
pub(crate) struct OncePtr<T>(pub(crate) AtomicPtr<T>);

impl<T> OncePtr<T> {
    /// Returns the published thing, complete: the acquire pairs with the release in `publish`.
    #[inline(always)]
    pub(crate) fn get(&self) -> *mut T {
        self.0.load(Ordering::Acquire)
    }

    /// Returns the same without order, for things that no thread has written.
    #[inline(always)]
    pub(crate) fn get_unordered(&self) -> *mut T {
        self.0.load(Ordering::Relaxed)
    }

    /// Publishes `mine` in place of `now`; an error holds the pointer that was published meanwhile.
    ///
    /// The release pairs with `get`. The loser acquires, because it uses the other's thing; the
    /// winner does not look into `now`.
    pub(crate) fn publish(&self, now: *mut T, mine: *mut T) -> Result<(), *mut T> {
        self.0.compare_exchange(now, mine, Ordering::Release, Ordering::Acquire).map(drop)
    }

    /// Publishes `none`, after `blank` has made what is there worthless to those who still use it.
    ///
    /// An exchange, because a store could hide a pointer that was published in between, and leave
    /// its target unblanked.
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
