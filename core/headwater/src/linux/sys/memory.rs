//! The kinds of memory that pools are made of.

#![allow(unsafe_code)]

use crate::linux::failpoint::{Force, forced};
use crate::linux::sys::{self, Errno};
use crate::status::Page;
use core::ops::Range;
use core::ptr::null_mut;

/// `MAP_DROPPABLE` (Linux 6.11): the kernel may drop a page at any instant, so it never writes it
/// to swap; nor to a core dump, nor into a forked child.
const MAP_DROPPABLE: i32 = 0x08;
const READ_WRITE: i32 = libc::PROT_READ | libc::PROT_WRITE;

/// Maps private zeroed memory. A page becomes resident when it is touched.
pub(crate) fn reserve(len: usize) -> Result<*mut u8, Errno> {
    map(len, libc::MAP_PRIVATE)
}

/// Maps private memory that the kernel clears in a forked child and keeps out of core dumps.
pub(crate) fn reserve_wiped(len: usize) -> Result<*mut u8, Errno> {
    if forced(Force::NoWipeOnFork) {
        return Err(Errno(libc::EINVAL));
    }
    let at = map(len, libc::MAP_PRIVATE)?;
    // SAFETY: fresh memory, not in use yet.
    let wiped = unsafe {
        // Some user-mode emulators answer success to any advice: one that does not exist must fail,
        // or nothing that follows can be believed.
        match sys::madvise(at, len, -1) {
            Ok(()) => Err(Errno(libc::ENOSYS)),
            Err(_) => sys::madvise(at, len, libc::MADV_WIPEONFORK),
        }
    };
    match wiped {
        Ok(()) => {
            // SAFETY: the memory is still fresh, and neither advice changes contents. A kernel
            // without these cannot do what they forbid.
            unsafe {
                let _ = sys::madvise(at, len, libc::MADV_DONTDUMP);
                forbid_huge_pages(at, len);
            }
            Ok(at)
        }
        Err(errno) => {
            // SAFETY: no other thread has seen it.
            unsafe { sys::munmap(at, len) };
            Err(errno)
        }
    }
}

/// Maps memory that the kernel may drop, and clears in a forked child.
pub(crate) fn reserve_droppable(len: usize) -> Result<*mut u8, Errno> {
    if forced(Force::NoDroppable) { Err(Errno(libc::ENOSYS)) } else { map(len, MAP_DROPPABLE) }
}

/// Maps droppable memory for pages of random bytes, empty and unlocked.
///
/// After `mlockall(MCL_FUTURE)` the kernel fills each new mapping, so the contents are dropped at
/// once. Some kernels also lock it (Linux 6.18 before d239462787b0), and never unlock what is
/// droppable. It can be neither dropped nor discarded then, so it is refused here, where no byte is
/// in it yet.
pub(crate) fn reserve_droppable_pages(len: usize) -> Result<*mut u8, Errno> {
    let at = reserve_droppable(len)?;
    // SAFETY: fresh memory, not in use yet.
    let dropped = unsafe {
        forbid_huge_pages(at, len);
        sys::madvise(at, len, libc::MADV_DONTNEED)
    };
    if let Err(errno) = dropped {
        // SAFETY: no other thread has seen it.
        unsafe { sys::munmap(at, len) };
        return Err(errno);
    }
    Ok(at)
}

/// Maps memory for pages of random bytes: droppable if the kernel has such memory, else wiped on
/// fork and locked, else wiped on fork alone, which may reach swap.
///
/// Only the bytes of `locked` are locked: the rest is for forked children, which inherit no locks.
pub(crate) fn reserve_pages(len: usize, locked: Range<usize>) -> Result<(*mut u8, Page), Errno> {
    if let Ok(at) = reserve_droppable_pages(len) {
        return Ok((at, Page::Droppable));
    }
    let at = reserve_wiped(len)?;
    let locked = !forced(Force::NoMlock) && lock(at, &locked).is_ok();
    Ok((at, if locked { Page::WipeOnForkLocked } else { Page::WipeOnFork }))
}

/// Locks a part of a mapping in memory, page by page as they are touched.
fn lock(at: *mut u8, part: &Range<usize>) -> Result<(), Errno> {
    sys::mlock_on_fault(at.wrapping_add(part.start), part.len())
}

/// Forbids huge pages, which would make 2 MiB resident at the first touch, on one node, and be
/// dropped as one.
///
/// # Safety
///
/// The promises of `sys::madvise`.
unsafe fn forbid_huge_pages(at: *mut u8, len: usize) {
    // SAFETY: this advice leaves the contents as they are, and `madvise` asks for a promise only
    // where they are dropped. A kernel without huge pages refuses, rightly.
    let _ = unsafe { sys::madvise(at, len, libc::MADV_NOHUGEPAGE) };
}

fn map(len: usize, sharing: i32) -> Result<*mut u8, Errno> {
    if forced(Force::NoMemory) {
        return Err(Errno(libc::ENOMEM));
    }
    let flags = sharing | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    let flags = if sharing == MAP_DROPPABLE { sharing | libc::MAP_ANONYMOUS } else { flags };
    // SAFETY: new memory at an address that the kernel picks.
    unsafe { sys::mmap(null_mut(), len, READ_WRITE, flags, None) }
}

/// Overwrites `len` bytes, a multiple of 8, by zeros that the compiler may not leave out. No system
/// call.
///
/// # Safety
///
/// `at` is aligned to 8 and valid for writes of `len` bytes, which is not in use elsewhere.
pub(crate) unsafe fn erase(at: *mut u8, len: usize) {
    for offset in (0..len).step_by(8) {
        // SAFETY: `at` is aligned to 8 and `len` a multiple of it, so each word lies within the
        // bytes that are writable. Volatile, because nothing reads the page before it is filled
        // again, and the compiler could leave a plain write out.
        unsafe { at.add(offset).cast::<u64>().write_volatile(0) };
    }
}

/// The state of a memory lock after a drop of contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lock {
    Kept,
    /// RLIMIT_MEMLOCK was lowered after set-up, or the right to lock was dropped: bytes drawn from
    /// now on may reach swap.
    Lost,
}

/// Drops the contents of a region; it reads as zeros afterwards. Its bytes of `locked` may be
/// locked.
///
/// An error says that contents are left. So a failed re-lock is not an error: the contents are
/// gone, which is what the caller asked for.
///
/// # Safety
///
/// Zeros are a valid content for every user of the region, at any instant.
pub(crate) unsafe fn drop_contents(
    at: *mut u8,
    len: usize,
    locked: Range<usize>,
) -> Result<Lock, Errno> {
    /// Another thread that drops the same contents may lock them again between our two calls; it is
    /// done then.
    const TRIES: u32 = 64;
    let mut unlocked = false;
    for _ in 0..TRIES {
        // SAFETY: the advice replaces contents by zeros, and every user of the region takes zeros
        // at any instant: that is what this function asks for.
        match unsafe { sys::madvise(at, len, libc::MADV_DONTNEED) } {
            Err(Errno(libc::EINVAL)) => {}
            dropped => {
                let lost = unlocked && lock(at, &locked).is_err();
                return dropped.map(|()| if lost { Lock::Lost } else { Lock::Kept });
            }
        }
        // Locked memory keeps its contents, so it is unlocked for the moment: all of it, for
        // mlockall(2) locks more than we do. If that fails, so does the next try.
        unlocked |= sys::munlock(at, len).is_ok();
    }
    if unlocked {
        let _ = lock(at, &locked);
    }
    Err(Errno(libc::EINVAL))
}
