//! ARS without AES instructions and without tables: 64 blocks at a time, one bit of each in a word.
//!
//! The bits of 64 blocks are transposed: word `b` of byte `i` holds bit `b` of byte `i` of all
//! blocks. ShiftRows is then a choice of words, MixColumns and the key are XORs, and SubBytes is a
//! circuit (Käsper and Schwabe, "Faster and timing-attack resistant AES-GCM", CHES 2009, where
//! eight blocks share eight words). The loops run over the 16 bytes of a block, so compilers turn
//! them into vector code.
//!
//! A single block costs as much as 64, so without AES `philox4x32` is the better engine.

use super::GROWTH;
use crate::engine::Block;

/// Blocks of a batch, and bits of a word.
const BATCH: usize = 64;

/// Bit `b` of byte `i` of each block, in `planes[b][i]`.
type Planes = [[u64; 16]; 8];

/// Writes blocks from counter `upper << 64 | first` on; the lower halves do not wrap around.
pub(crate) fn fill<const ROUNDS: usize>(key: Block, upper: u64, first: u64, out: &mut [Block]) {
    for (batch, out) in (0..).zip(out.chunks_mut(BATCH)) {
        let first = first + batch * BATCH as u64;
        let lower = core::array::from_fn(|i| first.wrapping_add(i as u64));
        permute::<ROUNDS>(key, lower, [upper; BATCH], out);
    }
}

/// Replaces each counter by its block.
pub(crate) fn replace<const ROUNDS: usize>(key: Block, counters: &mut [Block]) {
    for batch in counters.chunks_mut(BATCH) {
        let half = |bits: u32| {
            let mut halves = [0; BATCH];
            for (half, counter) in halves.iter_mut().zip(&*batch) {
                *half = (u128::from_le_bytes(*counter) >> bits) as u64;
            }
            halves
        };
        permute::<ROUNDS>(key, half(0), half(64), batch);
    }
}

/// Writes the blocks of up to 64 counters, given as their halves.
fn permute<const ROUNDS: usize>(
    key: Block,
    lower: [u64; BATCH],
    upper: [u64; BATCH],
    out: &mut [Block],
) {
    let mut planes = from_halves(lower, upper);
    let mut key = [0, 64].map(|bits| (u128::from_le_bytes(key) >> bits) as u64);
    add_key(&mut planes, key);
    for round in 1..=ROUNDS {
        key = [key[0].wrapping_add(GROWTH[0]), key[1].wrapping_add(GROWTH[1])];
        sub_bytes(&mut planes);
        planes = planes.map(shift_rows);
        if round < ROUNDS {
            planes = mix_columns(&planes);
        }
        add_key(&mut planes, key);
    }
    let (lower, upper) = to_halves(&planes);
    for ((out, lower), upper) in out.iter_mut().zip(lower).zip(upper) {
        *out = (u128::from(upper) << 64 | u128::from(lower)).to_le_bytes();
    }
}

fn from_halves(mut lower: [u64; BATCH], mut upper: [u64; BATCH]) -> Planes {
    transpose(&mut lower);
    transpose(&mut upper);
    core::array::from_fn(|bit| {
        core::array::from_fn(|byte| {
            if byte < 8 { lower[8 * byte + bit] } else { upper[8 * (byte - 8) + bit] }
        })
    })
}

fn to_halves(planes: &Planes) -> ([u64; BATCH], [u64; BATCH]) {
    let mut lower = core::array::from_fn(|i| planes[i % 8][i / 8]);
    let mut upper = core::array::from_fn(|i| planes[i % 8][i / 8 + 8]);
    transpose(&mut lower);
    transpose(&mut upper);
    (lower, upper)
}

