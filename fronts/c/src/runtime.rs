//! The parts that a library without the standard library must define itself. Development builds
//! take them from the standard library.
//!
//! The module for OpenSSL compiles this file too. The two libraries must end alike if a check that
//! cannot fail does, and a second copy would say so only until one of them is edited.

use core::alloc::{GlobalAlloc, Layout};
use core::panic::PanicInfo;
use core::ptr::null_mut;

// The standard library, which otherwise links libc, is missing.
#[link(name = "c")]
unsafe extern "C" {}

/// Ends the process. We expect no call: `cargo xtask machine-code` follows every function that C or
/// OpenSSL can call, on both architectures, and refuses a build in which one reaches a panic. But
/// the compiler wants a handler all the same, so this one says that the proof was wrong.
#[panic_handler]
fn panicked(_: &PanicInfo<'_>) -> ! {
    const LINE: &[u8] = b"headwater: a check that cannot fail has failed, which is a bug\n";
    // The call goes through syscall(2), because the C library's write is a cancellation point.
    // SAFETY: `LINE` is valid for reads of its length.
    unsafe {
        libc::syscall(libc::SYS_write, libc::STDERR_FILENO, LINE.as_ptr(), LINE.len());
        libc::abort()
    }
}

/// An allocator that has no memory. Nothing here allocates, so none should be needed. But cargo
/// unites the features of all packages of a build, and if another package enables `zeroize/alloc`,
/// an allocator must exist.
struct Never;

// SAFETY: an allocator may return null for every request, and then nothing is ever freed.
unsafe impl GlobalAlloc for Never {
    unsafe fn alloc(&self, _: Layout) -> *mut u8 {
        null_mut()
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

#[global_allocator]
static NEVER: Never = Never;
