//! AddressSanitizer, in programs that GCC has built with it.
//!
//! Its runtime checks the buffer of each getrandom() in a function of its own, which this library
//! hides: it is the first one, and the runtime one of the program's. So a buffer that is too short
//! for its draw would no longer be reported, if this module did not ask the runtime.

use super::glibc::weak;
use core::ffi::c_void;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use libc::size_t;

/// Returns the first byte of a region that the program must not touch, or null.
type FirstPoisoned = unsafe extern "C" fn(*mut c_void, size_t) -> *mut c_void;
/// Reports a write, and then ends the program, unless its options say otherwise.
type Report = unsafe extern "C" fn(*mut c_void, size_t);

/// The runtime's functions, and 0 until [`begin`] has found them. Relaxed: each is an address.
static FIRST_POISONED: AtomicUsize = AtomicUsize::new(0);
static REPORT: AtomicUsize = AtomicUsize::new(0);

/// Returns true if the program has the runtime, which is ready then.
pub(super) fn begin() -> bool {
    let [init, first_poisoned, report] = [
        weak!("__asan_init"),
        weak!("__asan_region_is_poisoned"),
        weak!("__asan_report_store_n_noabort"),
    ];
    if [init, first_poisoned, report].contains(&0) {
        return false;
    }
    // SAFETY: the address of the runtime's function, which takes nothing. Each module of a program
    // calls it, so it does nothing but for the first.
    unsafe { core::mem::transmute::<usize, unsafe extern "C" fn()>(init)() };
    FIRST_POISONED.store(first_poisoned, Relaxed);
    REPORT.store(report, Relaxed);
    true
}

/// Has the runtime report the buffer, if the program must not write all of it.
#[cold]
pub(super) fn check(buf: *mut c_void, len: size_t) {
    // SAFETY: addresses that `begin` has found, or null, which is `None`.
    let functions = unsafe {
        (
            core::mem::transmute::<usize, Option<FirstPoisoned>>(FIRST_POISONED.load(Relaxed)),
            core::mem::transmute::<usize, Option<Report>>(REPORT.load(Relaxed)),
        )
    };
    let (Some(first_poisoned), Some(report)) = functions else { return };
    // SAFETY: the first reads the runtime's own record of memory, and takes any region. The second
    // prints a report about an address, and reads no byte there.
    unsafe {
        let first = first_poisoned(buf, len);
        if !first.is_null() {
            report(first, len);
        }
    }
}
