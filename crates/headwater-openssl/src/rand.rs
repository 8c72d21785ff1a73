//! The generator: contexts that hold a state and nothing more, over the process's pools.

use crate::abi::{self, Dispatch, Param};
use crate::errors::Reason;
use crate::params::{DoesNotFit, answer_each};
use crate::provider::Provider;
use crate::seed;
use crate::upcalls::{Core, here};
use headwater::ReseedGeneration;
use std::ffi::{CStr, c_int, c_uchar, c_uint, c_void};
use std::mem::{MaybeUninit, transmute};
use std::slice;
use std::sync::atomic::{AtomicI32, Ordering};

/// Bits of security. Keys have 256 bits, in every mode.
const STRENGTH: c_uint = 256;
/// Bytes in one call. OpenSSL asks for this number before every draw and cuts longer requests up by it.
const MAX_REQUEST: usize = 1 << 30;

/// What a context of OpenSSL's is to us. Used by several threads at once without a lock.
pub(crate) struct Context {
    provider: *const Provider,
    state: AtomicI32,
}

impl Context {
    /// # Safety
    ///
    /// `at` is what [`newctx`] gave, not freed since.
    #[inline]
    pub(crate) unsafe fn at<'a>(at: *mut c_void) -> &'a Context {
        // SAFETY: the caller's promise.
        unsafe { &*at.cast::<Context>() }
    }

    #[inline]
    pub(crate) fn core(&self) -> &Core {
        // SAFETY: OpenSSL keeps a provider for as long as there are contexts of it.
        unsafe { &(*self.provider).core }
    }

    #[inline]
    pub(crate) fn is_ready(&self) -> bool {
        self.state.load(Ordering::Relaxed) == abi::STATE_READY
    }
}

/// Fills `len` bytes at `out`; an error leaves them zero.
///
/// # Safety
///
/// `out` is valid for writes of `len` bytes, at most [`MAX_REQUEST`]; with a `len` of 0 it may be null.
#[inline]
unsafe fn draw(core: &Core, out: *mut c_uchar, len: usize, strength: c_uint, fresh: bool) -> c_int {
    if strength > STRENGTH {
        return Reason::TooStrong.raise(core, here!());
    }
    if len > MAX_REQUEST {
        return Reason::TooLong.raise(core, here!());
    }
    if len == 0 {
        return 1;
    }
    let drawn = if fresh {
        // SAFETY: the caller's promise. Zeroed first, since memory that a C program has not written yet must not be
        // read, and `fill_fresh` takes a slice of initialised bytes.
        headwater::fill_fresh(unsafe {
            out.write_bytes(0, len);
            slice::from_raw_parts_mut(out, len)
        })
    } else {
        // SAFETY: the caller's promise.
        let out = unsafe { slice::from_raw_parts_mut(out.cast::<MaybeUninit<u8>>(), len) };
        headwater::fill_uninit(out).map(drop)
    };
    match drawn {
        Ok(()) => 1,
        Err(error) => Reason::of(error).raise(core, here!()),
    }
}

/// OpenSSL gives its own generator as parent, as it would to a DRBG that must be seeded. It is not needed.
unsafe extern "C" fn newctx(
    provider: *mut c_void,
    _parent: *mut c_void,
    _parent_calls: *const Dispatch,
) -> *mut c_void {
    let provider = provider.cast::<Provider>().cast_const();
    // SAFETY: what `OSSL_provider_init` gave to the core.
    let core = unsafe { &(*provider).core };
    let Some(at) = core.allocate::<Context>(here!()) else {
        Reason::NoMemory.raise(core, here!());
        return std::ptr::null_mut();
    };
    let state = AtomicI32::new(abi::STATE_UNINITIALISED);
    // SAFETY: fresh memory of that size and alignment.
    unsafe { at.write(Context { provider, state }) };
    at.as_ptr().cast()
}

unsafe extern "C" fn freectx(context: *mut c_void) {
    if context.is_null() {
        return;
    }
    // SAFETY: the core frees a context once, and uses it no more.
    unsafe {
        let core = *Context::at(context).core();
        core.free(context.cast::<Context>(), here!());
    }
}

