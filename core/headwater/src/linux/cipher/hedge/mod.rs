//! The mask of a hedged request: H = AES-256_k(X) ^ X, with X holding fresh words of the CPU.
//!
//! The output is page bytes ^ H. If the CPU's words are known or stuck, the page bytes still hide
//! H; if page and k are known, as they are to the owner of a clone, the output is a one-way
//! function of 128 bits that no other machine has. The feed-forward `^ X` makes it one-way: AES
//! alone could be inverted from 16 public bytes of a request, and would show the rest of it.
//! One-way also means that an instruction which sees the page in memory cannot pick a word that
//! cancels the page's bytes.
//!
//! A block of a longer request has its number in X, so X_j = (r0, r1 ^ j). `reference` has the same
//! function in plain words.
//!
//! Time is the reason for the shape of this module. The first round waits for the CPU's words,
//! and nothing can start before they are there; so whatever stands between them and the caller's
//! buffer is paid in full. A load of 16 bytes waits until two stores of 8 have left the CPU's
//! buffers, which is what a mask met twice that went through memory on its way. So the words go
//! into the rounds from registers, and a whole block goes to the buffer in one store.

use super::wipe;

#[cfg(all(target_arch = "x86_64", miri))]
mod by_words;
#[cfg(target_arch = "aarch64")]
#[path = "arm64.rs"]
mod cpu;
#[cfg(all(target_arch = "x86_64", miri))]
#[path = "interpreted.rs"]
mod cpu;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
#[path = "nowhere.rs"]
mod cpu;
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[path = "x86.rs"]
mod cpu;

/// The blocks that are masked side by side while as many are left. On CPUs of both makers the
/// rounds of eight blocks take no longer than those of one, or little.
const STRIP: usize = 8;
/// The blocks that are masked side by side at a request's end.
const HALF_STRIP: usize = 4;

/// Returns the mask of a request of up to 16 bytes, for X = `r`.
///
/// # Safety
///
/// `keys` points to 240 readable bytes aligned to 16, and the CPU has AES instructions.
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "aes,sse4.1"))]
#[cfg_attr(target_arch = "aarch64", target_feature(enable = "neon,aes"))]
#[inline]
pub(crate) unsafe fn mask(keys: *const u8, r: [u64; 2]) -> [u64; 2] {
    // SAFETY: `cpu::mask` asks for the same keys and the same instructions as this function.
    unsafe { cpu::mask(keys, r) }
}

/// Masks the 16 bytes at `dst`, a whole request, with [`mask`]. The bytes go through no memory
/// but `dst`, and through no register of the compiler's.
///
/// # Safety
///
/// `dst` is valid for reads and writes of 16 bytes; the rest is as for [`mask`].
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "aes,sse4.1"))]
#[cfg_attr(target_arch = "aarch64", target_feature(enable = "neon,aes"))]
#[inline]
pub(crate) unsafe fn mask_block(keys: *const u8, r: [u64; 2], dst: *mut u8) {
    // SAFETY: the 16 bytes at `dst` are the caller's; keys and CPU are as for `mask`.
    unsafe { cpu::mask_block(keys, r, dst) };
}

/// XORs a mask into the 16 bytes at `dst`.
///
/// # Safety
///
/// `dst` is valid for reads and writes of 16 bytes.
#[inline]
pub(crate) unsafe fn xor_block(mask: [u64; 2], dst: *mut u8) {
    // SAFETY: the 16 bytes at `dst` are the caller's.
    unsafe { cpu::xor_block(mask, dst) };
}

/// Masks the `len` bytes at `dst`, a whole request.
///
/// # Safety
///
/// `dst` is valid for reads and writes of `len` bytes; `keys` and the CPU are as for [`mask`].
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "aes,sse4.1"))]
#[cfg_attr(target_arch = "aarch64", target_feature(enable = "neon,aes"))]
#[inline]
pub(crate) unsafe fn mask_in_place(keys: *const u8, r: [u64; 2], dst: *mut u8, len: usize) {
    let from = |first: usize| [r[0], r[1] ^ first as u64];
    let mut done = 0;
    // SAFETY: each step ends at `len` or before: the first two because as many bytes are left, the
    // last because it XORs no more than are left. Its masks are an array of ours, with room for
    // as many blocks as are masked in it. A step begins at a multiple of its blocks' number, or of
    // four, so that XORing a block's number within the step to `first` adds it.
    unsafe {
        while len - done >= 16 * STRIP {
            cpu::mask_blocks::<STRIP>(keys, from(done / 16), dst.add(done));
            done += 16 * STRIP;
        }
        while len - done >= 16 * HALF_STRIP {
            cpu::mask_blocks::<HALF_STRIP>(keys, from(done / 16), dst.add(done));
            done += 16 * HALF_STRIP;
        }
        if done < len {
            let mut masks = [0u64; 2 * HALF_STRIP];
            cpu::mask_blocks::<HALF_STRIP>(keys, from(done / 16), masks.as_mut_ptr().cast());
            xor(&masks, dst.add(done), len - done);
            // To the owner of a clone, who knows the page, a mask is as good as what it hides.
            wipe(masks.as_mut_ptr().cast(), size_of_val(&masks));
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
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    // SAFETY: the load and the store are the 8 bytes at `dst`, at any alignment.
    unsafe {
        core::arch::asm!(
            "ldr {old}, [{dst}]",
            "eor {old}, {old}, {word}",
            "str {old}, [{dst}]",
            "mov {old}, xzr",
            dst = in(reg) dst, word = in(reg) word, old = out(reg) _,
            options(nostack, preserves_flags),
        );
    }
    #[cfg(any(not(any(target_arch = "x86_64", target_arch = "aarch64")), miri))]
    // SAFETY: the 8 bytes at `dst` are valid, and both accesses allow any alignment.
    unsafe {
        let dst = dst.cast::<u64>();
        dst.write_unaligned(dst.read_unaligned() ^ word.to_le());
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
        // The low bits of the second are set, so that a number that is added to them shows.
        let r = [0x0123_4567_89AB_CDEF, 0xFEDC_BA98_7654_321F];
        let bytes = |words: &[[u64; 2]]| -> Vec<u8> {
            words.as_flattened().iter().flat_map(|word| word.to_le_bytes()).collect()
        };
        let zeros = [0u64; 2];
        for n in 1..=16 {
            let (mut block, expected) = (zeros, reference::hedge(&key, r[0], r[1], n));
            // SAFETY: an expanded key; the CPU has AES; 16 bytes of our own.
            let mask = unsafe {
                mask_block(keys.0.as_ptr(), r, block.as_mut_ptr().cast());
                mask(keys.0.as_ptr(), r)
            };
            assert_eq!(bytes(&[mask])[..n], expected[..], "{n} bytes");
            assert_eq!(block, mask);
        }
        let expected = reference::hedge(&key, r[0], r[1], 1024);
        for (n, at) in (1..=1024).flat_map(|n| [(n, 0), (n, 1)]) {
            let mut masked = [0x55; 1025];
            // SAFETY: an expanded key; the CPU has AES; `n` bytes from `at` on are in `masked`.
            unsafe { mask_in_place(keys.0.as_ptr(), r, masked.as_mut_ptr().add(at), n) };
            let inside = masked[at..][..n].iter().map(|byte| byte ^ 0x55);
            assert!(inside.eq(expected[..n].iter().copied()), "{n} bytes at {at}");
            assert!(masked[..at].iter().chain(&masked[at + n..]).all(|&byte| byte == 0x55));
        }
    }
}
