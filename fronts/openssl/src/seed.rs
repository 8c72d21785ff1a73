//! Seeds for other generators, such as OpenSSL's own under `seed = HEADWATER`.

use crate::errors::Reason;
use crate::rand::Context;
use crate::upcalls::here;
use core::ffi::{c_int, c_uchar, c_void};
use core::slice;

/// Bytes of a seed under one key. More bytes could not have more entropy than their key. So a key
/// serves as many as it has itself, and a seed of any length has full entropy.
const KEY: usize = 32;

/// Makes a seed of `entropy` bits, at least `min_len` bytes, in OpenSSL's secure memory.
///
/// Each 32 bytes have a key of their own, drawn from the kernel for them. Buffered bytes are never
/// used, because a seed lives long.
///
/// # Safety
///
/// The arguments are those of OpenSSL's provider-rand(7).
pub(crate) unsafe extern "C" fn get_seed(
    context: *mut c_void,
    seed: *mut *mut c_uchar,
    entropy: c_int,
    min_len: usize,
    max_len: usize,
    _prediction_resistance: c_int,
    _additional: *const c_uchar,
    _additional_len: usize,
) -> usize {
    // SAFETY: a context from `newctx`.
    let context = unsafe { Context::at(context) };
    let core = context.core();
    if let Err(reason) = context.make_ready() {
        reason.raise(core, here!());
        return 0;
    }
    let needed = u32::try_from(entropy).map_or(0, |bits| bits.div_ceil(8)) as usize;
    let len = needed.max(min_len).max(1);
    if len > max_len {
        Reason::SeedTooShort.raise(core, here!());
        return 0;
    }
    let Some(at) = core.allocate_secure(len, here!()) else {
        Reason::NoMemory.raise(core, here!());
        return 0;
    };
    // SAFETY: fresh memory of that length, which the core has zeroed.
    let bytes = unsafe { slice::from_raw_parts_mut(at.as_ptr(), len) };
    match bytes.chunks_mut(KEY).try_for_each(headwater::fill_fresh) {
        Ok(()) => {
            // SAFETY: an out-pointer of the core.
            unsafe { seed.write(at.as_ptr()) };
            len
        }
        Err(error) => {
            // SAFETY: allocated above, and not returned to the core.
            unsafe { core.free_secure(at.as_ptr(), len, here!()) };
            Reason::of(error).raise(core, here!());
            0
        }
    }
}

/// Erases and frees a seed.
///
/// # Safety
///
/// [`get_seed`] returned `seed` and `len` (provider-rand(7)).
pub(crate) unsafe extern "C" fn clear_seed(context: *mut c_void, seed: *mut c_uchar, len: usize) {
    // SAFETY: a context from `newctx`, and a seed that the core does not use afterwards.
    unsafe { Context::at(context).core().free_secure(seed, len, here!()) };
}
