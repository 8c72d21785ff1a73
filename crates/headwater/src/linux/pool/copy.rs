//! Taking bytes out of a page: each is read once, and erased by the same step.
//!
//! The page's memory changes behind the compiler: the kernel may drop it at any instant. So there
//! is no reference to it anywhere, every access is volatile or a block of assembly, and no access
//! moves past the fence that stands before the guards are compared.

#![allow(unsafe_code)]

/// Returns whether the 16 bytes at `at` are zero.
///
/// # Safety
///
/// 16 bytes can be read at `at`.
#[inline(always)]
pub(super) unsafe fn is_zero(at: *const u8) -> bool {
    #[cfg(all(target_arch = "x86_64", not(any(miri, sanitized))))]
    // SAFETY: the caller's promise. In assembly, so that the bytes, which a mask may still have to
    // hide, do not pass through a register that the compiler saves.
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
    #[cfg(any(not(target_arch = "x86_64"), miri, sanitized))]
    // SAFETY: the caller's promise.
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
    // SAFETY: the caller's promise. A block of assembly is to the compiler what a volatile access
    // is (it may not be removed, repeated or moved past another), and moves 16 bytes where a
    // volatile word moves 8.
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
    #[cfg(any(not(target_arch = "x86_64"), miri, sanitized))]
    for done in (0..len).step_by(16) {
        // SAFETY: the caller's promise. Zeros are copied as well: the caller looks at what was
        // copied.
        unsafe {
            let block = Block::take(source.add(done)).unwrap_or(Block([0; 2]));
            block.put(dst.add(done), 16);
        }
    }
}

/// The unit of a draw of up to 16 bytes: one word, or a [`Block`] of two.
pub(crate) trait Words: Copy {
    /// Bytes that are taken.
    const BYTES: u32;

    /// Reads the words at `source` and erases them; None if the window of 16 bytes there was zero.
    ///
    /// # Safety
    ///
    /// 16 bytes can be read and written at `source`, which is aligned to 8.
    unsafe fn take(source: *mut u8) -> Option<Self>;

    /// Returns the words Returns the words XORed with a mask.
    fn masked(self, mask: [u64; 2]) -> Self;

    /// Writes the first `len` bytes.
    ///
    /// # Safety
    ///
    /// `dst` is valid for writes of `len` bytes, at least 1 and more than half of what was taken.
    unsafe fn put(self, dst: *mut u8, len: usize);
}

impl Words for u64 {
    const BYTES: u32 = 8;

    #[inline(always)]
    unsafe fn take(source: *mut u8) -> Option<u64> {
        // SAFETY: the caller's promise.
        unsafe {
            let word = take_word(source);
            // The second half of the window is read only if the first is zero.
            (word != 0 || next_word(source) != 0).then_some(word)
        }
    }

    #[inline(always)]
    fn masked(self, [mask, _]: [u64; 2]) -> u64 {
        self ^ mask
    }

    #[inline(always)]
    unsafe fn put(self, dst: *mut u8, len: usize) {
        // SAFETY: the caller's promise.
        unsafe { put_word(dst, self, len) };
    }
}

/// Two words.
#[derive(Clone, Copy)]
pub(crate) struct Block([u64; 2]);

impl Words for Block {
    const BYTES: u32 = 16;

    #[inline(always)]
    unsafe fn take(source: *mut u8) -> Option<Block> {
        // SAFETY: the caller's promise.
        let words = unsafe { [take_word(source), take_word(source.add(8))] };
        (words != [0; 2]).then_some(Block(words))
    }

    #[inline(always)]
    fn masked(self, mask: [u64; 2]) -> Block {
        Block([self.0[0] ^ mask[0], self.0[1] ^ mask[1]])
    }

    #[inline(always)]
    unsafe fn put(self, dst: *mut u8, len: usize) {
        let [low, high] = self.0;
        // SAFETY: two stores of 8 bytes, which overlap in the 9 to 15 that may be written.
        unsafe {
            let second = if len == 16 { high } else { shifted(low, high, len) };
            dst.cast::<u64>().write_unaligned(low);
            dst.add(len - 8).cast::<u64>().write_unaligned(second);
        }
    }
}

