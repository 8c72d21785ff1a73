//! The mask of a hedged request: H = AES-256_k(X) ^ X, with X holding fresh words of the CPU.
//!
//! The output is page bytes ^ H. If the CPU's words are known or stuck, the page bytes still hide
//! H; if page and k are known, as they are to the owner of a clone, the output is a one-way
//! function of 128 bits that no other machine has. The feed-forward `^ X` makes it one-way: AES
//! alone could be inverted from 16 public bytes of a request, and would show the rest of it.
//! One-way also means that an instruction which sees the page in memory cannot pick a word that
//! cancels the page's bytes.
//!
//! `reference` has the same function in plain words.

/// Returns the mask of a request of up to 16 bytes, for X = `r`.
///
/// # Safety
///
/// `keys` points to 240 readable bytes aligned to 16, and the CPU has AES instructions.
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "aes,sse4.1"))]
#[cfg_attr(target_arch = "aarch64", target_feature(enable = "neon,aes"))]
#[inline]
pub(crate) unsafe fn mask_one(keys: *const u8, r: [u64; 2]) -> [u64; 2] {
    // SAFETY: `masks` asks for the same keys and the same instructions as this function; the block
    // is an array of ours.
    let [mask] = unsafe { cpu::masks(keys, [r]) };
    mask
}

/// Computes four blocks of the mask of a longer request, from block `first` on: X_j = (r0, r1 ^ j).
/// Block 0 is [`mask_one`]'s.
///
/// # Safety
///
/// The promises of [`mask_one`].
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "aes,sse4.1"))]
#[cfg_attr(target_arch = "aarch64", target_feature(enable = "neon,aes"))]
#[inline]
pub(crate) unsafe fn mask_four(keys: *const u8, r: [u64; 2], first: u64) -> [[u64; 2]; 4] {
    let x = [0, 1, 2, 3].map(|i| [r[0], r[1] ^ (first + i)]);
    // SAFETY: the keys and the CPU are as for one block, because all four are masked under one key.
    unsafe { cpu::masks(keys, x) }
}

/// Masks the `len` bytes at `dst`, a block at a time.
///
/// # Safety
///
/// `dst` is valid for reads and writes of `len` bytes; `keys` and the CPU are as for [`mask_four`].
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "aes,sse4.1"))]
#[cfg_attr(target_arch = "aarch64", target_feature(enable = "neon,aes"))]
#[inline]
pub(crate) unsafe fn mask_in_place(keys: *const u8, r: [u64; 2], dst: *mut u8, len: usize) {
    let mut done = 0;
    while done < len {
        // SAFETY: `step` is at most `len - done`, so no byte past `len` is touched, and at most 64,
        // which is as many bytes as four masks have.
        unsafe {
            let masks = mask_four(keys, r, (done / 16) as u64);
            let step = (len - done).min(64);
            xor(masks.as_flattened(), dst.add(done), step);
            done += step;
        }
    }
}

/// XORs the first `len` bytes of `mask` into the bytes at `dst`.
///
/// A word at a time and in assembly, so that bytes of a page, which `dst` holds until then, never
/// pass through the compiler's registers and stack: what is erased from the page would stay there.
///
/// # Safety
///
/// `dst` is valid for reads and writes of `len` bytes, which are at most those of `mask`.
#[inline]
pub(crate) unsafe fn xor(mask: &[u64], dst: *mut u8, len: usize) {
    let whole = len / 8;
    // SAFETY: word `i` ends at `8 * whole` or before, which is at most `len`, and the last bytes
    // are fewer than a word. `mask` is at least as long, so there is a word for them.
    unsafe {
        for (i, word) in mask.iter().take(whole).enumerate() {
            xor_word(dst.add(8 * i), *word);
        }
        if let Some(last) = mask.get(whole) {
            for (i, byte) in last.to_le_bytes().into_iter().take(len % 8).enumerate() {
                *dst.add(8 * whole + i) ^= byte;
            }
        }
    }
}

