//! Counters for `headwater run --stats`, and raw output.
//!
//! All processes of a run add to one page of a file that `HEADWATER_STATS` names: a forked child
//! shares the mapping, a program that it starts maps it again, and a killed one has lost nothing.
//! Without the variable a draw pays for one load.

use super::syscall::stock_syscall;
use core::ffi::{CStr, c_int};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering::Relaxed};

/// Size of the file that is mapped.
const PAGE: usize = 4096;

/// The counters, in the order of the file: u64 each, in the machine's byte order. `headwater run`
/// reads them (fronts/cli).
#[repr(C)]
struct Counters {
    /// Requests that headwater served.
    draws: AtomicU64,
    /// Bytes of these requests.
    bytes: AtomicU64,
    /// Requests that went to the kernel.
    forwarded: AtomicU64,
    /// Processes that loaded the library, and programs that they executed.
    programs: AtomicU64,
    /// Served requests for which the C library makes a system call.
    saved: AtomicU64,
}

static COUNTERS: AtomicPtr<Counters> = AtomicPtr::new(null_mut());

fn counters() -> Option<&'static Counters> {
    // Relaxed: the mapping was made by the constructor, in the only thread, or by an earlier draw
    // of this thread. A thread that sees null too long counts nothing for that long. SAFETY: null,
    // or a page that is mapped for the life of the process and holds atomics alone.
    unsafe { COUNTERS.load(Relaxed).as_ref() }
}

/// Counts a request that headwater served. `saves_call` is set if the C library would have made a
/// system call for it.
#[inline]
pub(super) fn served(len: usize, saves_call: bool) {
    if let Some(counters) = counters() {
        counters.saved.fetch_add(saves_call.into(), Relaxed);
        counters.draws.fetch_add(1, Relaxed);
        counters.bytes.fetch_add(len as u64, Relaxed);
    }
}

/// Counts a request that goes to the kernel.
#[inline]
pub(super) fn forwarded() {
    if let Some(counters) = counters() {
        counters.forwarded.fetch_add(1, Relaxed);
    }
}

/// Maps the file of counters. If it cannot be mapped, in a chroot say, nothing is counted: a
/// program must not fail because it is watched.
pub(super) fn begin(path: &CStr) {
    const FLAGS: c_int = libc::O_RDWR | libc::O_CLOEXEC | libc::O_NOFOLLOW;
    const ACCESS: c_int = libc::PROT_READ | libc::PROT_WRITE;
    let path = path.as_ptr().addr() as i64;
    // SAFETY: the path is a string; the call opens a file and no more.
    let file = unsafe {
        stock_syscall(libc::SYS_openat, libc::AT_FDCWD.into(), path, FLAGS.into(), 0, 0, 0)
    };
    if file < 0 {
        return;
    }
    // SAFETY: a new mapping, which nothing else in this process knows, of a file that is one page
    // long, as `headwater run` makes it. A shorter one would end the process by SIGBUS, and a
    // longer one is some other file, whose bytes the counters would overwrite. The descriptor is
    // this function's.
    let page = unsafe {
        let (size, access) = (PAGE as i64, ACCESS.into());
        let end = stock_syscall(libc::SYS_lseek, file, 0, libc::SEEK_END.into(), 0, 0, 0);
        let page = if end == size {
            stock_syscall(libc::SYS_mmap, 0, size, access, libc::MAP_SHARED.into(), file, 0)
        } else {
            -1
        };
        stock_syscall(libc::SYS_close, file, 0, 0, 0, 0, 0);
        page
    };
    if page < 0 {
        return;
    }
    let page = core::ptr::with_exposed_provenance_mut::<Counters>(page as usize);
    COUNTERS.store(page, Relaxed);
    if let Some(counters) = counters() {
        counters.programs.fetch_add(1, Relaxed);
    }
}

/// Writes to a descriptor by a raw system call, which is not a cancellation point.
pub(super) fn write_raw(descriptor: c_int, bytes: &[u8]) {
    let (start, len) = (bytes.as_ptr().addr() as i64, bytes.len() as i64);
    // SAFETY: the call reads the bytes, which are valid for their length.
    unsafe { stock_syscall(libc::SYS_write, descriptor.into(), start, len, 0, 0, 0) };
}
