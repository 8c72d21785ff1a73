//! The door for Java 8 to 21: the functions that the JVM looks up for class `headwater.Native`.
//!
//! Short results go through a buffer on the stack and `Set...ArrayRegion`, which costs 40 ns a
//! call. Longer ones would be copied twice, so they are written in place by
//! `GetPrimitiveArrayCritical`, which costs 50 ns. But it holds the garbage collector back, so Java
//! passes at most a few hundred KiB a call.
//!
//! The JVM has checked that each argument is of the class that `headwater.Native` declares, and
//! where that is `Object`, the kind or the type says which array it is. Only the jar can call that
//! class. Its callers check that ranges lie in their arrays, because nothing here does:
//! `Set...ArrayRegion` would throw, but a critical array has no bounds.

use crate::calls::{self, REFUSED, erase};
use crate::distributions::{self, Numbers, Single};
use crate::jvm::{Critical, Env, Object};
use crate::numbers::{self, Place, Typed};
use core::ffi::c_void;
use core::mem::MaybeUninit;
use core::ptr::NonNull;
use core::slice::{from_raw_parts, from_raw_parts_mut};
use headwater_streams::kinds::{Dtype, Elements};

/// Bytes of the shorter buffer: a UUID, a nonce or a key.
const SHORT: usize = 64;
/// Bytes of the longer buffer; above, the array is written in place.
const LONG: usize = 4096;

/// Draws into a buffer of `WORDS` words on the stack, and passes `len` bytes of it to `write`.
#[inline(always)]
fn by_stack<const WORDS: usize>(
    len: usize,
    draw: impl FnOnce(&mut [MaybeUninit<u8>]) -> i32,
    write: impl FnOnce(*const c_void),
) -> i32 {
    let mut words = [MaybeUninit::<u64>::uninit(); WORDS];
    let Some(words) = words.get_mut(..len.div_ceil(8)) else { return REFUSED };
    // SAFETY: `words` was cut to `len.div_ceil(8)` words of 8 bytes, so `len` bytes fit.
    let bytes = unsafe { from_raw_parts_mut(words.as_mut_ptr().cast::<MaybeUninit<u8>>(), len) };
    let result = draw(bytes);
    // After an error the buffer is zero, and Java throws an exception.
    write(words.as_ptr().cast());
    erase(words);
    result
}

/// Draws into a buffer of [`LONG`] bytes on the stack. The longer buffer has a function of its own,
/// so that short draws need no 4 KiB of stack.
#[inline(never)]
fn by_long_stack(len: usize, write: impl FnOnce(*const c_void)) -> i32 {
    by_stack::<{ LONG / 8 }>(len, calls::fill, write)
}

/// # Safety
///
/// `env` is this thread's, and `out` an array of bytes that has `off` to `off + len - 1`.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_headwater_Native_fill0(
    env: Env,
    _: Object,
    out: Object,
    off: i32,
    len: i32,
) -> i32 {
    let size = len as usize;
    let write = |bytes: *const c_void| {
        // SAFETY: `env` is this thread's, and `out` has bytes `off` to `off + len - 1`, as
        // `# Safety` says; `by_stack` passes a buffer that has `size`, which is `len`.
        unsafe { ((**env.0).set_byte_region)(env, out, off, len, bytes) }
    };
    if size <= SHORT {
        by_stack::<{ SHORT / 8 }>(size, calls::fill, write)
    } else if size <= LONG {
        by_long_stack(size, write)
    } else {
        // SAFETY: `out` is an array of bytes that has `size` from `off` on, as `# Safety` says.
        unsafe { fill_in_place::<u8>(env, out, off, size) }
    }
}

/// Draws the seed of another generator; `len` is at most [`LONG`].
///
/// # Safety
///
/// `env` is this thread's, and `out` an array of bytes that has `off` to `off + len - 1`.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_headwater_Native_fillFresh0(
    env: Env,
    _: Object,
    out: Object,
    off: i32,
    len: i32,
) -> i32 {
    by_stack::<{ LONG / 8 }>(len as usize, calls::fill_fresh, |bytes| {
        // SAFETY: `env` is this thread's, and `out` has bytes `off` to `off + len - 1`, as
        // `# Safety` says; `by_stack` passes a buffer that has `len`, or refuses and does not call
        // this.
        unsafe { ((**env.0).set_byte_region)(env, out, off, len, bytes) }
    })
}

