//! Taking bytes out of a page: each is read once, and erased by the same step.
//!
//! The page's memory changes without the compiler's knowledge: the kernel may drop it at any
//! instant. So there is no reference to it anywhere, every access is volatile or a block of
//! assembly, and no access moves past the fence that stands before the guards are compared.

#![allow(unsafe_code)]

mod words;

#[cfg(test)]
pub(crate) mod tests;

pub(crate) use words::{Block, Words};

/// Returns whether the 16 bytes at `at` are zero.
///
/// # Safety
///
/// 16 bytes can be read at `at`.
#[inline(always)]
pub(super) unsafe fn is_zero(at: *const u8) -> bool {
    #[cfg(all(target_arch = "x86_64", not(any(miri, sanitized))))]
    // SAFETY: two loads of 8 bytes, within the 16 that can be read. In assembly, so that the bytes,
    // which a mask may still have to hide, do not pass through a register that the compiler saves.
    unsafe {
        let zero: u8;
        core::arch::asm!(
            "mov {word}, qword ptr [{at}]",
            "or {word}, qword ptr [{at} + 8]",
            "setz {zero}",
            "xor {word:e}, {word:e}",
            at = in(reg) at, word = out(reg) _, zero = out(reg_byte) zero,
            options(nostack, readonly),
        );
        zero != 0
    }
    #[cfg(all(target_arch = "aarch64", not(any(miri, sanitized))))]
    // SAFETY: one load of the 16 bytes that can be read, at any alignment, and registers.
    unsafe {
        let zero: u64;
        core::arch::asm!(
            "ldp {low}, {high}, [{at}]",
            "orr {low}, {low}, {high}",
            "cmp {low}, #0",
            "cset {zero}, eq",
            "mov {low}, xzr",
            "mov {high}, xzr",
            at = in(reg) at, low = out(reg) _, high = out(reg) _, zero = out(reg) zero,
            options(nostack, readonly),
        );
        zero != 0
    }
    #[cfg(any(not(any(target_arch = "x86_64", target_arch = "aarch64")), miri, sanitized))]
    // SAFETY: one unaligned load of the 16 bytes that can be read.
    unsafe {
        at.cast::<u128>().read_unaligned() == 0
    }
}

