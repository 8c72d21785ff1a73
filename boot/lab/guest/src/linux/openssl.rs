//! The distribution's libcrypto as a witness: its own generator, and headwater's provider, by the
//! same call.
//!
//! The provider is the module that users install, source file by source file. A static program
//! cannot load a module, so the provider is linked in and passed to OSSL_PROVIDER_add_builtin(3).
//! It serves a library context of its own (OSSL_LIB_CTX(3)), and the default context keeps
//! OpenSSL's generator.

/// Calls RAND_bytes. Returns false on failure, or without libcrypto.
pub(crate) fn fill(bytes: &mut [u8]) -> bool {
    linked::fill(bytes)
}

/// Calls RAND_bytes with headwater's provider.
pub(crate) fn fill_by_headwater(bytes: &mut [u8]) -> bool {
    linked::fill_by_headwater(bytes)
}

/// Returns the version of libcrypto, or the reason why it is absent.
pub(crate) fn version() -> String {
    linked::version()
}

#[cfg(openssl)]
mod linked {
    use core::ffi::{CStr, c_char, c_int, c_uint, c_void};
    use headwater_openssl as _; // for OSSL_provider_init
    use std::ptr::{null, null_mut};
    use std::sync::OnceLock;

    /// OSSL_LIB_CTX.
    #[repr(transparent)]
    struct Context(*mut c_void);

    // SAFETY: a library context may be used by all threads of a process (OSSL_LIB_CTX(3)).
    unsafe impl Send for Context {}
    // SAFETY: the same rule of OpenSSL's allows several threads at the same time.
    unsafe impl Sync for Context {}

    // This side dereferences nothing. Types as in openssl/{crypto,provider,rand,evp}.h of 3.0.
    unsafe extern "C" {
        fn RAND_bytes(buf: *mut u8, num: c_int) -> c_int;
        fn RAND_bytes_ex(ctx: *mut c_void, buf: *mut u8, num: usize, strength: c_uint) -> c_int;
        fn RAND_set_DRBG_type(
            ctx: *mut c_void,
            drbg: *const c_char,
            properties: *const c_char,
            cipher: *const c_char,
            digest: *const c_char,
        ) -> c_int;
        fn RAND_get0_public(ctx: *mut c_void) -> *mut c_void;
        fn EVP_RAND_CTX_get0_rand(rand: *mut c_void) -> *mut c_void;
        fn EVP_RAND_get0_name(rand: *const c_void) -> *const c_char;
        fn OSSL_LIB_CTX_new() -> *mut c_void;
        fn OSSL_PROVIDER_add_builtin(
            ctx: *mut c_void,
            name: *const c_char,
            init: unsafe extern "C" fn(
                *const c_void,
                *const c_void,
                *mut *const c_void,
                *mut *mut c_void,
            ) -> c_int,
        ) -> c_int;
        fn OSSL_PROVIDER_load(ctx: *mut c_void, name: *const c_char) -> *mut c_void;
        fn OpenSSL_version(what: c_int) -> *const c_char;

        /// Sets up the provider. It is the provider's own entry point, under the name that OpenSSL
        /// looks for in a module.
        fn OSSL_provider_init(
            handle: *const c_void,
            from_core: *const c_void,
            to_core: *mut *const c_void,
            context: *mut *mut c_void,
        ) -> c_int;
    }

    pub(super) fn fill(bytes: &mut [u8]) -> bool {
        // SAFETY: pointer and length are those of `bytes`; the function locks by itself.
        unsafe { RAND_bytes(bytes.as_mut_ptr(), bytes.len() as c_int) == 1 }
    }

    pub(super) fn fill_by_headwater(bytes: &mut [u8]) -> bool {
        static CONTEXT: OnceLock<Option<Context>> = OnceLock::new();
        let Some(Context(context)) = CONTEXT.get_or_init(set_up) else { return false };
        // SAFETY: a context that is never freed; pointer and length are those of `bytes`; 0
        // requires no particular strength.
        unsafe { RAND_bytes_ex(*context, bytes.as_mut_ptr(), bytes.len(), 0) == 1 }
    }

    /// Returns a context whose generator is headwater's, after a check of the generator's name.
    fn set_up() -> Option<Context> {
        // SAFETY: strings end in zero; null means no property query, cipher or digest; each handle
        // is checked before its use, and none is ever freed. The entry point has the type
        // OSSL_provider_init_fn.
        unsafe {
            let context = OSSL_LIB_CTX_new();
            if context.is_null()
                || OSSL_PROVIDER_add_builtin(context, c"headwater".as_ptr(), OSSL_provider_init) != 1
                || OSSL_PROVIDER_load(context, c"headwater".as_ptr()).is_null()
                // OpenSSL sets up a seed source above every generator, from its own provider.
                || OSSL_PROVIDER_load(context, c"default".as_ptr()).is_null()
                || RAND_set_DRBG_type(context, c"HEADWATER".as_ptr(), null(), null(), null()) != 1
            {
                return None;
            }
            let rand = RAND_get0_public(context);
            let rand = if rand.is_null() { null_mut() } else { EVP_RAND_CTX_get0_rand(rand) };
            let ours = !rand.is_null() && CStr::from_ptr(EVP_RAND_get0_name(rand)) == c"HEADWATER";
            ours.then_some(Context(context))
        }
    }

    pub(super) fn version() -> String {
        // SAFETY: 0 is OPENSSL_VERSION; the answer is a constant string.
        unsafe { CStr::from_ptr(OpenSSL_version(0)) }.to_string_lossy().into_owned()
    }
}

#[cfg(not(openssl))]
mod linked {
    pub(super) fn fill(_: &mut [u8]) -> bool {
        false
    }

    pub(super) fn fill_by_headwater(_: &mut [u8]) -> bool {
        false
    }

    pub(super) fn version() -> String {
        "absent: no libcrypto.a where this guest was built".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `set_up` checks that the generator is headwater's; this test checks that `set_up` succeeds.
    #[test]
    fn both_generators_of_the_libcrypto_linked_in_give_bytes() {
        if version().starts_with("absent") {
            println!(
                "skipped: OpenSSL: libcrypto.a not found; its repeats in clones are not shown"
            );
            return;
        }
        let mut drawn = [[0; 16]; 4];
        let [a, b, c, d] = &mut drawn;
        assert!(fill(a) && fill(b), "OpenSSL's own");
        assert!(fill_by_headwater(c) && fill_by_headwater(d), "headwater's provider");
        for (at, bytes) in drawn.iter().enumerate() {
            assert!(!drawn[..at].contains(bytes) && *bytes != [0; 16], "{drawn:02x?}");
        }
    }
}
