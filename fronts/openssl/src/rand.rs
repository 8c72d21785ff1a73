//! The generator: contexts without data of their own, over the process's pools.

use crate::abi::{self, Dispatch, Param};
use crate::errors::Reason;
use crate::params::{DoesNotFit, answer_each};
use crate::provider::Provider;
use crate::seed;
use crate::stats;
use crate::upcalls::{Core, here};
use core::ffi::{CStr, c_int, c_uchar, c_uint, c_void};
use core::mem::{MaybeUninit, transmute};
use core::slice;
use core::sync::atomic::{AtomicI32, Ordering};
use headwater::ReseedGeneration;

/// Bits of security: keys have 256 bits in every mode.
const STRENGTH: c_uint = 256;
/// Bytes of one call. OpenSSL reads this number before every draw and splits longer requests.
const MAX_REQUEST: usize = 1 << 30;

/// A context of OpenSSL's, which several threads may use at once without a lock.
pub(crate) struct Context {
    provider: *const Provider,
    state: AtomicI32,
}

impl Context {
    /// # Safety
    ///
    /// `at` came from [`newctx`] and is not freed yet.
    #[inline]
    pub(crate) unsafe fn at<'a>(at: *mut c_void) -> &'a Context {
        // SAFETY: `newctx` wrote a context there, and it is not freed yet. Several threads may hold
        // this reference: of the context only `state` changes, and it is atomic.
        unsafe { &*at.cast::<Context>() }
    }

    #[inline]
    pub(crate) fn core(&self) -> &Core {
        // SAFETY: OpenSSL frees a provider after its last context.
        unsafe { &(*self.provider).core }
    }

    /// Makes the context ready if it was never instantiated, was uninstantiated, or is in error. To
    /// refuse would look stricter, but then RAND_bytes would fail for ever in a thread whose public
    /// generator was uninstantiated. OpenSSL's own generator recovers in the same way.
    #[inline]
    pub(crate) fn make_ready(&self) -> Result<(), Reason> {
        if self.state.load(Ordering::Relaxed) == abi::STATE_READY {
            return Ok(());
        }
        self.set_up()
    }

    #[cold]
    fn set_up(&self) -> Result<(), Reason> {
        let done = headwater::init();
        let state = if done.is_ok() { abi::STATE_READY } else { abi::STATE_ERROR };
        self.state.store(state, Ordering::Relaxed);
        done.map_err(Reason::of)
    }

    /// Returns the state that EVP_RAND_get_state and RAND_status report. A ready context draws one
    /// byte, because a sandbox may have closed the sources since the last draw.
    fn state(&self) -> c_int {
        let state = self.state.load(Ordering::Relaxed);
        if state == abi::STATE_READY && headwater::try_fill(&mut [0]).is_err() {
            abi::STATE_ERROR
        } else {
            state
        }
    }
}

/// Fills `len` bytes at `out`; an error leaves them zero.
///
/// # Safety
///
/// `out` is valid for writes of `len` bytes, at most [`MAX_REQUEST`]; with a `len` of 0 it may be
/// null.
#[inline]
unsafe fn draw(core: &Core, out: *mut c_uchar, len: usize, strength: c_uint, fresh: bool) -> c_int {
    if len == 0 {
        return 1;
    }
    let refused = match () {
        () if strength > STRENGTH => Some(Reason::TooStrong),
        () if len > MAX_REQUEST => Some(Reason::TooLong),
        () => None,
    };
    if let Some(reason) = refused {
        // SAFETY: `len` is not 0 here, so `out` is a buffer of `len` bytes, which `fail` takes.
        return unsafe { fail(core, reason, out, len) };
    }
    let drawn = if fresh {
        // SAFETY: `len` is neither 0 nor above `MAX_REQUEST` here, so `out` is a buffer of a length
        // that a slice can have. Zeroed first, because `fill_fresh` takes initialised bytes and a C
        // program may pass unwritten memory.
        headwater::fill_fresh(unsafe {
            out.write_bytes(0, len);
            slice::from_raw_parts_mut(out, len)
        })
    } else {
        // SAFETY: `out` is a buffer of `len` bytes, as for fresh bytes above, and may be unwritten.
        let out = unsafe { slice::from_raw_parts_mut(out.cast::<MaybeUninit<u8>>(), len) };
        headwater::fill_uninit(out).map(drop)
    };
    match drawn {
        Ok(()) => {
            stats::drawn(len);
            1
        }
        Err(error) => Reason::of(error).raise(core, here!()),
    }
}

/// Zeroes the output and raises the error. The zeros keep a caller that ignores the error from
/// using stale memory as random bytes.
///
/// # Safety
///
/// `out` is null, or valid for writes of `len` bytes.
#[cold]
unsafe fn fail(core: &Core, reason: Reason, out: *mut c_uchar, len: usize) -> c_int {
    if !out.is_null() {
        // SAFETY: `out` is not null here, so it is valid for writes of `len` bytes.
        unsafe { out.write_bytes(0, len) };
    }
    reason.raise(core, here!())
}