/// XORs `word` into the 8 bytes at `dst`.
///
/// # Safety
///
/// `dst` is valid for reads and writes of 8 bytes.
#[inline]
unsafe fn xor_word(dst: *mut u8, word: u64) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: the instruction reads and writes the 8 bytes at `dst`, at any alignment, and the
    // flags, which a block of assembly may change unless it says otherwise.
    unsafe {
        core::arch::asm!("xor qword ptr [{dst}], {word}", dst = in(reg) dst, word = in(reg) word,
            options(nostack));
    }
    #[cfg(any(not(target_arch = "x86_64"), miri))]
    // SAFETY: the 8 bytes at `dst` are valid, and both accesses allow any alignment.
    unsafe {
        let dst = dst.cast::<u64>();
        dst.write_unaligned(dst.read_unaligned() ^ word.to_le());
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod cpu {
    /// The rounds of AES-256 on the registers of these numbers, and the feed-forward from `{x}`.
    ///
    /// The round keys are read from memory by the instructions that use them: in a register of the
    /// compiler's they would be spilled in some builds, and the page's key for masks would stay on
    /// the stack.
    macro_rules! rounds {
        ($numbers:literal) => {
            concat!(
                ".irp b, ",
                $numbers,
                "\n",
                "movdqu xmm\\b, xmmword ptr [{x} + 16 * \\b]\n",
                "pxor xmm\\b, xmmword ptr [{keys}]\n",
                ".endr\n",
                ".irp k, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13\n",
                "movdqa xmm5, xmmword ptr [{keys} + 16 * \\k]\n",
                ".irp b, ",
                $numbers,
                "\n",
                "aesenc xmm\\b, xmm5\n",
                ".endr\n",
                ".endr\n",
                "movdqa xmm5, xmmword ptr [{keys} + 224]\n",
                ".irp b, ",
                $numbers,
                "\n",
                "aesenclast xmm\\b, xmm5\n",
                "movdqu xmm4, xmmword ptr [{x} + 16 * \\b]\n",
                "pxor xmm\\b, xmm4\n",
                "movdqu xmmword ptr [{x} + 16 * \\b], xmm\\b\n",
                ".endr\n",
                "pxor xmm4, xmm4\n",
                "pxor xmm5, xmm5\n",
            )
        };
    }

    /// # Safety
    ///
    /// 15 round keys, aligned to 16, are readable at `keys`, and the CPU has AES instructions.
    #[inline]
    pub(super) unsafe fn masks<const N: usize>(
        keys: *const u8,
        mut x: [[u64; 2]; N],
    ) -> [[u64; 2]; N] {
        const { assert!(N == 1 || N == 4) };
        // SAFETY: the instructions read 240 bytes at `keys`, and those with the keys as an operand
        // fault unless these are aligned to 16, so `mask_one` asks for both. X is replaced by its
        // mask, in an array of ours. A block of assembly is to the compiler what a volatile access
        // is: it is not moved past the comparisons that follow.
        unsafe {
            if N == 1 {
                core::arch::asm!(
                    rounds!("0"), keys = in(reg) keys, x = in(reg) x.as_mut_ptr(),
                    out("xmm0") _, out("xmm4") _, out("xmm5") _, options(nostack),
                );
            } else {
                core::arch::asm!(
                    rounds!("0, 1, 2, 3"), keys = in(reg) keys, x = in(reg) x.as_mut_ptr(),
                    out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _, out("xmm4") _,
                    out("xmm5") _, options(nostack),
                );
            }
        }
        x
    }
}

/// By intrinsics, which an interpreter can follow.
#[cfg(all(target_arch = "x86_64", miri))]
mod cpu {
    use core::arch::x86_64::*;

    /// # Safety
    ///
    /// 15 round keys, aligned to 16, are readable at `keys`.
    #[inline]
    #[target_feature(enable = "aes,sse4.1")]
    pub(super) unsafe fn masks<const N: usize>(keys: *const u8, x: [[u64; 2]; N]) -> [[u64; 2]; N] {
        let keys: *const __m128i = keys.cast();
        // Volatile: the kernel may drop the page between two of these loads, and the compiler must
        // neither merge nor move them past the check that would notice.
        // SAFETY: within the 15 round keys.
        let key = |round| unsafe { keys.add(round).read_volatile() };
        let x = x.map(|[low, high]| _mm_set_epi64x(high as i64, low as i64));
        let first = key(0);
        let mut blocks = x.map(|x| _mm_xor_si128(x, first));
        for round in 1..14 {
            let key = key(round);
            for block in &mut blocks {
                *block = _mm_aesenc_si128(*block, key);
            }
        }
        let last = key(14);
        let mut masks = [[0; 2]; N];
        for ((mask, block), x) in masks.iter_mut().zip(blocks).zip(x) {
            let sum = _mm_xor_si128(_mm_aesenclast_si128(block, last), x);
            *mask = [_mm_cvtsi128_si64(sum) as u64, _mm_extract_epi64(sum, 1) as u64];
        }
        masks
    }
}

#[cfg(target_arch = "aarch64")]
mod cpu {
    use core::arch::aarch64::*;
    use core::mem::transmute;

    /// # Safety
    ///
    /// 15 round keys, aligned to 16, are readable at `keys`; the CPU has AES instructions.
    #[inline]
    #[target_feature(enable = "neon,aes")]
    pub(super) unsafe fn masks<const N: usize>(keys: *const u8, x: [[u64; 2]; N]) -> [[u64; 2]; N] {
        let keys: *const uint8x16_t = keys.cast();
        // Volatile: as on x86-64.
        // SAFETY: within the 15 round keys.
        let key = |round| unsafe { keys.add(round).read_volatile() };
        // SAFETY: the same 16 bytes in another shape.
        let x = x.map(|x| unsafe { transmute::<[u64; 2], uint8x16_t>(x) });
        let mut blocks = x;
        for round in 0..13 {
            let key = key(round);
            for block in &mut blocks {
                *block = vaesmcq_u8(vaeseq_u8(*block, key));
            }
        }
        let (before_last, last) = (key(13), key(14));
        let mut masks = [[0; 2]; N];
        for ((mask, block), x) in masks.iter_mut().zip(blocks).zip(x) {
            let sum = veorq_u8(veorq_u8(vaeseq_u8(block, before_last), last), x);
            // SAFETY: the same 16 bytes in another shape.
            *mask = unsafe { transmute::<uint8x16_t, [u64; 2]>(sum) };
        }
        masks
    }
}

/// Never called: no other architecture hedges.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod cpu {
    pub(super) unsafe fn masks<const N: usize>(_: *const u8, x: [[u64; 2]; N]) -> [[u64; 2]; N] {
        x
    }
}

