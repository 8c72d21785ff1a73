//! The place that files are read from: this machine, a directory that mirrors one, or a host file.
//!
//! A directory or a host file may come from a stranger. Paths and links are therefore resolved
//! inside the root, only regular files are opened, and no read is longer than [`MAX_TEXT`].

mod beneath;

use beneath::Beneath;
use headwater_hostfile::{Archive, MAX_BYTES};
use std::fs::{self, File};
use std::io::{self, Cursor, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

/// Longer files are cut here: no file that decides anything is longer.
const MAX_TEXT: u64 = 1 << 20;

/// The place that files are read from.
#[derive(Clone, Debug)]
pub struct Root {
    files: Files,
    name: String,
    /// Devices and marks of the recorded machine that a directory cannot hold.
    nodes: Vec<String>,
}

#[derive(Clone, Debug)]
enum Files {
    Live,
    Directory(Beneath),
    Archive(Arc<Archive>),
}

/// The part of `recording.json` that is needed here.
#[derive(serde::Deserialize, Default)]
#[serde(default)]
struct Recording {
    nodes: Vec<String>,
}

impl Root {
    /// Returns the root of this machine.
    pub fn live() -> Root {
        Root { files: Files::Live, name: "this machine".to_owned(), nodes: Vec::new() }
    }

    /// Opens a directory that mirrors a machine, or a host file.
    ///
    /// # Errors
    ///
    /// Returns the error of open(2), or [`io::ErrorKind::InvalidData`] with line and cause if the
    /// file is not a host file.
    pub fn open(path: &Path) -> io::Result<Root> {
        let name = path.display().to_string();
        if path.is_dir() {
            return Ok(Root::new(Files::Directory(Beneath::open(path)?), name));
        }
        // A pipe is read like a file, so that `--root <(zcat x.host.gz)` works.
        let mut bytes = Vec::new();
        File::open(path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
        let archive = Archive::parse(&bytes)
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        Ok(Root::archive(name, archive))
    }

    /// Returns the root of an archive that reports call `name`.
    pub fn archive(name: String, archive: Archive) -> Root {
        Root::new(Files::Archive(Arc::new(archive)), name)
    }

    fn new(files: Files, name: String) -> Root {
        let mut root = Root { files, name, nodes: Vec::new() };
        let text = root.text("/recording.json").unwrap_or_default();
        let Recording { nodes } = serde_json::from_str(&text).unwrap_or_default();
        root.nodes = nodes;
        root
    }

    /// Returns whether this is the running machine, which system calls describe too.
    pub fn is_live(&self) -> bool {
        matches!(self.files, Files::Live)
    }

    /// Returns the name for reports: "this machine", the directory, the host file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Opens a file of any length, without following links out of the root.
    ///
    /// # Errors
    ///
    /// Returns the error of open(2).
    pub fn reader(&self, path: &str) -> io::Result<Box<dyn Read + Send>> {
        Ok(match &self.files {
            Files::Live => Box::new(File::open(path)?),
            Files::Directory(directory) => Box::new(directory.file(path)?),
            Files::Archive(archive) => Box::new(Cursor::new(archive.file(path)?.to_vec())),
        })
    }

    /// Returns a file's text, with invalid UTF-8 replaced and white space at the end removed.
    ///
    /// # Errors
    ///
    /// Returns the error of open(2) or read(2).
    pub fn text(&self, path: &str) -> io::Result<String> {
        let mut bytes = Vec::new();
        self.reader(path)?.take(MAX_TEXT).read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).trim_end().to_string())
    }

    /// Returns whether the path exists.
    pub fn exists(&self, path: &str) -> bool {
        let exists = match &self.files {
            Files::Live => fs::symlink_metadata(path).is_ok(),
            Files::Directory(directory) => directory.exists(path),
            Files::Archive(archive) => archive.exists(path),
        };
        exists || self.nodes.iter().any(|node| node == path)
    }

    /// Returns the length of a regular file.
    pub fn size(&self, path: &str) -> Option<u64> {
        match &self.files {
            Files::Live => {
                fs::metadata(path).ok().filter(fs::Metadata::is_file).map(|metadata| metadata.len())
            }
            Files::Directory(directory) => Some(directory.file(path).ok()?.metadata().ok()?.len()),
            Files::Archive(archive) => Some(archive.file(path).ok()?.len() as u64),
        }
    }

    /// Returns owner, mode and times of a file of the running machine. A recording keeps none.
    pub fn metadata(&self, path: &str) -> Option<fs::Metadata> {
        if self.is_live() { fs::metadata(path).ok() } else { None }
    }

    /// Returns the mode of a file or a device as stat(2) has it. A copy of a machine's files has
    /// them, a host file does not.
    pub fn mode(&self, path: &str) -> Option<u32> {
        match &self.files {
            Files::Live => self.metadata(path).map(|file| file.mode()),
            Files::Directory(directory) => directory.mode(path),
            Files::Archive(_) => None,
        }
    }

    /// Returns the names in a directory, sorted; nothing if the directory does not exist.
    pub fn names(&self, path: &str) -> Vec<String> {
        let mut names = match &self.files {
            Files::Live => {
                let entries = fs::read_dir(path).into_iter().flatten().flatten();
                entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
            }
            Files::Directory(directory) => directory.names(path),
            Files::Archive(archive) => archive.names(path),
        };
        names.sort();
        names
    }
}
