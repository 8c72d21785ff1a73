//! Cases that programs cannot reach through OpenSSL: seeds themselves, and a core without memory.

use crate::abi::{self, Dispatch};
use crate::provider::OSSL_provider_init;
use crate::rand::{FUNCTIONS, entry};
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::mem::transmute;
use std::ptr::{null, null_mut};

thread_local! {
    /// Allocations that this thread may still make.
    static LEFT: Cell<u32> = const { Cell::new(u32::MAX) };
}

fn layout(len: usize) -> Layout {
    Layout::from_size_align(len.max(1), 16).unwrap()
}

unsafe extern "C" fn zalloc(len: usize, _: *const abi::Char, _: c_int) -> *mut c_void {
    if LEFT.get() == 0 {
        return null_mut();
    }
    LEFT.set(LEFT.get() - 1);
    // SAFETY: a layout of at least one byte.
    unsafe { alloc_zeroed(layout(len)).cast() }
}

unsafe extern "C" fn clear_free(at: *mut c_void, len: usize, _: *const abi::Char, _: c_int) {
    if !at.is_null() {
        // SAFETY: from `zalloc`, with this length.
        unsafe { dealloc(at.cast(), layout(len)) };
    }
}

static CORE: [Dispatch; 5] = [
    entry!(CRYPTO_ZALLOC, CryptoZalloc, zalloc),
    entry!(CRYPTO_CLEAR_FREE, CryptoClearFree, clear_free),
    entry!(CRYPTO_SECURE_ZALLOC, CryptoZalloc, zalloc),
    entry!(CRYPTO_SECURE_CLEAR_FREE, CryptoClearFree, clear_free),
    Dispatch { function_id: 0, function: None },
];

/// Returns the generator's function of this number and type. For unsafe blocks.
macro_rules! function {
    ($number:ident, $kind:ident) => {{
        let entry = FUNCTIONS.iter().find(|entry| entry.function_id == abi::$number).unwrap();
        transmute::<unsafe extern "C" fn(), abi::$kind>(entry.function.unwrap())
    }};
}

/// Starts the provider with this core.
fn provider() -> Option<*mut c_void> {
    let (mut functions, mut provider) = (null(), null_mut());
    // SAFETY: arguments of a core.
    let made =
        unsafe { OSSL_provider_init(null(), CORE.as_ptr(), &raw mut functions, &raw mut provider) };
    (made == 1).then_some(provider)
}

/// Returns an instantiated generator.
fn context() -> *mut c_void {
    // SAFETY: arguments of a core.
    unsafe {
        let context = function!(RAND_NEWCTX, RandNewctx)(provider().unwrap(), null_mut(), null());
        let ready =
            function!(RAND_INSTANTIATE, RandInstantiate)(context, 256, 0, null(), 0, null());
        assert_eq!(ready, 1);
        context
    }
}

fn seed(context: *mut c_void, entropy: c_int, min: usize, max: usize) -> Option<Vec<u8>> {
    let mut at = null_mut();
    // SAFETY: what a core calls with; the seed has the length that is answered.
    unsafe {
        let get = function!(RAND_GET_SEED, RandGetSeed);
        let len = get(context, &raw mut at, entropy, min, max, 0, null(), 0);
        let seed = (len > 0).then(|| std::slice::from_raw_parts(at, len).to_vec());
        assert_eq!(seed.is_none(), at.is_null());
        function!(RAND_CLEAR_SEED, RandClearSeed)(context, at, len);
        seed
    }
}

/// Two halves equal: 2^-128 for each pair.
#[test]
fn seeds_are_as_long_as_asked_for_and_never_the_same() {
    let context = context();
    let mut seen = Vec::new();
    for (entropy, min, len) in [(256, 0, 32), (256, 48, 48), (384, 32, 48), (1024, 0, 128)] {
        for _ in 0..10 {
            let seed = seed(context, entropy, min, 1000).unwrap();
            assert_eq!(seed.len(), len);
            seen.extend(seed.as_chunks::<16>().0.to_vec());
        }
    }
    let count = seen.len();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), count);
    assert_eq!(seed(context, 256, 0, 31), None, "no room for as much entropy");
}

#[test]
fn without_memory_there_is_an_error_and_no_crash() {
    let (provider_made, context) = (provider().unwrap(), context());
    LEFT.set(0);
    assert_eq!(provider(), None);
    // SAFETY: arguments of a core.
    let made = unsafe { function!(RAND_NEWCTX, RandNewctx)(provider_made, null_mut(), null()) };
    assert!(made.is_null());
    assert_eq!(seed(context, 256, 0, 1000), None);
    LEFT.set(u32::MAX);
    assert!(seed(context, 256, 0, 1000).is_some());
}
