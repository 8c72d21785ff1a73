//! The keystream with AES-NI: one block to an instruction, eight in flight.
//!
//! The instructions are the legacy ones, so that CPUs without AVX can run them. Where a caller's
//! upper register halves are dirty, each would wait for the halves to be merged; [`stream`] has an
//! argument that says whether the CPU has AVX and clears them first.

#![allow(unsafe_code)]

use super::CONSTANTS;

/// Loads the constants; the counter is in `xmm13`.
macro_rules! load_128 {
    () => {
        concat!(
            "movdqa xmm8, xmmword ptr [rip + {constants} + 256]\n",
            "movdqa xmm9, xmmword ptr [rip + {constants} + 64]\n",
            "movdqa xmm13, xmmword ptr [rip + {constants}]\n",
        )
    };
}
#[allow(unused_imports)] // builds without sections
pub(crate) use load_128;

/// Makes 8 blocks in `xmm0` to `xmm7` and moves the counter on.
macro_rules! strip_128 {
    () => {
        concat!(
            "movdqa xmm15, xmmword ptr [{rk}]\n",
            ".irp b, 0, 1, 2, 3, 4, 5, 6, 7\n",
            "movdqa xmm\\b, xmm13\n",
            "pshufb xmm\\b, xmm9\n",
            "paddq xmm13, xmm8\n",
            "pxor xmm\\b, xmm15\n",
            ".endr\n",
            ".irp k, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13\n",
            "movdqa xmm15, xmmword ptr [{rk} + 16 * \\k]\n",
            "aesenc xmm0, xmm15\n",
            "aesenc xmm1, xmm15\n",
            "aesenc xmm2, xmm15\n",
            "aesenc xmm3, xmm15\n",
            "aesenc xmm4, xmm15\n",
            "aesenc xmm5, xmm15\n",
            "aesenc xmm6, xmm15\n",
            "aesenc xmm7, xmm15\n",
            ".endr\n",
            "movdqa xmm15, xmmword ptr [{rk} + 224]\n",
            ".irp b, 0, 1, 2, 3, 4, 5, 6, 7\n",
            "aesenclast xmm\\b, xmm15\n",
            ".endr\n",
        )
    };
}
#[allow(unused_imports)] // builds without sections
pub(crate) use strip_128;

/// Stores the 128 bytes of a strip at `{at}`.
macro_rules! store_128 {
    () => {
        concat!(
            ".irp b, 0, 1, 2, 3, 4, 5, 6, 7\n",
            "movdqu xmmword ptr [{at} + 16 * \\b], xmm\\b\n",
            ".endr\n",
        )
    };
}
#[allow(unused_imports)] // builds without sections
pub(crate) use store_128;

/// Clears every register that held keys or keystream.
macro_rules! clear_128 {
    () => {
        concat!(
            ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n",
            "pxor xmm\\n, xmm\\n\n",
            ".endr\n",
        )
    };
}
#[allow(unused_imports)] // builds without sections
pub(crate) use clear_128;

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
    // 16 are left, then single bytes. The other accesses are the caller's promise and a static.
    unsafe {
        core::arch::asm!(
            load_128!(),
            "movq xmm10, {first}",
            "movq xmm11, {high}",
            "punpcklqdq xmm10, xmm11",
            "paddq xmm13, xmm10",
            "jmp 3f",
            "2:",
            strip_128!(),
            store_128!(),
            "add {at}, 128",
            "sub {left}, 128",
            "3: cmp {left}, 128",
            "jae 2b",
            "test {left}, {left}",
            "jz 9f",
            strip_128!(),
            ".irp b, 0, 1, 2, 3, 4, 5, 6, 7\n",
            "movdqa xmm15, xmm\\b\n", // where the last bytes are taken from
            "cmp {left}, 16\n",
            "jb 7f\n",
            "movdqu xmmword ptr [{at}], xmm15\n",
            "add {at}, 16\n",
            "sub {left}, 16\n",
            "jz 9f\n",
            ".endr\n",
            "7: movq {t}, xmm15",
            "pextrq {u}, xmm15, 1",
            "5: mov byte ptr [{at}], {t:l}",
            "shrd {t}, {u}, 8",
            "shr {u}, 8",
            "inc {at}",
            "dec {left}",
            "jnz 5b",
            "9:",
            clear_128!(),
            "xor {t:e}, {t:e}",
            "xor {u:e}, {u:e}",
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