/// Returns bytes `len - 8` to `len` of two words; `len` is 9 to 15.
#[inline(always)]
fn shifted(low: u64, high: u64, len: usize) -> u64 {
    ((u128::from(low) | u128::from(high) << 64) >> (8 * (len - 8))) as u64
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
        // SAFETY: the caller's promise. A block of assembly is to the compiler what a volatile
        // access is.
        unsafe {
            core::arch::asm!(
                "vpxor {zero}, {zero}, {zero}",
                "vmovdqu {block}, xmmword ptr [{source}]",
                "vmovdqu xmmword ptr [{source}], {zero}",
                "vmovdqu xmmword ptr [{dst}], {block}",
                "vptest {block}, {block}",
                "setz {zeros}",
                source = in(reg) source, dst = in(reg) dst, zeros = out(reg_byte) zeros,
                block = out(xmm_reg) _, zero = out(xmm_reg) _, options(nostack),
            );
        }
        return (zeros == 0).then_some(());
    }
    // SAFETY: the caller's promise.
    unsafe { Block::take(source).map(|block| block.put(dst, 16)) }
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
    // SAFETY: the caller's promise; the loop writes as many bytes as are left.
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
    #[cfg(any(not(target_arch = "x86_64"), miri, sanitized))]
    // SAFETY: the caller's promise.
    unsafe {
        match len {
            9.. => Block::take(source).map(|words| words.put(dst, len)),
            _ => u64::take(source).map(|word| word.put(dst, len)),
        }
    }
}

/// Reads the u64 at `source`, and erases it.
///
/// # Safety
///
/// A word can be read and written at `source`, which is aligned to 8.
#[inline(always)]
unsafe fn take_word(source: *mut u8) -> u64 {
    let source: *mut u64 = source.cast();
    // SAFETY: the caller's promise. Volatile: the memory changes behind the compiler, each load is
    // made once, and the erasure, which is never read, must not be removed nor moved past the fence
    // that follows.
    unsafe {
        let word = source.read_volatile();
        source.write_volatile(0);
        word
    }
}

/// Returns the u64 behind the one at `source`.
///
/// # Safety
///
/// Two words can be read at `source`, which is aligned to 8.
#[inline(always)]
unsafe fn next_word(source: *mut u8) -> u64 {
    // SAFETY: the caller's promise. Volatile: as in `take_word`.
    unsafe { source.cast::<u64>().add(1).read_volatile() }
}

