//! The keystream with AES-NI: one block to an instruction, eight in flight.
//!
//! The instructions are the legacy ones, so that CPUs without AVX can run them. Where a caller's
//! upper register halves are dirty, each would wait for the halves to be merged; [`stream`] has an
//! argument that says whether the CPU has AVX and clears them first.

#![allow(unsafe_code)]

use super::CONSTANTS;

/// Writes `len` bytes of keystream from block `first` on, where `high` is the counter's upper half.
///
/// # Safety
///
/// `round_keys` is aligned to 16 and readable for 240 bytes, `out` is writable for `len` bytes, and
/// the CPU has AES-NI and SSE4.1.
#[inline(never)]
pub(crate) unsafe fn stream(
    round_keys: *const u8,
    [first, high]: [u64; 2],
    out: *mut u8,
    len: usize,
) {
    // SAFETY: full strips are written while at least 128 bytes are left; then single blocks while
    // 16 are left, then single bytes. So no store leaves the `len` bytes at `out`. The loads are
    // the 240 bytes at `round_keys`, as `# Safety` asks, and a static.
    unsafe {
        core::arch::asm!(
            include_str!("aesni.s"),
            rk = in(reg) round_keys, constants = sym CONSTANTS,
            first = in(reg) first, high = in(reg) high,
            at = inout(reg) out => _, left = inout(reg) len => _,
            t = out(reg) _, u = out(reg) _,
            out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _, out("xmm4") _,
            out("xmm5") _, out("xmm6") _, out("xmm7") _, out("xmm8") _, out("xmm9") _,
            out("xmm10") _, out("xmm11") _, out("xmm12") _, out("xmm13") _, out("xmm14") _,
            out("xmm15") _, options(nostack),
        );
    }
}
