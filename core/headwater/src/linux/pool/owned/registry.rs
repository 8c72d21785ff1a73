//! The pages of handles: taken and given back by one atomic operation, and never unmapped.

#![allow(unsafe_code)]

use crate::linux::sync::bitmap::Bitmap;
use crate::linux::sync::once_ptr::OncePtr;
use crate::linux::sys::Errno;
use crate::linux::sys::memory;
use crate::status::Page;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};

/// Pages in one mapping: a bit each in a word.
const PAGES: usize = 64;
/// Mappings; handles beyond 16,384 draw from the slots. Miri looks at each of them whenever a
/// reference to the process is passed on.
const GROUPS: usize = if cfg!(miri) { 2 } else { 256 };

/// The pages of handles. One atomic operation takes or returns a page; no page is ever unmapped.
pub(crate) struct Registry {
    groups: [Group; GROUPS],
    /// Some mapping, of handles or of slots, could not be locked in memory, or could not be locked
    /// again after its contents were dropped, though it would have to be to stay out of swap.
    unlocked: AtomicBool,
    /// Handles made so far. Their refills are numbered from there on: if they began at the same
    /// number, a page that a former owner filled, and that a CPU still sees after the kernel has
    /// dropped it, could be taken for its next owner's.
    made: AtomicU64,
}

struct Group {
    pages: OncePtr<u8>,
    /// Which of them handles own.
    owned: Bitmap,
}

impl Registry {
    pub(crate) const fn new() -> Registry {
        Registry {
            groups: [const { Group::unmapped() }; GROUPS],
            unlocked: AtomicBool::new(false),
            made: AtomicU64::new(0),
        }
    }

    /// Takes a page for a handle; None if no page is left.
    pub(super) fn take(&self, stride: usize) -> Option<Place<'_>> {
        for group in &self.groups {
            let pages = group.pages_or_map(stride, &self.unlocked)?;
            if let Some(index) = group.owned.take() {
                // SAFETY: a mapping of PAGES pages.
                let page = unsafe { pages.add(index as usize * stride) };
                return Some(Place { group, index, page });
            }
        }
        None
    }

    /// Maps the first group, so that the first handles need no system call.
    pub(crate) fn prepare(&self, stride: usize) {
        let _ = self.groups[0].pages_or_map(stride, &self.unlocked);
    }

    #[cfg(feature = "testing")]
    pub(crate) fn first_page(&self) -> *mut u8 {
        self.groups[0].pages.get()
    }

    pub(crate) fn alive(&self) -> u32 {
        self.groups.iter().map(|group| group.owned.count()).sum()
    }

    pub(crate) fn is_unlocked(&self) -> bool {
        self.unlocked.load(Ordering::Relaxed)
    }

    /// Returns the number before a new handle's first refill, 2^32 away from every other handle's
    /// and from 0, which stands for a state that has no number yet.
    pub(super) fn first_number(&self) -> u64 {
        self.made.fetch_add(1, Ordering::Relaxed).wrapping_add(1) << 32
    }

    /// Unmaps everything, for a process that was never published.
    pub(crate) fn discard(&self, stride: usize) {
        let pages = self.groups[0].pages.get();
        if !pages.is_null() {
            // SAFETY: no thread has seen it; no handle has been made, so there is no second group.
            unsafe { crate::linux::sys::munmap(pages, PAGES * stride) };
        }
    }

    pub(crate) fn note_unlocked(&self) {
        self.unlocked.store(true, Ordering::Relaxed);
    }

    /// Empties every page: those after one that refuses as well.
    pub(crate) fn drop_contents(&self, stride: usize) -> Result<(), Errno> {
        let mut result = Ok(());
        for group in &self.groups {
            let pages = group.pages.get();
            if pages.is_null() {
                break;
            }
            // SAFETY: after a drop by the kernel a handle finds a page of zeros, too.
            match unsafe { memory::drop_contents(pages, PAGES * stride, 0..PAGES * stride) } {
                Ok(memory::Lock::Kept) => {}
                Ok(memory::Lock::Lost) => self.note_unlocked(),
                Err(errno) => result = Err(errno),
            }
        }
        result
    }
}

impl Group {
    const fn unmapped() -> Group {
        Group { pages: OncePtr(AtomicPtr::new(null_mut())), owned: Bitmap(AtomicU64::new(0)) }
    }

    fn pages_or_map(&self, stride: usize, unlocked: &AtomicBool) -> Option<*mut u8> {
        let pages = self.pages.get();
        if !pages.is_null() {
            return Some(pages);
        }
        let (mapped, kind) = memory::reserve_pages(PAGES * stride, 0..PAGES * stride).ok()?;
        if kind == Page::WipeOnFork {
            unlocked.store(true, Ordering::Relaxed);
        }
        match self.pages.publish(null_mut(), mapped) {
            Ok(()) => Some(mapped),
            Err(theirs) => {
                // SAFETY: no other thread has seen it.
                unsafe { crate::linux::sys::munmap(mapped, PAGES * stride) };
                Some(theirs)
            }
        }
    }
}

/// The page of a handle.
pub(super) struct Place<'a> {
    group: &'a Group,
    index: u32,
    pub(super) page: *mut u8,
}

impl Drop for Place<'_> {
    /// Makes no system call: the page stays mapped for the next handle, whose state starts empty
    /// and at another number. [`Handle`](super::Handle)'s drop has erased the contents.
    fn drop(&mut self) {
        self.group.owned.give_back(self.index);
    }
}
