//! Environment variables, read where no other thread can free them.
//!
//! getenv(3) walks an array that setenv(3) may free in another thread at the same moment: 6 of
//! 11,000 first draws beside setenv crashed in it. Two ways do not crash:
//!
//! * The array that the kernel wrote to the initial stack is never freed. setenv and unsetenv may
//!   replace pointers in it, each by one store, and glibc never frees the texts that they put
//!   there.
//! * If setenv has moved the environment, the kernel copies it: process_vm_readv(2) returns an
//!   error where a load would crash. But the copy may be of memory that was freed, so it counts
//!   only if the environment has not moved meanwhile. This also serves a signal handler that has
//!   interrupted setenv.

#![allow(unsafe_code)]

use super::{Errno, syscall};
use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr;

// SAFETY: each C library for Linux has this variable, of this type.
unsafe extern "C" {
    static environ: *const *const c_char;
}

/// Bytes of a value that are kept, more than any value with a meaning has.
const ROOM: usize = 24;
/// Bytes of a text `NAME=value` that are copied.
const TEXT: usize = 48;
/// Texts copied by one system call. More would need more stack, of which a first draw takes 4 KiB.
const TEXTS: usize = 8;
/// Copies that may fail because the environment moves meanwhile.
const TRIES: u32 = 16;

/// The beginning of a variable's value.
#[derive(Clone, Copy)]
pub(crate) struct Value {
    bytes: [u8; ROOM],
    len: usize,
}

impl Value {
    /// Copies the value of a text `NAME=value`, of which nothing but a part may be there. `None` if
    /// `text` has another name.
    fn of(text: impl Iterator<Item = u8>, name: &CStr) -> Option<Value> {
        let mut text = text.take_while(|&byte| byte != 0);
        for &expected in name.to_bytes().iter().chain(b"=") {
            if text.next() != Some(expected) {
                return None;
            }
        }
        let mut value = Value { bytes: [0; ROOM], len: 0 };
        for (to, from) in value.bytes.iter_mut().zip(text) {
            *to = from;
            value.len += 1;
        }
        Some(value)
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }
}

/// Returns the address of a symbol of glibc, or 0 where the C library lacks it. A weak reference
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
    // `__libc_argv` points to the arguments, while `__libc_stack_end` lies below their count. In a
    // dynamic program the C library hides `__libc_argv`, and `__libc_stack_end` points to the
    // count.
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

/// Returns the value of a variable; `None` in a process with more rights than its caller, whose
/// environment must not be believed. That is asked here, so that no reader of a variable can forget
/// to.
#[inline(never)]
pub(crate) fn variable(name: &CStr) -> Option<Value> {
    if super::auxiliary(libc::AT_SECURE) != 0 {
        return None;
    }
    let initial = initial();
    for _ in 0..TRIES {
        let present = present();
        if present.is_null() {
            return None; // clearenv(3)
        }
        if initial == Some(present) {
            break;
        }
        match copied(present, name) {
            Ok(value) if present == self::present() => return value,
            Ok(_) => {}
            // Refused by a sandbox, or unknown to an emulator.
            Err(_) => break,
        }
    }
    // SAFETY: the initial environment is never freed. Another C library has only its present one,
    // which must not change during the first draw.
    unsafe { walked(initial.unwrap_or_else(present), name) }
}

fn present() -> *const *const c_char {
    // SAFETY: the C library's variable. Volatile, because setenv writes it.
    unsafe { (&raw const environ).read_volatile() }
}

/// Searches an array of texts, which a null ends.
///
/// # Safety
///
/// `array` is null or such an array, and nothing frees the array or a text meanwhile.
unsafe fn walked(mut array: *const *const c_char, name: &CStr) -> Option<Value> {
    if array.is_null() {
        return None;
    }
    loop {
        // SAFETY: within the array. Volatile, because setenv may store here.
        let text = unsafe { array.read_volatile() }.cast::<u8>();
        if text.is_null() {
            return None;
        }
        // SAFETY: `Value::of` takes no byte after a 0.
        let bytes = (0..).map(|at| unsafe { text.add(at).read_volatile() });
        if let Some(value) = Value::of(bytes, name) {
            return Some(value);
        }
        // SAFETY: this was not the end.
        array = unsafe { array.add(1) };
    }
}

/// Searches as [`walked`] does, in copies that the kernel makes. The array and the texts may be
/// freed at any time.
#[inline(never)]
fn copied(mut array: *const *const c_char, name: &CStr) -> Result<Option<Value>, Errno> {
    loop {
        let mut texts = [0_usize; TEXTS];
        let whole = [remote(array.addr(), size_of_val(&texts))];
        let read = copy(texts.as_mut_ptr().cast(), size_of_val(&texts), &whole)?;
        let read = read / size_of::<usize>();
        let mut left = texts.get(..read).unwrap_or_default();
        let has_end = left.contains(&0);
        left = left.split(|&text| text == 0).next().unwrap_or_default();
        while !left.is_empty() {
            let mut parts = [remote(0, 0); TEXTS];
            for (part, &text) in parts.iter_mut().zip(left) {
                *part = remote(text, TEXT);
            }
            let mut bytes = [[0_u8; TEXT]; TEXTS];
            let parts = parts.get(..left.len()).unwrap_or_default();
            let read = copy(bytes.as_mut_ptr().cast(), size_of_val(&bytes), parts)?;
            // The last text may be there in part, where readable memory ends. The rest is 0.
            let found = bytes.iter().take(read.div_ceil(TEXT));
            let value = found.into_iter().find_map(|text| Value::of(text.iter().copied(), name));
            if value.is_some() {
                return Ok(value);
            }
            // At least one: a text that cannot be read is left out.
            left = left.get((read / TEXT).max(1)..).unwrap_or_default();
            if !read.is_multiple_of(TEXT) {
                left = left.get(1..).unwrap_or_default();
            }
        }
        if has_end || read < TEXTS {
            return Ok(None);
        }
        array = array.wrapping_add(TEXTS);
    }
}

fn remote(at: usize, len: usize) -> libc::iovec {
    libc::iovec { iov_base: ptr::without_provenance_mut::<c_void>(at), iov_len: len }
}

/// Has the kernel copy parts of this process's memory to `to`, one after the other, up to the first
/// byte that cannot be read. Returns the number of bytes.
fn copy(to: *mut u8, room: usize, parts: &[libc::iovec]) -> Result<usize, Errno> {
    let local = libc::iovec { iov_base: to.cast(), iov_len: room };
    // SAFETY: takes nothing.
    let process = unsafe { syscall(libc::SYS_getpid, [0; 6]) }?;
    let (local, parts, count) = ((&raw const local).addr(), parts.as_ptr().addr(), parts.len());
    // SAFETY: writes at most `room` bytes at `to`, and reads what it can of the rest.
    match unsafe { syscall(libc::SYS_process_vm_readv, [process, local, 1, parts, count, 0]) } {
        Err(Errno(libc::EFAULT)) => Ok(0),
        answer => answer,
    }
}
