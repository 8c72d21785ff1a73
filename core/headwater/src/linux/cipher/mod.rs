//! The cipher: from 64 bytes of seed to a key, and from the key to a keystream.
//!
//! AES-256 in counter mode (FIPS 197, NIST SP 800-38A section 6.5) where the CPU has AES
//! instructions, ChaCha20 (RFC 8439) where it has none: AES in software is either slow or leaks its
//! key through the cache. A key is used for one stream and erased, so the counter starts from zero
//! for each.
//!
//! # What must not be done here
//!
//! No key, round key or keystream may enter a Rust variable, not even for one line. We tried:
//! earlier versions used intrinsics, which are shorter, and in the profile of this workspace no
//! round key reached the stack. But a compiler may put any variable there, and in cargo's default
//! release profile it did, so that one read of the dead stack brought back 100 of 100 secrets that
//! had been erased. Clearing the stack afterwards does not help either, because its depth depends
//! on the compiler. So a key goes from the caller's memory to the caller's memory inside one block
//! of assembly, which clears its registers before it ends. If a line here seems to need a copy, let
//! the assembly take a pointer.
//!
//! Nothing that holds a key may be moved. A move copies the bytes and erases nothing, so a
//! [`Workspace`] is made where it stays, and a plain `drop(work)` would already be a mistake.
//!
//! No key may serve two streams. The counter starts from zero each time, so the second stream would
//! be the first one again.
//!
//! `chacha`, for CPUs without assembly of ours, cannot keep the first rule: it calls a crate. It
//! scrubs the stack instead, which is weaker, and is no model for new code. Tests see none of this;
//! `cargo xtask residue --all` does, and for arm64 the same with `--arch aarch64`.

#![allow(unsafe_code)]

#[cfg(target_arch = "aarch64")]
mod arm64;
#[cfg(any(not(any(target_arch = "x86_64", target_arch = "aarch64")), miri))]
mod chacha;
pub(crate) mod hedge;
mod known_answer;
#[cfg(target_arch = "x86_64")]
#[cfg_attr(miri, allow(dead_code, unused_imports))] // miri follows no assembly
pub(crate) mod x86;

use crate::linux::cpu::features::Features;
use core::sync::atomic::{Ordering, compiler_fence};

/// Bytes of an expanded key: 15 round keys of AES-256. ChaCha20 keeps its 32-byte key there.
pub(crate) const ROUND_KEYS: usize = 240;
/// Bytes of a seed: 32 of the kernel's, and two blocks of [`write_mix`].
pub(crate) const SEED: usize = 64;

/// The code that makes the keystream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Backend {
    /// AES-256-CTR, four blocks to an instruction (VAES with AVX-512).
    #[cfg(target_arch = "x86_64")]
    Vaes512,
    /// AES-256-CTR, two blocks to an instruction (VAES with AVX2).
    #[cfg(target_arch = "x86_64")]
    Vaes256,
    /// AES-256-CTR, one block to an instruction (AES-NI).
    #[cfg(target_arch = "x86_64")]
    AesNi {
        /// The CPU has AVX, so that a caller may leave upper register halves dirty.
        avx: bool,
    },
    /// AES-256-CTR on the cryptographic extension of arm64.
    #[cfg(target_arch = "aarch64")]
    Arm64,
    /// ChaCha20, on SSE2, on NEON or by the `chacha20` crate.
    ChaCha,
}

impl Backend {
    /// Returns every backend that a CPU with these features can run, best first.
    pub(crate) fn all(features: Features) -> impl Iterator<Item = Backend> {
        // Miri follows no assembly, and interprets ChaCha20 in this file's tests alone.
        #[cfg(target_arch = "x86_64")]
        let aes = [
            (features.vaes512, Backend::Vaes512),
            (features.vaes256, Backend::Vaes256),
            (features.aes, Backend::AesNi { avx: features.avx }),
        ];
        #[cfg(target_arch = "aarch64")]
        let aes = [(features.aes, Backend::Arm64)];
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        let aes: [(bool, Backend); 0] = [];
        let _ = features;
        aes.into_iter()
            .filter(|&(available, _)| available && !cfg!(miri))
            .map(|(_, backend)| backend)
            .chain([Backend::ChaCha])
    }

    /// Returns the best backend of this CPU that computes its known answer. The only place that
    /// chooses one.
    pub(crate) fn choose(features: Features) -> Backend {
        Backend::all(features).find(|backend| backend.is_right()).unwrap_or(Backend::ChaCha)
    }

