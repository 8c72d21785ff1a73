//! The provider itself: entry point, algorithms, and headwater's status as parameters.

use crate::abi::{self, Algorithm, CoreHandle, Dispatch, Item, Param};
use crate::errors::{REASONS, Reason};
use crate::params::{DoesNotFit, answer_each};
use crate::rand::{self, entry};
use crate::stats;
use crate::upcalls::{Core, here};
use core::ffi::{CStr, c_int, c_void};
use core::mem::transmute;
use core::ptr::null;

/// The provider's context, which the core passes to each call.
pub(crate) struct Provider {
    pub(crate) core: Core,
}

/// Starts the provider. OpenSSL calls this symbol, the only one that the module exports.
///
/// Set-up waits for the first generator, because many programs load their configuration and never
/// draw.
///
/// # Safety
///
/// The arguments are those of OpenSSL's provider-base(7).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn OSSL_provider_init(
    handle: *const CoreHandle,
    from_core: *const Dispatch,
    to_core: *mut *const Dispatch,
    context: *mut *mut c_void,
) -> c_int {
    // SAFETY: the arguments come from the core.
    let Some(core) = (unsafe { Core::from_table(handle, from_core) }) else {
        return 0;
    };
    stats::begin();
    let Some(provider) = core.allocate::<Provider>(here!()) else {
        return Reason::NoMemory.raise(&core, here!());
    };
    // SAFETY: fresh memory of that size and alignment; both out-pointers come from the core.
    unsafe {
        provider.write(Provider { core });
        to_core.write(FUNCTIONS.as_ptr());
        context.write(provider.as_ptr().cast());
    }
    1
}

unsafe extern "C" fn teardown(provider: *mut c_void) {
    // SAFETY: the core calls once, at the end, when no context is left.
    unsafe {
        let provider = provider.cast::<Provider>();
        let core = (*provider).core;
        core.free(provider, here!());
    }
}

static ALGORITHMS: [Algorithm; 2] = [
    Algorithm {
        algorithm_names: c"HEADWATER".as_ptr(),
        property_definition: c"provider=headwater".as_ptr(),
        implementation: rand::FUNCTIONS.as_ptr(),
        algorithm_description: c"bytes exactly as fresh as the kernel's, at memory speed".as_ptr(),
    },
    Algorithm {
        algorithm_names: null(),
        property_definition: null(),
        implementation: null(),
        algorithm_description: null(),
    },
];

unsafe extern "C" fn query_operation(
    _provider: *mut c_void,
    operation: c_int,
    no_store: *mut c_int,
) -> *const Algorithm {
    // SAFETY: an out-pointer of the core. 0 lets the core cache the table.
    unsafe { no_store.write(0) };
    if operation == abi::OP_RAND { ALGORITHMS.as_ptr() } else { null() }
}

unsafe extern "C" fn get_reason_strings(_provider: *mut c_void) -> *const Item {
    REASONS.as_ptr()
}

// headwater's status, under the names of `headwater status --json`.
const MODE: &CStr = c"mode";
const REFILLS: &CStr = c"refills";
const DISCARDED_BYTES: &CStr = c"discarded_bytes";
const RETRIES: &CStr = c"retries";
const FALLBACKS: &CStr = c"fallbacks";

static GETTABLE: [Param; 10] = [
    Param::text(abi::NAME),
    Param::text(abi::VERSION),
    Param::text(abi::BUILD_INFO),
    Param::int(abi::STATUS),
    Param::text(MODE),
    Param::u64(REFILLS),
    Param::u64(DISCARDED_BYTES),
    Param::u64(RETRIES),
    Param::u64(FALLBACKS),
    Param::END,
];

unsafe extern "C" fn gettable_params(_provider: *mut c_void) -> *const Param {
    GETTABLE.as_ptr()
}

unsafe extern "C" fn get_params(provider: *mut c_void, params: *mut Param) -> c_int {
    // SAFETY: the core calls with a list that ends.
    match unsafe { answer_each(params, answer) } {
        Ok(()) => 1,
        Err(DoesNotFit) => {
            // SAFETY: the pointer that `OSSL_provider_init` returned.
            Reason::Parameter.raise(unsafe { &(*provider.cast::<Provider>()).core }, here!())
        }
    }
}

fn answer(key: &CStr, param: &mut Param) -> Result<(), DoesNotFit> {
    let count = |count: fn(&headwater::Counters) -> u64| count(&headwater::status().counters);
    if key == abi::NAME {
        param.set_text(c"headwater: secure random bytes at memory speed")
    } else if key == abi::VERSION || key == abi::BUILD_INFO {
        param.set_text(VERSION)
    } else if key == abi::STATUS {
        param.set_number(1)
    } else if key == MODE {
        param.set_text(mode())
    } else if key == REFILLS {
        param.set_number(count(|counters| counters.refills))
    } else if key == DISCARDED_BYTES {
        param.set_number(count(|counters| counters.discarded_bytes))
    } else if key == RETRIES {
        param.set_number(count(|counters| counters.retries))
    } else if key == FALLBACKS {
        param.set_number(count(|counters| counters.fallbacks))
    } else {
        Ok(())
    }
}

const VERSION: &CStr =
    match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => c"unknown",
    };

fn mode() -> &'static CStr {
    use headwater::Mode::{Buffered, Hedged, Kernel, Strict};
    match headwater::status().mode {
        Buffered => c"buffered",
        Hedged => c"hedged",
        Strict => c"strict",
        Kernel => c"kernel",
        _ => c"unknown",
    }
}

static FUNCTIONS: [Dispatch; 7] = [
    entry!(PROVIDER_TEARDOWN, ProviderTeardown, teardown),
    entry!(PROVIDER_GETTABLE_PARAMS, ProviderGettableParams, gettable_params),
    entry!(PROVIDER_GET_PARAMS, ProviderGetParams, get_params),
    entry!(PROVIDER_QUERY_OPERATION, ProviderQueryOperation, query_operation),
    entry!(PROVIDER_GET_REASON_STRINGS, ProviderGetReasonStrings, get_reason_strings),
    entry!(PROVIDER_RANDOM_BYTES, ProviderRandomBytes, rand::random_bytes),
    Dispatch { function_id: 0, function: None },
];
