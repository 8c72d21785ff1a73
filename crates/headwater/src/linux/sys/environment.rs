//! Environment variables, read where no other thread can free them.
//!
//! getenv(3) walks an array that setenv(3) may free in another thread at the same moment: 6 of 11,000
//! first draws beside setenv crashed in it. The array that the kernel wrote to the initial stack is
//! never freed. setenv and unsetenv may replace pointers in it, each by one store, and glibc never frees
//! the texts that they put there.
//!
//! A program that replaced its environment before it started threads may have overwritten the initial
//! texts, as servers do that set their process title. Its present environment is therefore read, as long
//! as the process has one thread. A signal handler may then still have interrupted setenv, so each
//! pointer is checked before it is followed.

#![allow(unsafe_code)]

use super::is_readable;
use core::ffi::{CStr, c_char, c_int};
use core::ptr;

unsafe extern "C" {
    static environ: *const *const c_char;
}

/// Returns the address of a symbol of glibc, or null where the C library lacks it. A weak reference
/// through the global offset table, as for `__rseq_offset`.
macro_rules! weak {
    ($symbol:literal) => {{
        let address: usize;
        #[cfg(target_arch = "x86_64")]
        // SAFETY: loads an address from the global offset table.
        unsafe {
            core::arch::asm!(
                concat!(".weak ", $symbol),
                concat!("mov {0}, qword ptr [rip + ", $symbol, "@GOTPCREL]"),
                out(reg) address,
                options(nostack, preserves_flags),
            );
        }
        #[cfg(target_arch = "aarch64")]
        // SAFETY: loads an address from the global offset table.
        unsafe {
            core::arch::asm!(
                concat!(".weak ", $symbol),
                concat!("adrp {0}, :got:", $symbol),
                concat!("ldr {0}, [{0}, :got_lo12:", $symbol, "]"),
                out(reg) address,
                options(nostack, preserves_flags),
            );
        }
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        {
            address = 0;
        }
        address
    }};
}

/// Returns the environment on the initial stack. The kernel puts it after the arguments and a null.
fn initial() -> Option<*const *const c_char> {
    let end = ptr::with_exposed_provenance::<*const usize>(weak!("__libc_stack_end"));
    let argv = ptr::with_exposed_provenance::<*const usize>(weak!("__libc_argv"));
    let argc = ptr::with_exposed_provenance::<c_int>(weak!("__libc_argc"));
    // SAFETY: glibc's own variables, which it sets before any other code runs. In a static program,
    // `__libc_argv` points to the arguments, while `__libc_stack_end` lies below their count. The C
    // library hides `__libc_argv` in a dynamic program, where `__libc_stack_end` points to the count.
    let (arguments, count) = unsafe {
        if let (Some(&argv), Some(&argc)) = (argv.as_ref(), argc.as_ref()) {
            (argv, usize::try_from(argc).ok()?)
        } else {
            let stack = *end.as_ref()?;
            (stack.add(1), *stack)
        }
    };
    // SAFETY: the kernel's layout of the initial stack.
    unsafe {
        let after = arguments.add(count);
        (*after == 0).then(|| after.add(1).cast())
    }
}

/// Returns true if this process has never had a second thread, as far as glibc (2.32) says.
fn has_one_thread() -> bool {
    let flag = ptr::with_exposed_provenance::<u8>(weak!("__libc_single_threaded"));
    // SAFETY: glibc's own variable. Volatile, because glibc writes it.
    !flag.is_null() && unsafe { flag.read_volatile() } != 0
}

/// Returns the value of a variable, as long as nothing replaces it.
pub(crate) fn variable(name: &CStr) -> Option<&'static [u8]> {
    // SAFETY: the C library's variable. Volatile, because setenv writes it.
    let present = unsafe { (&raw const environ).read_volatile() };
    match initial() {
        Some(initial) if initial == present || !has_one_thread() => find(initial, name, |_| true),
        Some(_) => find(present, name, is_readable),
        // Another C library, such as musl: its getenv is all there is. The environment must not change
        // during the first draw.
        None => {
            // SAFETY: a C string.
            let value = unsafe { libc::getenv(name.as_ptr()) };
            // SAFETY: getenv returns null or a C string.
            (!value.is_null()).then(|| unsafe { CStr::from_ptr(value) }.to_bytes())
        }
    }
}

/// Searches an array of texts `NAME=value`, which a null ends. Follows only pointers that `may_follow`.
fn find(
    mut array: *const *const c_char,
    name: &CStr,
    may_follow: impl Fn(*const u8) -> bool,
) -> Option<&'static [u8]> {
    if array.is_null() {
        return None;
    }
    loop {
        // SAFETY: within the array, before its end. Volatile, because setenv may store here.
        let text = unsafe { array.read_volatile() };
        if text.is_null() {
            return None;
        }
        // SAFETY: this was not the end.
        array = unsafe { array.add(1) };
        if !may_follow(text.cast()) {
            continue;
        }
        let mut at = text.cast::<u8>();
        let matches = name.to_bytes().iter().chain(b"=").all(|&expected| {
            // SAFETY: `at` is within a C string: all bytes before it differ from 0, as `name` has none.
            let is_same = unsafe { at.read_volatile() } == expected;
            if is_same {
                // SAFETY: this byte was not the end.
                at = unsafe { at.add(1) };
            }
            is_same
        });
        if matches {
            // SAFETY: the rest of a C string.
            return Some(unsafe { CStr::from_ptr(at.cast()) }.to_bytes());
        }
    }
}
