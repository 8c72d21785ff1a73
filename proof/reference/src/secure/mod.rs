//! The secure generator's deterministic parts: ciphers, key derivation, and the mask of hedged
//! mode.

pub(crate) mod aes;
mod chacha20;

pub use aes::{aes256_ctr, aes256_encrypt};
pub use chacha20::chacha20;

/// Returns the `n` bytes that hedged mode XORs onto a draw of `n` bytes. `r0` and `r1` are the
/// words of the CPU's generator, `key` is the page's secret.
///
/// Block `j` is `AES(X) ^ X` (Davies and Meyer's one-way function: the owner of the key cannot
/// compute the words from the output) with the 128-bit `X = r0 || r1 ^ j`, which is another for
/// each block. All integers are little-endian.
pub fn hedge(key: &[u8; 32], r0: u64, r1: u64, n: usize) -> Vec<u8> {
    let blocks = 0..n.div_ceil(16) as u64;
    let mut bytes: Vec<u8> = blocks.flat_map(|j| one_way(key, r0, r1 ^ j)).collect();
    bytes.truncate(n);
    bytes
}

/// Derives a page's or a request's AES-256 key from a seed: the kernel's 32 bytes K, then X0 and
/// X1.
///
/// The key is `AES_K(X0) ^ X0` followed by `AES_K(X1) ^ X1`.
pub fn derived_key(seed: &[u8; 64]) -> [u8; 32] {
    let k = seed[..32].try_into().expect("32 bytes");
    let mut key = [0; 32];
    for (half, x) in key.chunks_exact_mut(16).zip(seed[32..].chunks_exact(16)) {
        let x: [u8; 16] = x.try_into().expect("16 bytes");
        let encrypted = aes256_encrypt(k, x);
        half.copy_from_slice(&core::array::from_fn::<u8, 16, _>(|i| encrypted[i] ^ x[i]));
    }
    key
}

/// Derives a ChaCha20 key from a seed of the same layout as [`derived_key`]'s.
///
/// Each half is the first 16 bytes of the block under K whose last four words are X0 or X1.
pub fn derived_key_chacha20(seed: &[u8; 64]) -> [u8; 32] {
    let k = seed[..32].try_into().expect("32 bytes");
    let mut key = [0; 32];
    for (half, x) in key.chunks_exact_mut(16).zip(seed[32..].chunks_exact(16)) {
        let counter = u32::from_le_bytes(x[..4].try_into().expect("4 bytes"));
        chacha20(k, x[4..].try_into().expect("12 bytes"), counter, half);
    }
    key
}

/// Returns `AES(X) ^ X` with `X = low || high`.
fn one_way(key: &[u8; 32], low: u64, high: u64) -> [u8; 16] {
    let x = (u128::from(high) << 64 | u128::from(low)).to_le_bytes();
    let encrypted = aes256_encrypt(key, x);
    core::array::from_fn(|i| encrypted[i] ^ x[i])
}