/// Copies and erases `len` bytes, a multiple of 16.
///
/// # Safety
///
/// `len` bytes can be read and written at `source`, and written at `dst`; if `wide`, the CPU has
/// AVX-512VL.
#[inline(always)]
#[cfg_attr(any(not(target_arch = "x86_64"), miri, sanitized), allow(unused_variables))]
pub(super) unsafe fn take_plain(source: *mut u8, dst: *mut u8, len: usize, wide: bool) {
    // Assembly is what neither an interpreter nor a sanitizer can look into.
    #[cfg(all(target_arch = "x86_64", not(any(miri, sanitized))))]
    // SAFETY: each loop moves as many bytes as its condition finds left, and the widths divide
    // `len`, so nothing past `len` is touched; `wide` vouches for the registers. A block of
    // assembly is to the compiler what a volatile access is (it may not be removed, repeated or
    // moved past another), and moves 16 bytes where a volatile word moves 8.
    unsafe {
        let zero = core::arch::x86_64::_mm_setzero_si128();
        let (mut source, mut dst, mut left) = (source, dst, len);
        // Registers from 16 on: what they hold slows no SSE instruction down, so nothing has to be
        // cleaned up.
        while wide && left >= 128 {
            core::arch::asm!(
                "vpxord xmm20, xmm20, xmm20",
                "vmovdqu64 ymm16, ymmword ptr [{source}]",
                "vmovdqu64 ymm17, ymmword ptr [{source} + 32]",
                "vmovdqu64 ymm18, ymmword ptr [{source} + 64]",
                "vmovdqu64 ymm19, ymmword ptr [{source} + 96]",
                "vmovdqu64 ymmword ptr [{source}], ymm20",
                "vmovdqu64 ymmword ptr [{source} + 32], ymm20",
                "vmovdqu64 ymmword ptr [{source} + 64], ymm20",
                "vmovdqu64 ymmword ptr [{source} + 96], ymm20",
                "vmovdqu64 ymmword ptr [{dst}], ymm16",
                "vmovdqu64 ymmword ptr [{dst} + 32], ymm17",
                "vmovdqu64 ymmword ptr [{dst} + 64], ymm18",
                "vmovdqu64 ymmword ptr [{dst} + 96], ymm19",
                source = in(reg) source, dst = in(reg) dst,
                out("zmm16") _, out("zmm17") _, out("zmm18") _, out("zmm19") _, out("zmm20") _,
                options(nostack, preserves_flags),
            );
            (source, dst, left) = (source.add(128), dst.add(128), left - 128);
        }
        while left >= 64 {
            core::arch::asm!(
                "movdqu {a}, xmmword ptr [{source}]",
                "movdqu {b}, xmmword ptr [{source} + 16]",
                "movdqu {c}, xmmword ptr [{source} + 32]",
                "movdqu {d}, xmmword ptr [{source} + 48]",
                "movdqu xmmword ptr [{source}], {zero}",
                "movdqu xmmword ptr [{source} + 16], {zero}",
                "movdqu xmmword ptr [{source} + 32], {zero}",
                "movdqu xmmword ptr [{source} + 48], {zero}",
                "movdqu xmmword ptr [{dst}], {a}",
                "movdqu xmmword ptr [{dst} + 16], {b}",
                "movdqu xmmword ptr [{dst} + 32], {c}",
                "movdqu xmmword ptr [{dst} + 48], {d}",
                source = in(reg) source, dst = in(reg) dst, zero = in(xmm_reg) zero,
                a = out(xmm_reg) _, b = out(xmm_reg) _, c = out(xmm_reg) _, d = out(xmm_reg) _,
                options(nostack, preserves_flags),
            );
            (source, dst, left) = (source.add(64), dst.add(64), left - 64);
        }
        while left > 0 {
            core::arch::asm!(
                "movdqu {block}, xmmword ptr [{source}]",
                "movdqu xmmword ptr [{source}], {zero}",
                "movdqu xmmword ptr [{dst}], {block}",
                source = in(reg) source, dst = in(reg) dst, zero = in(xmm_reg) zero,
                block = out(xmm_reg) _,
                options(nostack, preserves_flags),
            );
            (source, dst, left) = (source.add(16), dst.add(16), left - 16);
        }
    }
    #[cfg(all(target_arch = "aarch64", not(any(miri, sanitized))))]
    // SAFETY: each step moves no more bytes than are left, because `len` is a multiple of 16, so
    // nothing past `len` is touched. A block of assembly is to the compiler what a volatile access
    // is. With words in the compiler's variables, an unoptimised build left on the stack whatever
    // it served. The registers are cleared because in `hedged` the bytes have no mask yet, and the
    // compiler may pick registers that the next function saves in its frame.
    unsafe {
        let (mut source, mut dst, mut left) = (source, dst, len);
        while left >= 32 {
            core::arch::asm!(
                "ldp {a}, {b}, [{source}]",
                "ldp {c}, {d}, [{source}, #16]",
                "stp xzr, xzr, [{source}]",
                "stp xzr, xzr, [{source}, #16]",
                "stp {a}, {b}, [{dst}]",
                "stp {c}, {d}, [{dst}, #16]",
                "mov {a}, xzr",
                "mov {b}, xzr",
                "mov {c}, xzr",
                "mov {d}, xzr",
                source = in(reg) source, dst = in(reg) dst,
                a = out(reg) _, b = out(reg) _, c = out(reg) _, d = out(reg) _,
                options(nostack, preserves_flags),
            );
            (source, dst, left) = (source.add(32), dst.add(32), left - 32);
        }
        if left > 0 {
            core::arch::asm!(
                "ldp {a}, {b}, [{source}]",
                "stp xzr, xzr, [{source}]",
                "stp {a}, {b}, [{dst}]",
                "mov {a}, xzr",
                "mov {b}, xzr",
                source = in(reg) source, dst = in(reg) dst, a = out(reg) _, b = out(reg) _,
                options(nostack, preserves_flags),
            );
        }
    }
    #[cfg(any(not(any(target_arch = "x86_64", target_arch = "aarch64")), miri, sanitized))]
    for done in (0..len).step_by(16) {
        // SAFETY: `done` is a multiple of 16 below `len`, which is one too, so 16 bytes follow it.
        // Zeros are copied as well: the caller looks at what was copied.
        unsafe {
            let block = Block::take(source.add(done)).unwrap_or(Block([0; 2]));
            block.put(dst.add(done), 16);
        }
    }
}

