//! The functions that cross the edge in either direction, each with its number.

use super::{Algorithm, Char, CoreHandle, Dispatch, Item, Param, VaList};
use core::ffi::{c_int, c_uchar, c_uint, c_void};

/// Declares functions: OpenSSL's name of the number (`OSSL_FUNC_...`), the number, our name of the
/// type, OpenSSL's name of the type (`OSSL_FUNC_..._fn`), and the type.
macro_rules! functions {
    ($($constant:ident = $number:literal, $ours:ident, $theirs:literal, $kind:ty;)*) => {
        $(
            #[allow(dead_code, reason = "each is needed by the test, most by the provider too")]
            pub(crate) const $constant: c_int = $number;
            pub(crate) type $ours = $kind;
        )*
        /// Returns names, number and C type of each function, for the comparison with the headers.
        #[cfg(test)]
        pub(super) fn all() -> Vec<(&'static str, &'static str, c_int, String)> {
            use super::headers::C;
            vec![$((stringify!($constant), $theirs, $number, <$kind>::c())),*]
        }
    };
}

// Functions of the core.
functions! {
    CORE_NEW_ERROR = 5, CoreNewError, "core_new_error",
        unsafe extern "C" fn(*const CoreHandle);
    CORE_SET_ERROR_DEBUG = 6, CoreSetErrorDebug, "core_set_error_debug",
        unsafe extern "C" fn(*const CoreHandle, *const Char, c_int, *const Char);
    CORE_VSET_ERROR = 7, CoreVsetError, "core_vset_error",
        unsafe extern "C" fn(*const CoreHandle, c_uint, *const Char, VaList);
    CRYPTO_ZALLOC = 21, CryptoZalloc, "CRYPTO_zalloc",
        unsafe extern "C" fn(usize, *const Char, c_int) -> *mut c_void;
    CRYPTO_CLEAR_FREE = 23, CryptoClearFree, "CRYPTO_clear_free",
        unsafe extern "C" fn(*mut c_void, usize, *const Char, c_int);
    CRYPTO_SECURE_ZALLOC = 27, CryptoSecureZalloc, "CRYPTO_secure_zalloc",
        unsafe extern "C" fn(usize, *const Char, c_int) -> *mut c_void;
    CRYPTO_SECURE_CLEAR_FREE = 29, CryptoSecureClearFree, "CRYPTO_secure_clear_free",
        unsafe extern "C" fn(*mut c_void, usize, *const Char, c_int);

    // Functions of the provider.
    PROVIDER_TEARDOWN = 1024, ProviderTeardown, "provider_teardown",
        unsafe extern "C" fn(*mut c_void);
    PROVIDER_GETTABLE_PARAMS = 1025, ProviderGettableParams, "provider_gettable_params",
        unsafe extern "C" fn(*mut c_void) -> *const Param;
    PROVIDER_GET_PARAMS = 1026, ProviderGetParams, "provider_get_params",
        unsafe extern "C" fn(*mut c_void, *mut Param) -> c_int;
    PROVIDER_QUERY_OPERATION = 1027, ProviderQueryOperation, "provider_query_operation",
        unsafe extern "C" fn(*mut c_void, c_int, *mut c_int) -> *const Algorithm;
    PROVIDER_GET_REASON_STRINGS = 1029, ProviderGetReasonStrings, "provider_get_reason_strings",
        unsafe extern "C" fn(*mut c_void) -> *const Item;
    // Since OpenSSL 3.5.
    PROVIDER_RANDOM_BYTES = 1032, ProviderRandomBytes, "provider_random_bytes",
        unsafe extern "C" fn(*mut c_void, c_int, *mut c_void, usize, c_uint) -> c_int;

    // Functions of the generator.
    RAND_NEWCTX = 1, RandNewctx, "rand_newctx",
        unsafe extern "C" fn(*mut c_void, *mut c_void, *const Dispatch) -> *mut c_void;
    RAND_FREECTX = 2, RandFreectx, "rand_freectx",
        unsafe extern "C" fn(*mut c_void);
    RAND_INSTANTIATE = 3, RandInstantiate, "rand_instantiate",
        unsafe extern "C" fn(*mut c_void, c_uint, c_int, *const c_uchar, usize, *const Param) -> c_int;
    RAND_UNINSTANTIATE = 4, RandUninstantiate, "rand_uninstantiate",
        unsafe extern "C" fn(*mut c_void) -> c_int;
    RAND_GENERATE = 5, RandGenerate, "rand_generate",
        unsafe extern "C" fn(*mut c_void, *mut c_uchar, usize, c_uint, c_int, *const c_uchar, usize) -> c_int;
    RAND_RESEED = 6, RandReseed, "rand_reseed",
        unsafe extern "C" fn(*mut c_void, c_int, *const c_uchar, usize, *const c_uchar, usize) -> c_int;
    RAND_ENABLE_LOCKING = 8, RandEnableLocking, "rand_enable_locking",
        unsafe extern "C" fn(*mut c_void) -> c_int;
    RAND_GETTABLE_CTX_PARAMS = 12, RandGettableCtxParams, "rand_gettable_ctx_params",
        unsafe extern "C" fn(*mut c_void, *mut c_void) -> *const Param;
    RAND_GET_CTX_PARAMS = 15, RandGetCtxParams, "rand_get_ctx_params",
        unsafe extern "C" fn(*mut c_void, *mut Param) -> c_int;
    RAND_VERIFY_ZEROIZATION = 17, RandVerifyZeroization, "rand_verify_zeroization",
        unsafe extern "C" fn(*mut c_void) -> c_int;
    RAND_GET_SEED = 18, RandGetSeed, "rand_get_seed",
        unsafe extern "C" fn(*mut c_void, *mut *mut c_uchar, c_int, usize, usize, c_int, *const c_uchar, usize) -> usize;
    RAND_CLEAR_SEED = 19, RandClearSeed, "rand_clear_seed",
        unsafe extern "C" fn(*mut c_void, *mut c_uchar, usize);
}