/// # Safety
///
/// `env` is this thread's, and `out` an array of longs that has `off` to `off + len - 1`.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_headwater_Native_fillLongs0(
    env: Env,
    _: Object,
    out: Object,
    off: i32,
    len: i32,
) -> i32 {
    let size = 8 * len as usize;
    let write = |words: *const c_void| {
        // SAFETY: `env` is this thread's, and `out` has longs `off` to `off + len - 1`, as
        // `# Safety` says; `by_stack` passes a buffer that has `size` bytes, which are `len` longs.
        unsafe { ((**env.0).set_long_region)(env, out, off, len, words) }
    };
    if size <= SHORT {
        by_stack::<{ SHORT / 8 }>(size, calls::fill, write)
    } else if size <= LONG {
        by_long_stack(size, write)
    } else {
        // SAFETY: `out` is an array of longs that has `len` from `off` on, which are `size` bytes.
        unsafe { fill_in_place::<u64>(env, out, off, size) }
    }
}

/// Draws into an array itself.
///
/// # Safety
///
/// `env` is this thread's, and `out` an array of `T` that has `size` bytes from element `off` on.
unsafe fn fill_in_place<T>(env: Env, out: Object, off: i32, size: usize) -> i32 {
    // SAFETY: `out` is an array of `T` that has `size` bytes from element `off` on, as `# Safety`
    // says. They stay pinned while `array` lives, which outlives the draw, and the draw calls no
    // function of JNI.
    unsafe {
        match Critical::get(env, out) {
            Some(array) => calls::fill(from_raw_parts_mut(array.at::<T>(off).cast(), size)),
            None => libc::ENOMEM,
        }
    }
}

#[unsafe(no_mangle)]
extern "system" fn Java_headwater_Native_init0(_: Env, _: Object) -> i32 {
    calls::init()
}

#[unsafe(no_mangle)]
extern "system" fn Java_headwater_Native_generation0(_: Env, _: Object) -> u64 {
    calls::generation()
}

#[unsafe(no_mangle)]
extern "system" fn Java_headwater_Native_copies0(_: Env, _: Object) -> u64 {
    headwater::copies()
}

#[unsafe(no_mangle)]
extern "system" fn Java_headwater_Native_copiesSeen0(_: Env, _: Object) -> i32 {
    calls::copies_seen()
}

/// # Safety
///
/// `env` is this thread's.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_headwater_Native_copiesWord0(env: Env, _: Object) -> Object {
    // SAFETY: `env` is this thread's, as `# Safety` says.
    unsafe { view(env, headwater::internal::copies_word()) }
}

/// # Safety
///
/// `env` is this thread's.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_headwater_Native_copiesCount0(env: Env, _: Object) -> Object {
    // SAFETY: `env` is this thread's, as `# Safety` says.
    unsafe { view(env, headwater::internal::copies_count()) }
}

/// Returns a direct buffer over a word that stays readable for as long as the process lives.
///
/// # Safety
///
/// `env` is this thread's.
unsafe fn view(env: Env, word: *const u64) -> Object {
    // SAFETY: `env` is this thread's. The buffer has the 8 bytes of a word that is never unmapped,
    // so it may outlive this call. Java makes a read-only one of it before anything else sees it.
    unsafe { ((**env.0).new_direct_byte_buffer)(env, word.cast_mut().cast(), 8) }
}

#[unsafe(no_mangle)]
extern "system" fn Java_headwater_Native_quiesce0(_: Env, _: Object) -> i32 {
    calls::quiesce()
}

#[unsafe(no_mangle)]
extern "system" fn Java_headwater_Native_resume0(_: Env, _: Object) -> i32 {
    calls::resume()
}

/// # Safety
///
/// `env` is this thread's, and `out` an array of bytes.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_headwater_Native_status0(env: Env, _: Object, out: Object) -> i32 {
    let mut bytes = [0; LONG];
    let len = calls::status(&mut bytes);
    // SAFETY: `env` is this thread's, and `out` an array of bytes, as `write_back` asks.
    unsafe { write_back(env, out, &bytes[..len.min(LONG)]) };
    len as i32
}

/// # Safety
///
/// `env` is this thread's, and `out` an array of bytes.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_headwater_Native_version0(env: Env, _: Object, out: Object) -> i32 {
    let mut bytes = [0; SHORT];
    let len = calls::version(&mut bytes);
    // SAFETY: `env` is this thread's, and `out` an array of bytes, as `write_back` asks.
    unsafe { write_back(env, out, &bytes[..len.min(SHORT)]) };
    len as i32
}

/// Writes bytes to the start of an array, as many as it has room for.
///
/// # Safety
///
/// `env` is this thread's, and `out` an array of bytes.
unsafe fn write_back(env: Env, out: Object, bytes: &[u8]) {
    // SAFETY: `env` and `out` are what `# Safety` says, and `len` is not above the length of the
    // array nor that of `bytes`, because it is the lesser of them.
    unsafe {
        let room = ((**env.0).get_array_length)(env, out);
        let len = room.min(bytes.len() as i32);
        ((**env.0).set_byte_region)(env, out, 0, len, bytes.as_ptr().cast());
    }
}

