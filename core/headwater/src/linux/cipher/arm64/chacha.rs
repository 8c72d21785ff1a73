//! ChaCha20 (RFC 8439) on NEON: four blocks side by side, a row of the state to a register.
//!
//! For CPUs without the AES extension, such as that of a Raspberry Pi 4. Why not the `chacha20`
//! crate, which has NEON code as well? It left unserved keystream on the stack, deeper than a call
//! afterwards cleared, and took 3 KiB of stack for a page.

#![allow(unsafe_code)]

/// The first row of the state, and what the fourth rows of the next four blocks have more.
#[repr(C, align(16))]
struct Rows {
    constants: [u8; 16],
    blocks: [[u32; 4]; 4],
}

/// Read by the assembly at fixed offsets: the row at 0, the counters from 16 on.
static ROWS: Rows = Rows {
    constants: *b"expand 32-byte k",
    blocks: [[1, 0, 0, 0], [2, 0, 0, 0], [3, 0, 0, 0], [4, 0, 0, 0]],
};

/// Derives a key from the 64 bytes at `seed`, erases the seed, and writes the key to `to`.
///
/// # Safety
///
/// `seed` is writable for 64 bytes, and `to` for 32.
#[inline(never)]
pub(crate) unsafe fn derive(seed: *mut u8, to: *mut u8) {
    // SAFETY: the block reads and erases 64 bytes at `seed` and writes 32 at `to`, as `# Safety`
    // grants, and clears every register that held a part of either key.
    unsafe {
        core::arch::asm!(
            include_str!("chacha.s"),
            include_str!("chacha_derive.s"),
            key = in(reg) seed, to = in(reg) to, n = out(reg) _, rows = in(reg) &raw const ROWS,
            out("v0") _, out("v1") _, out("v2") _, out("v3") _, out("v4") _, out("v5") _,
            out("v6") _, out("v7") _, out("v16") _, out("v17") _, out("v18") _, out("v19") _,
            out("v20") _, out("v21") _, out("v22") _, out("v23") _, out("v24") _, out("v25") _,
            out("v26") _, out("v27") _, out("v28") _, out("v29") _, out("v30") _, out("v31") _,
            options(nostack),
        );
    }
}

/// Writes `len` bytes of keystream from block `first` on, where `nonce` is the first 8 of its 12
/// bytes.
///
/// # Safety
///
/// `key` is readable for 32 bytes, and `out` is writable for `len` bytes.
#[inline(never)]
pub(crate) unsafe fn stream(key: *const u8, [first, nonce]: [u64; 2], out: *mut u8, len: usize) {
    // The fourth row: the counter of 32 bits, then the nonce, whose last 4 bytes are zero.
    let low = u64::from(first as u32) | nonce << 32;
    // SAFETY: rows are written while at least 16 bytes are left, then single bytes. So no store
    // leaves the `len` bytes at `out`. The loads are the 32 bytes at `key`, as `# Safety` asks, and
    // a static.
    unsafe {
        core::arch::asm!(
            include_str!("chacha.s"),
            include_str!("chacha_stream.s"),
            key = in(reg) key, low = in(reg) low, high = in(reg) nonce >> 32,
            at = inout(reg) out => _, left = inout(reg) len => _, n = out(reg) _,
            rows = in(reg) &raw const ROWS,
            out("v0") _, out("v1") _, out("v2") _, out("v3") _, out("v4") _, out("v5") _,
            out("v6") _, out("v7") _, out("v16") _, out("v17") _, out("v18") _, out("v19") _,
            out("v20") _, out("v21") _, out("v22") _, out("v23") _, out("v24") _, out("v25") _,
            out("v26") _, out("v27") _, out("v28") _, out("v29") _, out("v30") _, out("v31") _,
            options(nostack),
        );
    }
}
