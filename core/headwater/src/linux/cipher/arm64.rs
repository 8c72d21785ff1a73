//! AES-256 in counter mode for arm64, in assembly for the reason stated in `x86/mod.rs`.

#![allow(unsafe_code)]

pub(super) mod chacha;

// Vectors are loaded as whole registers, whose bytes are the other way round there. A known answer
// would show it for AES; nothing would for ChaCha20 and for the bytes that are copied.
#[cfg(target_endian = "big")]
compile_error!("headwater has no assembly for big-endian arm64");

/// Expands the 32 bytes at `key` to 15 round keys at `round_keys`.
///
/// # Safety
///
/// `key` is readable for 32 bytes, `round_keys` is aligned to 16 and writable for 240 bytes, and
/// the CPU has the AES extension.
#[inline(never)]
#[target_feature(enable = "neon,aes")]
pub(crate) unsafe fn expand(key: *const u8, round_keys: *mut u8) {
    // SAFETY: the block reads 32 bytes at `key` and writes 240 at `round_keys`, as `# Safety`
    // grants, and clears every register that held a round key.
    unsafe {
        core::arch::asm!(
            include_str!("arm64/schedule.s"),
            include_str!("arm64/expand.s"),
            key = in(reg) key, rk = in(reg) round_keys,
            out("v0") _, out("v1") _, out("v2") _, out("v3") _, out("v4") _, out("v5") _,
            out("v6") _, out("v7") _, out("v16") _, out("v17") _, out("v18") _,
            options(nostack),
        );
    }
}

/// Derives a key from the 64 bytes at `seed`, erases the seed, and expands the key to `round_keys`.
///
/// # Safety
///
/// `seed` is writable for 64 bytes; the rest is as for [`expand`].
#[inline(never)]
#[target_feature(enable = "neon,aes")]
pub(crate) unsafe fn derive(seed: *mut u8, round_keys: *mut u8) {
    // SAFETY: the block reads and erases 64 bytes at `seed` and writes 240 at `round_keys`, as
    // `# Safety` grants, and clears every register that held a part of either key.
    unsafe {
        core::arch::asm!(
            include_str!("arm64/schedule.s"),
            include_str!("arm64/derive.s"),
            seed = in(reg) seed, rk = in(reg) round_keys,
            out("v0") _, out("v1") _, out("v2") _, out("v3") _, out("v4") _, out("v5") _,
            out("v6") _, out("v7") _, out("v16") _, out("v17") _, out("v18") _,
            options(nostack),
        );
    }
}

/// Writes `len` bytes of keystream from block `first` on, where `high` is the counter's upper half.
///
/// # Safety
///
/// `round_keys` is aligned to 16 and readable for 240 bytes, `out` is writable for `len` bytes, and
/// the CPU has the AES extension.
#[inline(never)]
#[target_feature(enable = "neon,aes")]
pub(crate) unsafe fn stream(
    round_keys: *const u8,
    [first, high]: [u64; 2],
    out: *mut u8,
    len: usize,
) {
    // SAFETY: full strips are written while at least 128 bytes are left; then single blocks while
    // 16 are left, then single bytes. So no store leaves the `len` bytes at `out`. The loads are
    // the 240 bytes at `round_keys`, as `# Safety` asks.
    unsafe {
        core::arch::asm!(
            include_str!("arm64/stream.s"),
            rk = inout(reg) round_keys => _, one = in(reg) 1u64,
            first = in(reg) first, high = in(reg) high,
            at = inout(reg) out => _, left = inout(reg) len => _,
            out("v0") _, out("v1") _, out("v2") _, out("v3") _, out("v4") _, out("v5") _,
            out("v6") _, out("v7") _, out("v8") _, out("v16") _, out("v17") _, out("v18") _,
            out("v19") _, out("v20") _, out("v21") _, out("v22") _, out("v23") _,
            out("v24") _, out("v25") _, out("v26") _, out("v27") _, out("v28") _,
            out("v29") _, out("v30") _, out("v31") _, options(nostack),
        );
    }
}