/// # Safety
///
/// `env` is this thread's, and `out` an array of the type of the kind, with elements `off` to
/// `off + n - 1`.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_headwater_Native_streamFill0(
    env: Env,
    _: Object,
    kind: i32,
    engine: i32,
    low: u64,
    high: u64,
    stream: u64,
    start: u64,
    bound: u64,
    out: Object,
    off: i32,
    n: i32,
) -> i32 {
    let place = Place { engine, low, high, stream };
    // SAFETY: `env` is this thread's, and `out` has elements `off` to `off + n - 1` of the type of
    // the kind, as `# Safety` says. So `n` of them begin at `at`, and stay pinned while `array`
    // lives, which is until this function returns.
    unsafe {
        let Some(array) = Critical::get(env, out) else { return libc::ENOMEM };
        let Some((kind, at)) = element(kind, &array, off) else { return REFUSED };
        numbers::draw(kind, place, Elements::From(start), bound, at, n as usize)
    }
}

/// # Safety
///
/// As of `streamFill0`, and `indices` is an array of longs, with elements `index_off` to
/// `index_off + n - 1`.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_headwater_Native_streamAt0(
    env: Env,
    _: Object,
    kind: i32,
    engine: i32,
    low: u64,
    high: u64,
    stream: u64,
    bound: u64,
    indices: Object,
    index_off: i32,
    out: Object,
    off: i32,
    n: i32,
) -> i32 {
    let place = Place { engine, low, high, stream };
    // SAFETY: both arrays have `n` elements from their offsets on, as `# Safety` says. Two critical
    // arrays may be held at once, and both stay pinned until this function returns. `indices` is a
    // copy that Java has made to check it, so it is not `out`.
    unsafe {
        let Some(indices) = Critical::get(env, indices) else { return libc::ENOMEM };
        let Some(array) = Critical::get(env, out) else { return libc::ENOMEM };
        let Some((kind, at)) = element(kind, &array, off) else { return REFUSED };
        let indices = Elements::At(from_raw_parts(indices.at::<u64>(index_off), n as usize));
        numbers::draw(kind, place, indices, bound, at, n as usize)
    }
}

/// # Safety
///
/// `env` is this thread's. `parameters` is an array of longs, and `out` one of floats if `dtype`
/// has numbers of 32 bits, otherwise of doubles or longs, with elements `off` to `off + n - 1`.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_headwater_Native_draw0(
    env: Env,
    _: Object,
    kind: i32,
    dtype: i32,
    engine: i32,
    low: u64,
    high: u64,
    stream: u64,
    start: u64,
    parameters: Object,
    out: Object,
    off: i32,
    n: i32,
) -> i32 {
    let place = Place { engine, low, high, stream };
    // SAFETY: `count` is the array's own length, asked for before an array is critical, because no
    // other function of JNI may be called afterwards. `out` has elements `off` to `off + n - 1` of
    // the size that `dtype` has, as `# Safety` says. Both stay pinned until this function returns.
    unsafe {
        let count = ((**env.0).get_array_length)(env, parameters) as usize;
        let Some(parameters) = Critical::get(env, parameters) else { return libc::ENOMEM };
        let Some(array) = Critical::get(env, out) else { return libc::ENOMEM };
        let parameters = from_raw_parts(parameters.at::<u64>(0), count);
        let out = place_of(&array, dtype, off, n);
        distributions::draw(kind, place, Elements::From(start), parameters, out)
    }
}

/// # Safety
///
/// As of `draw0`, and `indices` is an array of longs, with elements `index_off` to
/// `index_off + many - 1`.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_headwater_Native_drawAt0(
    env: Env,
    _: Object,
    kind: i32,
    dtype: i32,
    engine: i32,
    low: u64,
    high: u64,
    stream: u64,
    parameters: Object,
    indices: Object,
    index_off: i32,
    many: i32,
    out: Object,
    off: i32,
    n: i32,
) -> i32 {
    let place = Place { engine, low, high, stream };
    // SAFETY: `parameters` and `out` are as in `draw0`; `indices` has `many` longs from `index_off`
    // on, as `# Safety` says. Several critical arrays may be held at once.
    unsafe {
        let count = ((**env.0).get_array_length)(env, parameters) as usize;
        let Some(parameters) = Critical::get(env, parameters) else { return libc::ENOMEM };
        let Some(indices) = Critical::get(env, indices) else { return libc::ENOMEM };
        let Some(array) = Critical::get(env, out) else { return libc::ENOMEM };
        let parameters = from_raw_parts(parameters.at::<u64>(0), count);
        let indices = from_raw_parts(indices.at::<u64>(index_off), many as usize);
        let out = place_of(&array, dtype, off, n);
        distributions::draw(kind, place, Elements::At(indices), parameters, out)
    }
}

