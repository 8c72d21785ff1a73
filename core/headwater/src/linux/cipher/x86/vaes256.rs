//! The keystream with VAES on 256-bit registers: two blocks to an instruction, eight in flight.
//!
//! For CPUs that have VAES and no AVX-512 (AMD Zen 3, Intel Alder Lake). Sixteen registers hold the
//! blocks and one round key at a time; the round keys are read from memory in each round.

#![allow(unsafe_code)]

use super::CONSTANTS;

/// Writes `len` bytes of keystream from block `first` on, where `high` is the counter's upper half.
///
/// # Safety
///
/// `round_keys` is aligned to 16 and readable for 240 bytes, `out` is writable for `len` bytes, and
/// the CPU has VAES and AVX2.
#[inline(never)]
pub(crate) unsafe fn stream(
    round_keys: *const u8,
    [first, high]: [u64; 2],
    out: *mut u8,
    len: usize,
) {
    // SAFETY: full strips are written while at least 256 bytes are left; then single blocks while
    // 16 are left, then single bytes. So no store leaves the `len` bytes at `out`. The loads are
    // the 240 bytes at `round_keys`, as `# Safety` asks, and a static.
    unsafe {
        core::arch::asm!(
            include_str!("vaes256.s"),
            rk = in(reg) round_keys, constants = sym CONSTANTS,
            first = in(reg) first, high = in(reg) high,
            at = inout(reg) out => _, left = inout(reg) len => _,
            t = out(reg) _, u = out(reg) _,
            out("ymm0") _, out("ymm1") _, out("ymm2") _, out("ymm3") _, out("ymm4") _,
            out("ymm5") _, out("ymm6") _, out("ymm7") _, out("ymm8") _, out("ymm9") _,
            out("ymm10") _, out("ymm11") _, out("ymm12") _, out("ymm13") _, out("ymm14") _,
            out("ymm15") _, options(nostack),
        );
    }
}
