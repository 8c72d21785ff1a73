//! The moment at which generators are renewed.

use super::library::{seed_drand48, seed_random};
use super::original::anywhere;
use core::ffi::{c_int, c_void};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicU64, Ordering};

/// The count of copies for which the C library's generators were renewed.
static SEEN: AtomicU64 = AtomicU64::new(0);

/// Renews the generators if this is a copy. Each draw calls it first, and each seeding too: a seed
/// that a program sets in the copy would otherwise be overwritten at the next draw.
#[inline(always)]
pub(super) fn make_ready() {
    if headwater::copies() != SEEN.load(Ordering::Acquire) {
        renew();
    }
}

/// Seeds both families of the C library with bytes that no other copy has.
///
/// Threads may get here at once, and each renews: none may draw before it is done, and one that
/// waited for another could wait for ever, if that one was stopped. If there are no bytes, the next
/// draw tries again.
#[cold]
#[inline(never)]
fn renew() {
    let now = headwater::copies();
    let mut bytes = [0; 10];
    if headwater::fill(&mut bytes).is_err() {
        return;
    }
    let [a, b, c, d, e, f, g, h, i, j] = bytes;
    seed_random(u32::from_ne_bytes([a, b, c, d]));
    seed_drand48([[e, f], [g, h], [i, j]].map(u16::from_ne_bytes));
    SEEN.store(now, Ordering::Release);
}

type Handler = extern "C" fn();

/// Runs when the library is loaded: begins to count, and has forks announced.
extern "C" fn constructor() {
    let copies = headwater::copies();
    SEEN.store(copies, Ordering::Release);
    super::tls::begin(copies);
    // glibc has pthread_atfork() in a part that only programs link, and this below it.
    let glibc = anywhere(c"__register_atfork");
    if !glibc.is_null() {
        type Register = unsafe extern "C" fn(Handler, Handler, Handler, *mut c_void) -> c_int;
        // SAFETY: glibc's function of this name has this signature since 2.3.2. The handlers stay,
        // because this library is linked with `nodelete`.
        unsafe {
            let register = core::mem::transmute::<*mut c_void, Register>(glibc);
            register(before_fork, after_fork, in_child, null_mut());
        }
        return;
    }
    let posix = anywhere(c"pthread_atfork");
    if !posix.is_null() {
        type Register = unsafe extern "C" fn(Handler, Handler, Handler) -> c_int;
        // SAFETY: POSIX's signature; the handlers stay, as above.
        unsafe {
            core::mem::transmute::<*mut c_void, Register>(posix)(before_fork, after_fork, in_child);
        }
    }
}

#[used]
#[unsafe(link_section = ".init_array")]
static CONSTRUCTOR: extern "C" fn() = constructor;

extern "C" fn before_fork() {
    headwater::internal::before_fork();
}

extern "C" fn after_fork() {
    headwater::internal::after_fork();
}

/// Looks in the child at once, so that a copy of the child is seen although it has not drawn.
extern "C" fn in_child() {
    headwater::copies();
}
