//! The functions that this library stands in front of.

use core::ffi::{CStr, c_void};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering};

/// A function of the next library that has one of this name.
pub(super) struct Original {
    name: &'static CStr,
    /// Libraries that may have it, if the linker finds none after this one.
    libraries: &'static [&'static CStr],
    address: AtomicPtr<c_void>,
}

impl Original {
    pub(super) const fn new(name: &'static CStr) -> Original {
        Original::of(name, &[])
    }

    /// Returns the function of one of these libraries. A module of Python brings its libraries with
    /// it, which the linker then searches for that module alone; so without the names, its calls
    /// would come here and lead to nothing.
    pub(super) const fn of(name: &'static CStr, libraries: &'static [&'static CStr]) -> Original {
        Original { name, libraries, address: AtomicPtr::new(null_mut()) }
    }

    /// Returns its address. Where no libraries are named, it is null only if no library has it, and
    /// then the dynamic linker would not have started a program that calls it.
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
        let mut address = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        for library in self.libraries {
            let library = loaded(library);
            if address.is_null() && !library.is_null() {
                // SAFETY: a library that stays loaded, and a C string.
                address = unsafe { libc::dlsym(library, self.name.as_ptr()) };
            }
        }
        self.address.store(address, Ordering::Relaxed);
        address
    }
}

/// Returns a function by the name that any library of this process has for it; null if none has.
pub(super) fn anywhere(name: &CStr) -> *mut c_void {
    // SAFETY: the name is a C string.
    unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) }
}

/// Returns the library of this name, if this process has loaded it; else null. It stays loaded from
/// then on, because it is not closed.
fn loaded(library: &CStr) -> *mut c_void {
    // SAFETY: the name is a C string, and nothing is loaded, so no code runs.
    unsafe { libc::dlopen(library.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) }
}

/// Returns whether this process has loaded the library.
pub(super) fn is_loaded(library: &&&CStr) -> bool {
    !loaded(library).is_null()
}
