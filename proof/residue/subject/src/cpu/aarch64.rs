//! arm64: the general registers and v0 to v31. Their extension by SVE is not saved, because neither
//! the library nor the compiler uses it unless a program is built for it.

use std::arch::{asm, naked_asm};

/// The registers: 31 general ones with the stack pointer, then 32 vectors.
#[repr(C)]
pub struct Saved {
    general: [u64; 32],
    vectors: [[u8; 16]; 32],
}

/// Returns the stack pointer of the function that this is written in.
#[inline(always)]
pub fn stack_pointer() -> usize {
    let here;
    // SAFETY: reads a register.
    unsafe { asm!("mov {}, sp", out(reg) here, options(nomem, nostack)) };
    here
}

/// Copies byte by byte through one register, which is zero afterwards: no instruction that every
/// CPU has copies from memory to memory.
///
/// # Safety
///
/// `from` is readable and `to` is writable for `len` bytes, which do not overlap.
#[inline(always)]
pub unsafe fn copy(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: both places are the caller's, and the loop ends after `len` bytes.
    unsafe {
        asm!(
            "cbz {left}, 3f",
            "2: ldrb {byte:w}, [{from}], #1",
            "strb {byte:w}, [{to}], #1",
            "sub {left}, {left}, #1",
            "cbnz {left}, 2b",
            "3: mov {byte}, xzr",
            left = inout(reg) len => _, from = inout(reg) from => _, to = inout(reg) to => _,
            byte = out(reg) _, options(nostack, preserves_flags),
        );
    }
}

/// Stores a word in a way that the compiler cannot remove.
///
/// # Safety
///
/// `at` is writable.
#[inline(always)]
pub unsafe fn store(at: *mut u64, word: u64) {
    // SAFETY: the word at `at` is the caller's.
    unsafe { asm!("str {1}, [{0}]", in(reg) at, in(reg) word, options(nostack)) };
}

/// Changes to the stack that ends at `top`, calls, saves the registers and changes back.
///
/// It is naked because nothing that the compiler adds may run between the return and the saving.
///
/// # Safety
///
/// `top` is aligned to 16 and has room below it; `entry` may be called with `argument`; `saved` is
/// writable.
#[unsafe(naked)]
pub unsafe extern "C" fn call_on(
    top: *mut u8,
    entry: unsafe extern "C" fn(*mut ()),
    argument: *mut (),
    saved: *mut Saved,
) {
    // The function that is called keeps x19, x20, x29 and the lower halves of v8 to v15 for its
    // caller, and changes all other registers as it likes.
    naked_asm!(
        "stp x29, x30, [sp, -32]!",
        "stp x19, x20, [sp, 16]",
        "mov x19, sp",
        "mov x20, x3",
        "mov sp, x0",
        "mov x0, x2",
        "blr x1",
        "stp x0, x1, [x20, 0]",
        "stp x2, x3, [x20, 16]",
        "stp x4, x5, [x20, 32]",
        "stp x6, x7, [x20, 48]",
        "stp x8, x9, [x20, 64]",
        "stp x10, x11, [x20, 80]",
        "stp x12, x13, [x20, 96]",
        "stp x14, x15, [x20, 112]",
        "stp x16, x17, [x20, 128]",
        "stp x18, x19, [x20, 144]",
        "stp x20, x21, [x20, 160]",
        "stp x22, x23, [x20, 176]",
        "stp x24, x25, [x20, 192]",
        "stp x26, x27, [x20, 208]",
        "stp x28, x29, [x20, 224]",
        "mov x0, sp",
        "stp x30, x0, [x20, 240]",
        "stp q0, q1, [x20, 256]",
        "stp q2, q3, [x20, 288]",
        "stp q4, q5, [x20, 320]",
        "stp q6, q7, [x20, 352]",
        "stp q8, q9, [x20, 384]",
        "stp q10, q11, [x20, 416]",
        "stp q12, q13, [x20, 448]",
        "stp q14, q15, [x20, 480]",
        "stp q16, q17, [x20, 512]",
        "stp q18, q19, [x20, 544]",
        "stp q20, q21, [x20, 576]",
        "stp q22, q23, [x20, 608]",
        "stp q24, q25, [x20, 640]",
        "stp q26, q27, [x20, 672]",
        "stp q28, q29, [x20, 704]",
        "stp q30, q31, [x20, 736]",
        "mov sp, x19",
        "ldp x19, x20, [sp, 16]",
        "ldp x29, x30, [sp], 32",
        "ret",
    )
}
