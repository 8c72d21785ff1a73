//! The arc4random family. These functions cannot report an error, so they end the process instead.

use crate::edge::{buffer, errno};
use core::ffi::{c_int, c_void};
use core::num::NonZeroU32;
use core_headwater as headwater;
use libc::size_t;

/// Returns a random number of 32 bits.
///
/// The function cannot report an error. If headwater_fill() would fail, it writes one line to
/// stderr and aborts the process.
///
/// Async-signal-safe, unlike arc4random(3) of some C libraries.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn headwater_arc4random() -> u32 {
    headwater::u32().unwrap_or_else(|error| give_up(errno(error)))
}

/// Fills `buf` with `len` random bytes, or aborts as headwater_arc4random() does; also if `buf` is
/// NULL and `len` is not 0.
///
/// Async-signal-safe.
///
/// # Safety
///
/// `buf` is NULL, or valid for writes of `len` bytes that nothing else uses meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn headwater_arc4random_buf(buf: *mut c_void, len: size_t) {
    // SAFETY: headwater.h asks for a buffer of `len` bytes that nothing else uses; `buffer` refuses
    // null and a length that no object has.
    let Some(buf) = (unsafe { buffer(buf, len) }) else { give_up(libc::EFAULT) };
    if let Err(error) = headwater::fill_uninit(buf) {
        give_up(errno(error));
    }
}

/// Returns a random number below `upper_bound`, each with the same probability. Returns 0 if
/// `upper_bound` is 0 or 1.
///
/// Aborts as headwater_arc4random() does. Async-signal-safe.
///
/// Method: D. Lemire, "Fast Random Integer Generation in an Interval", ACM TOMACS 29(1), 2019.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn headwater_arc4random_uniform(upper_bound: u32) -> u32 {
    let Some(bound) = NonZeroU32::new(upper_bound) else { return 0 };
    headwater::u32_below(bound).unwrap_or_else(|error| give_up(errno(error)))
}

const BEFORE: &[u8] = b"headwater: arc4random failed, because random bytes are unavailable (errno ";
const AFTER: &[u8] = b"); headwater_fill() reports the error instead\n";

/// Writes the reason to stderr in one piece and aborts. Formats by hand, because the caller may be
/// a signal handler, in which printf(3) is not allowed.
#[cold]
#[inline(never)]
fn give_up(errno: c_int) -> ! {
    let mut digits = [b'0'; 10]; // i32::MAX has ten digits
    let mut rest = errno.unsigned_abs();
    let mut count = 0;
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
        count += 1;
        if rest == 0 {
            break;
        }
    }
    let digits = digits.get(digits.len().saturating_sub(count)..).unwrap_or_default();
    let part = |bytes: &[u8]| libc::iovec {
        iov_base: bytes.as_ptr().cast_mut().cast(),
        iov_len: bytes.len(),
    };
    let line = [part(BEFORE), part(digits), part(AFTER)];
    // The call goes through syscall(2), because the C library's writev is a cancellation point: a
    // cancelled thread would end there, and the process would continue. SAFETY: writev reads three
    // parts, each valid for reads of its length.
    unsafe {
        libc::syscall(libc::SYS_writev, libc::STDERR_FILENO, line.as_ptr(), line.len());
        libc::abort()
    }
}
