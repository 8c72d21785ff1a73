//! Leaving a draw in the middle, as C programs do: siglongjmp out of a signal handler.

use core::ffi::{c_int, c_void};
use std::cell::Cell;
use std::ptr::null_mut;

/// A `sigjmp_buf`: 200 bytes on x86-64, 312 on arm64.
#[repr(C, align(16))]
pub(crate) struct Buffer([u64; 64]);

unsafe extern "C" {
    fn __sigsetjmp(buffer: *mut Buffer, save_mask: c_int) -> c_int;
    fn siglongjmp(buffer: *mut Buffer, value: c_int) -> !;
}

thread_local! {
    /// Where to jump to. Const and without a destructor, so that a handler may read it.
    static TARGET: Cell<*mut Buffer> = const { Cell::new(null_mut()) };
}

/// Calls `body(argument)`; false if it was left by a jump.
///
/// In assembly, because a function that returns twice must not be compiled by a compiler that does not know.
///
/// # Safety
///
/// `buffer` is valid until this returns. `body` may be left at any instruction.
#[unsafe(naked)]
unsafe extern "C" fn call(
    buffer: *mut Buffer,
    body: extern "C" fn(*mut c_void),
    argument: *mut c_void,
) -> bool {
    #[cfg(target_arch = "x86_64")]
    core::arch::naked_asm!(
        "push rbx",
        "push r12",
        "sub rsp, 8",
        "mov rbx, rsi",
        "mov r12, rdx",
        "mov esi, 1",
        "call {set}@PLT",
        "test eax, eax",
        "sete al",
        "jne 2f",
        "mov rdi, r12",
        "call rbx",
        "mov al, 1",
        "2:",
        "add rsp, 8",
        "pop r12",
        "pop rbx",
        "ret",
        set = sym __sigsetjmp,
    );
    #[cfg(target_arch = "aarch64")]
    core::arch::naked_asm!(
        "stp x19, x20, [sp, #-32]!",
        "str x30, [sp, #16]",
        "mov x19, x1",
        "mov x20, x2",
        "mov w1, #1",
        "bl {set}",
        "cmp w0, #0",
        "cset w0, eq",
        "b.ne 2f",
        "mov x0, x20",
        "blr x19",
        "mov w0, #1",
        "2:",
        "ldr x30, [sp, #16]",
        "ldp x19, x20, [sp], #32",
        "ret",
        set = sym __sigsetjmp,
    );
}

/// Whether this architecture has the few instructions that it takes.
pub(crate) const POSSIBLE: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

/// What [`leavable`] was given, and where to come back to.
struct Frame {
    buffer: Buffer,
    body: extern "C" fn(*mut c_void),
    argument: *mut c_void,
}

/// Calls `body(argument)`, which may be left by [`leave`]; false if it was.
///
/// # Safety
///
/// `body` may be left at any instruction: it holds no lock, and nothing that has to be dropped.
pub(crate) unsafe fn leavable(body: extern "C" fn(*mut c_void), argument: *mut c_void) -> bool {
    /// Only in here is the buffer filled, so only in here is there somewhere to jump to.
    extern "C" fn inside(frame: *mut c_void) {
        let frame: *mut Frame = frame.cast();
        // SAFETY: the frame below, which lives until the call returns, by whichever way.
        let (body, argument) = unsafe {
            TARGET.set(&raw mut (*frame).buffer);
            ((*frame).body, (*frame).argument)
        };
        body(argument);
        TARGET.set(null_mut());
    }
    let mut frame = Frame { buffer: Buffer([0; 64]), body, argument };
    let frame = &raw mut frame;
    // SAFETY: the caller's promise; the frame lives until this function returns.
    unsafe { call(&raw mut (*frame).buffer, inside, frame.cast()) }
}

/// Leaves the body that [`leavable`] runs in this thread, if there is one. Async-signal-safe.
pub(crate) fn leave() {
    let target = TARGET.replace(null_mut());
    if !target.is_null() {
        // SAFETY: set by `leavable`, whose frame is there as long as this is not null.
        unsafe { siglongjmp(target, 1) };
    }
}