/// Copies 16 bytes to `dst` and erases them; returns None if they were zero.
///
/// They pass through one register: a reader of both words would wait long for two stores. With AVX
/// the move is VEX-coded, and waits for no upper half that a caller left dirty.
///
/// # Safety
///
/// 16 bytes can be read and written at `source`, and written at `dst`; if `avx`, the CPU has AVX.
#[inline(always)]
#[cfg_attr(any(not(target_arch = "x86_64"), miri, sanitized), allow(unused_variables))]
pub(crate) unsafe fn take_block(source: *mut u8, dst: *mut u8, avx: bool) -> Option<()> {
    #[cfg(all(target_arch = "x86_64", not(any(miri, sanitized))))]
    if avx {
        let zeros: u8;
        // SAFETY: one load and two stores of 16 bytes, and `avx` vouches for the instructions. A
        // block of assembly is to the compiler what a volatile access is.
        unsafe {
            core::arch::asm!(
                "vpxor {zero}, {zero}, {zero}",
                "vmovdqu {block}, xmmword ptr [{source}]",
                "vmovdqu xmmword ptr [{source}], {zero}",
                "vmovdqu xmmword ptr [{dst}], {block}",
                "vptest {block}, {block}",
                "setz {zeros}",
                // In `hedged` the caller masks the bytes at `dst`; unmasked they must not stay.
                "vpxor {block}, {block}, {block}",
                source = in(reg) source, dst = in(reg) dst, zeros = out(reg_byte) zeros,
                block = out(xmm_reg) _, zero = out(xmm_reg) _, options(nostack),
            );
        }
        return (zeros == 0).then_some(());
    }
    #[cfg(all(target_arch = "aarch64", not(any(miri, sanitized))))]
    // SAFETY: one load and two stores of 16 bytes, which are the caller's. The registers are
    // cleared because the caller may mask the bytes at `dst`, as above.
    unsafe {
        let zeros: u64;
        core::arch::asm!(
            "ldp {low}, {high}, [{source}]",
            "stp xzr, xzr, [{source}]",
            "stp {low}, {high}, [{dst}]",
            "orr {low}, {low}, {high}",
            "cmp {low}, #0",
            "cset {zeros}, eq",
            "mov {low}, xzr",
            "mov {high}, xzr",
            source = in(reg) source, dst = in(reg) dst, low = out(reg) _, high = out(reg) _,
            zeros = out(reg) zeros, options(nostack),
        );
        (zeros == 0).then_some(())
    }
    #[cfg(any(not(target_arch = "aarch64"), miri, sanitized))]
    // SAFETY: two words of the page, which is aligned to 8, and the 16 bytes of `dst`.
    unsafe {
        Block::take(source).map(|block| block.put(dst, 16))
    }
}

/// Copies 8 bytes to `dst` and erases them; returns None if the window of 16 bytes there was zero.
///
/// In assembly for the reason that [`is_zero`] has. [`take_rest`] could do it as well, a byte at a
/// time, and a reader of the word would then wait for the bytes: 28 ns on Zen 3.
///
/// # Safety
///
/// 16 bytes can be read and written at `source`, and 8 written at `dst`.
#[inline(always)]
pub(super) unsafe fn take_word(source: *mut u8, dst: *mut u8) -> Option<()> {
    #[cfg(all(target_arch = "x86_64", not(any(miri, sanitized))))]
    // SAFETY: the window and the 8 bytes are the caller's; nothing else is touched.
    unsafe {
        let zeros: u8;
        core::arch::asm!(
            "mov {word}, qword ptr [{source}]",
            "mov qword ptr [{source}], 0",
            "mov qword ptr [{dst}], {word}",
            "or {word}, qword ptr [{source} + 8]",
            "setz {zeros}",
            "xor {word:e}, {word:e}",
            source = in(reg) source, dst = in(reg) dst, word = out(reg) _,
            zeros = out(reg_byte) zeros, options(nostack),
        );
        (zeros == 0).then_some(())
    }
    #[cfg(all(target_arch = "aarch64", not(any(miri, sanitized))))]
    // SAFETY: the window and the 8 bytes are the caller's; nothing else is touched.
    unsafe {
        let zeros: u64;
        core::arch::asm!(
            "ldr {word}, [{source}]",
            "str xzr, [{source}]",
            "str {word}, [{dst}]",
            "ldr {next}, [{source}, #8]",
            "orr {word}, {word}, {next}",
            "cmp {word}, #0",
            "cset {zeros}, eq",
            "mov {word}, xzr",
            "mov {next}, xzr",
            source = in(reg) source, dst = in(reg) dst, word = out(reg) _, next = out(reg) _,
            zeros = out(reg) zeros, options(nostack),
        );
        (zeros == 0).then_some(())
    }
    #[cfg(any(not(any(target_arch = "x86_64", target_arch = "aarch64")), miri, sanitized))]
    // SAFETY: the window and the 8 bytes are the caller's.
    unsafe {
        u64::take(source).map(|word| word.put(dst, 8))
    }
}

