//! Where files are read from: this machine, or a folder that mirrors one.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// No file that is looked at is longer; one that is, is cut there.
const MOST: u64 = 1 << 20;

/// Where files are read from: this machine, or a folder that mirrors one (see `headwater lab record`).
#[derive(Clone, Debug)]
pub struct Root {
    folder: PathBuf,
    live: bool,
    /// Devices and marks that were there when it was recorded; a folder cannot hold them.
    nodes: Vec<String>,
}

/// What `headwater lab record` says of a recording, as far as it is needed.
#[derive(serde::Deserialize, Default)]
#[serde(default)]
struct Recording {
    nodes: Vec<String>,
}

impl Root {
    /// This machine.
    pub fn live() -> Root {
        Root { folder: PathBuf::from("/"), live: true, nodes: Vec::new() }
    }

    /// A folder that mirrors a machine.
    pub fn recorded(folder: &Path) -> Root {
        let text = fs::read_to_string(folder.join("recording.json")).unwrap_or_default();
        let Recording { nodes } = serde_json::from_str(&text).unwrap_or_default();
        Root { folder: folder.to_path_buf(), live: false, nodes }
    }

    /// Whether system calls say something about it too.
    pub fn is_live(&self) -> bool {
        self.live
    }

    /// Where `path`, which is absolute, lies.
    pub fn path(&self, path: &str) -> PathBuf {
        self.folder.join(path.trim_start_matches('/'))
    }

    /// A file's text, what is no UTF-8 replaced, white space at its end left out.
    ///
    /// # Errors
    ///
    /// As from open(2) and read(2).
    pub fn text(&self, path: &str) -> io::Result<String> {
        let mut bytes = Vec::new();
        fs::File::open(self.path(path))?.take(MOST).read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).trim_end().to_string())
    }

    /// Whether something is there.
    pub fn exists(&self, path: &str) -> bool {
        fs::symlink_metadata(self.path(path)).is_ok() || self.nodes.iter().any(|node| node == path)
    }

    /// The names in a folder, sorted; none if it is not there.
    pub fn names(&self, path: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(path)).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}
