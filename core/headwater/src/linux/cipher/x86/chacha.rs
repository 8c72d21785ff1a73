//! ChaCha20 (RFC 8439) on SSE2: three blocks side by side, a row of the state to a register.
//!
//! For CPUs, and virtual CPUs, without AES instructions. Why not the `chacha20` crate? It is faster
//! where there is AVX2, but it leaves halves of the key on the stack. Rows a, b, c and d of the
//! three blocks are in `xmm0` to `xmm2`, `xmm3` to `xmm5`, `xmm6` to `xmm8` and `xmm9` to `xmm11`.

#![allow(unsafe_code)]

/// The first row of the state, and the counters of three neighbouring blocks.
#[repr(C, align(16))]
struct Rows {
    constants: [u8; 16],
    blocks: [[u32; 4]; 4],
}

/// Read by the assembly at fixed offsets: the row at 0, the counters from 16 on.
static ROWS: Rows = Rows {
    constants: *b"expand 32-byte k",
    blocks: [[0, 0, 0, 0], [1, 0, 0, 0], [2, 0, 0, 0], [3, 0, 0, 0]],
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
            key = in(reg) seed, to = in(reg) to, n = out(reg) _, rows = sym ROWS,
            out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _, out("xmm4") _,
            out("xmm5") _, out("xmm6") _, out("xmm7") _, out("xmm8") _, out("xmm9") _,
            out("xmm10") _, out("xmm11") _, out("xmm12") _, out("xmm13") _, out("xmm14") _,
            out("xmm15") _, options(nostack),
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
    // SAFETY: full strips are written while at least 192 bytes are left; then rows while 16 are
    // left, then single bytes. So no store leaves the `len` bytes at `out`. The loads are the 32
    // bytes at `key`, as `# Safety` asks, and a static.
    unsafe {
        core::arch::asm!(
            include_str!("chacha.s"),
            include_str!("chacha_stream.s"),
            key = in(reg) key, low = in(reg) low, high = inout(reg) nonce >> 32 => _,
            at = inout(reg) out => _, left = inout(reg) len => _, n = out(reg) _, rows = sym ROWS,
            out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _, out("xmm4") _,
            out("xmm5") _, out("xmm6") _, out("xmm7") _, out("xmm8") _, out("xmm9") _,
            out("xmm10") _, out("xmm11") _, out("xmm12") _, out("xmm13") _, out("xmm14") _,
            out("xmm15") _, options(nostack),
        );
    }
}
