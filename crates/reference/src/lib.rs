//! The oracle of headwater's tests: every deterministic step of the generator, written for the reader.
//!
//! Each function follows its standard line by line, a byte or a word at a time, without dependencies,
//! unsafe code or tricks. It leaks its keys through the cache and takes its time: it answers what the
//! fast code must have written, and is never to be used for secrets.

#![forbid(unsafe_code)]

mod aes;
mod ars;
mod blake2s;
mod chacha20;
pub mod floats;
pub mod generators;
mod gf2;
pub mod numbers;
mod philox;
pub mod streams;
pub mod vectors;

pub use aes::{aes256_ctr, aes256_encrypt};
pub use ars::ars;
pub use blake2s::blake2s;
pub use chacha20::chacha20;
pub use gf2::{binary_rank, linear_complexity};
pub use philox::philox4x32;

/// The `n` bytes that hedged mode XORs onto a draw of `n` bytes, given the hardware's words `r0` and
/// `r1` and the page's secret `key`.
///
/// Up to 8 bytes are `r0` itself. Above, each block is `AES(X) ^ X` (Davies and Meyer's one-way
/// function, so that the owner of the key cannot go back from output to words) with the 128-bit `X`:
///
/// * up to 16 bytes: `r0 || n`, which is 64 fresh bits;
/// * longer: `r0 || r1 ^ j` for block `j`, which is 128 fresh bits and different in each block.
///
/// All integers are little-endian.
pub fn hedge(key: &[u8; 32], r0: u64, r1: u64, n: usize) -> Vec<u8> {
    let mut bytes = match n {
        0..=8 => r0.to_le_bytes().to_vec(),
        9..=16 => one_way(key, r0, n as u64).to_vec(),
        _ => (0..n.div_ceil(16) as u64).flat_map(|j| one_way(key, r0, r1 ^ j)).collect(),
    };
    bytes.truncate(n);
    bytes
}

/// `AES(X) ^ X` with `X = low || high`.
fn one_way(key: &[u8; 32], low: u64, high: u64) -> [u8; 16] {
    let x = (u128::from(high) << 64 | u128::from(low)).to_le_bytes();
    let encrypted = aes256_encrypt(key, x);
    core::array::from_fn(|i| encrypted[i] ^ x[i])
}
