//! The rounds of masks by the instructions of x86-64.
//!
//! The round keys are read from memory by the instructions that use them: in a register of the
//! compiler's they would be spilled in some builds, and the page's key for masks would stay on the
//! stack. A block of assembly is to the compiler what a volatile access is: it is not moved past
//! the comparisons that follow.

/// The numbers of the blocks of a strip, as they stand in X: the second word's.
#[repr(align(16))]
struct Numbers([[u64; 2]; 8]);

static NUMBERS: Numbers = Numbers([[0, 0], [0, 1], [0, 2], [0, 3], [0, 4], [0, 5], [0, 6], [0, 7]]);

/// Returns AES-256_k(X) ^ X for X = `r`.
///
/// # Safety
///
/// 15 round keys, aligned to 16, are readable at `keys`, and the CPU has AES instructions.
#[inline]
pub(super) unsafe fn mask(keys: *const u8, [mut low, mut high]: [u64; 2]) -> [u64; 2] {
    // SAFETY: the instructions read 240 bytes at `keys`, and fault unless these are aligned to 16,
    // so `# Safety` asks for both; they write registers alone.
    unsafe {
        core::arch::asm!(
            "movq xmm0, {low}",
            "movq xmm1, {high}",
            "punpcklqdq xmm0, xmm1",
            "movdqa xmm1, xmm0",
            "pxor xmm0, xmmword ptr [{keys}]",
            ".irp k, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13",
            "aesenc xmm0, xmmword ptr [{keys} + 16 * \\k]",
            ".endr",
            "aesenclast xmm0, xmmword ptr [{keys} + 224]",
            "pxor xmm0, xmm1",
            "movq {low}, xmm0",
            "pextrq {high}, xmm0, 1",
            "pxor xmm0, xmm0",
            "pxor xmm1, xmm1",
            keys = in(reg) keys, low = inout(reg) low, high = inout(reg) high,
            out("xmm0") _, out("xmm1") _, options(nostack, readonly, preserves_flags),
        );
    }
    [low, high]
}

/// XORs a mask into the 16 bytes at `dst`, which are loaded and stored as one.
///
/// # Safety
///
/// `dst` is valid for reads and writes of 16 bytes.
#[inline]
pub(super) unsafe fn xor_block([low, high]: [u64; 2], dst: *mut u8) {
    // SAFETY: the load and the store are the 16 bytes at `dst`, at any alignment.
    unsafe {
        core::arch::asm!(
            "movq xmm0, {low}",
            "movq xmm1, {high}",
            "punpcklqdq xmm0, xmm1",
            "movdqu xmm1, xmmword ptr [{at}]",
            "pxor xmm0, xmm1",
            "movdqu xmmword ptr [{at}], xmm0",
            "pxor xmm0, xmm0",
            "pxor xmm1, xmm1",
            low = in(reg) low, high = in(reg) high, at = in(reg) dst,
            out("xmm0") _, out("xmm1") _, options(nostack, preserves_flags),
        );
    }
}

