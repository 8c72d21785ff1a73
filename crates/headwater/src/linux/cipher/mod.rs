//! The cipher: one function from a 32-byte key to a keystream, and the back ends behind it.
//!
//! AES-256 in counter mode (FIPS 197, NIST SP 800-38A section 6.5) where the CPU has AES instructions,
//! ChaCha20 (RFC 8439) where it has none: a software AES is either slow or leaks its key through the
//! cache. Keys are used for one stream and erased, so the counter starts from zero for each.

#![allow(unsafe_code)]

mod aes;
mod chacha;
#[cfg(feature = "pools")]
pub(crate) mod hedge;
#[cfg(target_arch = "x86_64")]
mod vaes;

use super::features::Features;
use core::sync::atomic::{Ordering, compiler_fence};

/// The first counter block of a stream: 16 bytes, for AES the block as such (its last eight bytes count,
/// big-endian, and must not wrap), for ChaCha20 the words 12 to 15 (counter, then nonce).
pub(crate) type Start = [u8; 16];

/// Which code makes the keystream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Backend {
    /// AES-256-CTR, four blocks to an instruction (VAES with AVX-512).
    #[cfg(target_arch = "x86_64")]
    Vaes,
    /// AES-256-CTR by the `aes` crate, on the CPU's AES instructions.
    Aes,
    /// ChaCha20 by the `chacha20` crate.
    ChaCha,
}

impl Backend {
    /// Every back end of this architecture, best first.
    pub(crate) const ALL: &[Backend] = &[
        #[cfg(target_arch = "x86_64")]
        Backend::Vaes,
        Backend::Aes,
        Backend::ChaCha,
    ];

    /// The best back end of this CPU.
    pub(crate) fn choose(features: Features) -> Backend {
        let mut all = Backend::ALL.iter().copied();
        all.find(|backend| backend.runs_on(features)).unwrap_or(Backend::ChaCha)
    }

    /// Whether a CPU with these features can run it.
    pub(crate) fn runs_on(self, features: Features) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Backend::Vaes => features.vaes,
            // Miri does not know all of the crate's instructions.
            Backend::Aes => features.aes && !cfg!(miri),
            Backend::ChaCha => true,
        }
    }

    /// Whether this CPU has AVX-512VL.
    #[inline(always)]
    pub(crate) fn is_wide(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        return self == Backend::Vaes;
        #[cfg(not(target_arch = "x86_64"))]
        false
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            #[cfg(target_arch = "x86_64")]
            Backend::Vaes => "AES-256-CTR (VAES, AVX-512)",
            Backend::Aes => "AES-256-CTR (aes crate)",
            Backend::ChaCha => "ChaCha20 (chacha20 crate)",
        }
    }

    /// Writes the first `len` bytes of the keystream of `key`, counted from `start`, to `out`.
    ///
    /// Leaves no copy of the key but the caller's: what the crates' code puts on the stack and into vector
    /// registers is cleared after them, as far as that can be done from outside.
    ///
    /// # Safety
    ///
    /// `out` is valid for writes of `len` bytes, and this back end [runs on](Self::runs_on) this CPU.
    #[inline]
    pub(crate) unsafe fn keystream(self, key: &[u8; 32], start: Start, out: *mut u8, len: usize) {
        // Miri takes several seconds for a page of keystream, so it interprets the cipher in this file's tests
        // alone. Elsewhere it is to look at what is done with the bytes.
        if cfg!(all(miri, not(test))) {
            // SAFETY: the caller's promise.
            let _ = unsafe { super::raw::getrandom(out, len, 0) };
            return;
        }
        // SAFETY: the caller's promise, for each.
        unsafe {
            match self {
                #[cfg(target_arch = "x86_64")]
                Backend::Vaes => vaes::keystream(key, start, out, len),
                Backend::Aes => {
                    aes::keystream(key, start, out, len);
                    scrub_stack();
                    scrub_registers();
                }
                Backend::ChaCha => {
                    chacha::keystream(key, start, out, len);
                    scrub_stack();
                    scrub_registers();
                }
            }
        }
    }
}

/// A 32-byte key on the stack, erased when dropped.
pub(crate) struct Key(pub(crate) [u8; 32]);

impl Key {
    pub(crate) const fn empty() -> Key {
        Key([0; 32])
    }

    /// XORs two words into the first half. The key stays good if either the words or the kernel's half
    /// are unknown, provided that the words were read before the kernel's half existed.
    #[inline]
    pub(crate) fn mix(&mut self, words: [u64; 2]) {
        for (half, word) in self.0.chunks_exact_mut(8).zip(words) {
            for (byte, mask) in half.iter_mut().zip(word.to_le_bytes()) {
                *byte ^= mask;
            }
        }
    }
}

impl Drop for Key {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: our own array.
        unsafe { wipe(self.0.as_mut_ptr(), self.0.len()) };
    }
}

