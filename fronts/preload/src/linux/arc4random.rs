//! The arc4random family. It cannot report an error, so it ends the process where no bytes are
//! available, as glibc's does.

use super::getrandom::serve;
use super::stats;
use core::ffi::c_void;
use core::mem::MaybeUninit;
use core::num::NonZeroU32;
use libc::size_t;

/// Returns 32 random bits.
#[unsafe(no_mangle)]
extern "C" fn arc4random() -> u32 {
    let mut word = MaybeUninit::<u32>::uninit();
    // SAFETY: four bytes of this frame, which the call has filled when it returns.
    unsafe {
        fill(word.as_mut_ptr().cast(), size_of::<u32>());
        word.assume_init()
    }
}

/// Fills `buf` with `len` random bytes.
///
/// # Safety
///
/// `buf` is valid for writes of `len` bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn arc4random_buf(buf: *mut c_void, len: size_t) {
    // SAFETY: a program that calls this by C's prototype passes a buffer of `len` bytes, and `fill`
    // asks for no more.
    unsafe { fill(buf, len) };
}

/// Returns a number below `upper_bound`, each equally likely; 0 if `upper_bound` is 0 or 1.
///
/// Method: D. Lemire, "Fast Random Integer Generation in an Interval", ACM TOMACS 29(1), 2019.
#[unsafe(no_mangle)]
extern "C" fn arc4random_uniform(upper_bound: u32) -> u32 {
    let Some(bound) = NonZeroU32::new(upper_bound) else { return 0 };
    // The numbers whose product with the bound has a low half below this would come up once more
    // than the others.
    let surplus = bound.get().wrapping_neg() % bound;
    loop {
        let product = u64::from(arc4random()) * u64::from(bound.get());
        if product as u32 >= surplus {
            return (product >> 32) as u32;
        }
    }
}

/// Fills the buffer, or ends the process.
///
/// # Safety
///
/// `buf` is valid for writes of `len` bytes.
unsafe fn fill(buf: *mut c_void, len: size_t) {
    let mut done = 0;
    while done < len {
        // SAFETY: `done` is below `len`, so the rest lies inside the program's buffer.
        let got = unsafe { serve(buf.wrapping_byte_add(done), len - done, 0) };
        // SAFETY: the C library's own errno, one for each thread.
        let errno = unsafe { *libc::__errno_location() };
        match got {
            1.. => done += got as size_t,
            _ if got < 0 && errno == libc::EINTR => {}
            _ => give_up(),
        }
    }
}

/// Writes one line and aborts. Why not libc's `write`? It is a cancellation point, so a thread that
/// is cancelled there would leave its process running without its bytes. Hence the raw system call.
#[cold]
#[inline(never)]
fn give_up() -> ! {
    const LINE: &str = "headwater: arc4random: the kernel returns no random bytes; it ends here\n";
    stats::write_raw(libc::STDERR_FILENO, LINE.as_bytes());
    // SAFETY: takes nothing, does not return.
    unsafe { libc::abort() }
}
