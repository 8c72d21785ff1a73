//! Built by `tests/libraries.rs` as a shared library with OpenSSL's soname, in several versions.

use std::ffi::{c_char, c_int};
use std::sync::atomic::{AtomicU64, Ordering};

#[cfg(not(empty))]
#[unsafe(no_mangle)]
pub extern "C" fn OpenSSL_version(_: c_int) -> *const c_char {
    concat!("OpenSSL ", env!("FAKE_VERSION"), " 1 Jan 2030\0").as_ptr().cast()
}

/// Writes numbers that change, which is all that is looked at; with `zero`, as a broken generator.
#[cfg(not(empty))]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn RAND_bytes(buf: *mut u8, len: c_int) -> c_int {
    static STATE: AtomicU64 = AtomicU64::new(1);
    for index in 0..len as usize {
        let state = STATE.fetch_add(0x9E37_79B9_7F4A_7C15, Ordering::Relaxed);
        let byte = if cfg!(zero) { 0 } else { (state >> 56) as u8 };
        // SAFETY: the caller's buffer has `len` bytes.
        unsafe { buf.add(index).write(byte) };
    }
    1
}
