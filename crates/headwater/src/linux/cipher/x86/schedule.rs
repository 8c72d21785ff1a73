//! The key schedule of AES-256 (FIPS 197, section 5.2), and the derivation of a key in front of it.

#![allow(unsafe_code)]

/// Expands the key in `xmm0` and `xmm1` to 15 round keys at `{rk}`.
///
/// AESENCLAST substitutes, shifts rows and adds a round key. If all four columns of its input are
/// the same word, shifting rows changes nothing, so one instruction computes SubWord(word) ^ rcon
/// in every column. AESKEYGENASSIST does the same and is microcoded, several times slower.
macro_rules! expand_keys {
    () => {
        concat!(
            "mov {t:e}, 0x0C0F0E0D\n", // picks the last word of a register, rotated by one byte
            "movd xmm4, {t:e}\n",
            "pshufd xmm4, xmm4, 0\n",
            "mov {t:e}, 1\n", // rcon, doubled after each use
            "movd xmm5, {t:e}\n",
            "pshufd xmm5, xmm5, 0\n",
            "pxor xmm6, xmm6\n",
            "movdqa xmmword ptr [{rk}], xmm0\n",
            "movdqa xmmword ptr [{rk} + 16], xmm1\n",
            ".irp n, 2, 4, 6, 8, 10, 12, 14\n",
            "movdqa xmm2, xmm1\n",
            "pshufb xmm2, xmm4\n",
            "aesenclast xmm2, xmm5\n",
            "pslld xmm5, 1\n",
            "movdqa xmm3, xmm0\n", // each word XORed with all words before it
            "pslldq xmm3, 4\n",
            "pxor xmm0, xmm3\n",
            "movdqa xmm3, xmm0\n",
            "pslldq xmm3, 8\n",
            "pxor xmm0, xmm3\n",
            "pxor xmm0, xmm2\n",
            "movdqa xmmword ptr [{rk} + 16 * \\n], xmm0\n",
            ".if \\n < 14\n",
            "pshufd xmm2, xmm0, 0xFF\n",
            "aesenclast xmm2, xmm6\n",
            "movdqa xmm3, xmm1\n",
            "pslldq xmm3, 4\n",
            "pxor xmm1, xmm3\n",
            "movdqa xmm3, xmm1\n",
            "pslldq xmm3, 8\n",
            "pxor xmm1, xmm3\n",
            "pxor xmm1, xmm2\n",
            "movdqa xmmword ptr [{rk} + 16 * \\n + 16], xmm1\n",
            ".endif\n",
            ".endr\n",
        )
    };
}

/// Clears the registers that the schedule went through.
macro_rules! clear_schedule {
    () => {
        ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8\n pxor xmm\\n, xmm\\n\n .endr\n"
    };
}

/// Expands the 32 bytes at `key` to 15 round keys at `round_keys`.
///
/// # Safety
///
/// `key` is readable for 32 bytes, `round_keys` is aligned to 16 and writable for 240 bytes, and
/// the CPU has AES-NI and SSSE3.
#[inline(never)]
pub(crate) unsafe fn expand(key: *const u8, round_keys: *mut u8) {
    // SAFETY: the block reads 32 bytes at `key` and writes 240 at `round_keys`, both promised by
    // the caller, and clears every register that held a round key.
    unsafe {
        core::arch::asm!(
            "movdqu xmm0, xmmword ptr [{key}]",
            "movdqu xmm1, xmmword ptr [{key} + 16]",
            expand_keys!(),
            clear_schedule!(),
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
    // SAFETY: the block reads and erases 64 bytes at `seed` and writes 240 at `round_keys`, both
    // promised by the caller, and clears every register that held a part of either key.
    unsafe {
        core::arch::asm!(
            "movdqu xmm0, xmmword ptr [{seed}]",
            "movdqu xmm1, xmmword ptr [{seed} + 16]",
            expand_keys!(),
            "movdqu xmm0, xmmword ptr [{seed} + 32]",
            "movdqu xmm1, xmmword ptr [{seed} + 48]",
            "movdqa xmm7, xmm0",
            "movdqa xmm8, xmm1",
            "pxor xmm0, xmmword ptr [{rk}]",
            "pxor xmm1, xmmword ptr [{rk}]",
            ".irp n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13\n",
            "aesenc xmm0, xmmword ptr [{rk} + 16 * \\n]\n",
            "aesenc xmm1, xmmword ptr [{rk} + 16 * \\n]\n",
            ".endr\n",
            "aesenclast xmm0, xmmword ptr [{rk} + 224]",
            "aesenclast xmm1, xmmword ptr [{rk} + 224]",
            "pxor xmm0, xmm7",
            "pxor xmm1, xmm8",
            "pxor xmm7, xmm7",
            ".irp n, 0, 16, 32, 48\n movdqu xmmword ptr [{seed} + \\n], xmm7\n .endr\n",
            expand_keys!(),
            clear_schedule!(),
            seed = in(reg) seed, rk = in(reg) round_keys, t = out(reg) _,
            out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _, out("xmm4") _,
            out("xmm5") _, out("xmm6") _, out("xmm7") _, out("xmm8") _,
            options(nostack),
        );
    }
}
