//! x86-64: legacy registers, AVX or AVX-512, as far as the CPU has them.

use std::arch::{asm, is_x86_feature_detected, naked_asm};

/// The registers: 16 general ones, 8 masks, then 32 vectors with 64 bytes of room for each.
#[repr(C)]
pub struct Saved {
    general: [u64; 16],
    masks: [u64; 8],
    vectors: [[u8; 64]; 32],
}

/// Returns the stack pointer of the function that this is written in.
#[inline(always)]
pub fn stack_pointer() -> usize {
    let here;
    // SAFETY: reads a register.
    unsafe { asm!("mov {}, rsp", out(reg) here, options(nomem, nostack)) };
    here
}

/// Copies by one instruction, from memory to memory, so that no register holds what is copied.
///
/// # Safety
///
/// `from` is readable and `to` is writable for `len` bytes, which do not overlap.
#[inline(always)]
pub unsafe fn copy(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: both places are the caller's, and the direction flag is clear.
    unsafe {
        asm!(
            "rep movsb",
            inout("rcx") len => _, inout("rsi") from => _, inout("rdi") to => _,
            options(nostack, preserves_flags),
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
    unsafe { asm!("mov [{}], {}", in(reg) at, in(reg) word, options(nostack)) };
}

/// Changes to the stack that ends at `top`, calls, saves the registers and changes back.
///
/// # Safety
///
/// `top` is aligned to 16 and has room below it; `entry` may be called with `argument`; `saved` is
/// writable.
pub unsafe fn call_on(
    top: *mut u8,
    entry: unsafe extern "C" fn(*mut ()),
    argument: *mut (),
    saved: *mut Saved,
) {
    // 0 to 2 says how much of the vector registers this CPU has.
    let wide = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw");
    let level = usize::from(is_x86_feature_detected!("avx")) + usize::from(wide);
    // SAFETY: the level is what the CPU said, and the rest is the caller's.
    unsafe { call_and_save(top, entry, argument, saved, level) };
}

/// Does the work of [`call_on`]; naked, because nothing that the compiler adds may run between the
/// return and the saving.
///
/// # Safety
///
/// As for [`call_on`]; `level` names no more vector registers than this CPU has.
#[unsafe(naked)]
unsafe extern "C" fn call_and_save(
    top: *mut u8,
    entry: unsafe extern "C" fn(*mut ()),
    argument: *mut (),
    saved: *mut Saved,
    level: usize,
) {
    macro_rules! store {
        ($instruction:literal, $register:literal: $($n:literal)*) => {
            concat!($($instruction, " [r12 + 192 + 64 * ", $n, "], ", $register, $n, "\n",)*)
        };
    }
    naked_asm!(
        "push rbp",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "mov rbx, rsp",
        "mov r12, rcx",
        "mov r13, r8",
        "mov rsp, rdi",
        "mov rdi, rdx",
        "call rsi",
        "mov [r12], rax",
        "mov [r12 + 8], rcx",
        "mov [r12 + 16], rdx",
        "mov [r12 + 24], rbx",
        "mov [r12 + 32], rsp",
        "mov [r12 + 40], rbp",
        "mov [r12 + 48], rsi",
        "mov [r12 + 56], rdi",
        "mov [r12 + 64], r8",
        "mov [r12 + 72], r9",
        "mov [r12 + 80], r10",
        "mov [r12 + 88], r11",
        "mov [r12 + 96], r12",
        "mov [r12 + 104], r13",
        "mov [r12 + 112], r14",
        "mov [r12 + 120], r15",
        "cmp r13, 1",
        "jb 3f",
        "je 4f",
        "kmovq [r12 + 128], k0",
        "kmovq [r12 + 136], k1",
        "kmovq [r12 + 144], k2",
        "kmovq [r12 + 152], k3",
        "kmovq [r12 + 160], k4",
        "kmovq [r12 + 168], k5",
        "kmovq [r12 + 176], k6",
        "kmovq [r12 + 184], k7",
        store!("vmovdqu64", "zmm": 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15),
        store!("vmovdqu64", "zmm": 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31),
        "jmp 5f",
        "4:",
        store!("vmovdqu", "ymm": 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15),
        "jmp 5f",
        "3:",
        store!("movdqu", "xmm": 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15),
        "5:",
        "mov rsp, rbx",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "ret",
    )
}
