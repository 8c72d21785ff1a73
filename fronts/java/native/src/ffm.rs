//! The door for Java 22 and later: C functions that the FFM API calls.
//!
//! Most calls are critical ones, over arrays in Java's heap: the garbage collector waits for them,
//! so an address that Java passes stays that of the array until the function returns. The others,
//! `status` and `prepare`, get copies outside the heap. Either way Java's class `Native` has taken
//! address and length from one array, and its callers have checked the range, because nothing here
//! could: an address has no length. So each `# Safety` section is a duty of that class.
//!
//! A critical call costs less because HotSpot does little around it. In particular it leaves the
//! upper halves of the vector registers as they are. They are dirty after HotSpot has zeroed a
//! fresh array, and then the first instruction of legacy SSE costs 150 ns and more on Intel Xeon.
//! So critical calls begin with `vzeroupper`, but for draws of up to 16 bytes and `generation`,
//! which run no such instruction.

use crate::calls::{self, REFUSED};
use crate::distributions::{self, Numbers, Single};
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
        // SAFETY: the CPU has AVX, as was just asked. The instruction erases upper halves, but no
        // value of Rust lies in one, because this library is compiled for CPUs without AVX.
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
    // SAFETY: `out` is valid for writes of `len` bytes that nothing else writes, as `# Safety`
    // says. A Java array is shorter than isize::MAX bytes, and `MaybeUninit` claims nothing of what
    // it holds.
    calls::fill(unsafe { from_raw_parts_mut(out.cast::<MaybeUninit<u8>>(), len as usize) })
}

/// # Safety
///
/// `out` is valid for writes of `len` bytes, and nothing else writes them.
#[unsafe(no_mangle)]
unsafe extern "C" fn headwater_java_fill_fresh(out: *mut u8, len: u64) -> i32 {
    clear_upper_halves();
    // SAFETY: as `# Safety` says, `out` has `len` bytes that nothing else writes, fewer than
    // isize::MAX, because a Java array has.
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
extern "C" fn headwater_java_copies() -> u64 {
    clear_upper_halves();
    headwater::copies()
}

#[unsafe(no_mangle)]
extern "C" fn headwater_java_copies_seen() -> i32 {
    calls::copies_seen()
}

/// Returns an address of 8 bytes that stay readable.
#[unsafe(no_mangle)]
extern "C" fn headwater_java_copies_word() -> *const u64 {
    headwater::internal::copies_word()
}

/// Returns an address of 8 bytes that stay readable.
#[unsafe(no_mangle)]
extern "C" fn headwater_java_copies_count() -> *const u64 {
    headwater::internal::copies_count()
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
/// `out` is valid for writes of `len` initialised bytes, and nothing else uses them.
#[unsafe(no_mangle)]
unsafe extern "C" fn headwater_java_status(out: *mut u8, len: u64) -> u64 {
    clear_upper_halves();
    // SAFETY: `out` has `len` bytes, zeros of Java's arena, which this call alone uses.
    calls::status(unsafe { from_raw_parts_mut(out, len as usize) }) as u64
}

/// # Safety
///
/// `out` is valid for writes of `len` initialised bytes, and nothing else uses them.
#[unsafe(no_mangle)]
unsafe extern "C" fn headwater_java_version(out: *mut u8, len: u64) -> u64 {
    clear_upper_halves();
    // SAFETY: `out` has the `len` bytes of an array that Java has just made, zeros which this call
    // alone uses.
    calls::version(unsafe { from_raw_parts_mut(out, len as usize) }) as u64
}

/// # Safety
///
/// `out` is NULL, or aligned and valid for writes of `n` elements of the type of `kind` that
/// nothing else uses.
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
    // SAFETY: `out` is not null, and has `n` elements of the type of `kind`, as `# Safety` says and
    // `draw` asks.
    unsafe { numbers::draw(kind, place, Elements::From(start), bound, out.cast(), n as usize) }
}

/// # Safety
///
/// `out` is NULL, or aligned and valid for writes of `n` elements of the type of `kind` that
/// nothing else uses; `indices` is aligned and valid for reads of `n` numbers.
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
    // SAFETY: `out` is not null, and has `n` elements of the type of `kind`; `indices` has `n`
    // longs, and is never null, because it is an address in an array, even in an empty one.
    unsafe {
        let indices = Elements::At(from_raw_parts(indices, n as usize));
        numbers::draw(kind, place, indices, bound, out.cast(), n as usize)
    }
}

