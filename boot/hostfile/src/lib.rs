//! A host file: the files of one machine in one readable text, as `headwater lab record` writes
//! it and `headwater doctor --root` reads it. docs/hosts.md describes the format for users.
//!
//! ```text
//! headwater.host/1
//! -- etc/os-release --
//! ID=debian
//! -- sys/class/net/eth0/device -> ../../../virtio0 --
//! -- sys/firmware/efi/ --
//! -- dev/hwrng base64 --
//! 3q2+7w==
//! ```
//!
//! A host file comes by mail from strangers, so the reader trusts nothing in it: a path cannot
//! leave the archive, a link cannot make the reader loop, and every error names its line.

#![deny(unsafe_code)]

mod directory;
mod error;
mod path;
mod read;
mod write;

pub use error::ParseError;

use path::Resolved;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::Bound;

/// The first line of every host file.
pub const MAGIC: &str = "headwater.host/1";

/// The size limit of a host file. The largest host in the test suite has 60 kB, and a whole
/// journal fits below the limit; without one, a reader could be made to use all memory.
pub const MAX_BYTES: u64 = 256 << 20;

/// One entry of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A regular file and its content.
    File(Vec<u8>),
    /// A symbolic link and its target, as readlink(2) returns it.
    Link(String),
    /// An empty directory. All other directories follow from the paths of their entries.
    Directory,
}

/// The files of one machine, by paths relative to its root: `proc/version`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Archive {
    entries: BTreeMap<String, Entry>,
}

impl Archive {
    /// Returns every entry in the order of the paths.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &Entry)> {
        self.entries.iter().map(|(path, entry)| (path.as_str(), entry))
    }

    /// Adds an entry. A leading slash of `path` is dropped; an empty directory that receives an
    /// entry is no longer listed.
    ///
    /// # Errors
    ///
    /// Returns [`io::ErrorKind::InvalidInput`] for a path that no archive can hold (`a/../b`, a
    /// file below a file), and [`io::ErrorKind::AlreadyExists`] if the path is taken.
    pub fn insert(&mut self, path: &str, entry: Entry) -> io::Result<()> {
        let path = path.trim_start_matches('/');
        let invalid = |reason: String| io::Error::new(io::ErrorKind::InvalidInput, reason);
        path::check(path).map_err(|reason| invalid(format!("{path:?}: {reason}")))?;
        if let Entry::Link(target) = &entry {
            path::check_target(target).map_err(|reason| invalid(format!("{path:?}: {reason}")))?;
        }
        if let Some(parent) = self.entry_above(path) {
            return Err(invalid(format!("{path:?}: {parent:?} is not a directory")));
        }
        match self.entries.get(path) {
            None if entry == Entry::Directory && self.has_children(path) => return Ok(()),
            None if self.has_children(path) => {
                return Err(invalid(format!("{path:?} is a directory")));
            }
            None => {}
            Some(Entry::Directory) if entry == Entry::Directory => return Ok(()),
            Some(_) => {
                return Err(io::Error::new(
                    io::ErrorKind::AlreadyExists,
                    format!("{path:?} exists already"),
                ));
            }
        }
        for parent in path::parents(path) {
            self.entries.remove(parent);
        }
        self.entries.insert(path.to_owned(), entry);
        Ok(())
    }

    /// Replaces the content of a file, or adds the file.
    ///
    /// # Errors
    ///
    /// Returns the error of [`Archive::insert`].
    pub fn replace(&mut self, path: &str, content: Vec<u8>) -> io::Result<()> {
        if let Some(Entry::File(old)) = self.entries.get_mut(path.trim_start_matches('/')) {
            *old = content;
            return Ok(());
        }
        self.insert(path, Entry::File(content))
    }

    /// Removes the entry at exactly this path, without following links.
    pub fn remove(&mut self, path: &str) -> Option<Entry> {
        self.entries.remove(path.trim_start_matches('/'))
    }

    /// Returns the content of a file. Links are followed inside the archive: an absolute target
    /// starts at the archive's root, and `..` stops there.
    ///
    /// # Errors
    ///
    /// Returns the error that open(2) and read(2) would return.
    pub fn file(&self, path: &str) -> io::Result<&[u8]> {
        match self.resolve(path)? {
            Resolved::File(content) => Ok(content),
            Resolved::Directory(_) => Err(io::ErrorKind::IsADirectory.into()),
        }
    }

    /// Returns whether the path exists. A dangling link exists, as for lstat(2).
    pub fn exists(&self, path: &str) -> bool {
        let path = path.trim_start_matches('/');
        self.entries.contains_key(path) || self.has_children(path) || self.resolve(path).is_ok()
    }

    /// Returns the names in a directory, sorted; nothing if the path is not a directory.
    pub fn names(&self, path: &str) -> Vec<String> {
        let Ok(Resolved::Directory(path)) = self.resolve(path) else { return Vec::new() };
        let prefix = if path.is_empty() { String::new() } else { path + "/" };
        let names: BTreeSet<&str> = self
            .from(&prefix)
            .map_while(|(path, _)| path.strip_prefix(prefix.as_str()))
            .map(|rest| rest.split('/').next().unwrap_or(rest))
            .collect();
        names.into_iter().map(str::to_owned).collect()
    }

    /// Returns the archive as text, the exact inverse of [`Archive::parse`].
    pub fn to_text(&self) -> String {
        write::text(self)
    }

    /// Reads an archive from the bytes of a host file.
    ///
    /// # Errors
    ///
    /// Names the line and the cause.
    pub fn parse(bytes: &[u8]) -> Result<Archive, ParseError> {
        read::parse(bytes)
    }

    fn has_children(&self, path: &str) -> bool {
        if path.is_empty() {
            return true;
        }
        let prefix = format!("{path}/");
        self.from(&prefix).next().is_some_and(|(path, _)| path.starts_with(&prefix))
    }

    fn from(&self, first: &str) -> impl Iterator<Item = (&String, &Entry)> {
        self.entries.range::<str, _>((Bound::Included(first), Bound::Unbounded))
    }

    /// Returns the first entry on the way to `path` that cannot have entries below it, if any.
    fn entry_above<'a>(&self, path: &'a str) -> Option<&'a str> {
        path::parents(path).find(|parent| {
            matches!(self.entries.get(*parent), Some(Entry::File(_) | Entry::Link(_)))
        })
    }
}
