//! Requests with keys of their own: mode `strict`, large requests in every mode, and every
//! fallback.

#![allow(unsafe_code)]

use crate::Error;
use crate::linux::cipher::Workspace;
use crate::linux::failpoint::{Point, hook};
use crate::linux::process::Process;
use crate::linux::source;
use crate::status::CpuRng;
use core::sync::atomic::{Ordering, fence};

/// A key serves at most this many bytes: what a snapshot in the middle of a request can repeat.
pub(crate) const CHUNK: usize = 1 << 20;

/// Fills `len` bytes under keys from getrandom(2), with the CPU's words mixed in.
///
/// The one function that every fallback calls: in `hedged` and `strict` no other code serves kernel
/// bytes. It seems a detour, since the kernel's bytes are random already. But raw ones would be the
/// same in two clones whose kernels have not noticed yet.
///
/// # Safety
///
/// `dst` is valid for writes of `len` bytes.
#[cold]
#[inline(never)] // keeps its workspace out of its callers' frames
pub(crate) unsafe fn fill(process: &Process, dst: *mut u8, len: usize) -> Result<(), Error> {
    // SAFETY: `dst` has `len` writable bytes, and `from_syscall` writes 32 at its argument, as
    // `expand` allows.
    unsafe { expand(process, dst, len, from_syscall) }
}

/// Draws the first half of a seed to `at`, by system call.
fn from_syscall(at: *mut u8) -> Result<(), Error> {
    // SAFETY: 32 bytes, for which `expand` has room.
    unsafe { source::fill(at, 32, true) }
}

/// Fills `len` bytes in strict mode: as [`fill`], with the kernel's half from the vDSO where a
/// slot, whose page holds a state for it, is free.
///
/// # Safety
///
/// `dst` is valid for writes of `len` bytes.
#[inline(never)]
pub(crate) unsafe fn strict(process: &Process, dst: *mut u8, len: usize) -> Result<(), Error> {
    if process.memory.slots > 0 && process.vgetrandom().is_some() && !process.is_quiesced() {
        // SAFETY: `dst` has `len` writable bytes, and both ways to draw write half a seed, 32
        // bytes, as `expand` allows.
        return unsafe {
            expand(process, dst, len, |at| {
                let Some(slot) = crate::linux::pool::slot::Slot::take(process, process.epoch())
                else {
                    return from_syscall(at);
                };
                slot.page_ref().verified_half(at, || {})
            })
        };
    }
    // SAFETY: `fill` asks for the same buffer, and nothing else.
    unsafe { fill(process, dst, len) }
}

/// Fills a large request: each chunk under a key derived from 32 bytes of the small path and fresh
/// words of the CPU, in every mode.
///
/// The words go into the key as they do for a page, so no mask is needed: the owner of a
/// clone knows the page's bytes, but not the 128 fresh bits of the key.
///
/// # Safety
///
/// `dst` is valid for writes of `len` bytes, and the process has slots.
#[inline(never)]
pub(crate) unsafe fn large(process: &Process, dst: *mut u8, len: usize) -> Result<(), Error> {
    // SAFETY: `dst` has `len` writable bytes. `plain` writes 32 bytes at its argument, as `expand`
    // allows, and may be called because the process has slots.
    unsafe {
        expand(process, dst, len, |at| {
            mixed(process, at, |at| crate::linux::pool::draw::plain(process, at, 32))
        })
    }
}

/// Draws the first half of a seed to `at` by `draw`.
///
/// Without words of the CPU the kernel's bytes replace `draw`, except in mode `buffered`, which
/// does not rely on the words.
pub(crate) fn mixed(
    process: &Process,
    at: *mut u8,
    draw: impl FnOnce(*mut u8) -> Result<(), Error>,
) -> Result<(), Error> {
    if process.cpu_rng() != CpuRng::Good && !process.is_buffered() {
        return from_syscall(at);
    }
    // The page that `draw` takes bytes from must not be older than one that a small request would
    // get.
    process.expire();
    draw(at)
}

/// Derives keys from seeds and expands them over `dst`, a chunk at a time, under the guards as they
/// were before the first key.
///
/// * A fork in the middle: parent and child would continue with the same key. It would not do to
///   change the key for the rest, because what the child has so far is the parent's. So the child
///   starts the whole request again.
/// * The kernel reseeded, or VMClock's marker moved: the request is started again once; if it
///   happens again the chunk is drawn again once; then it is accepted, as the kernel itself accepts
///   a reseed under a long request. Without an end, gigabytes would never be done while the kernel
///   reseeds each second.
///
/// # Safety
///
/// `dst` is valid for writes of `len` bytes. `draw` writes at most 32 bytes at its argument.
#[inline]
pub(crate) unsafe fn expand(
    process: &Process,
    dst: *mut u8,
    len: usize,
    mut draw: impl FnMut(*mut u8) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut restarted = false;
    'request: loop {
        let epoch = process.epoch();
        let mut seen = process.guards();
        let mut done = 0;
        while done < len {
            let step = (len - done).min(CHUNK);
            let mut redone = false;
            loop {
                {
                    let mut work = Workspace::empty();
                    let expected = process.has_cpu_words();
                    draw(work.seed.as_mut_ptr())?;
                    // SAFETY: the other half of the seed; `step` bytes from `done` on lie in the
                    // buffer; the back end is available.
                    unsafe {
                        if !process.mix(work.seed.as_mut_ptr().add(32), expected) {
                            continue; // without words, `draw` may choose another source
                        }
                        work.derive(process.backend);
                        hook(Point::Keyed);
                        work.stream(process.backend, dst.add(done), step);
                    }
                } // erased here, and not moved before
                hook(Point::LargeChunk);
                // The guards are read after the chunk was made, not before.
                fence(Ordering::Acquire);
                if !process.is_epoch(epoch) {
                    continue 'request;
                }
                let now = process.guards();
                if now == seen || redone {
                    break;
                }
                seen = now;
                if !restarted {
                    restarted = true;
                    continue 'request;
                }
                redone = true;
            }
            done += step;
        }
        return Ok(());
    }
}

/// Fills `len` bytes by getrandom(2) and nothing else.
///
/// A long request that a signal interrupts has its first part already, so if the handler forks,
/// parent and child hold the same part. Therefore the child starts again, where forks can be
/// detected.
///
/// # Safety
///
/// `dst` is valid for writes of `len` bytes.
pub(crate) unsafe fn kernel(process: &Process, dst: *mut u8, len: usize) -> Result<(), Error> {
    loop {
        let epoch = process.epoch();
        // SAFETY: each round writes the same `len` bytes at `dst`; a round after a fork starts from
        // the first of them again.
        unsafe { source::fill(dst, len, true) }?;
        hook(Point::LargeChunk);
        if process.is_epoch(epoch) {
            return Ok(());
        }
    }
}