/// Clears what code that is not ours leaves of a key on the stack: the 4 KiB below its caller's frame.
///
/// Called right after it, from the same frame, so that the memory is the same.
#[inline(never)]
fn scrub_stack() {
    let mut below = [0u128; 256];
    // SAFETY: our own array.
    unsafe { wipe((&raw mut below).cast(), size_of_val(&below)) };
}

/// Clears the vector registers that a key schedule has gone through: the next signal's frame, or a core
/// dump, would write them to memory.
#[inline]
fn scrub_registers() {
    if cfg!(miri) {
        return;
    }
    #[cfg(target_arch = "x86_64")]
    // SAFETY: registers only, all declared.
    unsafe {
        core::arch::asm!(
            "pxor xmm0, xmm0", "pxor xmm1, xmm1", "pxor xmm2, xmm2", "pxor xmm3, xmm3",
            "pxor xmm4, xmm4", "pxor xmm5, xmm5", "pxor xmm6, xmm6", "pxor xmm7, xmm7",
            "pxor xmm8, xmm8", "pxor xmm9, xmm9", "pxor xmm10, xmm10", "pxor xmm11, xmm11",
            "pxor xmm12, xmm12", "pxor xmm13, xmm13", "pxor xmm14, xmm14", "pxor xmm15, xmm15",
            out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _, out("xmm4") _,
            out("xmm5") _, out("xmm6") _, out("xmm7") _, out("xmm8") _, out("xmm9") _,
            out("xmm10") _, out("xmm11") _, out("xmm12") _, out("xmm13") _, out("xmm14") _,
            out("xmm15") _, options(nomem, nostack, preserves_flags),
        );
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: registers only, all declared.
    unsafe {
        core::arch::asm!(
            "movi v0.2d, #0", "movi v1.2d, #0", "movi v2.2d, #0", "movi v3.2d, #0",
            "movi v4.2d, #0", "movi v5.2d, #0", "movi v6.2d, #0", "movi v7.2d, #0",
            "movi v16.2d, #0", "movi v17.2d, #0", "movi v18.2d, #0", "movi v19.2d, #0",
            "movi v20.2d, #0", "movi v21.2d, #0", "movi v22.2d, #0", "movi v23.2d, #0",
            "movi v24.2d, #0", "movi v25.2d, #0", "movi v26.2d, #0", "movi v27.2d, #0",
            "movi v28.2d, #0", "movi v29.2d, #0", "movi v30.2d, #0", "movi v31.2d, #0",
            out("v0") _, out("v1") _, out("v2") _, out("v3") _, out("v4") _, out("v5") _,
            out("v6") _, out("v7") _, out("v16") _, out("v17") _, out("v18") _, out("v19") _,
            out("v20") _, out("v21") _, out("v22") _, out("v23") _, out("v24") _, out("v25") _,
            out("v26") _, out("v27") _, out("v28") _, out("v29") _, out("v30") _, out("v31") _,
            options(nomem, nostack, preserves_flags),
        );
    }
}

/// Overwrites `len` bytes, a multiple of 16, with zeros, in a way that is not removed as unused.
///
/// # Safety
///
/// `at` is valid for writes of `len` bytes.
#[inline]
pub(crate) unsafe fn wipe(at: *mut u8, len: usize) {
    for i in (0..len).step_by(16) {
        // SAFETY: within `len` bytes. The array has the alignment of a byte.
        unsafe { at.add(i).cast::<[u8; 16]>().write_volatile([0; 16]) };
    }
    compiler_fence(Ordering::SeqCst);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Around each boundary that a back end has: the block (16, 64), a vector of four blocks (64), a strip of
    /// eight vectors (512), the scratch buffer of the crates' back ends (1024), the bytes of a page
    /// (3584), the page, and a large request's crossover. 1 MiB is one chunk.
    const LENGTHS: &[usize] = &[
        0,
        1,
        7,
        8,
        9,
        15,
        16,
        17,
        31,
        32,
        33,
        47,
        48,
        49,
        63,
        64,
        65,
        127,
        128,
        129,
        191,
        192,
        193,
        255,
        256,
        257,
        319,
        320,
        383,
        384,
        447,
        448,
        511,
        512,
        513,
        527,
        528,
        575,
        576,
        577,
        1007,
        1008,
        1023,
        1024,
        1025,
        1039,
        1040,
        1535,
        1536,
        1537,
        2047,
        2048,
        2049,
        3535,
        3536,
        3537,
        3583,
        3584,
        3585,
        4095,
        4096,
        4097,
        65_535,
        65_536,
        65_537,
        1 << 20,
    ];

    fn check(backend: Backend, key: &[u8; 32], start: Start) {
        let longest = *LENGTHS.last().unwrap();
        let mut expected = vec![0; longest];
        match backend {
            Backend::ChaCha => {
                let (counter, nonce) = start.split_at(4);
                let counter = u32::from_le_bytes(counter.try_into().unwrap());
                reference::chacha20(key, nonce.try_into().unwrap(), counter, &mut expected);
            }
            _ => reference::aes256_ctr(key, start, &mut expected),
        }
        for &len in LENGTHS {
            // One guard byte on each side, and every alignment within a block.
            for shift in [0, 1, 8, 15] {
                let mut out = vec![0xA5; len + shift + 2];
                // SAFETY: the buffer holds `shift + 1 + len + 1` bytes; it is called if the CPU can.
                unsafe { backend.keystream(key, start, out.as_mut_ptr().add(shift + 1), len) };
                assert_eq!(out[shift], 0xA5, "{backend:?} wrote before {len} bytes");
                assert_eq!(out[shift + 1 + len], 0xA5, "{backend:?} wrote after {len} bytes");
                assert!(out[shift + 1..][..len] == expected[..len], "{backend:?}, {len} bytes");
                if len > 4096 {
                    break;
                }
            }
        }
    }

    #[test]
    fn every_back_end_equals_the_reference() {
        let mut key = [0; 32];
        for (i, byte) in key.iter_mut().enumerate() {
            *byte = (i * 7 + 3) as u8;
        }
        for &backend in Backend::ALL {
            if !backend.runs_on(Features::detect()) {
                println!("skipped: {} is not checked, this CPU lacks it", backend.name());
                continue;
            }
            check(backend, &[0; 32], [0; 16]);
            check(backend, &key, [0; 16]);
            let mut start = [0x5A; 16];
            // The low counter bytes carry within the first blocks.
            start[8..].copy_from_slice(&0x00FF_FFFF_FFFF_FFFE_u64.to_be_bytes());
            if backend == Backend::ChaCha {
                start[..4].copy_from_slice(&0x0001_FFFE_u32.to_le_bytes());
            }
            check(backend, &key, start);
        }
    }

    fn unhex(text: &str) -> Vec<u8> {
        let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
        let pair = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
        digits.chunks(2).map(pair).collect()
    }

    /// NIST SP 800-38A, appendix F.5.5 (CTR-AES256.Encrypt).
    #[test]
    fn nist_sp_800_38a_ctr_aes256() {
        let key = unhex("603deb1015ca71be2b73aef0857d7781 1f352c073b6108d72d9810a30914dff4");
        let start = unhex("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff");
        let plain = unhex(
            "6bc1bee22e409f96e93d7e117393172a ae2d8a571e03ac9c9eb76fac45af8e51
             30c81c46a35ce411e5fbc1191a0a52ef f69f2445df4f9b17ad2b417be66c3710",
        );
        let cipher = unhex(
            "601ec313775789a5b7a7f504bbf3d228 f443e3ca4d62b59aca84e990cacaf5c5
             2b0930daa23de94ce87017ba2d84988d dfc9c58db67aada613c2dd08457941a6",
        );
        let aes = Backend::ALL.iter().filter(|&&backend| backend != Backend::ChaCha);
        for backend in aes.filter(|backend| backend.runs_on(Features::detect())) {
            let mut stream = [0; 64];
            let (key, start) = (key[..].try_into().unwrap(), start[..].try_into().unwrap());
            // SAFETY: 64 bytes; the CPU can.
            unsafe { backend.keystream(&key, start, stream.as_mut_ptr(), 64) };
            let masked: Vec<u8> = plain.iter().zip(stream).map(|(a, b)| a ^ b).collect();
            assert_eq!(masked, cipher, "{backend:?}");
        }
    }

    /// RFC 8439, section 2.3.2.
    #[test]
    fn rfc_8439_chacha20_block() {
        let key: Vec<u8> = (0..32).collect();
        let start = unhex("01000000 000000090000004a00000000");
        let expected = unhex(
            "10f1e7e4d13b5915500fdd1fa32071c4 c7d1f4c733c068030422aa9ac3d46c4e
             d2826446079faa0914c2d705d98b02a2 b5129cd1de164eb9cbd083e8a2503c4e",
        );
        let mut stream = [0; 64];
        let (key, start) = (key[..].try_into().unwrap(), start[..].try_into().unwrap());
        // SAFETY: 64 bytes; ChaCha20 runs everywhere.
        unsafe { Backend::ChaCha.keystream(&key, start, stream.as_mut_ptr(), 64) };
        assert_eq!(stream[..], expected[..]);
    }

    #[test]
    fn keys_mix_and_vanish() {
        let mut key = Key([0xFF; 32]);
        key.mix([0x0123_4567_89AB_CDEF, u64::MAX]);
        assert_eq!(key.0[..8], (!0x0123_4567_89AB_CDEF_u64).to_le_bytes());
        assert_eq!(key.0[8..16], [0; 8]);
        assert_eq!(key.0[16..], [0xFF; 16]);
        let mut key = core::mem::ManuallyDrop::new(key);
        // SAFETY: dropped once here, and never again; its memory is still ours to look at.
        unsafe { core::mem::ManuallyDrop::drop(&mut key) };
        assert_eq!(key.0, [0; 32]);
    }
}
