//! Counters for `headwater run --openssl --stats` and `headwater status --openssl`.
//!
//! The page of counters is the preload library's (fronts/preload/src/linux/stats.rs), and these are
//! the words after its own. Programs whose OpenSSL draws from here make no call that the preload
//! library would see, so without these words a run with a million draws would report none.

use core::ffi::{CStr, c_char, c_int};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

/// Size of the file that is mapped.
const PAGE: usize = 4096;

#[repr(C)]
struct Counters {
    /// The preload library's own.
    preload: [AtomicU64; 5],
    /// Processes that loaded the module, and programs that they executed.
    programs: AtomicU64,
    /// Draws that OpenSSL made here.
    draws: AtomicU64,
    /// Bytes of these draws.
    bytes: AtomicU64,
}

static COUNTERS: AtomicPtr<Counters> = AtomicPtr::new(null_mut());

fn counters() -> Option<&'static Counters> {
    // SAFETY: null, or a page that stays mapped for the life of the process and holds atomics
    // alone; `begin` published it after it was mapped.
    unsafe { COUNTERS.load(Ordering::Acquire).as_ref() }
}

/// Counts a draw. Without the variable it costs a load.
#[inline]
pub(crate) fn drawn(len: usize) {
    if let Some(counters) = counters() {
        counters.draws.fetch_add(1, Ordering::Relaxed);
        counters.bytes.fetch_add(len as u64, Ordering::Relaxed);
    }
}

/// Maps the file that `HEADWATER_STATS` names, once a process. If it cannot be mapped, nothing is
/// counted: a program must not fail because it is watched.
pub(crate) fn begin() {
    if counters().is_some() {
        return;
    }
    let Some(path) = path() else { return };
    const FLAGS: c_int = libc::O_RDWR | libc::O_CLOEXEC | libc::O_NOFOLLOW;
    // SAFETY: the path is a string, and the descriptor is this function's own. The mapping is new,
    // so nothing else in the process knows it; the file is one page long, as `headwater` makes it.
    // A shorter one would end the process by SIGBUS, and a longer one is some other file, whose
    // bytes the counters would overwrite.
    let page = unsafe {
        let file = libc::open(path.as_ptr(), FLAGS);
        if file < 0 {
            return;
        }
        let is_page = libc::lseek(file, 0, libc::SEEK_END) == PAGE as libc::off_t;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let page = if is_page {
            libc::mmap(null_mut(), PAGE, access, libc::MAP_SHARED, file, 0)
        } else {
            libc::MAP_FAILED
        };
        libc::close(file);
        page
    };
    if page != libc::MAP_FAILED {
        COUNTERS.store(page.cast(), Ordering::Release);
        if let Some(counters) = counters() {
            counters.programs.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Returns the value of the variable; none in a program with more rights than its caller.
fn path() -> Option<&'static CStr> {
    // SAFETY: getauxval takes a number and reads the C library's memory.
    if unsafe { libc::getauxval(libc::AT_SECURE) } != 0 {
        return None;
    }
    // SAFETY: the name is a string. OpenSSL reads its own variables in the same way at this moment,
    // and a program that changes its environment meanwhile breaks POSIX's rule for both.
    let value: *const c_char = unsafe { libc::getenv(c"HEADWATER_STATS".as_ptr()) };
    // SAFETY: not null, so a string of the environment, used before this call returns to OpenSSL.
    (!value.is_null()).then(|| unsafe { CStr::from_ptr(value) })
}
