//! What OpenSSL's core lends the provider: memory, and its error queue.

use crate::abi::{
    self, Char, CoreHandle, CoreNewError, CoreSetErrorDebug, CoreVsetError, CryptoClearFree,
    CryptoSecureClearFree, CryptoSecureZalloc, CryptoZalloc, Dispatch, VaList,
};
use std::ffi::{CStr, c_int, c_uint, c_void};
use std::mem::transmute;
use std::ptr::NonNull;

/// A function of any type, as a table has it.
type Entry = Option<unsafe extern "C" fn()>;

/// Where an allocation or an error happened, as OpenSSL shows it.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub(crate) file: &'static CStr,
    pub(crate) line: c_int,
}

impl Place {
    fn file(self) -> *const Char {
        self.file.as_ptr().cast()
    }
}

/// This place in the source.
macro_rules! here {
    () => {
        $crate::upcalls::Place {
            file: const {
                match std::ffi::CStr::from_bytes_with_nul(concat!(file!(), "\0").as_bytes()) {
                    Ok(file) => file,
                    Err(_) => c"headwater-openssl",
                }
            },
            line: line!() as std::ffi::c_int,
        }
    };
}
pub(crate) use here;

/// The core's functions, and the handle that they know this provider by.
#[derive(Clone, Copy)]
pub(crate) struct Core {
    handle: *const CoreHandle,
    zalloc: CryptoZalloc,
    clear_free: CryptoClearFree,
    secure_zalloc: CryptoSecureZalloc,
    secure_clear_free: CryptoSecureClearFree,
    /// Without all three, errors are told by the return value alone.
    errors: Option<(CoreNewError, CoreSetErrorDebug, CoreVsetError)>,
}

impl Core {
    /// The core that hands over this table; None if it lacks memory, without which nothing works.
    ///
    /// # Safety
    ///
    /// `table` is the one that `OSSL_provider_init` was called with, and `handle` as well.
    pub(crate) unsafe fn from_table(
        handle: *const CoreHandle,
        mut table: *const Dispatch,
    ) -> Option<Core> {
        let (mut zalloc, mut clear_free, mut secure_zalloc, mut secure_clear_free) =
            (None, None, None, None);
        let (mut new_error, mut set_error_debug, mut vset_error) = (None, None, None);
        // SAFETY: the table ends with the number 0. Each number stands for the type that its function is taken
        // for: `abi` has both from the same line, which a test compares with the header. An Option of a function
        // has the size of the function, and None for null.
        unsafe {
            while (*table).function_id != 0 {
                let function = (*table).function;
                match (*table).function_id {
                    abi::CRYPTO_ZALLOC => {
                        zalloc = transmute::<Entry, Option<CryptoZalloc>>(function);
                    }
                    abi::CRYPTO_CLEAR_FREE => {
                        clear_free = transmute::<Entry, Option<CryptoClearFree>>(function);
                    }
                    abi::CRYPTO_SECURE_ZALLOC => {
                        secure_zalloc = transmute::<Entry, Option<CryptoSecureZalloc>>(function);
                    }
                    abi::CRYPTO_SECURE_CLEAR_FREE => {
                        secure_clear_free =
                            transmute::<Entry, Option<CryptoSecureClearFree>>(function);
                    }
                    abi::CORE_NEW_ERROR => {
                        new_error = transmute::<Entry, Option<CoreNewError>>(function);
                    }
                    abi::CORE_SET_ERROR_DEBUG => {
                        set_error_debug = transmute::<Entry, Option<CoreSetErrorDebug>>(function);
                    }
                    abi::CORE_VSET_ERROR => {
                        vset_error = transmute::<Entry, Option<CoreVsetError>>(function);
                    }
                    _ => {}
                }
                table = table.add(1);
            }
        }
        Some(Core {
            handle,
            zalloc: zalloc?,
            clear_free: clear_free?,
            secure_zalloc: secure_zalloc?,
            secure_clear_free: secure_clear_free?,
            errors: new_error
                .zip(set_error_debug)
                .zip(vset_error)
                .map(|((new, debug), vset)| (new, debug, vset)),
        })
    }

    /// Memory for a `T`, zeroed and aligned as malloc's is; None if there is none left.
    pub(crate) fn allocate<T>(&self, place: Place) -> Option<NonNull<T>> {
        const { assert!(align_of::<T>() <= align_of::<u128>()) };
        // SAFETY: the core's own function; it keeps the file's name, which is a constant.
        let at = unsafe { (self.zalloc)(size_of::<T>(), place.file(), place.line) };
        NonNull::new(at.cast())
    }

    /// Erases and frees what [`allocate`](Core::allocate) gave.
    ///
    /// # Safety
    ///
    /// `at` is null, or from there and not used any more.
    pub(crate) unsafe fn free<T>(&self, at: *mut T, place: Place) {
        // SAFETY: the caller's promise.
        unsafe { (self.clear_free)(at.cast(), size_of::<T>(), place.file(), place.line) };
    }

    /// `len` bytes of memory for secrets, zeroed: never in swap, if the application has asked OpenSSL for that.
    pub(crate) fn allocate_secure(&self, len: usize, place: Place) -> Option<NonNull<u8>> {
        // SAFETY: as in `allocate`.
        let at = unsafe { (self.secure_zalloc)(len, place.file(), place.line) };
        NonNull::new(at.cast())
    }

    /// Erases and frees what [`allocate_secure`](Core::allocate_secure) gave.
    ///
    /// # Safety
    ///
    /// `at` is null, or `len` bytes from there that are not used any more.
    pub(crate) unsafe fn free_secure(&self, at: *mut u8, len: usize, place: Place) {
        // SAFETY: the caller's promise.
        unsafe { (self.secure_clear_free)(at.cast(), len, place.file(), place.line) };
    }

    /// Puts an error into this thread's queue: its number, and a text for people.
    ///
    /// `details` is a format of printf's to OpenSSL, so it must hold no `%`.
    #[cold]
    pub(crate) fn raise(&self, reason: c_uint, details: &CStr, place: Place) {
        let Some((new_error, set_error_debug, vset_error)) = self.errors else {
            return;
        };
        // An empty list of arguments, which nothing is taken from. A `va_list` is passed by its address, on x86-64
        // and arm64 alike, and arm64 copies the 32 bytes there before it looks at the format: so no null.
        let mut no_arguments = [0_u64; 8];
        let no_arguments = VaList((&raw mut no_arguments).cast::<c_void>());
        // SAFETY: the core's own functions and handle; they copy the texts.
        unsafe {
            new_error(self.handle);
            set_error_debug(self.handle, place.file(), place.line, c"headwater".as_ptr().cast());
            vset_error(self.handle, reason, details.as_ptr().cast(), no_arguments);
        }
    }
}
