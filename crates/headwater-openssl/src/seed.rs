//! Seeds for other generators, such as OpenSSL's own under `seed = HEADWATER`.

use crate::errors::Reason;
use crate::rand::Context;
use crate::upcalls::here;
use std::ffi::{c_int, c_uchar, c_void};
use std::slice;

/// Bytes of a seed that come from one key: as many as the key has, so that a seed has as much entropy as it has bits.
const KEY: usize = 32;

/// A seed of as many bytes as `entropy` bits need, at least `min_len`, in memory for secrets.
///
/// Never from what is buffered, with prediction resistance or without: a seed lives long. Each 32 bytes come under a
/// key of their own that the kernel gives for them.
///
/// # Safety
///
/// As OpenSSL's provider-rand(7) says.
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
    // SAFETY: the core calls with a context of ours.
    let context = unsafe { Context::at(context) };
    let core = context.core();
    if !context.is_ready() {
        Reason::NotInstantiated.raise(core, here!());
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
            // SAFETY: the core asks for the seed's address there.
            unsafe { seed.write(at.as_ptr()) };
            len
        }
        Err(error) => {
            // SAFETY: nobody else has seen it.
            unsafe { core.free_secure(at.as_ptr(), len, here!()) };
            Reason::of(error).raise(core, here!());
            0
        }
    }
}

/// # Safety
///
/// As OpenSSL's provider-rand(7) says: `seed` is what [`get_seed`] gave, and `len` what it answered.
pub(crate) unsafe extern "C" fn clear_seed(context: *mut c_void, seed: *mut c_uchar, len: usize) {
    // SAFETY: the core calls with a context of ours, and with a seed that it uses no more.
    unsafe { Context::at(context).core().free_secure(seed, len, here!()) };
}
