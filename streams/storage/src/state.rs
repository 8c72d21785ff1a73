//! A small file from which an interrupted write continues, after SIGKILL too.

use crate::error::Error;
use crate::identity::Identity;
use crate::target::Target;
use crate::write::Checkpoint;
use headwater_text::file;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The name and version of the layout.
const SCHEMA: &str = "headwater.stream-state/1";

/// The progress of a write, as a file holds it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Document {
    schema: String,
    /// The target as it was typed. Only for readers: the identity decides.
    target: String,
    identity: Identity,
    /// [`crate::Pattern::fingerprint`]. The seed itself is not stored.
    pattern: String,
    from: u64,
    to: u64,
    /// Every byte from `from` up to here is on the device.
    done: u64,
}

/// A state file. It exists from the first checkpoint to the end of the write.
#[derive(Debug)]
pub struct State {
    path: PathBuf,
    document: Document,
    exists: bool,
}

impl State {
    /// Returns the path of a target's state file: beside a file, and in the working directory for a
    /// device, because /dev loses its files when the machine starts again.
    pub fn default_path(target: &Path, is_device: bool) -> PathBuf {
        let mut name = target.file_name().unwrap_or_default().to_owned();
        name.push(".headwater-state");
        if is_device { PathBuf::from(name) } else { target.with_file_name(name) }
    }

    /// Describes the write of a range, which has not begun.
    pub fn new(path: PathBuf, target: &Target, pattern: &str, from: u64, to: u64) -> State {
        let document = Document {
            schema: SCHEMA.to_owned(),
            target: target.path.display().to_string(),
            identity: target.identity.clone(),
            pattern: pattern.to_owned(),
            from,
            to,
            done: from,
        };
        State { path, document, exists: false }
    }

    /// Reads the file of an earlier run of the same write, and returns the offset to continue from.
    /// Without a file the write begins at its beginning.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or is one of another device, seed or range.
    pub fn resume(&mut self) -> Result<u64, Error> {
        let name = self.path.display();
        let text = match fs::read(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(self.document.from);
            }
            Err(error) => return Err(Error::io(format!("cannot read {name}"), error)),
        };
        let old: Document = serde_json::from_slice(&text).map_err(|error| {
            Error::refused(format!("{name} is not a state file of 'stream write': {error}"))
        })?;
        let ours = &self.document;
        let differs = if old.schema != ours.schema {
            "has another format"
        } else if old.identity != ours.identity {
            "belongs to another device or file"
        } else if old.pattern != ours.pattern {
            "belongs to another seed, engine, substream or shape"
        } else if (old.from, old.to) != (ours.from, ours.to) {
            "belongs to another range"
        } else if old.done < old.from || old.done > old.to {
            "names a place outside of its range"
        } else {
            self.document.done = old.done;
            self.exists = true;
            return Ok(old.done);
        };
        Err(Error::refused(format!(
            "{name} {differs}: give the same options as before, or delete it to begin again"
        )))
    }

    /// Removes the state of an earlier run, because this one begins again.
    ///
    /// # Errors
    ///
    /// If the path is a file of another kind, or the state of a write to another target, which must
    /// stay: without it that write could only begin again.
    pub fn discard(&self) -> Result<(), Error> {
        let Ok(text) = fs::read(&self.path) else { return Ok(()) };
        let name = self.path.display();
        let old = serde_json::from_slice::<Document>(&text).ok();
        let Some(old) = old.filter(|old| old.schema == SCHEMA) else {
            return Err(Error::refused(format!(
                "{name} exists and is not a state file of 'stream write': name another with --state"
            )));
        };
        // A file that was made again has another identity and the same name, and a target by
        // another of its names has the same identity, so only both together are another target.
        if old.identity != self.document.identity && old.target != self.document.target {
            return Err(Error::refused(format!(
                "{name} is the state of an unfinished write to {}: name another with --state, or \
                 delete it if that write is not to continue",
                old.target
            )));
        }
        fs::remove_file(&self.path)
            .map_err(|error| Error::io(format!("cannot remove {name}"), error))
    }

    /// Reports whether the file can be written, before the target loses a byte.
    ///
    /// # Errors
    ///
    /// If it cannot: its directory is missing, read-only or another user's.
    pub fn check(&self) -> Result<(), Error> {
        file::check(&self.path).map_err(|error| {
            let action = format!(
                "cannot keep the state of the write in {} (name a file elsewhere with --state, or work in another directory)",
                self.path.display()
            );
            Error::io(action, error)
        })
    }

    /// Returns whether the file of an earlier run was there to continue from.
    pub fn continues(&self) -> bool {
        self.exists
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the file, if there is one: the write is complete.
    ///
    /// # Errors
    ///
    /// If the file cannot be removed. A later `--resume` would believe it.
    pub fn remove(&self) -> Result<(), Error> {
        match fs::remove_file(&self.path) {
            Err(error) if self.exists && error.kind() != io::ErrorKind::NotFound => {
                Err(Error::io(format!("cannot remove {}", self.path.display()), error))
            }
            _ => Ok(()),
        }
    }
}

impl Checkpoint for State {
    /// Replaces the file as a whole, so that a kill leaves the old one or the new one.
    fn save(&mut self, done: u64) -> Result<(), Error> {
        self.document.done = done;
        let replace = || {
            let mut text = serde_json::to_vec_pretty(&self.document)?;
            text.push(b'\n');
            file::replace(&self.path, text)
        };
        replace().map_err(|error: io::Error| {
            Error::io(format!("cannot write the state file {}", self.path.display()), error)
        })?;
        self.exists = true;
        Ok(())
    }
}
