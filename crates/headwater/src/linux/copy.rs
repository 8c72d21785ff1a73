//! Taking bytes out of a page: each is read once, and erased by the same step.
//!
//! The page's memory changes behind the compiler: the kernel may drop it at any instant. So there is no
//! reference to it anywhere, every access is volatile or a block of assembly, and none of them moves past the
//! fence that stands before the guards are compared.

#![allow(unsafe_code)]

/// Whether the 16 bytes at `at` are zero.
///
/// # Safety
///
/// 16 bytes can be read at `at`.
#[inline(always)]
pub(super) unsafe fn is_zero(at: *const u8) -> bool {
    // SAFETY: the caller's promise.
    unsafe { at.cast::<u128>().read_unaligned() == 0 }
}

/// Copies and erases `len` bytes, a multiple of 16.
///
/// # Safety
///
/// `len` bytes can be read and written at `source`, and written at `dst`.
#[inline(always)]
pub(super) unsafe fn take_plain(source: *mut u8, dst: *mut u8, len: usize) {
    // Assembly is what neither an interpreter nor a sanitizer can look into.
    #[cfg(all(target_arch = "x86_64", not(any(miri, sanitized))))]
    // SAFETY: the caller's promise. A block of assembly is to the compiler what a volatile access is (it may
    // not be removed, repeated or moved past another), and moves 16 bytes where a volatile word moves 8.
    unsafe {
        let zero = core::arch::x86_64::_mm_setzero_si128();
        let (mut source, mut dst, mut left) = (source, dst, len);
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
        // SAFETY: the caller's promise.
        unsafe { put_words(dst.add(done), take_words::<2>(source.add(done)), 16) };
    }
}

/// Reads one or two words at `source`, and erases them; the second is 0 if it is not read.
///
/// # Safety
///
/// That many words can be read and written at `source`, which is aligned to 8.
#[inline(always)]
pub(super) unsafe fn take_words<const WORDS: usize>(source: *mut u8) -> [u64; 2] {
    let source: *mut u64 = source.cast();
    // SAFETY: the caller's promise.
    // Volatile: the memory changes behind the compiler, each load is made once, and the erasure, which no
    // one reads, must not be removed nor moved past the fence that follows.
    unsafe {
        let mut words = [source.read_volatile(), 0];
        if WORDS == 2 {
            words[1] = source.add(1).read_volatile();
        }
        source.write_volatile(0);
        if WORDS == 2 {
            source.add(1).write_volatile(0);
        }
        words
    }
}

/// The word after the one at `source`.
///
/// # Safety
///
/// Two words can be read at `source`, which is aligned to 8.
#[inline(always)]
pub(super) unsafe fn next_word(source: *mut u8) -> u64 {
    // SAFETY: the caller's promise. Volatile: as in `take_words`.
    unsafe { source.cast::<u64>().add(1).read_volatile() }
}

/// Writes the first `len` (1 to 16) bytes of two words.
///
/// # Safety
///
/// `dst` is valid for writes of `len` bytes.
#[inline(always)]
pub(crate) unsafe fn put_words(dst: *mut u8, words: [u64; 2], len: usize) {
    let [low, high] = words;
    // SAFETY: each store lies within `len` bytes; two overlap where `len` is no power of two.
    unsafe {
        if len == 16 {
            dst.cast::<[u64; 2]>().write_unaligned(words);
        } else if len >= 8 {
            dst.cast::<u64>().write_unaligned(low);
            let both = u128::from(low) | u128::from(high) << 64;
            let end = (both >> (8 * (len - 8))) as u64;
            dst.add(len - 8).cast::<u64>().write_unaligned(end);
        } else if len >= 4 {
            dst.cast::<u32>().write_unaligned(low as u32);
            dst.add(len - 4).cast::<u32>().write_unaligned((low >> (8 * (len - 4))) as u32);
        } else {
            dst.write(low as u8);
            dst.add(len / 2).write((low >> (8 * (len / 2))) as u8);
            dst.add(len - 1).write((low >> (8 * (len - 1))) as u8);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            // SAFETY: an array of three words.
            let words = unsafe {
                if len > 8 { take_words::<2>(page_start) } else { take_words::<1>(page_start) }
            };
            assert!(page[..erased].iter().all(|&word| word == 0), "{len}");
            assert!(page[erased..].iter().all(|&word| word != 0), "{len}");
            let mut out = [0xEE; 18];
            // SAFETY: 17 bytes are left behind the first.
            unsafe { put_words(out.as_mut_ptr().add(1), words, len) };
            assert_eq!(out[0], 0xEE);
            assert_eq!(out[1..=len], bytes[..len], "{len}");
            assert_eq!(out[len + 1], 0xEE, "{len}");
        }
    }

    /// Each number of blocks, at each place in a block: what is taken is erased, and nothing beside it is.
    #[test]
    fn blocks_are_taken_and_erased_and_no_others() {
        for blocks in 0..=9 {
            for shift in [0, 8] {
                let page: [u8; 192] = core::array::from_fn(|i| i as u8 + 1);
                let mut words = page.as_chunks().0.iter().copied().map(u64::from_ne_bytes);
                let mut words: [u64; 24] = core::array::from_fn(|_| words.next().unwrap());
                let (len, mut out) = (16 * blocks, [0xEE; 192]);
                // SAFETY: 152 of 192 bytes at most, on both sides; the source is aligned to 8.
                unsafe {
                    let source = words.as_mut_ptr().cast::<u8>().add(shift);
                    take_plain(source, out.as_mut_ptr().add(1), len);
                }
                assert_eq!(out[1..][..len], page[shift..][..len]);
                assert!(out[0] == 0xEE && out[1 + len..].iter().all(|&byte| byte == 0xEE));
                let left: [[u8; 8]; 24] = words.map(u64::to_ne_bytes);
                let left = left.as_flattened();
                assert_eq!(left[..shift], page[..shift]);
                assert!(left[shift..][..len].iter().all(|&byte| byte == 0));
                assert_eq!(left[shift + len..], page[shift + len..]);
            }
        }
    }
}
