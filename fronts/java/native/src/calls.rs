//! The functions to which both doors lead.

use core::mem::MaybeUninit;
use core::sync::atomic::{Ordering, compiler_fence};
use headwater::{Config, Error};

/// The result of a failure that has no errno.
pub(crate) const NO_ERRNO: i32 = -1;
/// The result of a request that makes no sense. Java checks its arguments first, so all that is
/// left for this result is a range that leaves its stream or its permutation.
pub(crate) const REFUSED: i32 = -2;

/// Returns a result as the number that Java expects.
pub(crate) fn number<T>(result: Result<T, Error>) -> i32 {
    match result {
        Ok(_) => 0,
        Err(error) => error.errno().unwrap_or(NO_ERRNO),
    }
}

/// Fills `out`, which is all zeros after an error.
#[inline(always)]
pub(crate) fn fill(out: &mut [MaybeUninit<u8>]) -> i32 {
    number(headwater::fill_uninit(out))
}

/// Fills `out` under a key that the kernel returns for this request alone. `out` is all zeros after
/// an error.
pub(crate) fn fill_fresh(out: &mut [MaybeUninit<u8>]) -> i32 {
    out.fill(MaybeUninit::new(0));
    // SAFETY: every byte was written in the line above, so the same slice may be one of bytes.
    let out = unsafe { &mut *(core::ptr::from_mut(out) as *mut [u8]) };
    number(headwater::fill_fresh(out))
}

/// Does the set-up of the first draw, and waits until the kernel's generator is seeded. Later draws
/// therefore never wait, as code in a critical section of the JVM must not.
pub(crate) fn init() -> i32 {
    number(headwater::init())
}

/// Returns the change counter, or 0 if this machine cannot detect changes.
#[inline(always)]
pub(crate) fn generation() -> u64 {
    headwater::generation().map_or(0, core::num::NonZeroU64::get)
}

/// Returns 1 if copies of this process can be seen, and 2 if those of its machine can, or both.
pub(crate) fn copies_seen() -> i32 {
    let (processes, machines) = headwater::internal::copies_seen();
    i32::from(processes) | i32::from(machines) << 1
}

pub(crate) fn quiesce() -> i32 {
    number(headwater::quiesce())
}

/// Ends the state that [`quiesce`] leaves.
pub(crate) fn resume() -> i32 {
    number(headwater::init_with(Config::new()))
}

/// Writes the status document to `out`, cut off at its end, and returns the whole length.
pub(crate) fn status(out: &mut [u8]) -> usize {
    let mut whole = 0;
    headwater_status::write_now(&mut |piece| {
        if let Some(rest) = out.get_mut(whole..) {
            let len = rest.len().min(piece.len());
            rest[..len].copy_from_slice(&piece[..len]);
        }
        whole += piece.len();
    });
    whole
}

/// Writes the version of this library to `out` and returns its length.
pub(crate) fn version(out: &mut [u8]) -> usize {
    // Opaque, because a test replaces the text in the file, and the compiler could otherwise spread
    // it over the operands of instructions.
    let version = core::hint::black_box(env!("CARGO_PKG_VERSION")).as_bytes();
    let len = version.len().min(out.len());
    out[..len].copy_from_slice(&version[..len]);
    version.len()
}

/// Erases bytes that Java has a copy of. The stores are volatile, because nothing reads the bytes
/// afterwards, so the compiler would leave plain stores out.
#[inline(always)]
pub(crate) fn erase(bytes: &mut [MaybeUninit<u64>]) {
    for word in bytes {
        // SAFETY: a reference is valid for writes.
        unsafe { core::ptr::write_volatile(word, MaybeUninit::new(0)) };
    }
    compiler_fence(Ordering::SeqCst);
}
