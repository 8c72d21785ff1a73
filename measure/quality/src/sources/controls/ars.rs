//! ARS of few rounds: AES's rounds over a counter, with a key that grows by constants (Salmon et
//! al., SC11). A slow, plain one.

use super::{Source, endless, splitmix};

/// AES's S-box, as FIPS 197 defines it: the inverse in GF(2^8), then an affine map.
const S_BOX: [u8; 256] = {
    let mut table = [0; 256];
    // p runs through all elements as powers of 3, q through their inverses.
    let (mut p, mut q) = (1_u8, 1_u8);
    loop {
        p = p ^ double(p);
        q ^= q << 1;
        q ^= q << 2;
        q ^= q << 4;
        if q & 0x80 != 0 {
            q ^= 0x09;
        }
        table[p as usize] =
            q ^ q.rotate_left(1) ^ q.rotate_left(2) ^ q.rotate_left(3) ^ q.rotate_left(4) ^ 0x63;
        if p == 1 {
            break;
        }
    }
    table[0] = 0x63;
    table
};

const fn double(x: u8) -> u8 {
    x << 1 ^ if x & 0x80 != 0 { 0x1b } else { 0 }
}

/// One column's share of SubBytes and MixColumns, for a byte in row 0.
const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut i = 0;
    while i < 256 {
        let s = S_BOX[i];
        table[i] = u32::from_le_bytes([double(s), s, s, double(s) ^ s]);
        i += 1;
    }
    table
};

pub(super) fn open<const ROUNDS: usize>(mut seed: u64) -> Box<dyn Source> {
    let key = [splitmix(&mut seed), splitmix(&mut seed)];
    let mut counter = 0;
    let mut high = None;
    endless(move || {
        high.take().unwrap_or_else(|| {
            let block = ars::<ROUNDS>(key, [counter, 0]);
            counter += 1;
            high = Some(block[1]);
            block[0]
        })
    })
}

/// Computes `ROUNDS` rounds over a block, the last without MixColumns. Block and key are two words,
/// the lower one first.
fn ars<const ROUNDS: usize>(mut key: [u64; 2], block: [u64; 2]) -> [u64; 2] {
    let mut state = [block[0] ^ key[0], block[1] ^ key[1]];
    for round in 1..=ROUNDS {
        key[0] = key[0].wrapping_add(0x9e37_79b9_7f4a_7c15);
        key[1] = key[1].wrapping_add(0xbb67_ae85_84ca_a73b);
        state = one_round(state, round == ROUNDS);
        state = [state[0] ^ key[0], state[1] ^ key[1]];
    }
    state
}

/// Computes one round: ShiftRows, SubBytes and, unless it is the last, MixColumns.
fn one_round(state: [u64; 2], last: bool) -> [u64; 2] {
    let whole = u128::from(state[1]) << 64 | u128::from(state[0]);
    let bytes = whole.to_le_bytes();
    let mut columns = [0; 4];
    for (column, out) in columns.iter_mut().enumerate() {
        for row in 0..4 {
            let byte = bytes[(column + row) % 4 * 4 + row] as usize;
            *out ^= if last {
                u32::from(S_BOX[byte]) << (8 * row)
            } else {
                TABLE[byte].rotate_left(8 * row as u32)
            };
        }
    }
    let word = |low: u32, high: u32| u64::from(high) << 32 | u64::from(low);
    [word(columns[0], columns[1]), word(columns[2], columns[3])]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Random123 1.14's kat_vectors, lines "ars4x32 10": words of 32 bits, the lowest first.
    #[test]
    fn ten_rounds_give_the_authors_known_answers() {
        let words = |line: &str| -> Vec<u64> {
            let words: Vec<u64> =
                line.split(' ').map(|word| u64::from_str_radix(word, 16).unwrap()).collect();
            words.chunks(2).map(|two| two[1] << 32 | two[0]).collect()
        };
        for (counter, key, block) in [
            (
                "00000000 00000000 00000000 00000000",
                "00000000 00000000 00000000 00000000",
                "8d73ee19 506401ef 13c2dbe4 0cbe9c0d",
            ),
            (
                "243f6a88 85a308d3 13198a2e 03707344",
                "a4093822 299f31d0 082efa98 ec4e6c89",
                "a516e7d6 8357ad74 5b59b3ec 8763fff3",
            ),
        ] {
            let two = |line| <[u64; 2]>::try_from(words(line)).unwrap();
            assert_eq!(ars::<10>(two(key), two(counter)), two(block));
        }
    }
}
