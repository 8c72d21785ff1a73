//! Paths inside an archive: which ones are valid, their spelling in a header, and links.

use crate::{Archive, Entry};
use std::collections::VecDeque;
use std::io;

/// PATH_MAX of Linux. A longer path makes the checks of parents quadratic.
const MAX_PATH: usize = 4096;
/// Links followed for one path, as in Linux (MAXSYMLINKS).
const MAX_LINKS: usize = 40;
/// Linux's error number for too many links; the standard library has no stable kind for it.
const ELOOP: i32 = 40;

/// The end of a path after all links.
pub(crate) enum Resolved<'a> {
    File(&'a [u8]),
    /// The directory's own path; empty for the root.
    Directory(String),
}

/// Returns why an archive cannot hold this path.
pub(crate) fn check(path: &str) -> Result<(), String> {
    if path.is_empty() {
        return Err("the path is empty".to_owned());
    }
    if path.starts_with('/') {
        return Err("the path is absolute".to_owned());
    }
    if path.len() > MAX_PATH {
        return Err(format!("the path is longer than {MAX_PATH} bytes"));
    }
    if path.contains('\0') {
        return Err("the path contains a NUL".to_owned());
    }
    for part in path.split('/') {
        match part {
            "" => return Err("the path contains an empty name".to_owned()),
            "." | ".." => return Err(format!("the path contains `{part}`")),
            _ => {}
        }
    }
    Ok(())
}

/// Returns why an archive cannot hold this link target.
pub(crate) fn check_target(target: &str) -> Result<(), String> {
    if target.is_empty() {
        return Err("the link has an empty target".to_owned());
    }
    if target.len() > MAX_PATH {
        return Err(format!("the link's target is longer than {MAX_PATH} bytes"));
    }
    if target.contains('\0') {
        return Err("the link's target contains a NUL".to_owned());
    }
    Ok(())
}

/// Returns the directories above `path`, the outermost first: `a`, `a/b` for `a/b/c`.
pub(crate) fn parents(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').filter_map(move |(end, _)| path.get(..end))
}

/// Spells a path for a header: `%`, space and control characters as `%XX`, so that a header
/// splits at its spaces and stays on one line.
pub(crate) fn encode(path: &str) -> String {
    let mut text = String::with_capacity(path.len());
    for letter in path.chars() {
        if letter == '%' || letter == ' ' || letter.is_control() {
            let mut bytes = [0; 4];
            for byte in letter.encode_utf8(&mut bytes).bytes() {
                text.push_str(&format!("%{byte:02X}"));
            }
        } else {
            text.push(letter);
        }
    }
    text
}

/// Undoes [`encode`].
pub(crate) fn decode(text: &str) -> Result<String, String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut parts = text.split('%');
    bytes.extend_from_slice(parts.next().unwrap_or_default().as_bytes());
    for part in parts {
        let digits =
            part.get(..2).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.ok_or_else(|| "`%` without two hexadecimal digits".to_owned())?);
        bytes.extend_from_slice(part.get(2..).unwrap_or_default().as_bytes());
    }
    String::from_utf8(bytes).map_err(|_| "the path is not UTF-8".to_owned())
}

impl Archive {
    /// Follows `path` through all links. Nothing outside the archive is ever consulted.
    pub(crate) fn resolve(&self, path: &str) -> io::Result<Resolved<'_>> {
        let mut todo: VecDeque<String> = path.split('/').map(str::to_owned).collect();
        let mut at: Vec<String> = Vec::new();
        let mut links = 0;
        while let Some(name) = todo.pop_front() {
            match name.as_str() {
                "" | "." => continue,
                ".." => {
                    at.pop();
                    continue;
                }
                _ => at.push(name),
            }
            let here = at.join("/");
            match self.entries.get(&here) {
                Some(Entry::File(content)) if todo.is_empty() => {
                    return Ok(Resolved::File(content));
                }
                Some(Entry::File(_)) => return Err(io::ErrorKind::NotADirectory.into()),
                Some(Entry::Directory) => {}
                Some(Entry::Link(target)) => {
                    links += 1;
                    if links > MAX_LINKS {
                        return Err(io::Error::from_raw_os_error(ELOOP));
                    }
                    at.pop();
                    if target.starts_with('/') {
                        at.clear();
                    }
                    for name in target.rsplit('/') {
                        todo.push_front(name.to_owned());
                    }
                }
                None if self.has_children(&here) => {}
                None => return Err(io::ErrorKind::NotFound.into()),
            }
        }
        Ok(Resolved::Directory(at.join("/")))
    }
}
