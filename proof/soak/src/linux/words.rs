//! The words that are compared across rounds, in a file beside the state.
//!
//! The file is opened once and never renamed, so its lock is the soak's. The state is replaced
//! after each round, and a lock would stay with the replaced file.

use super::args::Usage;
use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The bits that are zero in every word of the file.
pub(crate) const BITS: u32 = 6;

/// A checksum of words in their order.
///
/// Zeros that a file system left, and the words of another soak, have to be noticed: compared with
/// them no new word repeats, or each zero repeats, and both would pass for a result. Each step is a
/// bijection of the sum and of the word, so one wrong word always shows, and others are missed with
/// probability 2^-64.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct Checksum(u64);

impl Checksum {
    pub(crate) const EMPTY: Checksum = Checksum(0);

    pub(crate) fn add(&mut self, words: &[u64]) {
        for word in words {
            self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        }
    }
}

/// The open file. No other soak has it.
pub(crate) struct Words {
    path: PathBuf,
    file: File,
}

impl Words {
    /// Opens the file beside a state, and makes it where there is no state yet.
    ///
    /// # Errors
    ///
    /// If another soak runs on it, or if it cannot be written.
    pub(crate) fn open(state: &Path) -> Result<Words> {
        if let Some("words" | "new") = state.extension().and_then(|end| end.to_str()) {
            bail!(Usage(format!(
                "{}: a state's name must not end in .words or .new, which are the names of the \
                 files beside it",
                state.display()
            )));
        }
        let path = state.with_extension("words");
        let file = OpenOptions::new().read(true).write(true).create(!state.exists()).open(&path);
        let file = file.with_context(|| format!("cannot open {}", path.display()))?;
        ensure!(file.metadata()?.is_file(), "{} is not a file", path.display());
        match file.try_lock() {
            Ok(()) => Ok(Words { path, file }),
            Err(TryLockError::WouldBlock) => bail!("another soak runs on {}", state.display()),
            Err(TryLockError::Error(error)) => {
                Err(error).with_context(|| format!("cannot lock {}", path.display()))
            }
        }
    }

    /// Returns an error if the file holds anything, for a soak that begins.
    pub(crate) fn ensure_empty(&self) -> Result<()> {
        ensure!(
            self.file.metadata()?.len() == 0,
            "{} holds the words of another state already: name another one, or remove the words",
            self.path.display()
        );
        Ok(())
    }

    /// Returns the first `stored` words of the file and their checksum. Words after them are of a
    /// round whose state was not written.
    ///
    /// # Errors
    ///
    /// If there are fewer, or if one of them cannot be a word of a soak. A state of an older
    /// version has no checksum to compare, so this is all that can be said of its words.
    pub(crate) fn read(&mut self, stored: u64) -> Result<(Vec<u64>, Checksum)> {
        let path = self.path.display();
        let short = || format!("{path} holds no {stored} words, which its state names");
        let len = stored
            .checked_mul(8)
            .filter(|len| self.file.metadata().is_ok_and(|metadata| metadata.len() >= *len));
        let mut bytes = vec![0; usize::try_from(len.with_context(short)?)?];
        self.file.seek(SeekFrom::Start(0))?;
        self.file.read_exact(&mut bytes).with_context(short)?;
        let words = bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word));
        let words: Vec<u64> = words.collect();
        let is_word = |word: &u64| *word != 0 && word.trailing_zeros() >= BITS;
        ensure!(words.iter().all(is_word), "{path} is damaged: a soak never keeps such words");
        let mut checksum = Checksum::EMPTY;
        checksum.add(&words);
        Ok((words, checksum))
    }

    /// Writes words after the first `stored` ones, down to the disk.
    pub(crate) fn write(&mut self, stored: u64, new: &[u64]) -> Result<()> {
        let bytes: Vec<u8> = new.iter().flat_map(|word| word.to_le_bytes()).collect();
        let mut written = || {
            self.file.seek(SeekFrom::Start(8 * stored))?;
            self.file.write_all(&bytes)?;
            self.file.sync_data()
        };
        written().with_context(|| format!("cannot write {}", self.path.display()))
    }
}
