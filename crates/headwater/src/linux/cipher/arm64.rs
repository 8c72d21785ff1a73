//! AES-256 in counter mode for arm64, in assembly for the reason stated in `x86/mod.rs`.

#![allow(unsafe_code)]

/// Expands the key in `v0` and `v1` to 15 round keys at `{rk}`; `v6` is zero.
///
/// AESE substitutes and shifts rows. If all four columns of its input are the same word and the key
/// is zero, shifting changes nothing, so one instruction computes SubWord(word) in every column.
macro_rules! expand_keys {
    () => {
        concat!(
            "movi v6.16b, #0\n",
            "movi v5.4s, #1\n", // rcon, doubled after each use
            "stp q0, q1, [{rk}]\n",
            ".irp n, 32, 64, 96, 128, 160, 192, 224\n",
            "dup v2.4s, v1.s[3]\n",
            "aese v2.16b, v6.16b\n",
            "ushr v3.4s, v2.4s, #8\n", // RotWord: the first byte moves to the end, little-endian
            "sli v3.4s, v2.4s, #24\n",
            "eor v3.16b, v3.16b, v5.16b\n",
            "shl v5.4s, v5.4s, #1\n",
            "ext v4.16b, v6.16b, v0.16b, #12\n", // each word XORed with all words before it
            "eor v0.16b, v0.16b, v4.16b\n",
            "ext v4.16b, v6.16b, v0.16b, #8\n",
            "eor v0.16b, v0.16b, v4.16b\n",
            "eor v0.16b, v0.16b, v3.16b\n",
            "str q0, [{rk}, #\\n]\n",
            ".if \\n < 224\n",
            "dup v2.4s, v0.s[3]\n",
            "aese v2.16b, v6.16b\n",
            "ext v4.16b, v6.16b, v1.16b, #12\n",
            "eor v1.16b, v1.16b, v4.16b\n",
            "ext v4.16b, v6.16b, v1.16b, #8\n",
            "eor v1.16b, v1.16b, v4.16b\n",
            "eor v1.16b, v1.16b, v2.16b\n",
            "str q1, [{rk}, #\\n + 16]\n",
            ".endif\n",
            ".endr\n",
        )
    };
}

/// Clears the registers that the schedule went through.
macro_rules! clear_schedule {
    () => {
        concat!(".irp n, 0, 1, 2, 3, 4, 7, 16, 17, 18\n", "movi v\\n\\().2d, #0\n", ".endr\n",)
    };
}