    /// Returns whether the backend's answers are the known ones, and keys are derived as they are
    /// meant to be.
    pub(crate) fn passes_self_test(self) -> bool {
        // Miri follows no assembly, and interprets no whole page.
        cfg!(miri) || known_answer::is_right(self) && known_answer::derives(self)
    }

    /// Returns whether the backend's instructions do here what their maker says. ChaCha20 is not
    /// asked: it consists of additions and rotations, and if it were wrong, nothing would be left
    /// to choose.
    fn is_right(self) -> bool {
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        if self.is_aes() {
            return known_answer::is_right(self);
        }
        true
    }

    /// Returns whether the backend runs on AES instructions.
    pub(crate) fn is_aes(self) -> bool {
        self != Backend::ChaCha
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            #[cfg(target_arch = "x86_64")]
            Backend::Vaes512 => "AES-256-CTR (VAES, AVX-512)",
            #[cfg(target_arch = "x86_64")]
            Backend::Vaes256 => "AES-256-CTR (VAES, AVX2)",
            #[cfg(target_arch = "x86_64")]
            Backend::AesNi { .. } => "AES-256-CTR (AES-NI)",
            #[cfg(target_arch = "aarch64")]
            Backend::Arm64 => "AES-256-CTR (arm64)",
            Backend::ChaCha if cfg!(target_arch = "x86_64") => "ChaCha20 (SSE2)",
            Backend::ChaCha if cfg!(target_arch = "aarch64") => "ChaCha20 (NEON)",
            Backend::ChaCha => "ChaCha20 (chacha20 crate)",
        }
    }

    /// Derives a key from the 64 bytes at `seed`, erases the seed, and expands the key.
    ///
    /// The seed is the kernel's 32 bytes K and two blocks X0 and X1 of [`write_mix`]. The key is
    /// f(K, X0) followed by f(K, X1), where f(K, X) = AES-256_K(X) ^ X: the compression function of
    /// Davies and Meyer, one-way in the ideal-cipher model whichever input an attacker picks
    /// (Black, Rogaway, Shrimpton, CRYPTO 2002, scheme 5). So the key is unpredictable if K or X
    /// is, and no choice of X by an instruction that knows K steers it: neither the order in which
    /// the two were drawn nor who could see the other matters. For ChaCha20, f is the first
    /// half-row of a block under K whose last four words are X; its final addition has the same
    /// purpose.
    ///
    /// # Safety
    ///
    /// `seed` is writable for [`SEED`] bytes, `round_keys` for [`ROUND_KEYS`] and aligned to 16,
    /// and this CPU can run the backend.
    #[inline]
    pub(crate) unsafe fn derive(self, seed: *mut u8, round_keys: *mut u8) {
        self.clean_registers();
        // SAFETY: a backend is chosen only where the CPU has its instructions, and each arm asks
        // for what this function asks: a seed of 64 bytes to read and erase, and 240 aligned bytes
        // to write.
        unsafe {
            match self {
                #[cfg(all(target_arch = "x86_64", not(miri)))]
                Backend::Vaes512 | Backend::Vaes256 | Backend::AesNi { .. } => {
                    x86::derive(seed, round_keys);
                }
                #[cfg(all(target_arch = "aarch64", not(miri)))]
                Backend::Arm64 => arm64::derive(seed, round_keys),
                #[cfg(all(target_arch = "x86_64", not(miri)))]
                Backend::ChaCha => x86::chacha::derive(seed, round_keys),
                #[cfg(all(target_arch = "aarch64", not(miri)))]
                Backend::ChaCha => arm64::chacha::derive(seed, round_keys),
                #[cfg(any(not(any(target_arch = "x86_64", target_arch = "aarch64")), miri))]
                _ => chacha::derive(seed, round_keys),
            }
        }
    }

    /// Expands the 32 bytes at `key` as they are.
    ///
    /// # Safety
    ///
    /// `key` is readable for 32 bytes; the rest is as for [`derive`](Self::derive).
    #[inline]
    pub(crate) unsafe fn expand(self, key: *const u8, round_keys: *mut u8) {
        self.clean_registers();
        // SAFETY: a backend is chosen only where the CPU has its instructions. Each arm reads 32
        // bytes at `key` and writes no more than the 240 at `round_keys`; the copy has no alignment
        // to keep, because it moves arrays of bytes.
        unsafe {
            match self {
                #[cfg(all(target_arch = "x86_64", not(miri)))]
                Backend::Vaes512 | Backend::Vaes256 | Backend::AesNi { .. } => {
                    x86::expand(key, round_keys);
                }
                #[cfg(all(target_arch = "aarch64", not(miri)))]
                Backend::Arm64 => arm64::expand(key, round_keys),
                _ => {
                    let copy = key.cast::<[u8; 32]>().read_volatile();
                    round_keys.cast::<[u8; 32]>().write_volatile(copy);
                }
            }
        }
    }

    /// Writes `len` bytes of keystream from block `first` on: its number, and the counter's upper
    /// half.
    ///
    /// The block numbers of one call must not pass 2^64 (AES) or 2^32 (ChaCha20).
    ///
    /// # Safety
    ///
    /// `round_keys` was written by [`derive`](Self::derive) or [`expand`](Self::expand) of the same
    /// backend, or is zero since the kernel dropped its page; `out` is writable for `len` bytes.
    #[inline]
    pub(crate) unsafe fn stream(
        self,
        round_keys: *const u8,
        first: [u64; 2],
        out: *mut u8,
        len: usize,
    ) {
        // Miri takes several seconds for a page of keystream.
        if cfg!(all(miri, not(test))) {
            // SAFETY: `out` is writable for `len` bytes, and the call writes no more.
            let _ = unsafe { crate::linux::sys::getrandom(out, len, 0) };
            return;
        }
        // SAFETY: the round keys have the form of this backend, because it wrote them; zeros are
        // round keys as well. Each arm writes `len` bytes at `out`.
        unsafe {
            match self {
                #[cfg(all(target_arch = "x86_64", not(miri)))]
                Backend::Vaes512 => x86::vaes512::stream(round_keys, first, out, len),
                #[cfg(all(target_arch = "x86_64", not(miri)))]
                Backend::Vaes256 => x86::vaes256::stream(round_keys, first, out, len),
                #[cfg(all(target_arch = "x86_64", not(miri)))]
                Backend::AesNi { .. } => x86::aesni::stream(round_keys, first, out, len),
                #[cfg(all(target_arch = "aarch64", not(miri)))]
                Backend::Arm64 => arm64::stream(round_keys, first, out, len),
                #[cfg(all(target_arch = "x86_64", not(miri)))]
                Backend::ChaCha => x86::chacha::stream(round_keys, first, out, len),
                #[cfg(all(target_arch = "aarch64", not(miri)))]
                Backend::ChaCha => arm64::chacha::stream(round_keys, first, out, len),
                #[cfg(any(not(any(target_arch = "x86_64", target_arch = "aarch64")), miri))]
                _ => chacha::stream(round_keys, first, out, len),
            }
        }
    }

    /// Clears upper register halves that a caller left dirty.
    ///
    /// A caller should have cleared them, but JIT code and assembly without `vzeroupper` leave them
    /// so. Then, on Intel CPUs, the first legacy SSE instruction takes 150 ns, and the key schedule
    /// consists of such instructions.
    #[inline(always)]
    fn clean_registers(self) {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        if !matches!(self, Backend::AesNi { avx: false } | Backend::ChaCha) {
            clean_upper_halves();
        }
    }
}

