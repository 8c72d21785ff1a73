//! AddressSanitizer, in programs that GCC has built with it.
//!
//! Its runtime checks the buffer of each getrandom() in a function of its own, which this library
//! hides: it is the first one, and the runtime one of the program's. So a buffer that is too short
//! for its draw would no longer be reported, if this module did not ask the runtime.

use super::glibc::weak;
use core::ffi::c_void;
use libc::size_t;

/// Sets the runtime up, if nothing has done so yet.
type Init = unsafe extern "C" fn();
/// Returns the first byte of a region that the program must not touch, or null.
type FirstPoisoned = unsafe extern "C" fn(*mut c_void, size_t) -> *mut c_void;
/// Reports a write, and then ends the program, unless its options say otherwise.
type Report = unsafe extern "C" fn(*mut c_void, size_t);

/// Returns true if the program has the runtime, which is ready then.
pub(super) fn begin() -> bool {
    let init = weak!("__asan_init");
    // SAFETY: the address of the runtime's function of this name and type, or null, which is
    // `None`.
    let init = unsafe { core::mem::transmute::<usize, Option<Init>>(init) };
    let Some(init) = init else { return false };
    // SAFETY: takes nothing. Each module of a program calls it, so it does nothing but for the
    // first.
    unsafe { init() };
    true
}

/// Has the runtime report the buffer, if the program must not write all of it.
#[cold]
pub(super) fn check(buf: *mut c_void, len: size_t) {
    let [first_poisoned, report] =
        [weak!("__asan_region_is_poisoned"), weak!("__asan_report_store_n_noabort")];
    // SAFETY: addresses of the runtime's functions of these names and types, or null, which is
    // `None`.
    let (first_poisoned, report) = unsafe {
        (
            core::mem::transmute::<usize, Option<FirstPoisoned>>(first_poisoned),
            core::mem::transmute::<usize, Option<Report>>(report),
        )
    };
    let (Some(first_poisoned), Some(report)) = (first_poisoned, report) else { return };
    // SAFETY: the first reads the runtime's own record of memory, and takes any region. The second
    // prints a report about an address, and reads no byte there.
    unsafe {
        let first = first_poisoned(buf, len);
        if !first.is_null() {
            report(first, len);
        }
    }
}