/// Copies `len` bytes, 1 to 15, to `dst`, and erases the one or two words that they lie in; returns
/// None if the window of 16 bytes there was zero.
///
/// In assembly for the reason that [`is_zero`] has.
///
/// # Safety
///
/// 16 bytes can be read and written at `source`, and `len` written at `dst`.
#[inline(always)]
pub(super) unsafe fn take_rest(source: *mut u8, dst: *mut u8, len: usize) -> Option<()> {
    #[cfg(all(target_arch = "x86_64", not(any(miri, sanitized))))]
    // SAFETY: the loads lie in the window of 16 bytes, and the stores erase it; the loop writes as
    // many bytes as are left.
    unsafe {
        let zeros: u8;
        core::arch::asm!(
            "mov {low}, qword ptr [{source}]",
            "mov {high}, qword ptr [{source} + 8]",
            "mov qword ptr [{source}], 0",
            "mov {both}, {low}",
            "or {both}, {high}",
            "setz {zeros}",
            "cmp {left}, 8",
            "jbe 3f",
            "mov qword ptr [{source} + 8], 0",
            "mov qword ptr [{dst}], {low}",
            "add {dst}, 8",
            "sub {left}, 8",
            "mov {low}, {high}",
            "3: mov byte ptr [{dst}], {low:l}",
            "shr {low}, 8",
            "inc {dst}",
            "dec {left}",
            "jnz 3b",
            "xor {low:e}, {low:e}",
            "xor {high:e}, {high:e}",
            "xor {both:e}, {both:e}",
            source = in(reg) source, dst = inout(reg) dst => _, left = inout(reg) len => _,
            low = out(reg) _, high = out(reg) _, both = out(reg) _, zeros = out(reg_byte) zeros,
            options(nostack),
        );
        (zeros == 0).then_some(())
    }
    #[cfg(all(target_arch = "aarch64", not(any(miri, sanitized))))]
    // SAFETY: the loads lie in the window of 16 bytes, and the stores erase it; the loop writes as
    // many bytes as are left.
    unsafe {
        let zeros: u64;
        core::arch::asm!(
            "ldp {low}, {high}, [{source}]",
            "str xzr, [{source}]",
            "orr {both}, {low}, {high}",
            "cmp {both}, #0",
            "cset {zeros}, eq",
            "cmp {left}, #8",
            "b.ls 3f",
            "str xzr, [{source}, #8]",
            "str {low}, [{dst}], #8",
            "sub {left}, {left}, #8",
            "mov {low}, {high}",
            "3: strb {low:w}, [{dst}], #1",
            "lsr {low}, {low}, #8",
            "subs {left}, {left}, #1",
            "b.ne 3b",
            "mov {low}, xzr",
            "mov {high}, xzr",
            "mov {both}, xzr",
            source = in(reg) source, dst = inout(reg) dst => _, left = inout(reg) len => _,
            low = out(reg) _, high = out(reg) _, both = out(reg) _, zeros = out(reg) zeros,
            options(nostack),
        );
        (zeros == 0).then_some(())
    }
    #[cfg(any(not(any(target_arch = "x86_64", target_arch = "aarch64")), miri, sanitized))]
    // SAFETY: a word is taken for up to 8 bytes and two for more, both within the window, and `put`
    // writes `len` of them.
    unsafe {
        match len {
            9.. => Block::take(source).map(|words| words.put(dst, len)),
            _ => u64::take(source).map(|word| word.put(dst, len)),
        }
    }
}
