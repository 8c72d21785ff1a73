//! The search for the remains of a draw: keys first, then copies of all that is known by then.

mod candidates;
mod copies;
mod oracle;
mod schedule;
mod targets;

use crate::memory::Section;
use crate::subject::Account;
pub use copies::Copies;
use oracle::{Cipher, Oracle};
use targets::Targets;

/// The remains of a draw.
#[derive(Debug, Default)]
pub struct Residue {
    /// Keys that could be computed from what was left.
    pub keys: Vec<([u8; 32], Cipher)>,
    /// Pieces of 8 bytes of those keys and of those that the library reported.
    pub key_pieces: Copies,
    /// Round keys of them.
    pub round_keys: Copies,
    /// Blocks of 16 bytes that were never served, and everything else that the pages hold.
    pub stream: Copies,
    /// Keys were reported, and none of them produces the served bytes: the search is blind.
    pub is_blind: bool,
}

/// Searches all that is known of a draw.
pub fn residue(account: &Account) -> Residue {
    let known = Targets::new([&account.served[..], &account.pages, &account.later]);
    let keys = candidates::keys(&account.sections, &known);
    let mut oracle = Oracle::new(&known);
    let told: Vec<([u8; 32], Cipher)> = account
        .told
        .iter()
        .filter_map(|key| {
            let cipher = oracle.aes(key).then_some(Cipher::Aes);
            Some((*key, cipher.or_else(|| oracle.chacha(key).then_some(Cipher::ChaCha))?))
        })
        .collect();
    let mut unserved = Targets::new([&account.pages[..], &account.later]);
    for (key, cipher) in keys.iter().chain(&told) {
        oracle::stream(key, *cipher).into_iter().for_each(|row| unserved.add(row));
    }
    unserved.remove(&Targets::new([&account.served[..]]));
    let mut all: Vec<[u8; 32]> = keys.iter().map(|(key, _)| *key).collect();
    all.extend(&account.told);
    let sections = &account.sections[..];
    Residue {
        key_pieces: Copies::of_keys(sections, &all),
        round_keys: Copies::of_round_keys(sections, &all),
        stream: Copies::of_rows(sections, &unserved),
        is_blind: !account.told.is_empty() && told.is_empty(),
        keys,
    }
}

/// Counts the secrets that come back from one look at pages and memory.
///
/// The thief was served nothing, so a key counts only if it produces a part of a page.
pub fn recovered(sections: &[Section], pages: &[u8], secrets: &[u8]) -> usize {
    let keys = candidates::keys(sections, &Targets::new([pages]));
    let mut streams = Targets::new([]);
    for (key, cipher) in keys {
        oracle::stream(&key, cipher).into_iter().for_each(|row| streams.add(row));
    }
    secrets.as_chunks().0.iter().filter(|secret| streams.has(secret)).count()
}

#[cfg(test)]
mod tests;
