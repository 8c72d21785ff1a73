//! The sources of key material, and the order in which they are asked.
//!
//! A source either fills the whole buffer with bytes of the kernel's seeded generator or returns an
//! error. It never returns a part, because a caller could take the rest of its buffer for random,
//! and never bytes from before the generator was seeded, because those could be guessed.
//!
//! The order: the vDSO ([`vgetrandom`]), which needs a state of its own and is therefore called by
//! those who hold a page; then [`getrandom(2)`](getrandom); and only where that is missing (ENOSYS)
//! or forbidden [`/dev/urandom`](urandom), after /dev/random has said that the generator is seeded.
//! A sandbox forbids by any errno that its author chose: EPERM, EACCES or EINVAL, say. The kernel's
//! own call answers a right request by no error but EAGAIN, EINTR and EFAULT, so any other one is a
//! refusal.

#![allow(unsafe_code)]

mod getrandom;
mod urandom;
pub(crate) mod vdso;
pub(crate) mod vgetrandom;

use crate::Error;
use crate::linux::sys::Errno;
use crate::status::Source;
use core::sync::atomic::{AtomicBool, AtomicU8, Ordering};

/// The system call that answered last, for the status only.
static ANSWERED: AtomicU8 = AtomicU8::new(0);
/// True if the vDSO refused its last call, for the status only.
static VDSO_REFUSED: AtomicBool = AtomicBool::new(false);

/// Fills `len` bytes at `dst` from the kernel by system call. `wait` says whether to wait for the
/// generator to be seeded.
///
/// # Safety
///
/// `dst` is valid for writes of `len` bytes.
pub(crate) unsafe fn fill(dst: *mut u8, len: usize, wait: bool) -> Result<(), Error> {
    // SAFETY: both write at most `len` bytes at `dst`. The second may write over what the first has
    // left, because an answer that was refused is not used.
    let (result, source) = unsafe {
        match getrandom::fill(dst, len, wait) {
            // Not ready, the caller's pointer, or an answer that cannot be: none of them becomes
            // another at a device.
            result @ (Ok(()) | Err(Errno(libc::EAGAIN | libc::EFAULT | 0))) => (result, 1),
            Err(_) => (urandom::fill(dst, len, wait), 2),
        }
    };
    match result {
        Ok(()) => {
            if ANSWERED.load(Ordering::Relaxed) != source {
                ANSWERED.store(source, Ordering::Relaxed);
            }
            Ok(())
        }
        Err(Errno(errno)) => Err(Error::from_errno(errno)),
    }
}

/// Notes whether the vDSO answered. All CPUs read this line, so it is written only when the answer
/// changes; a plain store each time would take it from all of them.
pub(crate) fn note_vdso(answered: bool) {
    if VDSO_REFUSED.load(Ordering::Relaxed) == answered {
        VDSO_REFUSED.store(!answered, Ordering::Relaxed);
    }
}

/// Returns the source that answered last, with or without the vDSO.
pub(crate) fn answered(vdso: bool) -> Source {
    if vdso && !VDSO_REFUSED.load(Ordering::Relaxed) {
        return Source::Vdso;
    }
    match ANSWERED.load(Ordering::Relaxed) {
        1 => Source::Getrandom,
        2 => Source::Urandom,
        _ => Source::None,
    }
}

/// Calls `step` until `len` bytes are written: the one place where short answers, EINTR and answers
/// that cannot be are handled.
///
/// # Safety
///
/// `dst` is valid for writes of `len` bytes, and `step(at, n)` writes at most `n` bytes at `at`.
unsafe fn fill_exactly(
    dst: *mut u8,
    len: usize,
    mut step: impl FnMut(*mut u8, usize) -> Result<usize, Errno>,
) -> Result<(), Errno> {
    let mut done = 0;
    while done < len {
        // SAFETY: `done` is below `len`, so the sum stays inside the buffer.
        let at = unsafe { dst.add(done) };
        match step(at, len - done) {
            Ok(given) if (1..=len - done).contains(&given) => done += given,
            // Zero bytes, or more than were asked for: an errno no source answers, which becomes
            // `Error::UNEXPECTED`. Old 32-bit kernels with another system call at this number did
            // so.
            Ok(_) => return Err(Errno(0)),
            Err(Errno(libc::EINTR)) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}
