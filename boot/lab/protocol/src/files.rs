//! Files of a guest, as the lab reads them.

use crate::hex;
#[allow(unused_imports, reason = "for links")]
use crate::messages::Message;
use serde::{Deserialize, Serialize};

/// See [`Message::Data`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Data {
    /// The bytes; /proc and /sys also hold files that are not text.
    #[serde(with = "hex")]
    pub bytes: Vec<u8>,
}

/// See [`Message::Entry`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Kind of the entry.
    pub kind: EntryKind,
    /// Its name.
    pub name: String,
    /// Target of a symbolic link; empty for others.
    pub target: String,
}

/// Kind of a directory's entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EntryKind {
    /// A directory.
    Directory,
    /// A regular file.
    File,
    /// A symbolic link.
    Link,
    /// A device, socket or pipe.
    Other,
}

/// See [`Message::FileError`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileError {
    /// The error's number; 0: unknown.
    pub errno: i32,
    /// The error's text.
    pub text: String,
}