/// Expands the 32 bytes at `key` to 15 round keys at `round_keys`.
///
/// # Safety
///
/// `key` is readable for 32 bytes, `round_keys` is aligned to 16 and writable for 240 bytes, and
/// the CPU has the AES extension.
#[inline(never)]
#[target_feature(enable = "neon,aes")]
pub(crate) unsafe fn expand(key: *const u8, round_keys: *mut u8) {
    // SAFETY: the block reads 32 bytes at `key` and writes 240 at `round_keys`, both promised by
    // the caller, and clears every register that held a round key.
    unsafe {
        core::arch::asm!(
            "ldp q0, q1, [{key}]",
            expand_keys!(),
            clear_schedule!(),
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
    // SAFETY: the block reads and erases 64 bytes at `seed` and writes 240 at `round_keys`, both
    // promised by the caller, and clears every register that held a part of either key.
    unsafe {
        core::arch::asm!(
            "ldp q0, q1, [{seed}]",
            expand_keys!(),
            "ldp q16, q17, [{seed}, #32]",
            "mov v0.16b, v16.16b",
            "mov v1.16b, v17.16b",
            ".irp n, 0, 16, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192\n",
            "ldr q7, [{rk}, #\\n]\n",
            "aese v0.16b, v7.16b\n",
            "aesmc v0.16b, v0.16b\n",
            "aese v1.16b, v7.16b\n",
            "aesmc v1.16b, v1.16b\n",
            ".endr\n",
            "ldp q7, q18, [{rk}, #208]",
            "aese v0.16b, v7.16b",
            "aese v1.16b, v7.16b",
            "eor v0.16b, v0.16b, v18.16b",
            "eor v1.16b, v1.16b, v18.16b",
            "eor v0.16b, v0.16b, v16.16b",
            "eor v1.16b, v1.16b, v17.16b",
            "stp xzr, xzr, [{seed}]",
            "stp xzr, xzr, [{seed}, #16]",
            "stp xzr, xzr, [{seed}, #32]",
            "stp xzr, xzr, [{seed}, #48]",
            expand_keys!(),
            clear_schedule!(),
            seed = in(reg) seed, rk = in(reg) round_keys,
            out("v0") _, out("v1") _, out("v2") _, out("v3") _, out("v4") _, out("v5") _,
            out("v6") _, out("v7") _, out("v16") _, out("v17") _, out("v18") _,
            options(nostack),
        );
    }
}

/// Makes 8 blocks in `v0` to `v7` from the counter in `v31` (low half first), and moves it on.
///
/// The round keys are in `v16` to `v30`. REV64 with EXT turns the counter into a big-endian block.
macro_rules! strip {
    () => {
        concat!(
            ".irp b, 0, 1, 2, 3, 4, 5, 6, 7\n",
            "rev64 v\\b\\().16b, v31.16b\n",
            "ext v\\b\\().16b, v\\b\\().16b, v\\b\\().16b, #8\n",
            "fmov d8, {one}\n", // sets the upper half to zero: the counter's low half moves on
            "add v31.2d, v31.2d, v8.2d\n",
            ".endr\n",
            ".irp k, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28\n",
            "aese v0.16b, v\\k\\().16b\n",
            "aesmc v0.16b, v0.16b\n",
            "aese v1.16b, v\\k\\().16b\n",
            "aesmc v1.16b, v1.16b\n",
            "aese v2.16b, v\\k\\().16b\n",
            "aesmc v2.16b, v2.16b\n",
            "aese v3.16b, v\\k\\().16b\n",
            "aesmc v3.16b, v3.16b\n",
            "aese v4.16b, v\\k\\().16b\n",
            "aesmc v4.16b, v4.16b\n",
            "aese v5.16b, v\\k\\().16b\n",
            "aesmc v5.16b, v5.16b\n",
            "aese v6.16b, v\\k\\().16b\n",
            "aesmc v6.16b, v6.16b\n",
            "aese v7.16b, v\\k\\().16b\n",
            "aesmc v7.16b, v7.16b\n",
            ".endr\n",
            ".irp b, 0, 1, 2, 3, 4, 5, 6, 7\n",
            "aese v\\b\\().16b, v29.16b\n",
            "eor v\\b\\().16b, v\\b\\().16b, v30.16b\n",
            ".endr\n",
        )
    };
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
    // 16 are left, then single bytes. The other accesses are the caller's promise.
    unsafe {
        core::arch::asm!(
            "ld1 {{v16.16b, v17.16b, v18.16b, v19.16b}}, [{rk}], #64",
            "ld1 {{v20.16b, v21.16b, v22.16b, v23.16b}}, [{rk}], #64",
            "ld1 {{v24.16b, v25.16b, v26.16b, v27.16b}}, [{rk}], #64",
            "ld1 {{v28.16b, v29.16b, v30.16b}}, [{rk}]",
            "fmov d31, {first}",
            "mov v31.d[1], {high}",
            "b 3f",
            "2:",
            strip!(),
            "stp q0, q1, [{at}], #32",
            "stp q2, q3, [{at}], #32",
            "stp q4, q5, [{at}], #32",
            "stp q6, q7, [{at}], #32",
            "sub {left}, {left}, #128",
            "3: cmp {left}, #128",
            "b.hs 2b",
            "cbz {left}, 9f",
            strip!(),
            ".irp b, 0, 1, 2, 3, 4, 5, 6, 7\n",
            "mov v8.16b, v\\b\\().16b\n", // where the last bytes are taken from
            "cmp {left}, #16\n",
            "b.lo 7f\n",
            "str q8, [{at}], #16\n",
            "subs {left}, {left}, #16\n",
            "b.eq 9f\n",
            ".endr\n",
            "7: st1 {{v8.b}}[0], [{at}], #1",
            "ext v8.16b, v8.16b, v8.16b, #1",
            "subs {left}, {left}, #1",
            "b.ne 7b",
            "9:",
            ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26\n",
            "movi v\\n\\().2d, #0\n",
            ".endr\n",
            ".irp n, 27, 28, 29, 30, 31\n",
            "movi v\\n\\().2d, #0\n",
            ".endr\n",
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