/// Moves bit `j` of word `i` to bit `i` of word `j`: squares of 32 by 32 bits change places, then
/// squares of 16 by 16 within them, and so on (Warren, "Hacker's Delight", 2nd edition, section
/// 7-3).
fn transpose(words: &mut [u64; BATCH]) {
    let mut side = 32;
    let mut mask = u64::MAX >> 32;
    while side > 0 {
        for group in words.chunks_exact_mut(2 * side) {
            let (above, below) = group.split_at_mut(side);
            for (above, below) in above.iter_mut().zip(below) {
                let swapped = (*above >> side ^ *below) & mask;
                *above ^= swapped << side;
                *below ^= swapped;
            }
        }
        side /= 2;
        mask ^= mask << side;
    }
}

fn add_key(planes: &mut Planes, key: [u64; 2]) {
    for (bit, plane) in planes.iter_mut().enumerate() {
        for (byte, word) in plane.iter_mut().enumerate() {
            // All ones where the key's bit is one.
            *word ^= (key[byte / 8] >> (8 * (byte % 8) + bit) & 1).wrapping_neg();
        }
    }
}

/// Moves row `r` by `r` columns to the left. Byte `i` is in row `i % 4` and column `i / 4` (FIPS
/// 197, section 5.1.2).
fn shift_rows(plane: [u64; 16]) -> [u64; 16] {
    core::array::from_fn(|i| plane[(i + 4 * (i % 4)) % 16])
}

/// Multiplies each column by the polynomial 3x^3 + x^2 + x + 2 (FIPS 197, section 5.1.3).
///
/// A byte becomes 2(a + b) + b + c + d, where b, c and d are the bytes below it. Doubling the first
/// term moves it to the next higher plane, and its top bit comes back as 0x1b.
fn mix_columns(planes: &Planes) -> Planes {
    let below = |plane: &[u64; 16], i: usize, rows: usize| plane[i / 4 * 4 + (i + rows) % 4];
    let sums: Planes = planes.map(|plane| core::array::from_fn(|i| plane[i] ^ below(&plane, i, 1)));
    core::array::from_fn(|bit| {
        let (plane, doubled, top) = (&planes[bit], &sums[(bit + 7) % 8], &sums[7]);
        let comes_back = matches!(bit, 1 | 3 | 4);
        core::array::from_fn(|i| {
            let others = below(plane, i, 1) ^ below(&sums[bit], i, 2);
            let reduced = if comes_back { top[i] } else { 0 };
            doubled[i] ^ reduced ^ others
        })
    })
}

/// Applies AES's S-box to each of the 16 bytes.
fn sub_bytes(planes: &mut Planes) {
    let [p0, p1, p2, p3, p4, p5, p6, p7] = planes;
    for i in 0..16 {
        let bits = [p7[i], p6[i], p5[i], p4[i], p3[i], p2[i], p1[i], p0[i]];
        [p7[i], p6[i], p5[i], p4[i], p3[i], p2[i], p1[i], p0[i]] = s_box(bits);
    }
}

