//! The system calls under miri, which has no kernel: memory of the allocator, random bytes, and no
//! file.
//!
//! With it the whole library runs under an interpreter that sees every access: set-up, slots,
//! handles, refills. Every pointer keeps its provenance on the way, so that miri may be strict
//! about it.

#![allow(unsafe_code)]

pub(crate) mod memory;

use core::ffi::CStr;
use std::alloc::{Layout, alloc_zeroed, dealloc};

/// A positive errno.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Errno(pub(crate) i32);

/// Calls getrandom(2), which the interpreter has.
///
/// # Safety
///
/// `dst` is valid for writes of `len` bytes.
pub(crate) unsafe fn getrandom(dst: *mut u8, len: usize, flags: u32) -> Result<usize, Errno> {
    // SAFETY: `dst` has `len` writable bytes, and the call writes no more.
    let answer = unsafe { libc::getrandom(dst.cast(), len, flags) };
    usize::try_from(answer).map_err(|_| Errno(libc::ENOSYS))
}

/// An open file: there is none.
pub(crate) enum Fd {}

impl Fd {
    pub(crate) fn open_read(path: &CStr) -> Result<Fd, Errno> {
        crate::linux::failpoint::rooted(path, |_| Err(Errno(libc::ENOENT)))
    }

    pub(crate) fn read(&self, _: &mut [u8]) -> Result<usize, Errno> {
        match *self {}
    }

    /// # Safety
    ///
    /// Never called.
    pub(crate) unsafe fn read_raw(&self, _: *mut u8, _: usize) -> Result<usize, Errno> {
        match *self {}
    }

    pub(crate) fn poll_readable(&self, _: bool) -> Result<bool, Errno> {
        match *self {}
    }

    pub(crate) fn read_entries(&self, _: &mut [u8]) -> Result<usize, Errno> {
        match *self {}
    }

    /// # Safety
    ///
    /// Never called.
    pub(crate) fn is_kept_by_a_trusted_user(&self, _: usize) -> bool {
        match *self {}
    }

    pub(crate) unsafe fn ioctl<T>(&self, _: u32, _: &mut T) -> Result<usize, Errno> {
        match *self {}
    }
}

fn pages(len: usize) -> Layout {
    Layout::from_size_align(len, page_size()).expect("a length that fits")
}

/// Stands in for mmap(2), from which headwater needs zeroed memory only.
///
/// # Safety
///
/// Replaces nothing: only a VMClock page would be replaced, and that file does not exist here.
pub(crate) unsafe fn mmap(
    _at: *mut u8,
    len: usize,
    _prot: i32,
    _flags: i32,
    _fd: Option<&Fd>,
) -> Result<*mut u8, Errno> {
    // SAFETY: `len` is not 0.
    Ok(unsafe { alloc_zeroed(pages(len)) })
}

/// Stands in for munmap(2).
///
/// # Safety
///
/// `at` and `len` are a mapping as a whole, and is not in use any more.
pub(crate) unsafe fn munmap(at: *mut u8, len: usize) {
    // SAFETY: a mapping is given back as a whole, so the layout is the one that `alloc_zeroed` was
    // called with, and nothing uses the memory any more.
    unsafe { dealloc(at, pages(len)) };
}

/// Stands in for madvise(2): refuses advice that does not exist, and drops contents.
///
/// # Safety
///
/// Advice that drops contents (MADV_DONTNEED) is allowed only where zeros are a valid state and,
/// under an interpreter, while no thread draws: the kernel drops atomically, this function does
/// not.
pub(crate) unsafe fn madvise(at: *mut u8, len: usize, advice: i32) -> Result<(), Errno> {
    match advice {
        -1 => return Err(Errno(libc::EINVAL)),
        libc::MADV_DONTNEED => {
            // SAFETY: the region is memory of `alloc_zeroed`, so it is writable. Zeros are a valid
            // state in it, and no thread draws that could see half of them.
            unsafe { at.write_bytes(0, len) };
        }
        _ => {}
    }
    Ok(())
}

pub(crate) fn mlock_on_fault(_: *mut u8, _: usize) -> Result<(), Errno> {
    Ok(())
}

pub(crate) fn munlock(_: *mut u8, _: usize) -> Result<(), Errno> {
    Ok(())
}

/// Returns false, and is never called, because without a vDSO no data is searched.
pub(crate) fn is_readable(_: *const u8) -> bool {
    false
}

/// Returns no number: there are no sections, which alone ask for one.
pub(crate) fn getcpu() -> Option<u32> {
    None
}

/// Returns one CPU, so that few threads are enough to find every slot taken.
pub(crate) fn process_number() -> u64 {
    u64::from(std::process::id())
}

pub(crate) fn cpus_in_affinity() -> Option<usize> {
    Some(1)
}

pub(crate) fn page_size() -> usize {
    4096
}

/// Returns 0, because an interpreter has no auxiliary vector.
pub(crate) fn auxiliary(_: core::ffi::c_ulong) -> usize {
    0
}

#[cfg(feature = "uuid")]
pub(crate) fn since_1970() -> (u64, u32) {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or((0, 0), |since| (since.as_secs(), since.subsec_nanos()))
}

/// Returns 0, and is never called, because without a clock device no loads are timed.
pub(crate) fn monotonic_ns() -> u64 {
    0
}

/// A value that never exists: the interpreter's environment is empty.
pub(crate) enum Value {}

impl Value {
    pub(crate) fn as_bytes(&self) -> &[u8] {
        match *self {}
    }
}

pub(crate) fn environment(_: &CStr) -> Option<Value> {
    None
}
