//! The rounds of masks by the cryptographic extension of arm64.
//!
//! In assembly, as on x86-64: written with intrinsics, the loop left round keys of the page's key
//! for masks in vector registers, where `proof/residue` found them. An instruction of arm64 takes
//! no operand from memory, so here each round key passes through a register, which is cleared in
//! the end. A block of assembly is to the compiler what a volatile access is: it is not moved past
//! the comparisons that follow.

/// The numbers of the blocks of a strip, as they stand in X: the second word's.
static NUMBERS: [[u64; 2]; 8] = [[0, 0], [0, 1], [0, 2], [0, 3], [0, 4], [0, 5], [0, 6], [0, 7]];

/// All rounds of the block in v0, which needs what v1 holds, XORed with the last round key, added
/// to it; v2 is for the round keys.
macro_rules! rounds {
    () => {
        concat!(
            "ldr q2, [{keys}, #224]\n",
            "eor v1.16b, v1.16b, v2.16b\n",
            ".irp k, 0, 16, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192\n",
            "ldr q2, [{keys}, #\\k]\n",
            "aese v0.16b, v2.16b\n",
            "aesmc v0.16b, v0.16b\n",
            ".endr\n",
            "ldr q2, [{keys}, #208]\n",
            "aese v0.16b, v2.16b\n",
            "eor v0.16b, v0.16b, v1.16b\n",
        )
    };
}

/// Clears the registers that [`rounds`] went through.
macro_rules! clear {
    () => {
        "movi v0.2d, #0\nmovi v1.2d, #0\nmovi v2.2d, #0\n"
    };
}

/// Returns AES-256_k(X) ^ X for X = `r`.
///
/// # Safety
///
/// 15 round keys are readable at `keys`, and the CPU has AES instructions.
#[inline]
#[target_feature(enable = "neon,aes")]
pub(super) unsafe fn mask(keys: *const u8, [mut low, mut high]: [u64; 2]) -> [u64; 2] {
    // SAFETY: the instructions read 240 bytes at `keys`, as `# Safety` grants, and write registers
    // alone.
    unsafe {
        core::arch::asm!(
            "fmov d0, {low}",
            "mov v0.d[1], {high}",
            "mov v1.16b, v0.16b",
            rounds!(),
            "fmov {low}, d0",
            "mov {high}, v0.d[1]",
            clear!(),
            keys = in(reg) keys, low = inout(reg) low, high = inout(reg) high,
            out("v0") _, out("v1") _, out("v2") _, options(nostack, readonly, preserves_flags),
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
            "fmov d0, {low}",
            "mov v0.d[1], {high}",
            "ldr q1, [{at}]",
            "eor v0.16b, v0.16b, v1.16b",
            "str q0, [{at}]",
            "movi v0.2d, #0",
            "movi v1.2d, #0",
            low = in(reg) low, high = in(reg) high, at = in(reg) dst,
            out("v0") _, out("v1") _, options(nostack, preserves_flags),
        );
    }
}

/// XORs the mask of X = `r` into the 16 bytes at `dst`.
///
/// # Safety
///
/// `dst` is valid for reads and writes of 16 bytes; the rest is as for [`mask`].
#[inline]
#[target_feature(enable = "neon,aes")]
pub(super) unsafe fn mask_block(keys: *const u8, [low, high]: [u64; 2], dst: *mut u8) {
    // SAFETY: as in `mask`; the load and the store beside those of the keys are the 16 bytes at
    // `dst`, at any alignment.
    unsafe {
        core::arch::asm!(
            "fmov d0, {low}",
            "mov v0.d[1], {high}",
            "ldr q1, [{at}]",
            "eor v1.16b, v1.16b, v0.16b",
            rounds!(),
            "str q0, [{at}]",
            clear!(),
            keys = in(reg) keys, low = in(reg) low, high = in(reg) high, at = in(reg) dst,
            out("v0") _, out("v1") _, out("v2") _, options(nostack, preserves_flags),
        );
    }
}

/// The masks of the blocks of these numbers, in the registers that have the same numbers, and XORed
/// into the bytes at `{at}`.
macro_rules! blocks {
    ($($b:literal)*) => {
        concat!(
            "fmov d16, {low}\n",
            "mov v16.d[1], {high}\n",
            $("ldr q", $b, ", [{numbers}, #16 * ", $b, "]\n",
            "eor v", $b, ".16b, v", $b, ".16b, v16.16b\n",)*
            ".irp k, 0, 16, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192\n",
            "ldr q17, [{keys}, #\\k]\n",
            $("aese v", $b, ".16b, v17.16b\n",
            "aesmc v", $b, ".16b, v", $b, ".16b\n",)*
            ".endr\n",
            "ldr q17, [{keys}, #208]\n",
            $("aese v", $b, ".16b, v17.16b\n",)*
            "ldr q17, [{keys}, #224]\n",
            "eor v16.16b, v16.16b, v17.16b\n",
            $("ldr q17, [{at}, #16 * ", $b, "]\n",
            "ldr q18, [{numbers}, #16 * ", $b, "]\n",
            "eor v17.16b, v17.16b, v18.16b\n",
            "eor v", $b, ".16b, v", $b, ".16b, v16.16b\n",
            "eor v", $b, ".16b, v", $b, ".16b, v17.16b\n",
            "str q", $b, ", [{at}, #16 * ", $b, "]\n",
            "movi v", $b, ".2d, #0\n",)*
            "movi v16.2d, #0\n",
            "movi v17.2d, #0\n",
        )
    };
}

/// XORs the masks of `N` blocks, of which the first has X = `r`, into the bytes at `dst`. `N` is 4
/// or 8, and block j has X = (r0, r1 ^ j).
///
/// # Safety
///
/// `dst` is valid for reads and writes of 16 bytes a block; the rest is as for [`mask`].
#[inline]
#[target_feature(enable = "neon,aes")]
pub(super) unsafe fn mask_blocks<const N: usize>(
    keys: *const u8,
    [low, high]: [u64; 2],
    dst: *mut u8,
) {
    const { assert!(N == 4 || N == 8) };
    macro_rules! masked {
        ($($b:literal)*) => {
            core::arch::asm!(
                blocks!($($b)*), keys = in(reg) keys, numbers = in(reg) NUMBERS.as_ptr(),
                low = in(reg) low, high = in(reg) high, at = in(reg) dst,
                out("v0") _, out("v1") _, out("v2") _, out("v3") _, out("v4") _, out("v5") _,
                out("v6") _, out("v7") _, out("v16") _, out("v17") _, out("v18") _,
                options(nostack, preserves_flags),
            )
        };
    }
    // SAFETY: as in `mask`. The loads and stores beside those of the keys are `N` blocks at `dst`,
    // at any alignment, and as many of a static.
    unsafe {
        match N {
            4 => masked!(0 1 2 3),
            _ => masked!(0 1 2 3 4 5 6 7),
        }
    }
}
