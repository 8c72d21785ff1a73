//! Keys, made from seeds or from other keys.

use crate::edge::{fail, input, text};
use core::ffi::{c_char, c_int, c_void};
use headwater_streams::{Engine, Key, Seed};
use libc::{EFAULT, EINVAL, size_t};

/// Engine `ars7`, the default: AES rounds, the fastest where the CPU has AES.
pub const HEADWATER_ARS7: u32 = 0;

/// Engine `ars5`: five rounds instead of seven, bit-compatible with Intel's MKL.
pub const HEADWATER_ARS5: u32 = 1;

/// Engine `philox4x32`: Philox4x32-10, the fastest where the CPU has no AES.
pub const HEADWATER_PHILOX4X32: u32 = 2;

/// The key of 2^48 reproducible streams. Not for secrets.
///
/// A key is a plain value: programs may copy it, compare its members, store it and send it. So it
/// needs no free, and no function keeps a pointer to it. But fill the members by hand only from a
/// stored key, and make a new one with one of the headwater_stream_key_from_...() functions.
#[repr(C)]
#[derive(Clone, Copy)]
#[allow(non_camel_case_types)] // a name of C
pub struct headwater_key {
    /// HEADWATER_ARS7, HEADWATER_ARS5 or HEADWATER_PHILOX4X32.
    pub engine: u32,
    /// 128 bits, the lowest byte first.
    pub bytes: [u8; 16],
}

/// Makes the key of a number as seed, as `headwater stream --engine ENGINE --seed SEED` does. Not
/// for secrets.
///
/// Returns 0, or -1 with errno set and `*key` unchanged: EINVAL if the engine is unknown, EFAULT if
/// `key` is NULL. Async-signal-safe.
///
/// # Safety
///
/// `key` is NULL or valid for writes.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_key_from_seed(
    key: *mut headwater_key,
    engine: u32,
    seed: u64,
) -> c_int {
    // SAFETY: `key` is NULL or has room for a key, as `# Safety` says and `from_seed` asks.
    unsafe { from_seed(key, engine, seed.into()) }
}

/// Makes the key of `len` bytes as seed, as `headwater stream --seed hex:...` does. Not for
/// secrets.
///
/// Returns as headwater_stream_key_from_seed() does. EFAULT also means that `seed` is NULL and
/// `len` is not 0. Async-signal-safe.
///
/// # Safety
///
/// `key` is NULL or valid for writes, and `seed` is NULL or valid for reads of `len` bytes.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_key_from_bytes(
    key: *mut headwater_key,
    engine: u32,
    seed: *const c_void,
    len: size_t,
) -> c_int {
    // SAFETY: `seed` is NULL or has `len` readable bytes, as `# Safety` says; `input` refuses NULL.
    let Some(seed) = (unsafe { input(seed, len) }) else { return fail(EFAULT) };
    // SAFETY: `key` is NULL or has room for a key, as `# Safety` says and `from_seed` asks.
    unsafe { from_seed(key, engine, seed.into()) }
}

/// Makes the key of a text as seed, as `headwater stream --seed text:...` does. Not for secrets.
///
/// Returns as headwater_stream_key_from_seed() does. EFAULT also means that `seed` is NULL, EINVAL
/// that `seed` is not UTF-8. Async-signal-safe.
///
/// # Safety
///
/// `key` is NULL or valid for writes, and `seed` is NULL or a C string.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_key_from_text(
    key: *mut headwater_key,
    engine: u32,
    seed: *const c_char,
) -> c_int {
    // SAFETY: `seed` is NULL or a C string, as `# Safety` says; `text` refuses NULL.
    match unsafe { text(seed) } {
        // SAFETY: `key` is NULL or has room for a key, as `# Safety` says and `from_seed` asks.
        Ok(seed) => unsafe { from_seed(key, engine, seed.into()) },
        Err(errno) => fail(errno),
    }
}

