//! One block at a time, on any machine. (To be replaced by bit-sliced code.)

/// Random123's ARS with so many rounds: AES rounds, and a key that grows by the fractions of the golden ratio and of
/// the square root of 3.
pub(crate) fn ars(rounds: u32, key: u128, counter: u128) -> u128 {
    const GROWTH: [u64; 2] = [0x9E37_79B9_7F4A_7C15, 0xBB67_AE85_84CA_A73B];
    let mut key = [key as u64, (key >> 64) as u64];
    let mut state = counter ^ join(key);
    for round in 1..=rounds {
        key = [key[0].wrapping_add(GROWTH[0]), key[1].wrapping_add(GROWTH[1])];
        state = sub_bytes_and_shift_rows(state);
        if round < rounds {
            state = mix_columns(state);
        }
        state ^= join(key);
    }
    state
}

/// Random123's Philox4x32 with ten rounds. The upper half of the key is XORed into the counter's.
pub(crate) fn philox(key: u128, counter: u128) -> u128 {
    let counter = counter ^ (key >> 64 << 64);
    let mut c: [u32; 4] = core::array::from_fn(|i| (counter >> (32 * i)) as u32);
    let mut k = [key as u32, (key >> 32) as u32];
    for _ in 0..10 {
        let p = [u64::from(c[0]) * 0xD251_1F53, u64::from(c[2]) * 0xCD9E_8D57];
        c = [
            (p[1] >> 32) as u32 ^ c[1] ^ k[0],
            p[1] as u32,
            (p[0] >> 32) as u32 ^ c[3] ^ k[1],
            p[0] as u32,
        ];
        k = [k[0].wrapping_add(0x9E37_79B9), k[1].wrapping_add(0xBB67_AE85)];
    }
    (0..4).fold(0, |block, i| block | u128::from(c[i]) << (32 * i))
}

fn join(halves: [u64; 2]) -> u128 {
    u128::from(halves[1]) << 64 | u128::from(halves[0])
}

fn sub_bytes_and_shift_rows(state: u128) -> u128 {
    let bytes = state.to_le_bytes();
    u128::from_le_bytes(core::array::from_fn(|i| {
        let (row, column) = (i % 4, i / 4);
        s_box(bytes[row + 4 * ((column + row) % 4)])
    }))
}

fn s_box(byte: u8) -> u8 {
    let (mut power, mut inverse) = (byte, 1);
    for _ in 0..7 {
        power = multiply(power, power);
        inverse = multiply(inverse, power);
    }
    (0..5).fold(0x63, |sum, bits| sum ^ inverse.rotate_left(bits))
}

fn mix_columns(state: u128) -> u128 {
    let bytes = state.to_le_bytes();
    u128::from_le_bytes(core::array::from_fn(|i| {
        let below = |distance: usize| bytes[(i % 4 + distance) % 4 + i / 4 * 4];
        multiply(below(0), 2) ^ multiply(below(1), 3) ^ below(2) ^ below(3)
    }))
}

fn multiply(mut a: u8, mut b: u8) -> u8 {
    let mut product = 0;
    while b != 0 {
        if b & 1 != 0 {
            product ^= a;
        }
        a = a << 1 ^ if a & 0x80 != 0 { 0x1b } else { 0 };
        b >>= 1;
    }
    product
}
