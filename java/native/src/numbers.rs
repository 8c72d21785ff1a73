//! Keys, and the numbers of their streams, for both doors.

use crate::calls::REFUSED;
use core::ffi::c_void;
use core::slice::{from_raw_parts, from_raw_parts_mut};
use headwater_streams::{Engine, Error, Key, Seed, Stream};

/// A stream as Java writes it: the number of the engine, the halves of the key and the stream's
/// number.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub(crate) engine: i32,
    pub(crate) low: u64,
    pub(crate) high: u64,
    pub(crate) stream: u64,
}

impl Place {
    fn key(self) -> Option<Key> {
        Some(Key::from_raw(engine(self.engine)?, half_words(self.low, self.high)))
    }

    pub(crate) fn stream(self) -> Option<Stream> {
        self.key()?.stream(self.stream).ok()
    }
}

fn half_words(low: u64, high: u64) -> [u8; 16] {
    (u128::from(low) | u128::from(high) << 64).to_le_bytes()
}

/// Returns the engine with this number, in the order of Java's enum `Engine`.
fn engine(number: i32) -> Option<Engine> {
    match number {
        0 => Some(Engine::Ars7),
        1 => Some(Engine::Ars5),
        2 => Some(Engine::Philox4x32),
        _ => None,
    }
}

fn number(result: Result<(), Error>) -> i32 {
    if result.is_ok() { 0 } else { REFUSED }
}

/// Writes elements `start` to `start + n - 1` of a kind. The numbers of the kinds are those of
/// Java's class `Kind`.
///
/// # Safety
///
/// `out` is aligned and valid for writes of `n` elements of the kind.
pub(crate) unsafe fn fill(
    kind: i32,
    place: Place,
    start: u64,
    bound: u64,
    out: *mut c_void,
    n: usize,
) -> i32 {
    let Some(stream) = place.stream() else { return REFUSED };
    // SAFETY: the caller's promise, for the type of each kind. Every bit pattern is a number.
    unsafe {
        number(match kind {
            0 => stream.fill_u8(start, elements(out, n)),
            1 => stream.fill_u32(start, elements(out, n)),
            2 => stream.fill_u64(start, elements(out, n)),
            3 => stream.fill_f32(start, elements(out, n)),
            4 => stream.fill_f64(start, elements(out, n)),
            5 => stream.fill_normal_f32(start, elements(out, n)),
            6 => stream.fill_normal_f64(start, elements(out, n)),
            7 => stream.fill_exponential_f64(start, elements(out, n)),
            8 => stream.fill_bounded_u32(bound as u32, start, elements(out, n)),
            9 => stream.fill_bounded_u64(bound, start, elements(out, n)),
            10 => stream.permutation(bound).fill(start, elements(out, n)),
            _ => return REFUSED,
        })
    }
}

/// Writes the elements of a kind whose numbers `indices` holds.
///
/// # Safety
///
/// The promise of [`fill`], and `indices` is aligned and valid for reads of `n` numbers.
pub(crate) unsafe fn at(
    kind: i32,
    place: Place,
    bound: u64,
    indices: *const u64,
    out: *mut c_void,
    n: usize,
) -> i32 {
    let Some(stream) = place.stream() else { return REFUSED };
    // SAFETY: the caller's promise, as in `fill`.
    unsafe {
        let indices = from_raw_parts(indices, n);
        number(match kind {
            0 => stream.u8_at(indices, elements(out, n)),
            1 => stream.u32_at(indices, elements(out, n)),
            2 => stream.u64_at(indices, elements(out, n)),
            3 => stream.f32_at(indices, elements(out, n)),
            4 => stream.f64_at(indices, elements(out, n)),
            5 => stream.normal_f32_at(indices, elements(out, n)),
            6 => stream.normal_f64_at(indices, elements(out, n)),
            7 => stream.exponential_f64_at(indices, elements(out, n)),
            8 => stream.bounded_u32_at(bound as u32, indices, elements(out, n)),
            9 => stream.bounded_u64_at(bound, indices, elements(out, n)),
            10 => return permutation_at(&stream, bound, indices, elements(out, n)),
            _ => return REFUSED,
        })
    }
}

fn permutation_at(stream: &Stream, n: u64, indices: &[u64], out: &mut [u64]) -> i32 {
    if indices.iter().any(|&index| index >= n) {
        return REFUSED;
    }
    let permutation = stream.permutation(n);
    for (out, &index) in out.iter_mut().zip(indices) {
        *out = permutation.at(index).unwrap_or(0);
    }
    0
}

/// # Safety
///
/// `out` is aligned and valid for writes of `n` elements.
unsafe fn elements<'a, T>(out: *mut c_void, n: usize) -> &'a mut [T] {
    // SAFETY: the caller's promise.
    unsafe { from_raw_parts_mut(out.cast(), n) }
}

/// Derives a key or a generator's bytes. Purposes are 0 for the key of a seed, 1 for a child and 2
/// for `expand`; kinds of labels are those of STREAMS.md.
pub(crate) fn derive(purpose: i32, place: Place, kind: i32, label: &[u8], out: &mut [u8]) -> i32 {
    let (Some(label), Some(key)) = (seed(kind, label), place.key()) else { return REFUSED };
    let derived = match purpose {
        0 => Key::with_engine(key.engine(), label).to_raw(),
        1 => key.child(label).to_raw(),
        2 => {
            key.expand(label, out);
            return 0;
        }
        _ => return REFUSED,
    };
    match <&mut [u8; 16]>::try_from(out) {
        Ok(out) => {
            *out = derived;
            0
        }
        Err(_) => REFUSED,
    }
}

fn seed(kind: i32, bytes: &[u8]) -> Option<Seed<'_>> {
    match kind {
        0 => Some(Seed::from(u128::from_le_bytes(bytes.try_into().ok()?))),
        // Java writes -1 - n, which i128 holds down to -2^127.
        1 => {
            let n = i128::from_le_bytes(bytes.try_into().ok()?);
            (n >= 0).then(|| Seed::from(!n))
        }
        2 => Some(Seed::from(bytes)),
        3 => Some(Seed::from(core::str::from_utf8(bytes).ok()?)),
        _ => None,
    }
}