/// Clears the upper halves of the vector registers, as every function may do to its caller's.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
pub(crate) fn clean_upper_halves() {
    // SAFETY: callers know that the CPU has AVX. Lower halves keep their contents, and all upper
    // halves are declared; across a call the System V ABI preserves no vector register.
    unsafe {
        core::arch::asm!(
            "vzeroupper",
            out("ymm0") _, out("ymm1") _, out("ymm2") _, out("ymm3") _, out("ymm4") _,
            out("ymm5") _, out("ymm6") _, out("ymm7") _, out("ymm8") _, out("ymm9") _,
            out("ymm10") _, out("ymm11") _, out("ymm12") _, out("ymm13") _, out("ymm14") _,
            out("ymm15") _, options(nomem, nostack, preserves_flags),
        );
    }
}

/// Writes the half of a seed that is not the kernel's to `at`: random words of the CPU, bound to
/// the moment and the place at which they were drawn, and the mark that separates the two blocks.
///
/// Two words are 128 fresh bits, as many as a hedged request carries. Four would be 256, and two
/// more cost 66 ns a page on Zen 5, 86 on Emerald Rapids: a tenth of a refill, and as much again of
/// a request of 4 KiB.
///
/// If the CPU has no random instruction, moment and place are all that differs between two clones.
/// The words go straight to their place: a structure that is moved leaves a copy where it was.
///
/// # Safety
///
/// `at` is writable for 32 bytes and aligned to 8.
pub(crate) unsafe fn write_mix(
    at: *mut u64,
    words: &mut [u64; 2],
    cycles: u64,
    epoch: u64,
    cpu: u32,
) {
    const MARK: u64 = u64::from_le_bytes(*b"headwatr");
    // The highest bit of the second word: clear in X0 and set in X1, whatever the instruction
    // returned.
    const SECOND: u64 = 1 << 63;
    // SAFETY: the caller's 32 bytes. Volatile: a page may be dropped at any instant.
    unsafe {
        at.write_volatile(words[0] ^ cycles);
        at.add(1).write_volatile((words[1] ^ epoch) & !SECOND);
        at.add(2).write_volatile(words[0] ^ cycles ^ MARK);
        at.add(3).write_volatile((words[1] ^ u64::from(cpu)) | SECOND);
    }
    for word in words {
        // SAFETY: a word of ours. Volatile: the compiler would otherwise leave out the erasure,
        // because the word is not read again.
        unsafe { core::ptr::from_mut(word).write_volatile(0) };
    }
}

