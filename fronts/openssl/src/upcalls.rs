//! Services of OpenSSL's core: memory and the error queue.

use crate::abi::{
    self, Char, CoreHandle, CoreNewError, CoreSetErrorDebug, CoreVsetError, CryptoClearFree,
    CryptoSecureClearFree, CryptoSecureZalloc, CryptoZalloc, Dispatch, VaList,
};
use core::ffi::{CStr, c_int, c_uint, c_void};
use core::mem::transmute;
use core::ptr::NonNull;

/// A function of any type, as an entry of a table.
type Entry = Option<unsafe extern "C" fn()>;

/// A place in the source, which OpenSSL shows with allocations and errors.
#[derive(Clone, Copy)]
pub(crate) struct CodePlace {
    pub(crate) file: &'static CStr,
    pub(crate) line: c_int,
}

impl CodePlace {
    fn file(self) -> *const Char {
        self.file.as_ptr().cast()
    }
}

/// Returns the place of the call.
macro_rules! here {
    () => {
        $crate::upcalls::CodePlace {
            file: const {
                match core::ffi::CStr::from_bytes_with_nul(concat!(file!(), "\0").as_bytes()) {
                    Ok(file) => file,
                    Err(_) => c"headwater-openssl",
                }
            },
            line: line!() as core::ffi::c_int,
        }
    };
}
pub(crate) use here;

/// The core's functions, and this provider's handle.
#[derive(Clone, Copy)]
pub(crate) struct Core {
    handle: *const CoreHandle,
    zalloc: CryptoZalloc,
    clear_free: CryptoClearFree,
    secure_zalloc: CryptoSecureZalloc,
    secure_clear_free: CryptoSecureClearFree,
    /// Without all three functions, only the return value reports an error.
    errors: Option<(CoreNewError, CoreSetErrorDebug, CoreVsetError)>,
}

impl Core {
    /// Reads a table of functions. Returns `None` if the memory functions are missing.
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
        // SAFETY: the number 0 ends the table. Each number belongs to the type of its function:
        // `abi` declares both on one line, and a test compares the line with the header. An Option
        // of a function pointer has the size of the pointer, and None is null.
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

    /// Allocates a zeroed `T` with malloc's alignment, or returns `None` if memory is exhausted.
    pub(crate) fn allocate<T>(&self, place: CodePlace) -> Option<NonNull<T>> {
        const { assert!(align_of::<T>() <= align_of::<u128>()) };
        // SAFETY: the core's function. It keeps the pointer to the file name, a constant.
        let at = unsafe { (self.zalloc)(size_of::<T>(), place.file(), place.line) };
        NonNull::new(at.cast())
    }

    /// Erases and frees memory of [`allocate`](Core::allocate).
    ///
    /// # Safety
    ///
    /// `at` is null, or came from `allocate` and is not used afterwards.
    pub(crate) unsafe fn free<T>(&self, at: *mut T, place: CodePlace) {
        // SAFETY: the core's function takes null. Otherwise `allocate` asked the same core for
        // `size_of::<T>()` bytes, so as many are erased and freed, once.
        unsafe { (self.clear_free)(at.cast(), size_of::<T>(), place.file(), place.line) };
    }

    /// Allocates `len` zeroed bytes for secrets. If the application set up OpenSSL's secure heap,
    /// the bytes never reach swap.
    pub(crate) fn allocate_secure(&self, len: usize, place: CodePlace) -> Option<NonNull<u8>> {
        // SAFETY: the core's function, as in `allocate`.
        let at = unsafe { (self.secure_zalloc)(len, place.file(), place.line) };
        NonNull::new(at.cast())
    }

    /// Erases and frees memory of [`allocate_secure`](Core::allocate_secure).
    ///
    /// # Safety
    ///
    /// `at` is null, or `len` bytes from `allocate_secure` that are not used afterwards.
    pub(crate) unsafe fn free_secure(&self, at: *mut u8, len: usize, place: CodePlace) {
        // SAFETY: the core's function takes null. Otherwise the bytes are of its secure heap or of
        // the fallback that it chose itself, `len` of them, and are freed once.
        unsafe { (self.secure_clear_free)(at.cast(), len, place.file(), place.line) };
    }

    /// Adds an error to this thread's queue, with its number and a text.
    ///
    /// OpenSSL passes `details` to printf, so it must not contain `%`.
    #[cold]
    pub(crate) fn raise(&self, reason: c_uint, details: &CStr, place: CodePlace) {
        let Some((new_error, set_error_debug, vset_error)) = self.errors else {
            return;
        };
        // An empty argument list. x86-64 and arm64 pass a `va_list` by address. Not null, because
        // arm64 copies the 32 bytes there before it reads the format.
        let mut no_arguments = [0_u64; 8];
        let no_arguments = VaList((&raw mut no_arguments).cast::<c_void>());
        // SAFETY: the core's functions and handle. They copy the texts.
        unsafe {
            new_error(self.handle);
            set_error_debug(self.handle, place.file(), place.line, c"headwater".as_ptr().cast());
            vset_error(self.handle, reason, details.as_ptr().cast(), no_arguments);
        }
    }
}
