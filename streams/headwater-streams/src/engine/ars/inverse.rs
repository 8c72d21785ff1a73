//! ARS backwards: InvMixColumns, InvShiftRows and InvSubBytes of FIPS 197, section 5.3.

use crate::engine::Block;

/// The S-box backwards, and the products that InvMixColumns adds up, made when compiling.
struct Tables {
    /// Entry `s` is the byte whose substitute is `s`.
    box_inverse: [u8; 256],
    /// Entry `a` is the column that a first byte `a` contributes: 14a, 9a, 13a and 11a, the lowest
    /// byte first. The other three bytes of a column contribute the same, rotated.
    column: [u32; 256],
}

static TABLES: Tables = tables();

/// Returns the counter whose block after `rounds` rounds under `key` is `block`.
pub(crate) fn counter(rounds: usize, key: Block, block: Block) -> Block {
    let keys = super::keys(key).map(u128::from_le_bytes);
    let mut state = u128::from_le_bytes(block) ^ keys[rounds];
    // The last round of the engine has no MixColumns, so the first step back has none either.
    state = shift_and_substitute(state) ^ keys[rounds - 1];
    for key in keys[..rounds - 1].iter().rev() {
        state = shift_and_substitute(unmix_columns(state)) ^ key;
    }
    state.to_le_bytes()
}

/// Undoes ShiftRows and SubBytes.
fn shift_and_substitute(state: u128) -> u128 {
    let bytes = state.to_le_bytes();
    // ShiftRows moves row r of a column by r columns to the left; here it moves back.
    let bytes: Block = core::array::from_fn(|i| {
        let (column, row) = (i / 4, i % 4);
        TABLES.box_inverse[usize::from(bytes[4 * ((column + 4 - row) % 4) + row])]
    });
    u128::from_le_bytes(bytes)
}

fn unmix_columns(state: u128) -> u128 {
    let mut mixed = 0;
    for column in 0..4 {
        let bytes = ((state >> (32 * column)) as u32).to_le_bytes();
        let mut sum = 0;
        for (row, byte) in (0..).zip(bytes) {
            sum ^= TABLES.column[usize::from(byte)].rotate_left(8 * row);
        }
        mixed |= u128::from(sum) << (32 * column);
    }
    mixed
}

const fn tables() -> Tables {
    let mut tables = Tables { box_inverse: [0; 256], column: [0; 256] };
    // Powers of the generator 3 visit every byte but 0, and those of its inverse 0xF6 the inverses.
    let (mut value, mut inverse) = (1_u8, 1_u8);
    let mut step = 0;
    while step < 255 {
        tables.box_inverse[substitute(inverse) as usize] = value;
        value = product(value, 3);
        inverse = product(inverse, 0xF6);
        step += 1;
    }
    tables.box_inverse[0x63] = 0;
    let mut byte = 0;
    while byte < 256 {
        let a = byte as u8;
        tables.column[byte] =
            u32::from_le_bytes([product(a, 14), product(a, 9), product(a, 13), product(a, 11)]);
        byte += 1;
    }
    tables
}

/// Returns the affine map of SubBytes.
const fn substitute(inverse: u8) -> u8 {
    inverse
        ^ inverse.rotate_left(1)
        ^ inverse.rotate_left(2)
        ^ inverse.rotate_left(3)
        ^ inverse.rotate_left(4)
        ^ 0x63
}

/// Returns the product of two bytes modulo x^8 + x^4 + x^3 + x + 1.
const fn product(mut a: u8, mut b: u8) -> u8 {
    let mut sum = 0;
    while b != 0 {
        if b & 1 == 1 {
            sum ^= a;
        }
        a = a << 1 ^ if a & 0x80 == 0 { 0 } else { 0x1B };
        b >>= 1;
    }
    sum
}
