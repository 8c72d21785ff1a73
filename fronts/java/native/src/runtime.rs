//! The parts that a library without the standard library must define itself.

use core::panic::PanicInfo;

/// Ends the process, because nothing may unwind into the JVM.
///
/// The step "no panic in Java's library" of `cargo xtask test` shows that no draw leads here. But
/// fills of streams keep checks of indices, none of which can fail, so a handler has to exist.
#[panic_handler]
fn panicked(_: &PanicInfo<'_>) -> ! {
    const LINE: &[u8] = b"headwater: a check that cannot fail has failed, which is a bug\n";
    // SAFETY: `LINE` is valid for reads of its length.
    unsafe {
        libc::write(libc::STDERR_FILENO, LINE.as_ptr().cast(), LINE.len());
        libc::abort()
    }
}
