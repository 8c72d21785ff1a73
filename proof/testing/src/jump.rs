//! Leaving a function by siglongjmp.
//!
//! `sigsetjmp` returns twice, and a Rust function must not call such a function. The frame to which
//! it returns is therefore written in assembly: a few lines call `sigsetjmp`, then the function
//! that will be left.

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::null_mut;

/// Larger than the `sigjmp_buf` of any C library: 200 bytes on x86-64, 312 on arm64.
#[repr(C, align(16))]
struct Target([u64; 64]);

unsafe extern "C" {
    #[cfg_attr(target_env = "musl", link_name = "sigsetjmp")]
    fn __sigsetjmp(target: *mut Target, save_mask: libc::c_int) -> libc::c_int;
    fn siglongjmp(target: *mut Target, value: libc::c_int) -> !;
}

type SetJump = unsafe extern "C" fn(*mut Target, libc::c_int) -> libc::c_int;
type Body = unsafe extern "C" fn(*mut c_void);

/// Calls `set_jump(target, 1)`, then `body(data)`. Returns 0 if `body` returned, else the value
/// passed to `siglongjmp`.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
unsafe extern "C" fn call(
    target: *mut Target,
    set_jump: SetJump,
    body: Body,
    data: *mut c_void,
) -> libc::c_int {
    // Body and data wait in callee-saved registers: calls preserve them, and the jump restores
    // them.
    core::arch::naked_asm!(
        "push rbx",
        "push r12",
        "sub rsp, 8",
        "mov rbx, rdx",
        "mov r12, rcx",
        "mov rax, rsi",
        "mov esi, 1",
        "call rax",
        "test eax, eax",
        "jne 2f",
        "mov rdi, r12",
        "call rbx",
        "xor eax, eax",
        "2:",
        "add rsp, 8",
        "pop r12",
        "pop rbx",
        "ret",
    )
}

/// Does the same on arm64.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
unsafe extern "C" fn call(
    target: *mut Target,
    set_jump: SetJump,
    body: Body,
    data: *mut c_void,
) -> libc::c_int {
    core::arch::naked_asm!(
        "stp x29, x30, [sp, #-32]!",
        "mov x29, sp",
        "stp x19, x20, [sp, #16]",
        "mov x19, x2",
        "mov x20, x3",
        "mov x8, x1",
        "mov w1, #1",
        "blr x8",
        "cbnz w0, 2f",
        "mov x0, x20",
        "blr x19",
        "mov w0, #0",
        "2:",
        "ldp x19, x20, [sp, #16]",
        "ldp x29, x30, [sp], #32",
        "ret",
    )
}

/// True on the architectures with an assembly frame above. On any other, bodies run to their end.
pub const POSSIBLE: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
unsafe extern "C" fn call(
    _: *mut Target,
    _: SetJump,
    body: Body,
    data: *mut c_void,
) -> libc::c_int {
    // SAFETY: `is_left` passes a body together with the data that it casts back, and both outlive
    // this call.
    unsafe { body(data) };
    0
}

thread_local! {
    /// The target of this thread's next jump. It has no destructor and a constant initial value, so
    /// a signal handler may read it: a lazy initialisation would register a destructor inside the
    /// handler.
    static TARGET: Cell<*mut Target> = const { Cell::new(null_mut()) };
}

/// Runs `body`. Returns true if [`jump`] or [`leave`] left it.
///
/// The frames in between are not unwound, so `body` must own nothing that has to be dropped. Its
/// writes to variables of the caller may be incomplete.
pub fn is_left<F: FnMut()>(body: F) -> bool {
    struct Frame<F> {
        target: Target,
        body: F,
    }
    /// Publishes the target and runs the body. `sigsetjmp` has filled the target by now, and it
    /// becomes invalid when `call` returns, so a jump is possible only while this function runs.
    unsafe extern "C" fn inside<F: FnMut()>(frame: *mut c_void) {
        let frame: *mut Frame<F> = frame.cast();
        // SAFETY: `frame` is the local of `is_left`, which outlives `call`, whichever way `call`
        // ends.
        unsafe {
            TARGET.set(&raw mut (*frame).target);
            ((*frame).body)();
        }
        TARGET.set(null_mut());
    }
    let mut frame = Frame { target: Target([0; 64]), body };
    let frame = &raw mut frame;
    // SAFETY: the target is large enough for any C library, and this frame, which holds it,
    // outlives `call`. The second return happens inside `call`: to the compiler, `call` returns
    // once.
    let jumped = unsafe { call(&raw mut (*frame).target, __sigsetjmp, inside::<F>, frame.cast()) };
    jumped != 0
}

/// Leaves the body of [`is_left`] that this thread runs, if there is one. Async-signal-safe.
pub fn leave() {
    let target = TARGET.replace(null_mut());
    if POSSIBLE && !target.is_null() {
        // SAFETY: the frame that set the target is live: it runs the body that this call leaves.
        unsafe { siglongjmp(target, 1) }
    }
}

/// Leaves the body of [`is_left`] that this thread runs, or panics if there is none.
pub fn jump() -> ! {
    leave();
    panic!("jump() outside is_left()");
}

/// Installs `handler` for `signal`. It runs on the stack of the interrupted code.
pub fn handle(signal: libc::c_int, handler: extern "C" fn(libc::c_int)) {
    // SAFETY: an action of zeros has no flags and an empty mask; the handler has the type that goes
    // with that.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as *const () as usize;
        assert_eq!(libc::sigaction(signal, &raw const action, null_mut()), 0);
    }
}