/// Makes a context. The parent, from which a DRBG would take its seed, is ignored.
unsafe extern "C" fn newctx(
    provider: *mut c_void,
    _parent: *mut c_void,
    _parent_calls: *const Dispatch,
) -> *mut c_void {
    let provider = provider.cast::<Provider>().cast_const();
    // SAFETY: the pointer that `OSSL_provider_init` returned.
    let core = unsafe { &(*provider).core };
    let Some(at) = core.allocate::<Context>(here!()) else {
        Reason::NoMemory.raise(core, here!());
        return core::ptr::null_mut();
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
    // SAFETY: the core frees a context once and does not use it afterwards.
    unsafe {
        let core = *Context::at(context).core();
        core.free(context.cast::<Context>(), here!());
    }
}

/// Sets the process up, and waits until the kernel is seeded (once after boot). Later draws make no
/// system call except getrandom(2), so a program may enter a sandbox afterwards.
///
/// The personalisation string and the parameters of a DRBG (cipher, reseed intervals) are ignored,
/// because a context has no state that they could distinguish.
unsafe extern "C" fn instantiate(
    context: *mut c_void,
    strength: c_uint,
    _prediction_resistance: c_int,
    _personalisation: *const c_uchar,
    _personalisation_len: usize,
    _params: *const Param,
) -> c_int {
    // SAFETY: a context from `newctx`.
    let context = unsafe { Context::at(context) };
    if strength > STRENGTH {
        return Reason::TooStrong.raise(context.core(), here!());
    }
    match context.set_up() {
        Ok(()) => 1,
        Err(reason) => reason.raise(context.core(), here!()),
    }
}

unsafe extern "C" fn uninstantiate(context: *mut c_void) -> c_int {
    // SAFETY: a context from `newctx`.
    let context = unsafe { Context::at(context) };
    context.state.store(abi::STATE_UNINITIALISED, Ordering::Relaxed);
    1
}

/// Draws. With prediction resistance, the request has its own key from the kernel. Additional input
/// is ignored, because it cannot add entropy to a key that has 256 bits already.
unsafe extern "C" fn generate(
    context: *mut c_void,
    out: *mut c_uchar,
    len: usize,
    strength: c_uint,
    prediction_resistance: c_int,
    _additional: *const c_uchar,
    _additional_len: usize,
) -> c_int {
    // SAFETY: a context from `newctx`.
    let context = unsafe { Context::at(context) };
    if let Err(reason) = context.make_ready() {
        // SAFETY: a buffer of that length, by provider-rand(7).
        return unsafe { fail(context.core(), reason, out, len) };
    }
    // SAFETY: the same buffer. Only a context that was not ready has written to it, and has
    // returned.
    unsafe { draw(context.core(), out, len, strength, prediction_resistance != 0) }
}

/// Discards every buffered byte of the process, so that later requests have keys drawn from the
/// kernel after this call. Entropy and additional input are ignored, as in [`generate`].
unsafe extern "C" fn reseed(
    context: *mut c_void,
    _prediction_resistance: c_int,
    _entropy: *const c_uchar,
    _entropy_len: usize,
    _additional: *const c_uchar,
    _additional_len: usize,
) -> c_int {
    // SAFETY: a context from `newctx`.
    let context = unsafe { Context::at(context) };
    if let Err(reason) = context.make_ready() {
        return reason.raise(context.core(), here!());
    }
    match headwater::discard() {
        Ok(()) => 1,
        Err(_) => Reason::CannotDiscard.raise(context.core(), here!()),
    }
}

/// Accepts the request for locking, which needs nothing. The table has no lock and unlock functions
/// either, because OpenSSL would call both around every draw.
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

/// Answers parameters. OpenSSL asks for `max_request` before every draw, so this path is hot.
unsafe extern "C" fn get_ctx_params(context: *mut c_void, params: *mut Param) -> c_int {
    // SAFETY: a context from `newctx`.
    let context = unsafe { Context::at(context) };
    // SAFETY: a list of the core, with an end.
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
        // One of three constants, none negative.
        param.set_number(context.state().unsigned_abs().into())
    } else if key == abi::STRENGTH {
        param.set_number(STRENGTH.into())
    } else if key == abi::RESEED_COUNTER {
        param.set_number(reseed_counter().into())
    } else {
        Ok(())
    }
}

/// Returns the number by which a DRBG with this generator as parent decides to reseed. It changes
/// when the kernel reseeds, and at each detected duplication of the process or the machine. If
/// nothing here detects these, it stays 0, so the DRBG reseeds by its own timer only.
fn reseed_counter() -> u32 {
    let seen = match (headwater::generation(), headwater::status().reseed_generation) {
        (Some(generation), _) => generation.get(),
        (None, ReseedGeneration::Live { value, .. }) => value,
        (None, _) => 0,
    };
    ((seen >> 32) ^ seen) as u32
}

/// Returns success: contexts hold no bytes, and pools erase served ones.
unsafe extern "C" fn verify_zeroization(_context: *mut c_void) -> c_int {
    1
}

/// Draws without a context, for `random_provider = headwater` of OpenSSL 3.5.
///
/// # Safety
///
/// The arguments are those of OpenSSL's `provider_random_bytes`.
pub(crate) unsafe extern "C" fn random_bytes(
    provider: *mut c_void,
    _which: c_int,
    out: *mut c_void,
    len: usize,
    strength: c_uint,
) -> c_int {
    // SAFETY: the pointer that `OSSL_provider_init` returned.
    let core = unsafe { &(*provider.cast::<Provider>()).core };
    let mut done = 0;
    while done < len {
        let step = (len - done).min(MAX_REQUEST);
        // SAFETY: a buffer of that length, by provider-rand(7).
        if unsafe { draw(core, out.cast::<c_uchar>().add(done), step, strength, false) } == 0 {
            // SAFETY: all `len` bytes belong to the same buffer, those of the steps before this one
            // too.
            unsafe { out.cast::<c_uchar>().write_bytes(0, len) };
            return 0;
        }
        done += step;
    }
    1
}

/// Makes an entry of a table: the number of a function type, and the function.
macro_rules! entry {
    ($number:ident, $kind:ident, $function:expr) => {
        Dispatch {
            function_id: abi::$number,
            // SAFETY: OpenSSL calls the function by the type that belongs to the number. `abi`
            // declares number and type on one line.
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