/// Sets up what the process needs, and waits until the kernel is seeded: once at boot, and never after. Later draws
/// make no system call but getrandom(2), so that a sandbox may be entered.
///
/// The personalisation string and the parameters, which are those of a DRBG (cipher, reseed intervals), are not used:
/// no state is made that they could set apart.
unsafe extern "C" fn instantiate(
    context: *mut c_void,
    strength: c_uint,
    _prediction_resistance: c_int,
    _personalisation: *const c_uchar,
    _personalisation_len: usize,
    _params: *const Param,
) -> c_int {
    // SAFETY: the core calls with a context of ours.
    let context = unsafe { Context::at(context) };
    if strength > STRENGTH {
        return Reason::TooStrong.raise(context.core(), here!());
    }
    match headwater::init() {
        Ok(()) => {
            context.state.store(abi::STATE_READY, Ordering::Relaxed);
            1
        }
        Err(error) => Reason::of(error).raise(context.core(), here!()),
    }
}

unsafe extern "C" fn uninstantiate(context: *mut c_void) -> c_int {
    // SAFETY: the core calls with a context of ours.
    let context = unsafe { Context::at(context) };
    context.state.store(abi::STATE_UNINITIALISED, Ordering::Relaxed);
    1
}

/// With prediction resistance the bytes have a key that the kernel gives for this request alone. Additional input is
/// accepted and not used: it could only add to a key what the kernel has in it already, 256 bits.
unsafe extern "C" fn generate(
    context: *mut c_void,
    out: *mut c_uchar,
    len: usize,
    strength: c_uint,
    prediction_resistance: c_int,
    _additional: *const c_uchar,
    _additional_len: usize,
) -> c_int {
    // SAFETY: the core calls with a context of ours.
    let context = unsafe { Context::at(context) };
    if !context.is_ready() {
        return Reason::NotInstantiated.raise(context.core(), here!());
    }
    // SAFETY: the core calls with a buffer of that length.
    unsafe { draw(context.core(), out, len, strength, prediction_resistance != 0) }
}

/// What was buffered is thrown away, in the whole process: every request from now on is served under keys that the
/// kernel gives afterwards. Entropy and additional input are accepted and not used, as in [`generate`].
unsafe extern "C" fn reseed(
    context: *mut c_void,
    _prediction_resistance: c_int,
    _entropy: *const c_uchar,
    _entropy_len: usize,
    _additional: *const c_uchar,
    _additional_len: usize,
) -> c_int {
    // SAFETY: the core calls with a context of ours.
    let context = unsafe { Context::at(context) };
    if !context.is_ready() {
        return Reason::NotInstantiated.raise(context.core(), here!());
    }
    match headwater::discard() {
        Ok(()) => 1,
        Err(_) => Reason::CannotDiscard.raise(context.core(), here!()),
    }
}

/// Nothing has to be locked. So there are no functions to lock and unlock with, which OpenSSL would call around every
/// draw, and asks for both or neither.
unsafe extern "C" fn enable_locking(_context: *mut c_void) -> c_int {
    1
}

static GETTABLE: [Param; 5] = [
    Param::int(abi::STATE),
    Param::uint(abi::STRENGTH),
    Param::u64(abi::MAX_REQUEST),
    Param::uint(abi::RESEED_COUNTER),
    Param::END,
];

unsafe extern "C" fn gettable_ctx_params(_: *mut c_void, _: *mut c_void) -> *const Param {
    GETTABLE.as_ptr()
}

/// Called before every draw, for `max_request`.
unsafe extern "C" fn get_ctx_params(context: *mut c_void, params: *mut Param) -> c_int {
    // SAFETY: the core calls with a context of ours.
    let context = unsafe { Context::at(context) };
    // SAFETY: the core calls with a list that ends.
    match unsafe { answer_each(params, |key, param| answer(context, key, param)) } {
        Ok(()) => 1,
        Err(DoesNotFit) => Reason::Parameter.raise(context.core(), here!()),
    }
}

