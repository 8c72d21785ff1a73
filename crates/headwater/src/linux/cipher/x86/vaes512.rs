//! The keystream with VAES on 512-bit registers: four blocks to an instruction, eight in flight.

#![allow(unsafe_code)]

use super::CONSTANTS;

/// Loads the 15 round keys at `{rk}` into every lane of `zmm16` to `zmm30`, and the constants.
macro_rules! load_512 {
    () => {
        concat!(
            ".irp n, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30\n",
            "vbroadcasti32x4 zmm\\n, xmmword ptr [{rk} + 16 * \\n - 256]\n",
            ".endr\n",
            "vmovdqa64 zmm8, zmmword ptr [rip + {constants} + 128]\n",
            "vmovdqa64 zmm9, zmmword ptr [rip + {constants} + 64]\n",
            "vmovdqa64 zmm31, zmmword ptr [rip + {constants}]\n",
        )
    };
}
#[allow(unused_imports)] // builds without sections
pub(crate) use load_512;

/// Makes 32 blocks in `zmm0` to `zmm7` and moves the counter in `zmm31` on.
///
/// Eight chains of rounds side by side keep both AES units busy: with one chain after the other the
/// CPU's scheduler is too small to find eight at once (12 instead of 16 GB/s on Zen 4).
macro_rules! strip_512 {
    () => {
        concat!(
            ".irp b, 0, 1, 2, 3, 4, 5, 6, 7\n",
            "vpshufb zmm\\b, zmm31, zmm9\n",
            "vpaddq zmm31, zmm31, zmm8\n",
            "vpxorq zmm\\b, zmm\\b, zmm16\n",
            ".endr\n",
            ".irp k, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29\n",
            "vaesenc zmm0, zmm0, zmm\\k\n",
            "vaesenc zmm1, zmm1, zmm\\k\n",
            "vaesenc zmm2, zmm2, zmm\\k\n",
            "vaesenc zmm3, zmm3, zmm\\k\n",
            "vaesenc zmm4, zmm4, zmm\\k\n",
            "vaesenc zmm5, zmm5, zmm\\k\n",
            "vaesenc zmm6, zmm6, zmm\\k\n",
            "vaesenc zmm7, zmm7, zmm\\k\n",
            ".endr\n",
            ".irp b, 0, 1, 2, 3, 4, 5, 6, 7\n",
            "vaesenclast zmm\\b, zmm\\b, zmm30\n",
            ".endr\n",
        )
    };
}
#[allow(unused_imports)] // builds without sections
pub(crate) use strip_512;

/// Stores the 512 bytes of a strip at `{at}`.
macro_rules! store_512 {
    () => {
        concat!(
            ".irp b, 0, 1, 2, 3, 4, 5, 6, 7\n",
            "vmovdqu64 zmmword ptr [{at} + 64 * \\b], zmm\\b\n",
            ".endr\n",
        )
    };
}
#[allow(unused_imports)] // builds without sections
pub(crate) use store_512;

/// Clears all 32 registers: each held round keys or keystream.
macro_rules! clear_512 {
    () => {
        concat!(
            "vzeroall\n",
            ".irp n, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31\n",
            "vpxord zmm\\n, zmm\\n, zmm\\n\n",
            ".endr\n",
        )
    };
}
#[allow(unused_imports)] // builds without sections
pub(crate) use clear_512;

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
    // masked to the bytes that are left. The other accesses are the caller's promise and a static.
    unsafe {
        core::arch::asm!(
            load_512!(),
            "vmovq xmm10, {first}",
            "vmovq xmm11, {high}",
            "vpunpcklqdq xmm10, xmm10, xmm11",
            "vshufi32x4 zmm10, zmm10, zmm10, 0",
            "vpaddq zmm31, zmm31, zmm10",
            "jmp 3f",
            "2:",
            strip_512!(),
            store_512!(),
            "add {at}, 512",
            "sub {left}, 512",
            "3: cmp {left}, 512",
            "jae 2b",
            "4: test {left}, {left}",
            "jz 9f",
            // A short rest must wait neither for eight registers nor for one after the other.
            ".irp b, 0, 1, 2, 3\n",
            "vpshufb zmm\\b, zmm31, zmm9\n",
            "vpaddq zmm31, zmm31, zmm8\n",
            "vpxorq zmm\\b, zmm\\b, zmm16\n",
            ".endr\n",
            ".irp k, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29\n",
            "vaesenc zmm0, zmm0, zmm\\k\n",
            "vaesenc zmm1, zmm1, zmm\\k\n",
            "vaesenc zmm2, zmm2, zmm\\k\n",
            "vaesenc zmm3, zmm3, zmm\\k\n",
            ".endr\n",
            ".irp b, 0, 1, 2, 3\n",
            "vaesenclast zmm\\b, zmm\\b, zmm30\n",
            "mov {mask}, -1\n", // all ones shifted down: as many ones as bytes are left, 64 at most
            "mov {t:e}, 64\n",
            "cmp {left}, 64\n",
            "cmovb {t}, {left}\n",
            "bzhi {mask}, {mask}, {t}\n",
            "kmovq k1, {mask}\n",
            "vmovdqu8 zmmword ptr [{at}] {{k1}}, zmm\\b\n",
            "add {at}, {t}\n",
            "sub {left}, {t}\n",
            "jz 9f\n",
            ".endr\n",
            "jmp 4b",
            "9:",
            clear_512!(),
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