/// The masks of the blocks of these numbers, in the registers that have the same numbers, and XORed
/// into the bytes at `{at}`.
///
/// X and the first round key meet in the first instruction that needs the CPU's words, and the
/// bytes, the number and X in front of the last one, so that a block waits for nothing but its
/// rounds.
macro_rules! blocks {
    ($numbers:literal) => {
        concat!(
            "movq xmm8, {low}\n",
            "movq xmm9, {high}\n",
            "punpcklqdq xmm8, xmm9\n",
            "movdqa xmm9, xmmword ptr [{keys}]\n",
            "pxor xmm9, xmm8\n",
            ".irp b, ",
            $numbers,
            "\n",
            "movdqa xmm\\b, xmmword ptr [{numbers} + 16 * \\b]\n",
            "pxor xmm\\b, xmm9\n",
            ".endr\n",
            ".irp k, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13\n",
            "movdqa xmm9, xmmword ptr [{keys} + 16 * \\k]\n",
            ".irp b, ",
            $numbers,
            "\n",
            "aesenc xmm\\b, xmm9\n",
            ".endr\n",
            ".endr\n",
            ".irp b, ",
            $numbers,
            "\n",
            "movdqu xmm9, xmmword ptr [{at} + 16 * \\b]\n",
            "pxor xmm9, xmmword ptr [{numbers} + 16 * \\b]\n",
            "pxor xmm9, xmm8\n",
            "aesenclast xmm\\b, xmmword ptr [{keys} + 224]\n",
            "pxor xmm\\b, xmm9\n",
            "movdqu xmmword ptr [{at} + 16 * \\b], xmm\\b\n",
            "pxor xmm\\b, xmm\\b\n",
            ".endr\n",
            "pxor xmm8, xmm8\n",
            "pxor xmm9, xmm9\n",
        )
    };
}

/// XORs the mask of X = `r` into the 16 bytes at `dst`.
///
/// The CPU's random instruction hides nothing that follows it: 64 instructions take 4 ns on Zen 4,
/// however independent they are. So this is no strip of one block, which would have twice as many.
///
/// # Safety
///
/// `dst` is valid for reads and writes of 16 bytes; the rest is as for [`mask`].
#[inline]
pub(super) unsafe fn mask_block(keys: *const u8, [low, high]: [u64; 2], dst: *mut u8) {
    // SAFETY: as in `mask`; the load and the store beside those of the keys are the 16 bytes at
    // `dst`, at any alignment.
    unsafe {
        core::arch::asm!(
            "movq xmm0, {low}",
            "movq xmm1, {high}",
            "punpcklqdq xmm0, xmm1",
            "movdqu xmm1, xmmword ptr [{at}]",
            "pxor xmm1, xmm0",
            "pxor xmm0, xmmword ptr [{keys}]",
            ".irp k, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13",
            "aesenc xmm0, xmmword ptr [{keys} + 16 * \\k]",
            ".endr",
            "aesenclast xmm0, xmmword ptr [{keys} + 224]",
            "pxor xmm0, xmm1",
            "movdqu xmmword ptr [{at}], xmm0",
            "pxor xmm0, xmm0",
            "pxor xmm1, xmm1",
            keys = in(reg) keys, low = in(reg) low, high = in(reg) high, at = in(reg) dst,
            out("xmm0") _, out("xmm1") _, options(nostack, preserves_flags),
        );
    }
}

/// XORs the masks of `N` blocks, of which the first has X = `r`, into the bytes at `dst`. `N` is 4
/// or 8, and block j has X = (r0, r1 ^ j).
///
/// # Safety
///
/// `dst` is valid for reads and writes of 16 bytes a block; the rest is as for [`mask`].
#[inline]
pub(super) unsafe fn mask_blocks<const N: usize>(
    keys: *const u8,
    [low, high]: [u64; 2],
    dst: *mut u8,
) {
    const { assert!(N == 4 || N == 8) };
    macro_rules! masked {
        ($numbers:literal) => {
            core::arch::asm!(
                blocks!($numbers), keys = in(reg) keys, numbers = in(reg) NUMBERS.0.as_ptr(),
                low = in(reg) low, high = in(reg) high, at = in(reg) dst,
                out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _, out("xmm4") _,
                out("xmm5") _, out("xmm6") _, out("xmm7") _, out("xmm8") _, out("xmm9") _,
                options(nostack, preserves_flags),
            )
        };
    }
    // SAFETY: as in `mask`. The loads and stores beside those of the keys are `N` blocks at `dst`,
    // at any alignment, and as many of a static that is aligned to 16.
    unsafe {
        match N {
            4 => masked!("0, 1, 2, 3"),
            _ => masked!("0, 1, 2, 3, 4, 5, 6, 7"),
        }
    }
}
