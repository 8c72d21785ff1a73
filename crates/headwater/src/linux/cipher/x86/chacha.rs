//! ChaCha20 (RFC 8439) on SSE2: three blocks side by side, a row of the state to a register.
//!
//! For CPUs, and virtual CPUs, without AES instructions. Why not the `chacha20` crate? It is faster
//! where there is AVX2, but it leaves halves of the key on the stack. Rows a, b, c and d of the
//! three blocks are in `xmm0` to `xmm2`, `xmm3` to `xmm5`, `xmm6` to `xmm8` and `xmm9` to `xmm11`.

#![allow(unsafe_code)]

/// The first row of the state, and the counters of three neighbouring blocks.
#[repr(C, align(16))]
struct Rows {
    constants: [u8; 16],
    blocks: [[u32; 4]; 4],
}

/// Read by the assembly at fixed offsets: the row at 0, the counters from 16 on.
static ROWS: Rows = Rows {
    constants: *b"expand 32-byte k",
    blocks: [[0, 0, 0, 0], [1, 0, 0, 0], [2, 0, 0, 0], [3, 0, 0, 0]],
};

/// One operation on the same row of the three blocks, and another row or a number of bits.
macro_rules! each {
    ($operation:literal, $x:ident, $y:ident) => {
        concat!(
            $operation,
            " ",
            row!($x, 0),
            ", ",
            row!($y, 0),
            "\n",
            $operation,
            " ",
            row!($x, 1),
            ", ",
            row!($y, 1),
            "\n",
            $operation,
            " ",
            row!($x, 2),
            ", ",
            row!($y, 2),
            "\n",
        )
    };
    ($operation:literal, $x:ident, $bits:literal) => {
        concat!(
            $operation,
            " ",
            row!($x, 0),
            ", ",
            $bits,
            "\n",
            $operation,
            " ",
            row!($x, 1),
            ", ",
            $bits,
            "\n",
            $operation,
            " ",
            row!($x, 2),
            ", ",
            $bits,
            "\n",
        )
    };
}

/// The register of a row of a block; `t` is for temporary values.
macro_rules! row {
    (a, 0) => {
        "xmm0"
    };
    (a, 1) => {
        "xmm1"
    };
    (a, 2) => {
        "xmm2"
    };
    (b, 0) => {
        "xmm3"
    };
    (b, 1) => {
        "xmm4"
    };
    (b, 2) => {
        "xmm5"
    };
    (c, 0) => {
        "xmm6"
    };
    (c, 1) => {
        "xmm7"
    };
    (c, 2) => {
        "xmm8"
    };
    (d, 0) => {
        "xmm9"
    };
    (d, 1) => {
        "xmm10"
    };
    (d, 2) => {
        "xmm11"
    };
    (t, 0) => {
        "xmm12"
    };
    (t, 1) => {
        "xmm13"
    };
    (t, 2) => {
        "xmm14"
    };
}

/// A quarter of a round: `x += y; z = (z ^ x) <<< left`, where `left` and `right` add up to 32.
macro_rules! quarter {
    ($x:ident, $y:ident, $z:ident, $left:literal, $right:literal) => {
        concat!(
            each!("paddd", $x, $y),
            each!("pxor", $z, $x),
            each!("movdqa", t, $z),
            each!("pslld", $z, $left),
            each!("psrld", t, $right),
            each!("por", $z, t),
        )
    };
}

/// Turns the rows of three blocks by these many columns: diagonals become columns, or columns
/// diagonals.
macro_rules! turn {
    ($b:literal, $d:literal) => {
        concat!(
            "pshufd xmm3, xmm3, ",
            $b,
            "\n pshufd xmm4, xmm4, ",
            $b,
            "\n",
            "pshufd xmm5, xmm5, ",
            $b,
            "\n pshufd xmm6, xmm6, 0x4E\n",
            "pshufd xmm7, xmm7, 0x4E\n pshufd xmm8, xmm8, 0x4E\n",
            "pshufd xmm9, xmm9, ",
            $d,
            "\n pshufd xmm10, xmm10, ",
            $d,
            "\n",
            "pshufd xmm11, xmm11, ",
            $d,
            "\n",
        )
    };
}

macro_rules! round {
    () => {
        concat!(
            quarter!(a, b, d, 16, 16),
            quarter!(c, d, b, 12, 20),
            quarter!(a, b, d, 8, 24),
            quarter!(c, d, b, 7, 25),
        )
    };
}

/// Makes three blocks under the key at `{key}`, whose fourth rows are in `d`. Adds the first three
/// rows of the state at the end; the fourth is the caller's.
macro_rules! blocks {
    () => {
        concat!(
            "movdqa xmm0, xmmword ptr [rip + {rows}]\n movdqa xmm1, xmm0\n movdqa xmm2, xmm0\n",
            "movdqu xmm3, xmmword ptr [{key}]\n movdqa xmm4, xmm3\n movdqa xmm5, xmm3\n",
            "movdqu xmm6, xmmword ptr [{key} + 16]\n movdqa xmm7, xmm6\n movdqa xmm8, xmm6\n",
            "mov {n:e}, 10\n",
            "2:\n",
            round!(),
            turn!("0x39", "0x93"),
            round!(),
            turn!("0x93", "0x39"),
            "dec {n:e}\n",
            "jnz 2b\n",
            "movdqa xmm12, xmmword ptr [rip + {rows}]\n",
            "paddd xmm0, xmm12\n paddd xmm1, xmm12\n paddd xmm2, xmm12\n",
            "movdqu xmm12, xmmword ptr [{key}]\n",
            "paddd xmm3, xmm12\n paddd xmm4, xmm12\n paddd xmm5, xmm12\n",
            "movdqu xmm12, xmmword ptr [{key} + 16]\n",
            "paddd xmm6, xmm12\n paddd xmm7, xmm12\n paddd xmm8, xmm12\n",
        )
    };
}

