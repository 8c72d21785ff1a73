//! Memory that the kernel clears in a child.

#![allow(unsafe_code)]

use core::ptr::null_mut;

/// `len` bytes of private zeros, which a child made by fork or clone finds cleared (Linux 4.14).
/// None resident before they are touched. `None` if the kernel has no such memory, or no memory.
///
/// Async-signal-safe; errno stays as it was.
pub(crate) fn reserve_wiped(len: usize) -> Option<*mut u8> {
    keeping_errno(|| {
        let (access, sharing) = (
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
        );
        // SAFETY: new memory at an address that the kernel picks.
        let at = unsafe { libc::mmap(null_mut(), len, access, sharing, -1, 0) };
        if at == libc::MAP_FAILED {
            return None;
        }
        // Some emulators answer success to any advice: one that does not exist must fail, or
        // nothing that follows can be believed.
        // SAFETY: fresh memory that nobody uses yet.
        let wiped = unsafe {
            libc::madvise(at, len, -1) != 0 && libc::madvise(at, len, libc::MADV_WIPEONFORK) == 0
        };
        if !wiped {
            // SAFETY: nobody else has seen it.
            unsafe { libc::munmap(at, len) };
            return None;
        }
        Some(at.cast())
    })
}

/// Gives a reservation back.
///
/// # Safety
///
/// It is one of [`reserve_wiped`]'s with this length, and nobody uses it any more.
pub(crate) unsafe fn release(at: *mut u8, len: usize) {
    // SAFETY: the caller's promise.
    keeping_errno(|| unsafe { libc::munmap(at.cast(), len) });
}

/// A signal handler must not disturb the errno of what it interrupts.
fn keeping_errno<T>(body: impl FnOnce() -> T) -> T {
    // SAFETY: this thread's errno, which lives as long as the thread.
    unsafe {
        let errno = libc::__errno_location();
        let before = *errno;
        let result = body();
        *errno = before;
        result
    }
}
