//! Looks for key material where memory reaches the disk: in a core dump, and in swap.
//!
//! A later reader of the disk knows no page and no register, so this asks less than the search of
//! the memory itself. But what it finds stays there for years.

mod core_dump;
mod swap;

use residue::memory::Section;
use residue::search::residue;
use residue::subject::{Account, Trouble};
use std::path::PathBuf;
use std::process::ExitCode;

/// Why a look could not be had.
enum Stop {
    /// This machine or this user cannot do it; the text says what is lost.
    Skipped(String),
    Broken(Trouble),
}

impl<E: Into<Trouble>> From<E> for Stop {
    fn from(error: E) -> Stop {
        Stop::Broken(error.into())
    }
}

/// Looks at both; fails with 1 if anything was found, and with 2 if a look broke.
fn main() -> ExitCode {
    let Some(subject) = std::env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("usage: residue-disk SUBJECT");
        return ExitCode::from(2);
    };
    let mut worst = 0;
    for (name, look) in [("core dump", core_dump::look as fn(_) -> _), ("swap", swap::look)] {
        let code = match look(&subject) {
            Ok((account, on_disk)) => report(name, account, on_disk),
            Err(Stop::Skipped(loss)) => {
                println!("skipped: {name}: {loss}");
                0
            }
            Err(Stop::Broken(error)) => {
                println!("{name}: could not be looked at: {error}");
                2
            }
        };
        worst = worst.max(code);
    }
    ExitCode::from(worst)
}

/// Searches the disk for all keys that the memory of the same process reveals.
fn report(name: &str, account: Account, on_disk: Vec<u8>) -> u8 {
    let size = on_disk.len() / 1024;
    let sections = vec![Section { name: name.to_owned(), bytes: on_disk }];
    let in_memory = residue(&account);
    // The disk is searched for keys found in memory as for keys that the library reported.
    let told = in_memory.keys.iter().map(|(key, _)| *key).chain(account.told).collect();
    let found = residue(&Account { sections, told, ..account });
    let (pieces, rounds) = (found.key_pieces.count, found.round_keys.count);
    let (keys, stream) = (found.keys.len(), found.stream.count);
    let left = keys + pieces + rounds + stream > 0;
    println!(
        "{name} of {size} KiB: {keys} keys, {pieces} pieces of them, {rounds} round keys, \
         {stream} blocks of stream: {}",
        if left { "LEFT BEHIND" } else { "clean" }
    );
    u8::from(left)
}