/// Computes the S-box with 113 gates, from and to bits with the highest first.
///
/// Source: the straight-line program `SLP_AES_113` of J. Boyar, R. Peralta and C. Calik, in their
/// names for the wires, so that a line here can be compared with one there: a linear layer, an
/// inversion in GF(2^8) through GF(2^4), and a linear layer. But a reader cannot check 113 gates,
/// so a test does, for all 256 bytes, against `reference`.
#[inline(always)]
fn s_box([u0, u1, u2, u3, u4, u5, u6, u7]: [u64; 8]) -> [u64; 8] {
    let y14 = u3 ^ u5;
    let y13 = u0 ^ u6;
    let y9 = u0 ^ u3;
    let y8 = u0 ^ u5;
    let t0 = u1 ^ u2;
    let y1 = t0 ^ u7;
    let y4 = y1 ^ u3;
    let y12 = y13 ^ y14;
    let y2 = y1 ^ u0;
    let y5 = y1 ^ u6;
    let y3 = y5 ^ y8;
    let t1 = u4 ^ y12;
    let y15 = t1 ^ u5;
    let y20 = t1 ^ u1;
    let y6 = y15 ^ u7;
    let y10 = y15 ^ t0;
    let y11 = y20 ^ y9;
    let y7 = u7 ^ y11;
    let y17 = y10 ^ y11;
    let y19 = y10 ^ y8;
    let y16 = t0 ^ y11;
    let y21 = y13 ^ y16;
    let y18 = u0 ^ y16;

    let t2 = y12 & y15;
    let t4 = y3 & y6 ^ t2;
    let t6 = y4 & u7 ^ t2;
    let t7 = y13 & y16;
    let t9 = y5 & y1 ^ t7;
    let t11 = y2 & y7 ^ t7;
    let t12 = y9 & y11;
    let t14 = y14 & y17 ^ t12;
    let t16 = y8 & y10 ^ t12;
    let t17 = t4 ^ y20;
    let t18 = t6 ^ t16;
    let t19 = t9 ^ t14;
    let t20 = t11 ^ t16;
    let t21 = t17 ^ t14;
    let t22 = t18 ^ y19;
    let t23 = t19 ^ y21;
    let t24 = t20 ^ y18;
    let t25 = t21 ^ t22;
    let t26 = t21 & t23;
    let t27 = t24 ^ t26;
    let t29 = t25 & t27 ^ t22;
    let t30 = t23 ^ t24;
    let t31 = t22 ^ t26;
    let t33 = t31 & t30 ^ t24;
    let t34 = t23 ^ t33;
    let t35 = t27 ^ t33;
    let t36 = t24 & t35;
    let t37 = t36 ^ t34;
    let t38 = t27 ^ t36;
    let t40 = t25 ^ t29 & t38;
    let t41 = t40 ^ t37;
    let t42 = t29 ^ t33;
    let t43 = t29 ^ t40;
    let t44 = t33 ^ t37;
    let t45 = t42 ^ t41;
    let z0 = t44 & y15;
    let z1 = t37 & y6;
    let z2 = t33 & u7;
    let z3 = t43 & y16;
    let z4 = t40 & y1;
    let z5 = t29 & y7;
    let z6 = t42 & y11;
    let z7 = t45 & y17;
    let z8 = t41 & y10;
    let z9 = t44 & y12;
    let z10 = t37 & y3;
    let z11 = t33 & y4;
    let z12 = t43 & y13;
    let z13 = t40 & y5;
    let z14 = t29 & y2;
    let z15 = t42 & y9;
    let z16 = t45 & y14;
    let z17 = t41 & y8;

    let tc1 = z15 ^ z16;
    let tc2 = z10 ^ tc1;
    let tc3 = z9 ^ tc2;
    let tc4 = z0 ^ z2;
    let tc5 = z1 ^ z0;
    let tc6 = z3 ^ z4;
    let tc7 = z12 ^ tc4;
    let tc8 = z7 ^ tc6;
    let tc9 = z8 ^ tc7;
    let tc10 = tc8 ^ tc9;
    let tc11 = tc6 ^ tc5;
    let tc12 = z3 ^ z5;
    let tc13 = z13 ^ tc1;
    let tc14 = tc4 ^ tc12;
    let tc16 = z6 ^ tc8;
    let tc17 = z14 ^ tc10;
    let tc18 = tc13 ^ tc14;
    let tc20 = z15 ^ tc16;
    let tc21 = tc2 ^ z11;
    let tc26 = tc17 ^ tc20;
    let s0 = tc3 ^ tc16;
    let s3 = tc3 ^ tc11;
    let s1 = !(s3 ^ tc16);
    let s2 = !(tc26 ^ z17);
    let s4 = tc14 ^ s3;
    let s5 = tc21 ^ tc17;
    let s6 = !(tc10 ^ tc18);
    let s7 = !(z12 ^ tc18);
    [s0, s1, s2, s3, s4, s5, s6, s7]
}