/// Clears every register that held keys or keystream.
macro_rules! clear {
    () => {
        concat!(
            ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n",
            "pxor xmm\\n, xmm\\n\n",
            ".endr\n",
        )
    };
}

/// Derives a key from the 64 bytes at `seed`, erases the seed, and writes the key to `to`.
///
/// # Safety
///
/// `seed` is writable for 64 bytes, and `to` for 32.
#[inline(never)]
pub(crate) unsafe fn derive(seed: *mut u8, to: *mut u8) {
    // SAFETY: the block reads and erases 64 bytes at `seed` and writes 32 at `to`, both promised by
    // the caller, and clears every register that held a part of either key.
    unsafe {
        core::arch::asm!(
            "movdqu xmm9, xmmword ptr [{key} + 32]",
            "movdqu xmm10, xmmword ptr [{key} + 48]",
            "movdqa xmm11, xmm10",
            blocks!(),
            "movdqu xmmword ptr [{to}], xmm0",
            "movdqu xmmword ptr [{to} + 16], xmm1",
            clear!(),
            ".irp i, 0, 16, 32, 48\n movdqu xmmword ptr [{key} + \\i], xmm0\n .endr\n",
            key = in(reg) seed, to = in(reg) to, n = out(reg) _, rows = sym ROWS,
            out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _, out("xmm4") _,
            out("xmm5") _, out("xmm6") _, out("xmm7") _, out("xmm8") _, out("xmm9") _,
            out("xmm10") _, out("xmm11") _, out("xmm12") _, out("xmm13") _, out("xmm14") _,
            out("xmm15") _, options(nostack),
        );
    }
}

/// Writes `len` bytes of keystream from block `first` on, where `nonce` is the first 8 of its 12
/// bytes.
///
/// # Safety
///
/// `key` is readable for 32 bytes, and `out` is writable for `len` bytes.
#[inline(never)]
pub(crate) unsafe fn stream(key: *const u8, [first, nonce]: [u64; 2], out: *mut u8, len: usize) {
    // The fourth row: the counter of 32 bits, then the nonce, whose last 4 bytes are zero.
    let low = u64::from(first as u32) | nonce << 32;
    // SAFETY: full strips are written while at least 192 bytes are left; then rows while 16 are
    // left, then single bytes. The other accesses are the caller's promise and a static.
    unsafe {
        core::arch::asm!(
            "movq xmm15, {low}",
            "movq xmm14, {high}",
            "punpcklqdq xmm15, xmm14",
            "jmp 8f",
            "3:",
            "movdqa xmm9, xmm15",
            "movdqa xmm10, xmm15",
            "paddd xmm10, xmmword ptr [rip + {rows} + 32]",
            "movdqa xmm11, xmm15",
            "paddd xmm11, xmmword ptr [rip + {rows} + 48]",
            blocks!(),
            "paddd xmm9, xmm15",
            "paddd xmm10, xmm15",
            "paddd xmm10, xmmword ptr [rip + {rows} + 32]",
            "paddd xmm11, xmm15",
            "paddd xmm11, xmmword ptr [rip + {rows} + 48]",
            "paddd xmm15, xmmword ptr [rip + {rows} + 64]",
            ".irp r, 0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11\n",
            "movdqa xmm12, xmm\\r\n", // where the last bytes are taken from
            "cmp {left}, 16\n",
            "jb 7f\n",
            "movdqu xmmword ptr [{at}], xmm12\n",
            "add {at}, 16\n",
            "sub {left}, 16\n",
            ".endr\n",
            "8: test {left}, {left}",
            "jnz 3b",
            "jmp 9f",
            "7: test {left}, {left}",
            "jz 9f",
            "movq {n}, xmm12",
            "movhlps xmm12, xmm12",
            "movq {high}, xmm12",
            "5: mov byte ptr [{at}], {n:l}",
            "shrd {n}, {high}, 8",
            "shr {high}, 8",
            "inc {at}",
            "dec {left}",
            "jnz 5b",
            "9:",
            clear!(),
            "xor {n:e}, {n:e}",
            "xor {high:e}, {high:e}",
            key = in(reg) key, low = in(reg) low, high = inout(reg) nonce >> 32 => _,
            at = inout(reg) out => _, left = inout(reg) len => _, n = out(reg) _, rows = sym ROWS,
            out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _, out("xmm4") _,
            out("xmm5") _, out("xmm6") _, out("xmm7") _, out("xmm8") _, out("xmm9") _,
            out("xmm10") _, out("xmm11") _, out("xmm12") _, out("xmm13") _, out("xmm14") _,
            out("xmm15") _, options(nostack),
        );
    }
}
