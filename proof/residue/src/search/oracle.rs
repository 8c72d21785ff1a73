//! Recognises the library's keys: a key is one if its keystream holds a row that is known.

use super::schedule::Row;
use super::targets::Targets;
use aes::Aes256Enc;
use aes::cipher::{Array, BlockCipherEncrypt, KeyInit};
use chacha20::ChaCha20;
use chacha20::cipher::{KeyIvInit, StreamCipher, StreamCipherSeek};

/// The key expansion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cipher {
    /// AES-256 in counter mode, the counter being the whole block, from 0.
    Aes,
    /// ChaCha20 with a nonce of zeros, from block 0.
    ChaCha,
}

/// Returns the counters that are tried.
///
/// A page is a run of hundreds of blocks, so beyond the first ones every eighth finds it. The later
/// ranges are for layouts that the library does not have today.
pub fn counters() -> Vec<u64> {
    let far = [1 << 15, 1 << 31, 1 << 32].into_iter().flat_map(|from| from..from + 4);
    (0..32).chain((32..256).step_by(8)).chain(far).collect()
}

/// Makes blocks of AES-256 in counter mode.
pub fn aes_blocks(key: &[u8; 32], counters: &[u64], blocks: &mut Vec<Row>) {
    blocks.clear();
    blocks.extend(counters.iter().map(|&counter| u128::from(counter).to_be_bytes()));
    let cipher = Aes256Enc::new(key.into());
    cipher.encrypt_blocks(Array::cast_slice_from_core_mut(blocks));
}

/// Makes the beginning of ChaCha20's stream and, a block each, some of what follows.
pub fn chacha_rows(key: &[u8; 32], rows: &mut Vec<Row>) {
    rows.clear();
    rows.resize(16 + 3 * 4, [0; 16]);
    let mut cipher = ChaCha20::new(key.into(), &Array([0; 12]));
    let (first, rest) = rows.split_at_mut(16);
    cipher.apply_keystream(first.as_flattened_mut());
    for (block, number) in rest.chunks_exact_mut(4).zip([16u64, 32, 48]) {
        cipher.seek(number * 64);
        cipher.apply_keystream(block.as_flattened_mut());
    }
}

/// Returns the first 4 KiB of a key's stream, as rows.
pub fn stream(key: &[u8; 32], cipher: Cipher) -> Vec<Row> {
    let mut rows = vec![[0; 16]; 256];
    match cipher {
        Cipher::Aes => aes_blocks(key, &(0..256).collect::<Vec<_>>(), &mut rows),
        Cipher::ChaCha => {
            let mut cipher = ChaCha20::new(key.into(), &Array([0; 12]));
            cipher.apply_keystream(rows.as_flattened_mut());
        }
    }
    rows
}

/// Asks for many keys, with room that is used again and again.
pub struct Oracle<'a> {
    targets: &'a Targets,
    counters: Vec<u64>,
    blocks: Vec<Row>,
}

impl<'a> Oracle<'a> {
    /// Asks whether keys give any of these.
    pub fn new(targets: &'a Targets) -> Oracle<'a> {
        Oracle { targets, counters: counters(), blocks: Vec::new() }
    }

    /// Returns whether AES-256 under this key produces one.
    pub fn aes(&mut self, key: &[u8; 32]) -> bool {
        aes_blocks(key, &self.counters, &mut self.blocks);
        self.blocks.iter().any(|row| self.targets.has(row))
    }

    /// Returns whether ChaCha20 under this key produces one.
    pub fn chacha(&mut self, key: &[u8; 32]) -> bool {
        chacha_rows(key, &mut self.blocks);
        self.blocks.iter().any(|row| self.targets.has(row))
    }
}
