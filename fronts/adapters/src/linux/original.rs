//! The functions that this library stands in front of.

use core::ffi::{CStr, c_void};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering};

/// A function of the next library that has one of this name.
pub(super) struct Original {
    name: &'static CStr,
    address: AtomicPtr<c_void>,
}

impl Original {
    pub(super) const fn new(name: &'static CStr) -> Original {
        Original { name, address: AtomicPtr::new(null_mut()) }
    }

    /// Returns its address. It is null only if no library has it, and then the dynamic linker would
    /// not have started a program that calls it.
    #[inline(always)]
    pub(super) fn address(&self) -> *mut c_void {
        let address = self.address.load(Ordering::Relaxed);
        if address.is_null() { self.find() } else { address }
    }

    /// Looks for it: at the first call, which may be a constructor's that runs before ours.
    #[cold]
    #[inline(never)]
    fn find(&self) -> *mut c_void {
        // SAFETY: the name is a C string. The linker knows this library by the address of the call.
        let address = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        self.address.store(address, Ordering::Relaxed);
        address
    }
}

/// Returns a function by the name that any library of this process has for it; null if none has.
pub(super) fn anywhere(name: &CStr) -> *mut c_void {
    // SAFETY: the name is a C string.
    unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) }
}