#[cfg(all(test, reference))]
mod tests {
    use super::*;

    #[test]
    fn masks_equal_the_reference() {
        let features = crate::linux::cpu::features::Features::detect();
        let backend = crate::linux::cipher::Backend::choose(features);
        if !backend.is_aes() {
            println!("skipped: hedge masks are not checked, this CPU has no AES instructions");
            return;
        }
        #[repr(align(16))]
        struct Aligned([u8; 240]);
        let key: [u8; 32] = core::array::from_fn(|i| (i * 37 + 11) as u8);
        let mut keys = Aligned([0; 240]);
        // SAFETY: 240 bytes aligned to 16; the CPU has AES.
        unsafe { backend.expand(key.as_ptr(), keys.0.as_mut_ptr()) };
        let r = [0x0123_4567_89AB_CDEF, 0xFEDC_BA98_7654_3210];
        let bytes = |words: &[[u64; 2]]| -> Vec<u8> {
            words.as_flattened().iter().flat_map(|word| word.to_le_bytes()).collect()
        };
        for n in 1..=16 {
            // SAFETY: an expanded key; the CPU has AES.
            let mask = unsafe { mask_one(keys.0.as_ptr(), r) };
            assert_eq!(bytes(&[mask])[..n], reference::hedge(&key, r[0], r[1], n)[..], "{n} bytes");
        }
        for n in 1..=1024 {
            let mut masked = [0; 1024];
            // SAFETY: an expanded key; the CPU has AES; `n` is at most the length of `masked`.
            unsafe { mask_in_place(keys.0.as_ptr(), r, masked.as_mut_ptr(), n) };
            assert_eq!(masked[..n], reference::hedge(&key, r[0], r[1], n)[..], "{n} bytes");
            assert!(masked[n..].iter().all(|byte| *byte == 0), "{n} bytes");
        }
        let expected = reference::hedge(&key, r[0], r[1], 1024);
        for first in (0..64).step_by(4) {
            // SAFETY: an expanded key; the CPU has AES.
            let four = unsafe { mask_four(keys.0.as_ptr(), r, first) };
            assert_eq!(bytes(&four), expected[first as usize * 16..][..64], "block {first}");
        }
    }
}
