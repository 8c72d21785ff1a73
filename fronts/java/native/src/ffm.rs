//! The door for Java 22 and later: C functions that the FFM API calls.
//!
//! The calls are critical ones, over arrays in Java's heap. HotSpot then leaves the upper halves of
//! the vector registers as they are, which are dirty after it has zeroed a fresh array, and the
//! first instruction of legacy SSE costs 150 ns and more on Intel Xeon. Draws of up to 16 bytes run
//! no such instruction, and `generation` reads words only. Every other critical call begins with
//! `vzeroupper`.

use crate::calls::{self, REFUSED};
use crate::distributions::{self, Numbers};
use crate::numbers::{self, Place, Typed};
use core::ffi::c_void;
use core::mem::MaybeUninit;
use core::ptr::NonNull;
use core::slice::{from_raw_parts, from_raw_parts_mut};
use headwater_streams::kinds::Elements;

/// The longest draw that uses general registers or VEX alone.
const SHORT: usize = 16;

#[cfg(target_arch = "x86_64")]
cpufeatures::new!(avx, "avx");

/// Clears the upper halves of the vector registers, on CPUs that have them.
#[inline(always)]
fn clear_upper_halves() {
    #[cfg(target_arch = "x86_64")]
    if avx::get() {
        // SAFETY: the CPU has AVX. No value of Rust lies in an upper half, because this library is
        // compiled for CPUs without AVX.
        unsafe { core::arch::asm!("vzeroupper", options(nostack, nomem, preserves_flags)) };
    }
}

/// # Safety
///
/// `out` is valid for writes of `len` bytes, `len` is above 0, and nothing else writes them.
#[unsafe(no_mangle)]
unsafe extern "C" fn headwater_java_fill(out: *mut u8, len: u64) -> i32 {
    if len as usize > SHORT {
        clear_upper_halves();
    }
    // SAFETY: the caller's promise. A Java array is shorter than isize::MAX bytes.
    calls::fill(unsafe { from_raw_parts_mut(out.cast::<MaybeUninit<u8>>(), len as usize) })
}

/// # Safety
///
/// `out` is valid for writes of `len` bytes, and nothing else writes them.
#[unsafe(no_mangle)]
unsafe extern "C" fn headwater_java_fill_fresh(out: *mut u8, len: u64) -> i32 {
    clear_upper_halves();
    // SAFETY: the caller's promise. A Java array is shorter than isize::MAX bytes.
    calls::fill_fresh(unsafe { from_raw_parts_mut(out.cast::<MaybeUninit<u8>>(), len as usize) })
}

#[unsafe(no_mangle)]
extern "C" fn headwater_java_init() -> i32 {
    calls::init()
}

#[unsafe(no_mangle)]
extern "C" fn headwater_java_generation() -> u64 {
    calls::generation()
}

#[unsafe(no_mangle)]
extern "C" fn headwater_java_quiesce() -> i32 {
    calls::quiesce()
}

#[unsafe(no_mangle)]
extern "C" fn headwater_java_resume() -> i32 {
    calls::resume()
}

/// # Safety
///
/// `out` is valid for writes of `len` bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn headwater_java_status(out: *mut u8, len: u64) -> u64 {
    clear_upper_halves();
    // SAFETY: the caller's promise.
    calls::status(unsafe { from_raw_parts_mut(out, len as usize) }) as u64
}

/// # Safety
///
/// `out` is valid for writes of `len` bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn headwater_java_version(out: *mut u8, len: u64) -> u64 {
    clear_upper_halves();
    // SAFETY: the caller's promise.
    calls::version(unsafe { from_raw_parts_mut(out, len as usize) }) as u64
}

/// # Safety
///
/// The promise of [`numbers::draw`].
#[unsafe(no_mangle)]
unsafe extern "C" fn headwater_java_stream_fill(
    kind: i32,
    engine: i32,
    low: u64,
    high: u64,
    stream: u64,
    start: u64,
    bound: u64,
    out: *mut c_void,
    n: u64,
) -> i32 {
    clear_upper_halves();
    let place = Place { engine, low, high, stream };
    let (Some(kind), Some(out)) = (Typed::of(kind), NonNull::new(out)) else { return REFUSED };
    // SAFETY: the caller's promise.
    unsafe { numbers::draw(kind, place, Elements::From(start), bound, out.cast(), n as usize) }
}

