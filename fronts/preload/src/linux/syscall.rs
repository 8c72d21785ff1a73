//! `syscall()`: getrandom(2) is served here, and every other number does what libc's does.
//!
//! PHP draws by `syscall(SYS_getrandom, ...)` alone, so the function must be replaced. But programs
//! also make threads and processes through it (clone, vfork), and a child that returned through a
//! frame of its parent would find it overwritten. So a Rust function that compares the number and
//! calls on would break them: this is assembly that only moves registers and leaves the stack
//! alone.

use super::config;
use core::ffi::{c_int, c_long};

/// Does what libc's `syscall(number, ...)` does, with getrandom(2) served by headwater.
///
/// # Safety
///
/// The rules of the system call of this number.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn syscall(number: c_long) -> c_long {
    core::arch::naked_asm!(
        ".cfi_startproc",
        "endbr64",
        "cmp rdi, {getrandom}",
        "jne {stock}",
        "cmp byte ptr [rip + {intercepts}], 0",
        "je {stock}",
        // getrandom(buf, len, flags) with the arguments one place to the left, as a tail call.
        "mov rdi, rsi",
        "mov rsi, rdx",
        "mov edx, ecx",
        "jmp {serve}",
        ".cfi_endproc",
        getrandom = const libc::SYS_getrandom,
        stock = sym stock_syscall,
        intercepts = sym config::INTERCEPTS_SYSCALL,
        serve = sym super::getrandom::serve_system_call,
    )
}

/// Does what libc's `syscall(number, ...)` does, for every number.
///
/// # Safety
///
/// The rules of the system call of this number.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
pub(super) unsafe extern "C" fn stock_syscall(
    number: c_long,
    a: c_long,
    b: c_long,
    c: c_long,
    d: c_long,
    e: c_long,
    f: c_long,
) -> c_long {
    core::arch::naked_asm!(
        ".cfi_startproc",
        "endbr64",
        "mov rax, rdi",
        "mov rdi, rsi",
        "mov rsi, rdx",
        "mov rdx, rcx",
        "mov r10, r8",
        "mov r8, r9",
        // The seventh argument is above the return address. Reading it leaves the stack as it is.
        "mov r9, [rsp + 8]",
        "syscall",
        "cmp rax, -4095",
        "jae 2f",
        "ret",
        "2:",
        "neg eax",
        "mov edi, eax",
        "jmp {fail}",
        ".cfi_endproc",
        fail = sym fail,
    )
}

/// Does the same on arm64, where a system call has its number in x8 and up to six arguments from x0
/// on.
///
/// # Safety
///
/// The rules of the system call of this number.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn syscall(number: c_long) -> c_long {
    core::arch::naked_asm!(
        ".cfi_startproc",
        "hint #34", // BTI c
        "cmp x0, #{getrandom}",
        "b.ne {stock}",
        "adrp x8, {intercepts}",
        "ldrb w8, [x8, #:lo12:{intercepts}]",
        "cbz w8, 2f",
        "mov x0, x1",
        "mov x1, x2",
        "mov w2, w3",
        "b {serve}",
        "2:",
        "b {stock}",
        ".cfi_endproc",
        getrandom = const libc::SYS_getrandom,
        stock = sym stock_syscall,
        intercepts = sym config::INTERCEPTS_SYSCALL,
        serve = sym super::getrandom::serve_system_call,
    )
}

/// Does what libc's `syscall(number, ...)` does, for every number.
///
/// # Safety
///
/// The rules of the system call of this number.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
pub(super) unsafe extern "C" fn stock_syscall(
    number: c_long,
    a: c_long,
    b: c_long,
    c: c_long,
    d: c_long,
    e: c_long,
    f: c_long,
) -> c_long {
    core::arch::naked_asm!(
        ".cfi_startproc",
        "hint #34", // BTI c
        "mov x8, x0",
        "mov x0, x1",
        "mov x1, x2",
        "mov x2, x3",
        "mov x3, x4",
        "mov x4, x5",
        "mov x5, x6",
        "svc #0",
        "cmn x0, #4095",
        "b.cs 2f",
        "ret",
        "2:",
        "neg w0, w0",
        "b {fail}",
        ".cfi_endproc",
        fail = sym fail,
    )
}

/// Sets errno and returns -1.
extern "C" fn fail(errno: c_int) -> c_long {
    // SAFETY: the C library's own errno, one for each thread.
    unsafe { *libc::__errno_location() = errno };
    -1
}
