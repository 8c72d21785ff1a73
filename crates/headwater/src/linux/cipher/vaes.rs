//! AES-256-CTR on VAES with 512-bit registers: four blocks to an instruction, eight instructions in
//! flight.
//!
//! Counters are made in registers and the output is written straight to its place, so the only memory
//! traffic is the output. Round keys stay in registers, which are cleared at the end: nothing of the key reaches the stack. Measured on
//! Zen 4 beside the `aes` crate with counters written to memory: see DESIGN.md, "Why an own AES kernel".

use super::Start;
use core::arch::x86_64::*;

/// Bytes of one register, and of the strip that the main loop makes.
const VECTOR: usize = 64;
const STRIP: usize = 8 * VECTOR;

/// The 15 round keys of FIPS 197 section 5.2, in the time of thirteen AESENCLAST.
///
/// AESENCLAST substitutes, shifts rows and adds a round key. If all four columns of its input are the same
/// word, shifting rows changes nothing, so one instruction gives SubWord(word) ^ rcon in every column:
/// quicker than AESKEYGENASSIST, which is microcoded.
#[inline]
#[target_feature(enable = "aes,sse4.1")]
pub(super) fn schedule(key: &[u8; 32]) -> [__m128i; 15] {
    /// The last word of `from`, rotated or not, in every column.
    macro_rules! substituted {
        ($from:expr, rotated, $rcon:expr) => {{
            let word = _mm_shuffle_epi8($from, _mm_set1_epi32(0x0C0F_0E0D));
            _mm_aesenclast_si128(word, _mm_set1_epi32($rcon))
        }};
        ($from:expr, plain) => {{
            let word = _mm_shuffle_epi32($from, 0xFF);
            _mm_aesenclast_si128(word, _mm_setzero_si128())
        }};
    }
    /// Each word XORed with all words before it: w0, w0^w1, w0^w1^w2, ...
    macro_rules! summed {
        ($words:expr) => {{
            let pairs = _mm_xor_si128($words, _mm_slli_si128($words, 4));
            _mm_xor_si128(pairs, _mm_slli_si128(pairs, 8))
        }};
    }
    let mut keys = [_mm_setzero_si128(); 15];
    // SAFETY: two unaligned loads within 32 bytes.
    unsafe {
        keys[0] = _mm_loadu_si128(key.as_ptr().cast());
        keys[1] = _mm_loadu_si128(key.as_ptr().add(16).cast());
    }
    macro_rules! round {
        ($i:literal, $rcon:literal) => {
            let word = substituted!(keys[$i - 1], rotated, $rcon);
            keys[$i] = _mm_xor_si128(summed!(keys[$i - 2]), word);
        };
        ($i:literal) => {
            let word = substituted!(keys[$i - 1], plain);
            keys[$i] = _mm_xor_si128(summed!(keys[$i - 2]), word);
        };
    }
    round!(2, 0x01);
    round!(3);
    round!(4, 0x02);
    round!(5);
    round!(6, 0x04);
    round!(7);
    round!(8, 0x08);
    round!(9);
    round!(10, 0x10);
    round!(11);
    round!(12, 0x20);
    round!(13);
    round!(14, 0x40);
    keys
}

