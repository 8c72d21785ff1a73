//! What a program without the standard library has to bring itself. Development builds have it instead.

use core::alloc::{GlobalAlloc, Layout};
use core::panic::PanicInfo;
use core::ptr::null_mut;

// Named here because the standard library, which otherwise asks for it, is missing.
#[link(name = "c")]
unsafe extern "C" {}

/// Nothing here panics on purpose, and `cargo xtask machine-code` looks for ways to: what is left are checks of the
/// crate `aes` that cannot fail. If one does, the process must end.
#[panic_handler]
fn panicked(_: &PanicInfo<'_>) -> ! {
    const LINE: &[u8] = b"headwater: a check that cannot fail has failed, which is a bug\n";
    // SAFETY: valid for reads of its length, which is all that write does with it; abort takes nothing.
    unsafe {
        libc::write(libc::STDERR_FILENO, LINE.as_ptr().cast(), LINE.len());
        libc::abort()
    }
}

/// Nothing here allocates. But cargo adds up the features of all packages that it builds at once, some other package
/// asks `zeroize` for its feature `alloc`, and then there must be an allocator.
struct Never;

// SAFETY: null is what an allocator without memory gives, so that there is nothing to be given back.
unsafe impl GlobalAlloc for Never {
    unsafe fn alloc(&self, _: Layout) -> *mut u8 {
        null_mut()
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

#[global_allocator]
static NEVER: Never = Never;
