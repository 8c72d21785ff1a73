//! The environment's switches, and set-up when the library is loaded.

use super::glibc;
use super::{openssl, sanitizer, stats};
use core::ffi::{CStr, c_char};
use core::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// The source of a request's bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Route {
    /// headwater.
    Headwater,
    /// headwater, in a program with AddressSanitizer, which is asked about the buffer first.
    Checked,
    /// The kernel, by a system call each: `HEADWATER_DISABLE=1`.
    Kernel,
}

const UNREAD: u8 = 0;
const HEADWATER: u8 = 1;
const KERNEL: u8 = 2;
const CHECKED: u8 = 3;

/// The route, once the environment was read. Relaxed is enough, because the value alone matters,
/// and every thread that computes it computes the same one.
static ROUTE: AtomicU8 = AtomicU8::new(UNREAD);

/// Not 0 if `syscall(SYS_getrandom, ...)` is served. It has this form because assembly reads it. It
/// is on before the environment was read, which is no mistake: the serving function looks at the
/// route again.
pub(super) static INTERCEPTS_SYSCALL: AtomicU8 = AtomicU8::new(1);

/// Not 0 if `getrandom` acts on a pending pthread_cancel(), as the C library's does where it makes
/// a system call. glibc's does not from 2.41 on, where the vDSO serves it. Assembly reads it.
pub(super) static IS_CANCELLATION_POINT: AtomicU8 = AtomicU8::new(0);

/// Returns who serves requests.
#[inline]
pub(super) fn route() -> Route {
    match ROUTE.load(Relaxed) {
        HEADWATER => Route::Headwater,
        KERNEL => Route::Kernel,
        CHECKED => Route::Checked,
        _ => read(),
    }
}

/// Runs when the dynamic linker has loaded the program, before `main` and before any thread.
///
/// Set-up happens here and not at the first draw, because some programs draw for the first time
/// under a seccomp filter that allows getrandom(2) and little else; set-up needs more. It never
/// waits: if the kernel is not ready, the first draw that the kernel can answer does the set-up.
extern "C" fn constructor() {
    if let Some(configuration) = variable("HEADWATER_OPENSSL_CONF") {
        openssl::require(configuration, variable("OPENSSL_CONF"));
    }
    let sets_up = read() != Route::Kernel && !is_set("HEADWATER_LAZY");
    if sets_up {
        // glibc has asked the CPU for its features already. If we asked again, that would take a
        // tenth of a program's start in a virtual machine (docs/programs.md).
        #[cfg(target_arch = "x86_64")]
        if let Some(words) = glibc::cpuid_words() {
            headwater::internal::know_cpuid(words);
        }
        headwater::internal::expect_no_handles();
        // Sets everything up, which a draw would do too, but touches no page of random bytes: most
        // programs end without a draw. An error, such as "not ready", is not this function's to
        // report: the first draw meets it too.
        let _ = headwater::generation();
    }
    // The status sets everything up as well, so it is asked for only here.
    let has_vdso = || {
        !sets_up
            || !matches!(
                headwater::status().source,
                headwater::Source::Getrandom | headwater::Source::Urandom
            )
    };
    IS_CANCELLATION_POINT.store(u8::from(!(glibc::asks_vdso() && has_vdso())), Relaxed);
}

#[used]
#[unsafe(link_section = ".init_array")]
static CONSTRUCTOR: extern "C" fn() = constructor;

/// Reads the environment. It is first called by the constructor, or by a draw of an earlier one; in
/// both cases the program's own code, which could change the environment, has not begun.
#[cold]
fn read() -> Route {
    if is_set_to("HEADWATER_SYSCALL", b"0") || is_set("HEADWATER_DISABLE") {
        INTERCEPTS_SYSCALL.store(0, Relaxed);
    }
    let (word, route) = if is_set("HEADWATER_DISABLE") {
        (KERNEL, Route::Kernel)
    } else if sanitizer::begin() {
        (CHECKED, Route::Checked)
    } else {
        (HEADWATER, Route::Headwater)
    };
    if let Some(path) = variable("HEADWATER_STATS") {
        stats::begin(path);
    }
    ROUTE.store(word, Relaxed);
    route
}

/// Returns true if a switch is on: set, not empty and not `0`.
fn is_set(name: &str) -> bool {
    variable(name).is_some_and(|value| !matches!(value.to_bytes(), b"" | b"0"))
}

fn is_set_to(name: &str, expected: &[u8]) -> bool {
    variable(name).is_some_and(|value| value.to_bytes() == expected)
}

// SAFETY: each C library for Linux has this variable, of this type.
unsafe extern "C" {
    // Null until the C library has begun, which happens before any code of a program.
    static environ: *const *const c_char;
}

/// Returns the value of a variable; none in a program that has more rights than its caller.
fn variable(name: &str) -> Option<&'static CStr> {
    // SAFETY: getauxval takes a number and reads memory of the C library's.
    if unsafe { libc::getauxval(libc::AT_SECURE) } != 0 {
        return None;
    }
    // SAFETY: the C library's pointer to a list that ends with null, or null. Nothing changes it
    // yet.
    let mut entry = unsafe { environ };
    if entry.is_null() {
        return None;
    }
    loop {
        // SAFETY: inside the list, as its end was not met.
        let text = unsafe { *entry };
        if text.is_null() {
            return None;
        }
        // SAFETY: each entry is a string that lives as long as the process.
        let text = unsafe { CStr::from_ptr(text) };
        if let Some(rest) = text.to_bytes().strip_prefix(name.as_bytes())
            && rest.first() == Some(&b'=')
        {
            let value = text.to_bytes_with_nul().get(name.len() + 1..)?;
            return CStr::from_bytes_with_nul(value).ok();
        }
        entry = entry.wrapping_add(1);
    }
}