/// Returns the bits of one element. It touches no object of the JVM.
#[unsafe(no_mangle)]
extern "system" fn Java_headwater_Native_one0(
    _: Env,
    _: Object,
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
    let parameters = [first, second, third, fourth];
    let place = Place { engine, low, high, stream };
    distributions::one(place, Single { kind, dtype, parameters, index })
}

/// # Safety
///
/// `env` is this thread's, `given` an array of longs and `out` one of bytes.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_headwater_Native_check0(
    env: Env,
    _: Object,
    kind: i32,
    dtype: i32,
    given: Object,
    out: Object,
) -> i32 {
    // SAFETY: each slice has the length of its own array, asked for before an array is critical.
    // The arrays are of two types, so the written one is not the one that is read.
    unsafe {
        let length = (**env.0).get_array_length;
        let (count, len) = (length(env, given) as usize, length(env, out) as usize);
        let Some(given) = Critical::get(env, given) else { return libc::ENOMEM };
        let Some(out) = Critical::get(env, out) else { return libc::ENOMEM };
        let given = from_raw_parts(given.at::<u64>(0), count);
        distributions::check(kind, dtype, given, from_raw_parts_mut(out.at(0), len))
    }
}

/// Returns the place of `n` numbers of an array from element `off` on.
///
/// # Safety
///
/// The array has floats if the numbers of the type are of 32 bits, otherwise numbers of 64 bits,
/// and at least `off + n`.
unsafe fn place_of(array: &Critical, dtype: i32, off: i32, n: i32) -> Numbers {
    let is_narrow = dtype == Dtype::F32 as i32 || dtype == Dtype::C64 as i32;
    // SAFETY: the elements have the size of the arm that is chosen, and there are at least `off` of
    // them, as `# Safety` says and `at` asks.
    let start = unsafe {
        match is_narrow {
            false => array.at::<u64>(off).cast(),
            true => array.at::<u32>(off).cast(),
        }
    };
    Numbers { start, n: n as usize, dtype }
}

/// # Safety
///
/// `env` is this thread's, and `given` and `out` are two arrays of longs.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_headwater_Native_prepare0(
    env: Env,
    _: Object,
    kind: i32,
    given: Object,
    out: Object,
) -> i32 {
    // SAFETY: each slice has the length of its own array, asked for before an array is critical.
    // Java passes two arrays, so the written one is not the one that is read.
    unsafe {
        let length = (**env.0).get_array_length;
        let (given_len, out_len) = (length(env, given) as usize, length(env, out) as usize);
        let Some(given) = Critical::get(env, given) else { return libc::ENOMEM };
        let Some(out) = Critical::get(env, out) else { return libc::ENOMEM };
        let given = from_raw_parts(given.at::<u64>(0), given_len);
        distributions::prepare(kind, given, from_raw_parts_mut(out.at(0), out_len))
    }
}

/// Returns the kind with this code, and the address of an element of its type.
///
/// # Safety
///
/// The array is of the type of the kind, and has at least `off` elements.
unsafe fn element(kind: i32, array: &Critical, off: i32) -> Option<(Typed, NonNull<u8>)> {
    let kind = Typed::of(kind)?;
    // SAFETY: the elements have the size of the arm that is chosen, and there are at least `off` of
    // them, as `# Safety` says and `at` asks.
    let at = unsafe {
        match kind.dtype.size() {
            1 => array.at::<u8>(off),
            4 => array.at::<u32>(off).cast(),
            8 => array.at::<u64>(off).cast(),
            _ => return None,
        }
    };
    Some((kind, NonNull::new(at)?))
}

/// # Safety
///
/// `env` is this thread's, and `label` and `out` are two arrays of bytes.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_headwater_Native_derive0(
    env: Env,
    _: Object,
    purpose: i32,
    engine: i32,
    low: u64,
    high: u64,
    kind: i32,
    label: Object,
    out: Object,
) -> i32 {
    let place = Place { engine, low, high, stream: 0 };
    // SAFETY: each slice has the length of its own array, asked for before an array is critical.
    // Java passes two arrays, so the written one is not the one that is read.
    unsafe {
        let length = (**env.0).get_array_length;
        let (label_len, out_len) = (length(env, label) as usize, length(env, out) as usize);
        let Some(label) = Critical::get(env, label) else { return libc::ENOMEM };
        let Some(out) = Critical::get(env, out) else { return libc::ENOMEM };
        let label = from_raw_parts(label.at::<u8>(0), label_len);
        numbers::derive(purpose, place, kind, label, from_raw_parts_mut(out.at(0), out_len))
    }
}
