//! The key schedule of AES-256 (FIPS 197, section 5.2), and the derivation of a key in front of it.

#![allow(unsafe_code)]

/// Expands the 32 bytes at `key` to 15 round keys at `round_keys`.
///
/// # Safety
///
/// `key` is readable for 32 bytes, `round_keys` is aligned to 16 and writable for 240 bytes, and
/// the CPU has AES-NI and SSSE3.
#[inline(never)]
pub(crate) unsafe fn expand(key: *const u8, round_keys: *mut u8) {
    // SAFETY: the block reads 32 bytes at `key` and writes 240 at `round_keys`, as `# Safety`
    // grants, and clears every register that held a round key.
    unsafe {
        core::arch::asm!(
            include_str!("schedule.s"),
            include_str!("expand.s"),
            key = in(reg) key, rk = in(reg) round_keys, t = out(reg) _,
            out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _, out("xmm4") _,
            out("xmm5") _, out("xmm6") _, out("xmm7") _, out("xmm8") _,
            options(nostack),
        );
    }
}

/// Derives a key from the 64 bytes at `seed`, erases the seed, and expands the key to `round_keys`.
///
/// The seed holds the kernel's 32 bytes K and two blocks X0 and X1; the key is E_K(X0) ^ X0
/// followed by E_K(X1) ^ X1 (see [`Backend::derive`](super::super::Backend::derive) for the
/// argument).
///
/// # Safety
///
/// `seed` is writable for 64 bytes; the rest is as for [`expand`].
#[inline(never)]
pub(crate) unsafe fn derive(seed: *mut u8, round_keys: *mut u8) {
    // SAFETY: the block reads and erases 64 bytes at `seed` and writes 240 at `round_keys`, as
    // `# Safety` grants, and clears every register that held a part of either key.
    unsafe {
        core::arch::asm!(
            include_str!("schedule.s"),
            include_str!("derive.s"),
            seed = in(reg) seed, rk = in(reg) round_keys, t = out(reg) _,
            out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _, out("xmm4") _,
            out("xmm5") _, out("xmm6") _, out("xmm7") _, out("xmm8") _,
            options(nostack),
        );
    }
}
