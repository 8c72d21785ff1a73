//! The keystream with VAES on 512-bit registers: four blocks to an instruction, eight in flight.

#![allow(unsafe_code)]

use super::CONSTANTS;

/// Writes `len` bytes of keystream from block `first` on, where `high` is the counter's upper half.
///
/// # Safety
///
/// `round_keys` is aligned to 16 and readable for 240 bytes, `out` is writable for `len` bytes, and
/// the CPU has VAES and AVX-512 (F, BW, VL).
#[inline(never)]
pub(crate) unsafe fn stream(
    round_keys: *const u8,
    [first, high]: [u64; 2],
    out: *mut u8,
    len: usize,
) {
    // SAFETY: full strips are written while at least 512 bytes are left, and every other store is
    // masked to the bytes that are left. So no store leaves the `len` bytes at `out`. The loads are
    // the 240 bytes at `round_keys`, as `# Safety` asks, and a static.
    unsafe {
        core::arch::asm!(
            include_str!("vaes512.s"),
            rk = in(reg) round_keys, constants = sym CONSTANTS,
            first = in(reg) first, high = in(reg) high,
            at = inout(reg) out => _, left = inout(reg) len => _,
            mask = out(reg) _, t = out(reg) _,
            out("zmm0") _, out("zmm1") _, out("zmm2") _, out("zmm3") _, out("zmm4") _,
            out("zmm5") _, out("zmm6") _, out("zmm7") _, out("zmm8") _, out("zmm9") _,
            out("zmm10") _, out("zmm11") _, out("zmm12") _, out("zmm13") _, out("zmm14") _,
            out("zmm15") _, out("zmm16") _, out("zmm17") _, out("zmm18") _, out("zmm19") _,
            out("zmm20") _, out("zmm21") _, out("zmm22") _, out("zmm23") _, out("zmm24") _,
            out("zmm25") _, out("zmm26") _, out("zmm27") _, out("zmm28") _, out("zmm29") _,
            out("zmm30") _, out("zmm31") _, out("k1") _, options(nostack),
        );
    }
}
