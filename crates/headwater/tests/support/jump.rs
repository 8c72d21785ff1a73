//! Leaving a draw by siglongjmp.
//!
//! `sigsetjmp` returns twice, which no Rust function may call. So the frame that it returns to is a few lines of
//! assembly: they call it, and then the function that will be left.

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

/// Whether this architecture has its few lines above. Elsewhere bodies run to their end.
pub(crate) const POSSIBLE: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
unsafe extern "C" fn call(
    _: *mut Target,
    _: SetJump,
    body: Body,
    data: *mut c_void,
) -> libc::c_int {
    // SAFETY: the caller's promise about the body and its data.
    unsafe { body(data) };
    0
}

thread_local! {
    /// Where this thread jumps to. Without a destructor and constant at first, so a handler may read it.
    static TARGET: Cell<*mut Target> = const { Cell::new(null_mut()) };
}

/// Runs `body`; true if it was left by [`jump`] or [`leave`].
///
/// What lies between the two frames is not unwound: `body` owns nothing that has to be dropped. What it was
/// about to do to variables of the caller's is done in part.
pub(crate) fn is_left<F: FnMut()>(body: F) -> bool {
    struct Frame<F> {
        target: Target,
        body: F,
    }
    /// Only in here is the target filled, so only in here is there somewhere to jump to.
    unsafe extern "C" fn inside<F: FnMut()>(frame: *mut c_void) {
        let frame: *mut Frame<F> = frame.cast();
        // SAFETY: the frame below, which lives until `call` returns, by whichever way.
        unsafe {
            TARGET.set(&raw mut (*frame).target);
            ((*frame).body)();
        }
        TARGET.set(null_mut());
    }
    let mut frame = Frame { target: Target([0; 64]), body };
    let frame = &raw mut frame;
    // SAFETY: the target is as large as any, and this frame, which holds it, is not left before `call` returns.
    // The second return is `call`'s alone: to the compiler it is a function that returns once.
    let jumped = unsafe { call(&raw mut (*frame).target, __sigsetjmp, inside::<F>, frame.cast()) };
    jumped != 0
}

/// Leaves the body of [`is_left`] that this thread runs, if there is one. Async-signal-safe.
pub(crate) fn leave() {
    let target = TARGET.replace(null_mut());
    if POSSIBLE && !target.is_null() {
        // SAFETY: the frame that set the target runs the body that is left here.
        unsafe { siglongjmp(target, 1) }
    }
}

/// As [`leave`], where there must be one.
pub(crate) fn jump() -> ! {
    leave();
    panic!("nowhere to jump to");
}

/// Calls `handler` upon `signal`, on the stack of what it interrupts.
pub(crate) fn handle(signal: libc::c_int, handler: extern "C" fn(libc::c_int)) {
    // SAFETY: an action of zeros has no flags and an empty mask; the handler has the type that goes with that.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as *const () as usize;
        assert_eq!(libc::sigaction(signal, &raw const action, null_mut()), 0);
    }
}