/// # Safety
///
/// `out` is NULL, or aligned and valid for writes of `n` numbers of the type of `dtype` that
/// nothing else uses; `parameters` is aligned and valid for reads of `count` words.
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
    // SAFETY: `parameters` has `count` longs, an address in an array and so never null; `out` has
    // `n` numbers, as `distributions::draw` asks, which refuses NULL.
    unsafe {
        let parameters = from_raw_parts(parameters, count as usize);
        distributions::draw(kind, place, Elements::From(start), parameters, out)
    }
}

/// Returns the bits of one element.
#[unsafe(no_mangle)]
extern "C" fn headwater_java_one(
    kind: i32,
    dtype: i32,
    engine: i32,
    low: u64,
    high: u64,
    stream: u64,
    first: u64,
    second: u64,
    third: u64,
    fourth: u64,
    index: u64,
) -> u64 {
    clear_upper_halves();
    let parameters = [first, second, third, fourth];
    let place = Place { engine, low, high, stream };
    distributions::one(place, Single { kind, dtype, parameters, index })
}

/// # Safety
///
/// `given` is aligned and valid for reads of `count` words, and `out` valid for writes of `len`
/// initialised bytes that nothing else uses.
#[unsafe(no_mangle)]
unsafe extern "C" fn headwater_java_check(
    kind: i32,
    dtype: i32,
    given: *const u64,
    count: u64,
    out: *mut u8,
    len: u64,
) -> i32 {
    clear_upper_halves();
    // SAFETY: both are addresses in arrays of Java's, and so never null, of the lengths that come
    // with them, as `# Safety` says. The arrays are two, so the written one is not read.
    unsafe {
        let given = from_raw_parts(given, count as usize);
        distributions::check(kind, dtype, given, from_raw_parts_mut(out, len as usize))
    }
}

/// # Safety
///
/// `out` is NULL, or aligned and valid for writes of `n` numbers of the type of `dtype` that
/// nothing else uses; `parameters` is aligned and valid for reads of `count` words, and `indices`
/// of `many`.
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
    // SAFETY: `parameters` has `count` longs and `indices` has `many`, both addresses in arrays and
    // so never null; `out` has `n` numbers, as `distributions::draw` asks, which refuses NULL.
    unsafe {
        let parameters = from_raw_parts(parameters, count as usize);
        let indices = Elements::At(from_raw_parts(indices, many as usize));
        distributions::draw(kind, place, indices, parameters, out)
    }
}

/// # Safety
///
/// `given` is aligned and valid for reads of `given_len` words, and `out` for writes of `out_len`
/// initialised ones that nothing else uses.
#[unsafe(no_mangle)]
unsafe extern "C" fn headwater_java_prepare(
    kind: i32,
    given: *const u64,
    given_len: u64,
    out: *mut u64,
    out_len: u64,
) -> i32 {
    clear_upper_halves();
    // SAFETY: `given` and `out` are two segments of Java's arena, aligned for longs, with so many
    // longs each; `out` holds zeros, and they do not overlap.
    let (given, out) = unsafe {
        (from_raw_parts(given, given_len as usize), from_raw_parts_mut(out, out_len as usize))
    };
    distributions::prepare(kind, given, out)
}

/// # Safety
///
/// `label` is valid for reads of `label_len` bytes, and `out` for writes of `out_len` that nothing
/// else uses.
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
    // SAFETY: neither is null, which was checked, and each has as many bytes as its length says.
    // They are two arrays, so `out` overlaps nothing, and a Java array is always initialised.
    let (label, out) = unsafe {
        (from_raw_parts(label, label_len as usize), from_raw_parts_mut(out, out_len as usize))
    };
    numbers::derive(purpose, place, kind, label, out)
}