/// Derives child number `label` of `*parent`, for a part of a program that needs numbers of its
/// own. The child depends on parent and label alone. `child` and `parent` may be the same pointer.
/// Not for secrets.
///
/// Returns 0, or -1 with errno set and `*child` unchanged: EINVAL if the parent's engine is
/// unknown, EFAULT if a pointer is NULL. Async-signal-safe.
///
/// # Safety
///
/// `child` is NULL or valid for writes, and `parent` for reads.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_key_child(
    child: *mut headwater_key,
    parent: *const headwater_key,
    label: u64,
) -> c_int {
    // SAFETY: `child` is NULL or has room for a key, and `parent` is NULL or one, as `# Safety`
    // says and `child_of` asks.
    unsafe { child_of(child, parent, label.into()) }
}

/// Derives the child of `*parent` with a name as label. It differs from every numbered child. Not
/// for secrets.
///
/// Returns as headwater_stream_key_child() does. EFAULT also means that `label` is NULL, EINVAL
/// that `label` is not UTF-8. Async-signal-safe.
///
/// # Safety
///
/// The promise of [`headwater_stream_key_child`], and `label` is NULL or a C string.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_key_child_text(
    child: *mut headwater_key,
    parent: *const headwater_key,
    label: *const c_char,
) -> c_int {
    // SAFETY: `label` is NULL or a C string, as `# Safety` says; `text` refuses NULL.
    match unsafe { text(label) } {
        // SAFETY: `child` is NULL or has room for a key, and `parent` is NULL or one, as `child_of`
        // asks.
        Ok(label) => unsafe { child_of(child, parent, label.into()) },
        Err(errno) => fail(errno),
    }
}

fn engine(number: u32) -> Option<Engine> {
    match number {
        HEADWATER_ARS7 => Some(Engine::Ars7),
        HEADWATER_ARS5 => Some(Engine::Ars5),
        HEADWATER_PHILOX4X32 => Some(Engine::Philox4x32),
        _ => None,
    }
}

/// Writes the key of a seed to `*key`.
///
/// # Safety
///
/// `key` is NULL or valid for writes.
unsafe fn from_seed(key: *mut headwater_key, number: u32, seed: Seed<'_>) -> c_int {
    if key.is_null() {
        return fail(EFAULT);
    }
    let Some(engine) = engine(number) else { return fail(EINVAL) };
    let bytes = Key::with_engine(engine, seed).to_raw();
    // SAFETY: `key` is not null, which was checked, so `# Safety` grants room for a key. No
    // reference is made, so what lay there before may be unwritten.
    unsafe { key.write(headwater_key { engine: number, bytes }) };
    0
}

/// Writes a child of `*parent` to `*child`. Both may be one key, because the parent is copied
/// before the child is written.
///
/// # Safety
///
/// `child` is NULL or valid for writes, and `parent` for reads.
unsafe fn child_of(
    child: *mut headwater_key,
    parent: *const headwater_key,
    label: Seed<'_>,
) -> c_int {
    if child.is_null() {
        return fail(EFAULT);
    }
    // SAFETY: `parent` is NULL or a readable key, as `# Safety` says; `key_of` refuses NULL, and
    // returns a copy.
    match unsafe { key_of(parent) } {
        Ok((number, key)) => {
            let bytes = key.child(label).to_raw();
            // SAFETY: `child` is not null, which was checked, so `# Safety` grants room for a key.
            // It may be `parent`: the reference of `key_of` is gone.
            unsafe { child.write(headwater_key { engine: number, bytes }) };
            0
        }
        Err(errno) => fail(errno),
    }
}

/// Returns the key and the number of its engine, or an errno.
///
/// # Safety
///
/// `key` is NULL or valid for reads.
pub(crate) unsafe fn key_of(key: *const headwater_key) -> Result<(u32, Key), c_int> {
    // SAFETY: a `key` that is not null is readable, as `# Safety` says, and `as_ref` refuses null.
    // Every bit pattern is a `headwater_key`, so a wrong engine is an error below, and not a wrong
    // value here.
    let key = unsafe { key.as_ref() }.ok_or(EFAULT)?;
    let engine = engine(key.engine).ok_or(EINVAL)?;
    Ok((key.engine, Key::from_raw(engine, key.bytes)))
}
