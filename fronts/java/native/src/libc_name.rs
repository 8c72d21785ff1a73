//! The name of the C library, for the status document.

use core::ffi::{c_char, c_int};
use core::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// glibc's name for the question; musl does not know it.
const CS_GNU_LIBC_VERSION: c_int = 2;
/// confstr(3) answers with this before the version.
const PREFIX: usize = "glibc ".len();

// SAFETY: POSIX's declaration of confstr.
unsafe extern "C" {
    fn confstr(name: c_int, buf: *mut c_char, len: usize) -> usize;
}

/// Every call stores the same bytes, so a reader in another thread sees a whole version.
static VERSION: [AtomicU8; 32] = [const { AtomicU8::new(0) }; 32];

/// Takes the place of glibc's function, which headwater-status calls. musl has none, and a missing
/// symbol would keep this library from being loaded there.
#[unsafe(no_mangle)]
extern "C" fn gnu_get_libc_version() -> *const c_char {
    let mut text = [0_u8; PREFIX + 32];
    // SAFETY: the buffer is valid for writes of its length.
    let len = unsafe { confstr(CS_GNU_LIBC_VERSION, text.as_mut_ptr().cast(), text.len()) };
    if len <= PREFIX || len > text.len() {
        return c"absent".as_ptr();
    }
    for (place, byte) in VERSION[..31].iter().zip(&text[PREFIX..len]) {
        place.store(*byte, Relaxed);
    }
    VERSION.as_ptr().cast()
}
