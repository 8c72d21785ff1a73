//! Parts that a library without Rust's standard library has to bring itself.

use core::panic::PanicInfo;

// The standard library, which otherwise asks for it, is missing.
#[link(name = "c")]
unsafe extern "C" {}

/// Ends the process. No code here panics on purpose, but the handler must exist for the library to
/// link.
#[panic_handler]
fn panicked(_: &PanicInfo<'_>) -> ! {
    // SAFETY: takes nothing, does not return.
    unsafe { libc::abort() }
}
