//! The keystream with VAES on 256-bit registers: two blocks to an instruction, eight in flight.
//!
//! For CPUs that have VAES and no AVX-512 (AMD Zen 3, Intel Alder Lake). Sixteen registers hold the
//! blocks and one round key at a time; the round keys are read from memory in each round.

#![allow(unsafe_code)]

use super::CONSTANTS;

/// Loads the constants; the counter is in `ymm13`.
macro_rules! load_256 {
    () => {
        concat!(
            "vmovdqa ymm8, ymmword ptr [rip + {constants} + 192]\n",
            "vmovdqa ymm9, ymmword ptr [rip + {constants} + 64]\n",
            "vmovdqa ymm13, ymmword ptr [rip + {constants}]\n",
        )
    };
}
#[allow(unused_imports)] // builds without sections
pub(crate) use load_256;

/// Makes 16 blocks in `ymm0` to `ymm7` and moves the counter on.
macro_rules! strip_256 {
    () => {
        concat!(
            "vbroadcasti128 ymm15, xmmword ptr [{rk}]\n",
            ".irp b, 0, 1, 2, 3, 4, 5, 6, 7\n",
            "vpshufb ymm\\b, ymm13, ymm9\n",
            "vpaddq ymm13, ymm13, ymm8\n",
            "vpxor ymm\\b, ymm\\b, ymm15\n",
            ".endr\n",
            ".irp k, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13\n",
            "vbroadcasti128 ymm15, xmmword ptr [{rk} + 16 * \\k]\n",
            "vaesenc ymm0, ymm0, ymm15\n",
            "vaesenc ymm1, ymm1, ymm15\n",
            "vaesenc ymm2, ymm2, ymm15\n",
            "vaesenc ymm3, ymm3, ymm15\n",
            "vaesenc ymm4, ymm4, ymm15\n",
            "vaesenc ymm5, ymm5, ymm15\n",
            "vaesenc ymm6, ymm6, ymm15\n",
            "vaesenc ymm7, ymm7, ymm15\n",
            ".endr\n",
            "vbroadcasti128 ymm15, xmmword ptr [{rk} + 224]\n",
            ".irp b, 0, 1, 2, 3, 4, 5, 6, 7\n",
            "vaesenclast ymm\\b, ymm\\b, ymm15\n",
            ".endr\n",
        )
    };
}
#[allow(unused_imports)] // builds without sections
pub(crate) use strip_256;

/// Stores the 256 bytes of a strip at `{at}`.
macro_rules! store_256 {
    () => {
        concat!(
            ".irp b, 0, 1, 2, 3, 4, 5, 6, 7\n",
            "vmovdqu ymmword ptr [{at} + 32 * \\b], ymm\\b\n",
            ".endr\n",
        )
    };
}
#[allow(unused_imports)] // builds without sections
pub(crate) use store_256;

/// Clears every register that held keys or keystream.
macro_rules! clear_256 {
    () => {
        "vzeroall\n"
    };
}
#[allow(unused_imports)] // builds without sections
pub(crate) use clear_256;

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
    // 16 are left, then single bytes. The other accesses are the caller's promise and a static.
    unsafe {
        core::arch::asm!(
            load_256!(),
            "vmovq xmm10, {first}",
            "vmovq xmm11, {high}",
            "vpunpcklqdq xmm10, xmm10, xmm11",
            "vinserti128 ymm10, ymm10, xmm10, 1",
            "vpaddq ymm13, ymm13, ymm10",
            "jmp 3f",
            "2:",
            strip_256!(),
            store_256!(),
            "add {at}, 256",
            "sub {left}, 256",
            "3: cmp {left}, 256",
            "jae 2b",
            "test {left}, {left}",
            "jz 9f",
            strip_256!(),
            ".irp b, 0, 1, 2, 3, 4, 5, 6, 7\n",
            "cmp {left}, 16\n",
            "jb 7f\n",
            "vmovdqu xmmword ptr [{at}], xmm\\b\n",
            "vextracti128 xmm0, ymm\\b, 1\n", // the other block moves to where the bytes are taken
            "add {at}, 16\n",
            "sub {left}, 16\n",
            "jz 9f\n",
            "cmp {left}, 16\n",
            "jb 8f\n",
            "vmovdqu xmmword ptr [{at}], xmm0\n",
            "add {at}, 16\n",
            "sub {left}, 16\n",
            "jz 9f\n",
            "jmp 6f\n",
            "7: vmovdqa xmm0, xmm\\b\n",
            "8: vmovq {t}, xmm0\n",
            "vpextrq {u}, xmm0, 1\n",
            "5: mov byte ptr [{at}], {t:l}\n",
            "shrd {t}, {u}, 8\n",
            "shr {u}, 8\n",
            "inc {at}\n",
            "dec {left}\n",
            "jnz 5b\n",
            "jmp 9f\n",
            "6:\n",
            ".endr\n",
            "9:",
            clear_256!(),
            "xor {t:e}, {t:e}",
            "xor {u:e}, {u:e}",
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