#[inline]
fn answer(context: &Context, key: &CStr, param: &mut Param) -> Result<(), DoesNotFit> {
    if key == abi::MAX_REQUEST {
        param.set_number(MAX_REQUEST as u64)
    } else if key == abi::STATE {
        // Not negative: one of two constants.
        param.set_number(context.state.load(Ordering::Relaxed).unsigned_abs().into())
    } else if key == abi::STRENGTH {
        param.set_number(STRENGTH.into())
    } else if key == abi::RESEED_COUNTER {
        param.set_number(reseed_counter().into())
    } else {
        Ok(())
    }
}

/// A DRBG of OpenSSL's that has this generator as its parent reseeds when this number has changed. So it follows the
/// kernel's reseeds, and what else can be told of duplicated processes and machines. Where nothing can be told it stays
/// 0, and the DRBG goes by its own clock.
fn reseed_counter() -> u32 {
    let seen = match (headwater::generation(), headwater::status().reseed_generation) {
        (Some(generation), _) => generation.get(),
        (None, ReseedGeneration::Live { value, .. }) => value,
        (None, _) => 0,
    };
    ((seen >> 32) ^ seen) as u32
}

/// The contexts hold nothing of what is drawn, and the pools erase what they hand out.
unsafe extern "C" fn verify_zeroization(_context: *mut c_void) -> c_int {
    1
}

/// Draws without a context, since OpenSSL 3.5: for `random_provider = headwater`.
///
/// # Safety
///
/// As OpenSSL's documentation of `provider_random_bytes` says.
pub(crate) unsafe extern "C" fn random_bytes(
    provider: *mut c_void,
    _which: c_int,
    out: *mut c_void,
    len: usize,
    strength: c_uint,
) -> c_int {
    // SAFETY: the core calls with what `OSSL_provider_init` gave it.
    let core = unsafe { &(*provider.cast::<Provider>()).core };
    let mut done = 0;
    while done < len {
        let step = (len - done).min(MAX_REQUEST);
        // SAFETY: the core calls with a buffer of that length.
        if unsafe { draw(core, out.cast::<c_uchar>().add(done), step, strength, false) } == 0 {
            // SAFETY: as above.
            unsafe { out.cast::<c_uchar>().write_bytes(0, len) };
            return 0;
        }
        done += step;
    }
    1
}

/// An entry of the table: the number that the type belongs to, and the function.
macro_rules! entry {
    ($number:ident, $kind:ident, $function:expr) => {
        Dispatch {
            function_id: abi::$number,
            // SAFETY: OpenSSL calls it by the type that the number says, which is this one: `abi` has both from
            // one line.
            function: Some(unsafe {
                transmute::<abi::$kind, unsafe extern "C" fn()>($function as abi::$kind)
            }),
        }
    };
}
pub(crate) use entry;

pub(crate) static FUNCTIONS: [Dispatch; 13] = [
    entry!(RAND_NEWCTX, RandNewctx, newctx),
    entry!(RAND_FREECTX, RandFreectx, freectx),
    entry!(RAND_INSTANTIATE, RandInstantiate, instantiate),
    entry!(RAND_UNINSTANTIATE, RandUninstantiate, uninstantiate),
    entry!(RAND_GENERATE, RandGenerate, generate),
    entry!(RAND_RESEED, RandReseed, reseed),
    entry!(RAND_ENABLE_LOCKING, RandEnableLocking, enable_locking),
    entry!(RAND_GETTABLE_CTX_PARAMS, RandGettableCtxParams, gettable_ctx_params),
    entry!(RAND_GET_CTX_PARAMS, RandGetCtxParams, get_ctx_params),
    entry!(RAND_VERIFY_ZEROIZATION, RandVerifyZeroization, verify_zeroization),
    entry!(RAND_GET_SEED, RandGetSeed, seed::get_seed),
    entry!(RAND_CLEAR_SEED, RandClearSeed, seed::clear_seed),
    Dispatch { function_id: 0, function: None },
];
