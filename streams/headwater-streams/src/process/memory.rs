//! Memory that the kernel clears in a child.

#![allow(unsafe_code)]

use core::ptr::null_mut;

/// Maps `len` zero bytes of private memory, which the kernel clears again in a child made by fork
/// or clone (Linux 4.14). A page takes physical memory only once it is touched. Returns `None` if
/// the kernel cannot clear memory at a fork, or has no memory.
///
/// Async-signal-safe; errno stays as it was.
pub(crate) fn reserve_wiped(len: usize) -> Option<*mut u8> {
    keeping_errno(|| {
        let (access, sharing) = (
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
        );
        // SAFETY: the kernel picks an address where nothing is mapped, so no memory of ours
        // changes.
        let at = unsafe { libc::mmap(null_mut(), len, access, sharing, -1, 0) };
        if at == libc::MAP_FAILED {
            return None;
        }
        // Some emulators report success for any advice. So an advice that does not exist must fail
        // first, because otherwise the success of the second call proves nothing.
        // SAFETY: the memory is new, and no other code has its address.
        let wiped = unsafe {
            libc::madvise(at, len, -1) != 0 && libc::madvise(at, len, libc::MADV_WIPEONFORK) == 0
        };
        if !wiped {
            // SAFETY: no other code has this address.
            unsafe { libc::munmap(at, len) };
            return None;
        }
        Some(at.cast())
    })
}

/// Unmaps a reservation.
///
/// # Safety
///
/// `at` comes from [`reserve_wiped`] with this length, and no other code uses the memory any more.
pub(crate) unsafe fn release(at: *mut u8, len: usize) {
    // SAFETY: `at` is a whole mapping of `len` bytes by `reserve_wiped`, which no other code uses
    // any more, as `# Safety` asks. So no reference is left into what is unmapped.
    keeping_errno(|| unsafe { libc::munmap(at.cast(), len) });
}

/// Runs `body` and restores errno, because a signal handler must not change the errno of the code
/// that it interrupts.
fn keeping_errno<T>(body: impl FnOnce() -> T) -> T {
    // SAFETY: the pointer is to this thread's errno, which lives as long as the thread.
    unsafe {
        let errno = libc::__errno_location();
        let before = *errno;
        let result = body();
        *errno = before;
        result
    }
}
