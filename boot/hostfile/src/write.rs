//! The writer. Every decision here has its inverse in [`crate::read`].

use crate::{Archive, Entry, MAGIC, path};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Characters in a line of base64, as in MIME: mail programs break longer lines.
const BASE64_COLUMNS: usize = 76;

pub(crate) fn text(archive: &Archive) -> String {
    let mut out = format!("{MAGIC}\n");
    for (name, entry) in archive.entries() {
        let name = path::encode(name);
        match entry {
            Entry::Directory => out.push_str(&format!("-- {name}/ --\n")),
            Entry::Link(target) => {
                out.push_str(&format!("-- {name} -> {} --\n", path::encode(target)));
            }
            Entry::File(content) => file(&mut out, &name, content),
        }
    }
    out
}

fn file(out: &mut String, name: &str, content: &[u8]) {
    let Some(text) = readable(content) else {
        out.push_str(&format!("-- {name} base64 --\n"));
        let encoded = STANDARD.encode(content);
        for line in encoded.as_bytes().chunks(BASE64_COLUMNS) {
            out.push_str(&String::from_utf8_lossy(line));
            out.push('\n');
        }
        return;
    };
    // An empty file has no lines, so it lacks no newline either.
    let ends = text.is_empty() || text.ends_with('\n');
    out.push_str(&format!("-- {name}{} --\n", if ends { "" } else { " no-newline" }));
    for line in text.split_terminator('\n') {
        if is_escaped(line) {
            out.push('\\');
        }
        out.push_str(line);
        out.push('\n');
    }
}

/// Returns the content as text if an editor and a mail program leave it unchanged. A CR is not
/// such text: the reader drops one at each line's end, for files that were checked out on Windows.
fn readable(content: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(content).ok()?;
    text.chars()
        .all(|letter| letter == '\n' || letter == '\t' || !letter.is_control())
        .then_some(text)
}

/// Returns whether a line of content would be read as a header, or as the escape of one. The
/// writer puts a backslash before such a line and the reader takes one away.
pub(crate) fn is_escaped(line: &str) -> bool {
    line.trim_start_matches('\\').starts_with("-- ")
}