/// # Safety
///
/// The promise of [`numbers::draw`], and `indices` is valid for reads of `n` numbers.
#[unsafe(no_mangle)]
unsafe extern "C" fn headwater_java_stream_at(
    kind: i32,
    engine: i32,
    low: u64,
    high: u64,
    stream: u64,
    bound: u64,
    indices: *const u64,
    out: *mut c_void,
    n: u64,
) -> i32 {
    clear_upper_halves();
    let place = Place { engine, low, high, stream };
    let (Some(kind), Some(out)) = (Typed::of(kind), NonNull::new(out)) else { return REFUSED };
    // SAFETY: the caller's promise.
    unsafe {
        let indices = Elements::At(from_raw_parts(indices, n as usize));
        numbers::draw(kind, place, indices, bound, out.cast(), n as usize)
    }
}

/// # Safety
///
/// The promise of [`distributions::draw`], and `parameters` is valid for reads of `count` words.
#[unsafe(no_mangle)]
unsafe extern "C" fn headwater_java_draw(
    kind: i32,
    dtype: i32,
    engine: i32,
    low: u64,
    high: u64,
    stream: u64,
    start: u64,
    parameters: *const u64,
    count: u64,
    out: *mut c_void,
    n: u64,
) -> i32 {
    clear_upper_halves();
    let place = Place { engine, low, high, stream };
    let out = Numbers { start: out, n: n as usize, dtype };
    // SAFETY: the caller's promise.
    unsafe {
        let parameters = from_raw_parts(parameters, count as usize);
        distributions::draw(kind, place, Elements::From(start), parameters, out)
    }
}

/// # Safety
///
/// The promise of [`distributions::draw`]; `parameters` is valid for reads of `count` words, and
/// `indices` of `many`.
#[unsafe(no_mangle)]
unsafe extern "C" fn headwater_java_draw_at(
    kind: i32,
    dtype: i32,
    engine: i32,
    low: u64,
    high: u64,
    stream: u64,
    parameters: *const u64,
    count: u64,
    indices: *const u64,
    many: u64,
    out: *mut c_void,
    n: u64,
) -> i32 {
    clear_upper_halves();
    let place = Place { engine, low, high, stream };
    let out = Numbers { start: out, n: n as usize, dtype };
    // SAFETY: the caller's promise.
    unsafe {
        let parameters = from_raw_parts(parameters, count as usize);
        let indices = Elements::At(from_raw_parts(indices, many as usize));
        distributions::draw(kind, place, indices, parameters, out)
    }
}

/// # Safety
///
/// `given` is valid for reads of `given_len` words, and `out` for writes of `out_len`.
#[unsafe(no_mangle)]
unsafe extern "C" fn headwater_java_prepare(
    kind: i32,
    given: *const u64,
    given_len: u64,
    out: *mut u64,
    out_len: u64,
) -> i32 {
    clear_upper_halves();
    // SAFETY: the caller's promise.
    let (given, out) = unsafe {
        (from_raw_parts(given, given_len as usize), from_raw_parts_mut(out, out_len as usize))
    };
    distributions::prepare(kind, given, out)
}

/// # Safety
///
/// `label` is valid for reads of `label_len` bytes, and `out` for writes of `out_len`.
#[unsafe(no_mangle)]
unsafe extern "C" fn headwater_java_derive(
    purpose: i32,
    engine: i32,
    low: u64,
    high: u64,
    kind: i32,
    label: *const u8,
    label_len: u64,
    out: *mut u8,
    out_len: u64,
) -> i32 {
    clear_upper_halves();
    if label.is_null() || out.is_null() {
        return REFUSED;
    }
    let place = Place { engine, low, high, stream: 0 };
    // SAFETY: the caller's promise.
    let (label, out) = unsafe {
        (from_raw_parts(label, label_len as usize), from_raw_parts_mut(out, out_len as usize))
    };
    numbers::derive(purpose, place, kind, label, out)
}
