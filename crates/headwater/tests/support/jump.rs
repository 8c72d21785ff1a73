//! Leaving a draw by siglongjmp.
//!
//! `sigsetjmp` returns twice, which no Rust function may call. So the frame that it returns to is a few lines of
//! assembly: they call it, and then the function that will be left.

use std::cell::Cell;
use std::ffi::c_void;

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

/// `set_jump(target, 1)`, then `body(data)`. 0 if that returned, else what `siglongjmp` was given.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
unsafe extern "C" fn call(
    target: *mut Target,
    set_jump: SetJump,
    body: Body,
    data: *mut c_void,
) -> libc::c_int {
    // Body and data wait in registers that calls keep, and that the jump restores.
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

/// As above.
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

thread_local! {
    /// Where this thread jumps to. Without a destructor and constant at first, so a handler may read it.
    static TARGET: Cell<*mut Target> = const { Cell::new(std::ptr::null_mut()) };
}

/// Runs `body`; true if it was left by [`jump`].
///
/// What lies between the two frames is not unwound: `body` owns nothing that has to be dropped. What it was
/// about to do to variables of the caller's is done in part.
pub(crate) fn is_left<F: FnMut()>(mut body: F) -> bool {
    unsafe extern "C" fn run<F: FnMut()>(body: *mut c_void) {
        // SAFETY: the closure that `is_left` holds on to.
        unsafe { (*body.cast::<F>())() }
    }
    let mut target = Target([0; 64]);
    TARGET.set(&raw mut target);
    // SAFETY: the target is as large as any, and this frame, which holds it, is not left before `call` returns.
    // The second return is `call`'s alone: to the compiler it is a function that returns once.
    let jumped = unsafe { call(&raw mut target, __sigsetjmp, run::<F>, (&raw mut body).cast()) };
    TARGET.set(std::ptr::null_mut());
    jumped != 0
}

/// Leaves the body of [`is_left`] that this thread runs. Async-signal-safe.
pub(crate) fn jump() -> ! {
    let target = TARGET.get();
    assert!(!target.is_null(), "nowhere to jump to");
    // SAFETY: the frame that set the target runs the body that is left here.
    unsafe { siglongjmp(target, 1) }
}

/// Calls `handler` upon `signal`, on the stack of what it interrupts.
pub(crate) fn handle(signal: libc::c_int, handler: extern "C" fn(libc::c_int)) {
    // SAFETY: an action of zeros has no flags and an empty mask; the handler has the type that goes with that.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as *const () as usize;
        assert_eq!(libc::sigaction(signal, &raw const action, std::ptr::null_mut()), 0);
    }
}