/// A place on the stack for a key that serves one request, erased when dropped.
///
/// It is never moved after it was written: a move, `drop(work)` included, leaves a copy.
#[repr(C, align(64))]
pub(crate) struct Workspace {
    pub(crate) seed: [u8; SEED],
    round_keys: [u8; ROUND_KEYS],
}

impl Workspace {
    pub(crate) const fn empty() -> Workspace {
        Workspace { seed: [0; SEED], round_keys: [0; ROUND_KEYS] }
    }

    /// Derives a key from the seed, and erases the seed.
    ///
    /// # Safety
    ///
    /// This CPU can run `backend`.
    pub(crate) unsafe fn derive(&mut self, backend: Backend) {
        // SAFETY: `derive` wants 64 bytes and 240 bytes aligned to 16, and the arrays of this
        // structure are those. Only the caller can know that the CPU runs the backend.
        unsafe { backend.derive(self.seed.as_mut_ptr(), self.round_keys.as_mut_ptr()) };
        crate::linux::failpoint::witness(self.round_keys.as_ptr());
    }

    /// Writes `len` bytes of keystream from the first block on.
    ///
    /// # Safety
    ///
    /// `out` is writable for `len` bytes; `backend` is the one that derived the key.
    pub(crate) unsafe fn stream(&self, backend: Backend, out: *mut u8, len: usize) {
        // SAFETY: the caller names the backend that wrote the round keys in `derive`, and has `len`
        // bytes at `out`.
        unsafe { backend.stream(self.round_keys.as_ptr(), [0, 0], out, len) };
    }
}

impl Drop for Workspace {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: our own arrays, each a multiple of 16 long.
        unsafe {
            wipe(self.seed.as_mut_ptr(), SEED);
            wipe(self.round_keys.as_mut_ptr(), ROUND_KEYS);
        }
    }
}

/// Clears what the `chacha20` crate leaves of a key on the stack below its caller's frame.
///
/// Called right after the crate's code and from the same frame, so that the memory is the same.
#[cfg(any(not(any(target_arch = "x86_64", target_arch = "aarch64")), miri))]
#[inline(never)]
fn scrub() {
    // The size fits a signal stack. Some builds have deeper frames.
    let mut below = [0u128; 72];
    // SAFETY: our own array.
    unsafe { wipe((&raw mut below).cast(), size_of_val(&below)) };
}

/// Overwrites `len` bytes, a multiple of 16, with zeros, in a way that is not removed as unused.
///
/// # Safety
///
/// `at` is writable for `len` bytes.
#[inline]
pub(crate) unsafe fn wipe(at: *mut u8, len: usize) {
    for i in (0..len).step_by(16) {
        // SAFETY: within `len` bytes. The array has the alignment of a byte.
        unsafe { at.add(i).cast::<[u8; 16]>().write_volatile([0; 16]) };
    }
    compiler_fence(Ordering::SeqCst);
}

#[cfg(all(test, reference))]
mod tests;