/// One round on eight vectors side by side.
///
/// In assembly for its order alone: the compiler would do all rounds of one vector before the next, and the
/// CPU's scheduler is too small to find eight such chains at once (12 instead of 16 GB/s).
#[inline]
#[target_feature(enable = "avx512f,vaes")]
fn rounds(blocks: &mut [__m512i; 8], key: __m512i) {
    let [a, b, c, d, e, f, g, h] = blocks;
    // SAFETY: registers only; the CPU has VAES.
    unsafe {
        core::arch::asm!(
            "vaesenc {a}, {a}, {key}", "vaesenc {b}, {b}, {key}",
            "vaesenc {c}, {c}, {key}", "vaesenc {d}, {d}, {key}",
            "vaesenc {e}, {e}, {key}", "vaesenc {f}, {f}, {key}",
            "vaesenc {g}, {g}, {key}", "vaesenc {h}, {h}, {key}",
            a = inout(zmm_reg) *a, b = inout(zmm_reg) *b, c = inout(zmm_reg) *c, d = inout(zmm_reg) *d,
            e = inout(zmm_reg) *e, f = inout(zmm_reg) *f, g = inout(zmm_reg) *g, h = inout(zmm_reg) *h,
            key = in(zmm_reg) key,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
}

/// # Safety
///
/// `out` is valid for writes of `len` bytes; the CPU has AES, AVX-512 (F, BW, VL) and VAES.
#[target_feature(enable = "aes,sse4.1,avx512f,avx512bw,avx512vl,vaes")]
pub(super) unsafe fn keystream(key: &[u8; 32], start: Start, out: *mut u8, len: usize) {
    let keys = schedule(key).map(|key| _mm512_broadcast_i32x4(key));
    // SAFETY: one unaligned load of 16 bytes.
    let start = unsafe { _mm_loadu_si128(start.as_ptr().cast()) };
    // Counters are kept as little-endian integers, the counting half low, and turned round when used.
    let reversed =
        _mm512_broadcast_i32x4(_mm_set_epi64x(0x0001_0203_0405_0607, 0x0809_0A0B_0C0D_0E0F));
    let mut counter = _mm512_add_epi64(
        _mm512_shuffle_epi8(_mm512_broadcast_i32x4(start), reversed),
        _mm512_set_epi64(0, 3, 0, 2, 0, 1, 0, 0),
    );
    let four = _mm512_set_epi64(0, 4, 0, 4, 0, 4, 0, 4);

    // `$n` vectors at a time; the array is unrolled into registers.
    macro_rules! vectors {
        ($n:literal) => {{
            let mut blocks = [_mm512_setzero_si512(); $n];
            for block in &mut blocks {
                *block = _mm512_xor_si512(_mm512_shuffle_epi8(counter, reversed), keys[0]);
                counter = _mm512_add_epi64(counter, four);
            }
            for key in &keys[1..14] {
                for block in &mut blocks {
                    *block = _mm512_aesenc_epi128(*block, *key);
                }
            }
            for block in &mut blocks {
                *block = _mm512_aesenclast_epi128(*block, keys[14]);
            }
            blocks
        }};
    }

    let mut at = out;
    let mut left = len;
    while left >= STRIP {
        let mut blocks = [_mm512_setzero_si512(); 8];
        for block in &mut blocks {
            *block = _mm512_xor_si512(_mm512_shuffle_epi8(counter, reversed), keys[0]);
            counter = _mm512_add_epi64(counter, four);
        }
        for key in &keys[1..14] {
            rounds(&mut blocks, *key);
        }
        for (i, block) in blocks.into_iter().enumerate() {
            let block = _mm512_aesenclast_epi128(block, keys[14]);
            // SAFETY: 512 bytes are left from `at`.
            unsafe { _mm512_storeu_si512(at.add(i * VECTOR).cast(), block) };
        }
        // SAFETY: at most one past the end.
        at = unsafe { at.add(STRIP) };
        left -= STRIP;
    }
    while left > 0 {
        // Up to four vectors, as many as are needed: a short rest must not wait for eight, nor go one by one.
        let blocks = if left > 2 * VECTOR {
            vectors!(4)
        } else {
            let [a, b] = vectors!(2);
            [a, b, a, b]
        };
        for block in blocks {
            let now = left.min(VECTOR);
            let mask = if now == VECTOR { u64::MAX } else { (1 << now) - 1 };
            // SAFETY: the mask keeps the store within the `left` bytes from `at`.
            unsafe {
                _mm512_mask_storeu_epi8(at.cast(), mask, block);
                at = at.add(now);
            }
            left -= now;
            if left == 0 {
                break;
            }
        }
    }
    clear();
}

/// Clears all vector registers: they hold round keys, and the compiler clears no more than their upper parts.
/// Shown by a run: from two of them the page's key could be computed back after a draw.
#[inline]
#[target_feature(enable = "avx512f")]
fn clear() {
    // SAFETY: registers only, all declared; the CPU has AVX-512.
    unsafe {
        core::arch::asm!(
            "vzeroall",
            "vpxord zmm16, zmm16, zmm16", "vpxord zmm17, zmm17, zmm17",
            "vpxord zmm18, zmm18, zmm18", "vpxord zmm19, zmm19, zmm19",
            "vpxord zmm20, zmm20, zmm20", "vpxord zmm21, zmm21, zmm21",
            "vpxord zmm22, zmm22, zmm22", "vpxord zmm23, zmm23, zmm23",
            "vpxord zmm24, zmm24, zmm24", "vpxord zmm25, zmm25, zmm25",
            "vpxord zmm26, zmm26, zmm26", "vpxord zmm27, zmm27, zmm27",
            "vpxord zmm28, zmm28, zmm28", "vpxord zmm29, zmm29, zmm29",
            "vpxord zmm30, zmm30, zmm30", "vpxord zmm31, zmm31, zmm31",
            out("zmm0") _, out("zmm1") _, out("zmm2") _, out("zmm3") _, out("zmm4") _,
            out("zmm5") _, out("zmm6") _, out("zmm7") _, out("zmm8") _, out("zmm9") _,
            out("zmm10") _, out("zmm11") _, out("zmm12") _, out("zmm13") _, out("zmm14") _,
            out("zmm15") _, out("zmm16") _, out("zmm17") _, out("zmm18") _, out("zmm19") _,
            out("zmm20") _, out("zmm21") _, out("zmm22") _, out("zmm23") _, out("zmm24") _,
            out("zmm25") _, out("zmm26") _, out("zmm27") _, out("zmm28") _, out("zmm29") _,
            out("zmm30") _, out("zmm31") _, options(nomem, nostack, preserves_flags),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::features::Features;

    /// The registers are saved right behind the call, before anything else can use them.
    #[test]
    fn no_round_key_stays_in_a_register() {
        if !Features::detect().vaes {
            println!("skipped: this CPU has no VAES, what its registers keep is not looked at");
            return;
        }
        let key = core::array::from_fn(|i| (i * 89 + 7) as u8);
        let mut out = [0u8; 600];
        let mut saved = [[0u8; 64]; 32];
        // SAFETY: 600 bytes; the CPU has VAES and so AVX-512; 32 registers of 64 bytes are saved.
        let keys = unsafe {
            keystream(&key, [0; 16], out.as_mut_ptr(), out.len());
            save_registers(&mut saved);
            schedule(&key)
        };
        for key in keys {
            let mut bytes = [0u8; 16];
            // SAFETY: 16 bytes.
            unsafe { _mm_storeu_si128(bytes.as_mut_ptr().cast(), key) };
            let lanes = saved.iter().flat_map(|register| register.chunks_exact(16));
            assert_eq!(lanes.filter(|lane| *lane == bytes).count(), 0);
        }
    }

    #[inline(always)]
    fn save_registers(to: &mut [[u8; 64]; 32]) {
        macro_rules! save {
            ($($n:literal)*) => {
                // SAFETY: 32 stores of 64 bytes.
                unsafe {
                    core::arch::asm!(
                        $(concat!("vmovdqu64 [{to} + 64 * ", $n, "], zmm", $n),)*
                        to = in(reg) to, options(nostack, preserves_flags),
                    );
                }
            };
        }
        save!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31);
    }
}
