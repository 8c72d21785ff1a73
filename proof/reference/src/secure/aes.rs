//! AES-256 as in FIPS 197 and its counter mode as in NIST SP 800-38A, section 6.5.
//!
//! The state is kept as the 16 bytes of the block: FIPS 197 numbers them down the columns, so byte
//! `i` is in row `i % 4` and column `i / 4`.

/// Rounds of AES-256 (`Nr`).
const ROUNDS: usize = 14;

/// One round key for each round, and one before the first.
type Schedule = [[u8; 16]; ROUNDS + 1];

/// Encrypts one block.
pub fn aes256_encrypt(key: &[u8; 32], block: [u8; 16]) -> [u8; 16] {
    cipher(&key_expansion(key), block)
}

/// Writes the keystream of counter mode: the encryptions of `counter_block`, `counter_block + 1`
/// and so on, where the whole block is one big-endian number that wraps around.
pub fn aes256_ctr(key: &[u8; 32], counter_block: [u8; 16], out: &mut [u8]) {
    let schedule = key_expansion(key);
    let mut counter = u128::from_be_bytes(counter_block);
    for chunk in out.chunks_mut(16) {
        let keystream = cipher(&schedule, counter.to_be_bytes());
        chunk.copy_from_slice(&keystream[..chunk.len()]);
        counter = counter.wrapping_add(1);
    }
}

/// Encrypts one block (FIPS 197, section 5.1).
fn cipher(schedule: &Schedule, block: [u8; 16]) -> [u8; 16] {
    let mut state = add_round_key(block, &schedule[0]);
    for round_key in &schedule[1..ROUNDS] {
        state = add_round_key(mix_columns(shift_rows(sub_bytes(state))), round_key);
    }
    add_round_key(shift_rows(sub_bytes(state)), &schedule[ROUNDS])
}

pub(crate) fn sub_bytes(state: [u8; 16]) -> [u8; 16] {
    state.map(|byte| S_BOX[usize::from(byte)])
}

/// Moves row `r` by `r` columns to the left.
pub(crate) fn shift_rows(state: [u8; 16]) -> [u8; 16] {
    core::array::from_fn(|i| {
        let (row, column) = (i % 4, i / 4);
        state[row + 4 * ((column + row) % 4)]
    })
}

/// Multiplies each column by the polynomial 3x^3 + x^2 + x + 2.
pub(crate) fn mix_columns(state: [u8; 16]) -> [u8; 16] {
    core::array::from_fn(|i| {
        let (row, column) = (i % 4, i / 4);
        let below = |distance: usize| state[(row + distance) % 4 + 4 * column];
        multiply(below(0), 2) ^ multiply(below(1), 3) ^ below(2) ^ below(3)
    })
}

pub(crate) fn add_round_key(state: [u8; 16], round_key: &[u8; 16]) -> [u8; 16] {
    core::array::from_fn(|i| state[i] ^ round_key[i])
}

/// Expands a key of eight words (FIPS 197, section 5.2).
fn key_expansion(key: &[u8; 32]) -> Schedule {
    let mut words = [[0; 4]; 4 * (ROUNDS + 1)];
    let mut round_constant = 1;
    for i in 0..words.len() {
        if i < 8 {
            words[i].copy_from_slice(&key[4 * i..4 * i + 4]);
            continue;
        }
        let mut word = words[i - 1];
        if i % 8 == 0 {
            word.rotate_left(1);
            word = word.map(|byte| S_BOX[usize::from(byte)]);
            word[0] ^= round_constant;
            round_constant = multiply(round_constant, 2);
        } else if i % 8 == 4 {
            word = word.map(|byte| S_BOX[usize::from(byte)]);
        }
        words[i] = core::array::from_fn(|byte| words[i - 8][byte] ^ word[byte]);
    }
    core::array::from_fn(|round| core::array::from_fn(|i| words[4 * round + i / 4][i % 4]))
}

/// FIPS 197, section 5.1.1: the inverse in GF(2^8), then an affine map.
static S_BOX: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let inverse = inverse(byte as u8);
        table[byte] = inverse
            ^ inverse.rotate_left(1)
            ^ inverse.rotate_left(2)
            ^ inverse.rotate_left(3)
            ^ inverse.rotate_left(4)
            ^ 0x63;
        byte += 1;
    }
    table
};

/// Returns `a^254`, which is `1 / a`, because `a^255` is 1 for every `a` but 0; and 0 for 0, as
/// FIPS 197 requires.
const fn inverse(a: u8) -> u8 {
    let mut power = a;
    let mut product = 1;
    // 254 = 2 + 4 + 8 + 16 + 32 + 64 + 128.
    let mut squarings = 0;
    while squarings < 7 {
        power = multiply(power, power);
        product = multiply(product, power);
        squarings += 1;
    }
    product
}

/// Returns the product in GF(2^8) modulo x^8 + x^4 + x^3 + x + 1 (FIPS 197, section 4.2).
const fn multiply(mut a: u8, mut b: u8) -> u8 {
    let mut product = 0;
    while b != 0 {
        if b & 1 != 0 {
            product ^= a;
        }
        let overflows = a & 0x80 != 0;
        a <<= 1;
        if overflows {
            a ^= 0x1b;
        }
        b >>= 1;
    }
    product
}
