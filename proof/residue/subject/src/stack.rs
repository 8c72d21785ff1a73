//! A stack that is painted, and the change to it and back.

use crate::room::map;
use std::arch::{is_x86_feature_detected, naked_asm};
use std::collections::HashSet;

/// More than any draw takes, in any profile.
const SIZE: usize = 256 * 1024;
/// More than a draw takes after the first one. The search for served bytes begins here, many times.
const REACH: usize = 32 * 1024;
/// The pattern that the stack is painted with; the searching program knows it too.
const PAINT: u64 = 0xA5A5_5A5A_A5A5_5A5A;

/// The registers: 16 general ones, 8 masks, then 32 vectors with 64 bytes of room for each.
#[repr(C)]
pub struct Saved {
    general: [u64; 16],
    masks: [u64; 8],
    vectors: [[u8; 64]; 32],
}

/// A painted stack.
pub struct Stack {
    base: *mut u8,
    level: usize,
}

impl Stack {
    /// Maps a stack; 0 to 2 says how much of the vector registers this CPU has.
    pub fn new() -> Stack {
        let wide = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw");
        let level = usize::from(is_x86_feature_detected!("avx")) + usize::from(wide);
        Stack { base: map(SIZE), level }
    }

    /// Returns the place of the stack: its lowest address and its size.
    pub fn place(&self) -> (usize, usize) {
        (self.base as usize, SIZE)
    }

    /// Paints the whole stack, over whatever an earlier draw left there.
    pub fn paint(&mut self) {
        for at in (0..SIZE).step_by(8) {
            // SAFETY: the eight bytes lie in our mapping, and no code runs on it now.
            unsafe { self.base.add(at).cast::<u64>().write_volatile(PAINT) };
        }
    }

    /// Returns the lowest word that differs from the paint, by its offset.
    fn lowest(&self) -> usize {
        let mut at = SIZE - REACH;
        // SAFETY: words of our mapping, on which no code runs now.
        while at < SIZE && unsafe { self.base.add(at).cast::<u64>().read_volatile() } == PAINT {
            at += 8;
        }
        assert!(at > SIZE - REACH, "a draw took more than {REACH} bytes of stack");
        at
    }

    /// Paints what a draw has changed since the whole stack was painted.
    pub fn repaint(&mut self) {
        for at in (self.lowest()..SIZE).step_by(8) {
            // SAFETY: the eight bytes lie in our mapping, and no code runs on it now.
            unsafe { self.base.add(at).cast::<u64>().write_volatile(PAINT) };
        }
    }

    /// Returns the first address below `end` at which one of the words lies, aligned or not. The
    /// mask says which bits of a word count.
    pub fn find(&self, end: usize, mask: u64, words: &HashSet<u64>) -> Option<usize> {
        let base = self.base as usize;
        assert!((base..base + SIZE).contains(&end), "the draw ran on another stack");
        let width = mask.count_ones() as usize / 8;
        // A bit for each first byte spares most look-ups.
        let mut first = [0u64; 4];
        words.iter().for_each(|word| first[(word >> 6 & 3) as usize] |= 1 << (word & 63));
        (self.lowest()..end - base).filter(|at| at + width <= end - base).map(|at| base + at).find(
            |&at| {
                // SAFETY: fewer bytes than the mapping has after `at`, because the frames of the
                // callers lie between `end` and its last word.
                let word = unsafe { (at as *const u64).read_unaligned() } & mask;
                first[(word >> 6 & 3) as usize] >> (word & 63) & 1 == 1 && words.contains(&word)
            },
        )
    }

    /// Calls `entry(argument)` on this stack, and saves the registers right after it.
    ///
    /// # Safety
    ///
    /// `entry` may be called with `argument`; `saved` is valid for writes.
    pub unsafe fn call<T>(
        &mut self,
        entry: unsafe extern "C" fn(*mut T),
        argument: *mut T,
        saved: *mut Saved,
    ) {
        // SAFETY: the end of our mapping is aligned to 16. Functions that differ only in the type a
        // pointer points to have one calling convention, and the caller promises the rest.
        unsafe {
            let entry: unsafe extern "C" fn(*mut ()) = std::mem::transmute(entry);
            call_on(self.base.add(SIZE), entry, argument.cast(), saved, self.level);
        }
    }
}

/// Changes to the stack that ends at `top`, calls, saves the registers and changes back.
///
/// It is naked because nothing the compiler adds may run between the return and the saving.
///
/// # Safety
///
/// `top` is aligned to 16 and has room below it; `entry` may be called with `argument`; `level`
/// names no more vector registers than this CPU has.
#[unsafe(naked)]
unsafe extern "C" fn call_on(
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
