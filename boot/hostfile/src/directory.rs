//! Archives from and to real directories.

use crate::{Archive, Entry};
use std::fs;
use std::io;
use std::path::Path;

impl Archive {
    /// Reads a directory: its regular files, its links as links, and its empty directories.
    /// Anything else (devices, pipes) is left out, because to open one may block.
    ///
    /// # Errors
    ///
    /// Returns the error of readdir(3) or read(2), and an error for a name that is not UTF-8.
    pub fn from_directory(directory: &Path) -> io::Result<Archive> {
        let mut archive = Archive::default();
        archive.add_directory(directory, "")?;
        Ok(archive)
    }

    fn add_directory(&mut self, directory: &Path, prefix: &str) -> io::Result<()> {
        let mut is_empty = true;
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            is_empty = false;
            let name = entry.file_name();
            let not_utf8 = || io::Error::other(format!("{}: not UTF-8", entry.path().display()));
            let name = name.to_str().ok_or_else(not_utf8)?;
            let path = if prefix.is_empty() { name.to_owned() } else { format!("{prefix}/{name}") };
            let kind = entry.file_type()?;
            if kind.is_dir() {
                self.add_directory(&entry.path(), &path)?;
            } else if kind.is_symlink() {
                let target = fs::read_link(entry.path())?;
                let target = target.to_str().ok_or_else(not_utf8)?.to_owned();
                self.insert(&path, Entry::Link(target))?;
            } else if kind.is_file() {
                self.insert(&path, Entry::File(fs::read(entry.path())?))?;
            }
        }
        if is_empty && !prefix.is_empty() {
            self.insert(prefix, Entry::Directory)?;
        }
        Ok(())
    }

    /// Writes the entries below `directory`, which is created and must be empty. Links are
    /// written last, so that no file is ever written through one.
    ///
    /// # Errors
    ///
    /// Returns the error of mkdir(2), open(2), write(2) or symlink(2).
    #[cfg(unix)]
    pub fn write_directory(&self, directory: &Path) -> io::Result<()> {
        fs::create_dir_all(directory)?;
        if fs::read_dir(directory)?.next().is_some() {
            return Err(io::ErrorKind::DirectoryNotEmpty.into());
        }
        for (path, entry) in self.entries() {
            let file = directory.join(path);
            if let Some(parent) = file.parent() {
                fs::create_dir_all(parent)?;
            }
            match entry {
                Entry::File(content) => fs::write(file, content)?,
                Entry::Directory => fs::create_dir_all(file)?,
                Entry::Link(_) => {}
            }
        }
        for (path, entry) in self.entries() {
            if let Entry::Link(target) = entry {
                std::os::unix::fs::symlink(target, directory.join(path))?;
            }
        }
        Ok(())
    }
}
