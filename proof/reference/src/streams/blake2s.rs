//! BLAKE2s as in RFC 7693, without a key.

/// RFC 7693, section 2.6: the fractions of the square roots of the first eight primes.
const IV: [u32; 8] = [
    0x6A09_E667,
    0xBB67_AE85,
    0x3C6E_F372,
    0xA54F_F53A,
    0x510E_527F,
    0x9B05_688C,
    0x1F83_D9AB,
    0x5BE0_CD19,
];

/// RFC 7693, section 2.7: which word of the message each step takes, a line a round.
const SIGMA: [[usize; 16]; 10] = [
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
    [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
    [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
    [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
    [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
    [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
    [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
    [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
    [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
    [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
];

/// Returns the hash of `N` bytes, 1 to 32 (RFC 7693, section 3.3).
pub fn blake2s<const N: usize>(message: &[u8]) -> [u8; N] {
    let mut state = IV;
    state[0] ^= 0x0101_0000 ^ N as u32;
    let last = message.len().saturating_sub(1) / 64;
    for i in 0..=last {
        let bytes = &message[64 * i..message.len().min(64 * (i + 1))];
        let mut block = [0; 64];
        block[..bytes.len()].copy_from_slice(bytes);
        compress(&mut state, &block, (64 * i + bytes.len()) as u64, i == last);
    }
    core::array::from_fn(|i| state[i / 4].to_le_bytes()[i % 4])
}

/// Compresses a block into the state, by RFC 7693, section 3.2.
fn compress(state: &mut [u32; 8], block: &[u8; 64], bytes_so_far: u64, is_last: bool) {
    let m: [u32; 16] = core::array::from_fn(|i| {
        u32::from_le_bytes(core::array::from_fn(|byte| block[4 * i + byte]))
    });
    let mut v: [u32; 16] = core::array::from_fn(|i| if i < 8 { state[i] } else { IV[i - 8] });
    v[12] ^= bytes_so_far as u32;
    v[13] ^= (bytes_so_far >> 32) as u32;
    if is_last {
        v[14] = !v[14];
    }
    for s in SIGMA {
        mix(&mut v, [0, 4, 8, 12], m[s[0]], m[s[1]]);
        mix(&mut v, [1, 5, 9, 13], m[s[2]], m[s[3]]);
        mix(&mut v, [2, 6, 10, 14], m[s[4]], m[s[5]]);
        mix(&mut v, [3, 7, 11, 15], m[s[6]], m[s[7]]);
        mix(&mut v, [0, 5, 10, 15], m[s[8]], m[s[9]]);
        mix(&mut v, [1, 6, 11, 12], m[s[10]], m[s[11]]);
        mix(&mut v, [2, 7, 8, 13], m[s[12]], m[s[13]]);
        mix(&mut v, [3, 4, 9, 14], m[s[14]], m[s[15]]);
    }
    for i in 0..8 {
        state[i] ^= v[i] ^ v[i + 8];
    }
}

/// Mixes two words of the block into four words of `v`, by RFC 7693, section 3.1.
fn mix(v: &mut [u32; 16], [a, b, c, d]: [usize; 4], x: u32, y: u32) {
    for (word, first, second) in [(x, 16, 12), (y, 8, 7)] {
        v[a] = v[a].wrapping_add(v[b]).wrapping_add(word);
        v[d] = (v[d] ^ v[a]).rotate_right(first);
        v[c] = v[c].wrapping_add(v[d]);
        v[b] = (v[b] ^ v[c]).rotate_right(second);
    }
}