/// Writes the first `len` (1 to 8) bytes of a word.
///
/// # Safety
///
/// `dst` is valid for writes of `len` bytes.
#[inline(always)]
unsafe fn put_word(dst: *mut u8, word: u64, len: usize) {
    // SAFETY: each store lies within `len` bytes; two overlap if `len` is not a power of two.
    unsafe {
        if len == 8 {
            dst.cast::<u64>().write_unaligned(word);
        } else if len >= 4 {
            dst.cast::<u32>().write_unaligned(word as u32);
            dst.add(len - 4).cast::<u32>().write_unaligned((word >> (8 * (len - 4))) as u32);
        } else {
            dst.write(word as u8);
            dst.add(len / 2).write((word >> (8 * (len / 2))) as u8);
            dst.add(len - 1).write((word >> (8 * (len - 1))) as u8);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::cpu::features::Features;

    #[test]
    fn words_are_taken_erased_and_put_at_every_length() {
        for len in 1..=16 {
            let bytes: [u8; 24] = core::array::from_fn(|i| i as u8 + 1);
            let mut page = [0u64; 3];
            for (word, bytes) in page.iter_mut().zip(bytes.chunks_exact(8)) {
                *word = u64::from_ne_bytes(bytes.try_into().unwrap());
            }
            let erased = if len > 8 { 2 } else { 1 };
            let page_start = page.as_mut_ptr().cast();
            let mut out = [0xEE; 18];
            // SAFETY: an array of three words; 17 bytes are left behind the first of `out`.
            unsafe {
                let dst = out.as_mut_ptr().add(1);
                if len > 8 {
                    Block::take(page_start).unwrap().put(dst, len);
                } else {
                    u64::take(page_start).unwrap().put(dst, len);
                }
            }
            assert!(page[..erased].iter().all(|&word| word == 0), "{len}");
            assert!(page[erased..].iter().all(|&word| word != 0), "{len}");
            assert_eq!(out[0], 0xEE);
            assert_eq!(out[1..=len], bytes[..len], "{len}");
            assert_eq!(out[len + 1], 0xEE, "{len}");
        }
    }

    #[test]
    fn the_rest_is_taken_and_erased() {
        for len in 1..16 {
            let bytes: [u8; 16] = core::array::from_fn(|i| i as u8 + 1);
            let mut page = [0, 8].map(|i| u64::from_ne_bytes(bytes[i..i + 8].try_into().unwrap()));
            let mut out = [0xEE; 18];
            // SAFETY: 16 bytes, and 17 behind the first of `out`.
            let taken =
                unsafe { take_rest(page.as_mut_ptr().cast(), out.as_mut_ptr().add(1), len) };
            assert!(taken.is_some());
            let page = page.map(u64::to_ne_bytes).concat();
            let erased = if len > 8 { 16 } else { 8 };
            assert!(
                page[..erased] == [0; 16][..erased] && page[erased..] == bytes[erased..],
                "{len}"
            );
            assert_eq!((out[0], &out[1..=len], out[len + 1]), (0xEE, &bytes[..len], 0xEE), "{len}");
        }
        let (mut page, mut out) = ([0u64; 2], [0; 16]);
        // SAFETY: 16 bytes each.
        assert!(unsafe { take_rest(page.as_mut_ptr().cast(), out.as_mut_ptr(), 5) }.is_none());
    }

    #[test]
    fn only_a_window_of_zeros_is_none() {
        for window in [[0u64, 0], [1, 0], [0, 1], [0, 1 << 63]] {
            let (mut first, mut second) = (window, window);
            // SAFETY: 16 bytes each.
            let (word, block) = unsafe {
                (u64::take(first.as_mut_ptr().cast()), Block::take(second.as_mut_ptr().cast()))
            };
            let zeros = window == [0, 0];
            assert_eq!((word.is_none(), block.is_none()), (zeros, zeros), "{window:x?}");
        }
    }

    /// Each number of blocks, at each place in a block: what is taken is erased, and nothing beside
    /// it is.
    #[test]
    fn blocks_are_taken_and_erased_and_no_others() {
        const ALL: usize = 352;
        let is_wide = Features::detect().vaes512;
        if !is_wide {
            println!("skipped: this CPU has no AVX-512, the wide copy is not looked at");
        }
        let cases =
            (0..=20).flat_map(|n| [(n, 0, false), (n, 8, false), (n, 0, true), (n, 8, true)]);
        for (blocks, shift, wide) in cases.filter(|case| is_wide || !case.2) {
            let page: [u8; ALL] = core::array::from_fn(|i| (i % 255) as u8 + 1);
            let mut words = page.as_chunks().0.iter().copied().map(u64::from_ne_bytes);
            let mut words: [u64; ALL / 8] = core::array::from_fn(|_| words.next().unwrap());
            let (len, mut out) = (16 * blocks, [0xEE; ALL]);
            // SAFETY: 328 of 352 bytes at most, on both sides; the source is aligned to 8; the CPU
            // was asked.
            unsafe {
                let source = words.as_mut_ptr().cast::<u8>().add(shift);
                take_plain(source, out.as_mut_ptr().add(1), len, wide);
            }
            assert_eq!(out[1..][..len], page[shift..][..len]);
            assert!(out[0] == 0xEE && out[1 + len..].iter().all(|&byte| byte == 0xEE));
            let left = words.map(u64::to_ne_bytes);
            let left = left.as_flattened();
            assert_eq!(left[..shift], page[..shift]);
            assert!(left[shift..][..len].iter().all(|&byte| byte == 0));
            assert_eq!(left[shift + len..], page[shift + len..]);
        }
    }
}
