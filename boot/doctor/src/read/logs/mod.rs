//! Shared parts of the readers: large files in flat memory, and errors of files.

mod blocks;
mod error;
mod gzip;
mod input;
mod scan;
mod unpack;
mod utf16;

pub(crate) use blocks::Blocks;
pub use error::LogError;
pub(crate) use input::Input;
pub(crate) use scan::{Texts, scan};
pub(crate) use unpack::unpack;

use std::borrow::Cow;

/// The limit of a quotation in characters: a long command line fits, a page of hexadecimal does
/// not.
const QUOTED: usize = 300;

/// A run of blanks that no log prints in the middle of a line of the kernel's generator.
const PADDING: &str = "                                ";

/// Returns a line as evidence quotes it: without control characters, and cut if it is long.
pub(crate) fn quoted(line: &str) -> String {
    let clean = line.trim().chars().map(|c| if c.is_control() { ' ' } else { c });
    let mut quoted: String = clean.clone().take(QUOTED).collect();
    if clean.count() > QUOTED {
        quoted.push_str(" ...");
    }
    quoted
}

/// Removes the padding of a terminal whose wrapped lines were copied as one. It stands in the
/// middle of a word, as in `unini      tialized`.
fn untorn(text: &str) -> String {
    let parts = text.split(PADDING).map(|part| part.trim_matches(' '));
    parts.collect()
}

/// Removes what copies of a log keep: colour sequences ("ESC [ ... m"), and the backslashes of a
/// converter to Markdown: `\[ 2.9\] random: a: uninitialized urandom read \(4 bytes read\)`.
pub(crate) fn unpainted(line: &[u8]) -> Cow<'_, str> {
    // A power cut leaves a run of NULs in front of the line that was written next.
    let line = line.trim_ascii_end();
    let line = line.strip_prefix(b"\0").map_or(line, |rest| {
        rest.iter().position(|byte| *byte != 0).map_or(&[][..], |at| &rest[at..])
    });
    // Nearly every line is valid, and the standard library's lossy reading is slower.
    let text =
        std::str::from_utf8(line).map_or_else(|_| String::from_utf8_lossy(line), Cow::Borrowed);
    if text.contains('\\') && [r"\[", r"\(", r"\_"].iter().any(|mark| text.contains(mark)) {
        return Cow::Owned(unescaped(&text));
    }
    // A mail in the encoding "quoted-printable": a space at a line's end, and each "=".
    if text.ends_with("=20") || text.ends_with("=09") || text.contains("=3D") {
        let text = text.strip_suffix("=20").or(text.strip_suffix("=09")).unwrap_or(&text);
        return Cow::Owned(text.replace("=3D", "=").trim_end().to_owned());
    }
    if text.contains(PADDING) && text.contains("random: ") {
        return Cow::Owned(untorn(&text));
    }
    if memchr::memchr(0x1b, text.as_bytes()).is_none() {
        return text;
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.as_ref();
    while let Some(at) = rest.find("\x1b[") {
        plain.push_str(&rest[..at]);
        let sequence = &rest[at + 2..];
        let end = sequence.find(|c: char| ('@'..='~').contains(&c));
        rest = end.map_or("", |end| &sequence[end + 1..]);
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

/// Removes the backslashes that a converter to Markdown puts in front of punctuation, and leaves
/// those in front of letters, such as the escapes in systemd's names.
fn unescaped(text: &str) -> String {
    let mut letters = text.chars().peekable();
    let mut plain = String::with_capacity(text.len());
    while let Some(letter) = letters.next() {
        let is_mark = letter == '\\' && letters.peek().is_some_and(char::is_ascii_punctuation);
        if !is_mark {
            plain.push(letter);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_left_out_of_a_line() {
        let painted = b"\x1b[32m[    1.500000] \x1b[0m\x1b[33mrandom: \x1b[0mcrng init done";
        assert_eq!(unpainted(painted), "[    1.500000] random: crng init done");
        assert_eq!(unpainted(b"cut off \x1b[3"), "cut off ");
        assert_eq!(unpainted(b"\0\0\0[    1.5] random: a"), "[    1.5] random: a");
        assert_eq!(unpainted(b"\0\0\0"), "");
        assert_eq!(
            unpainted(br"\[ 2.9\] random: a\_b \(2 bytes\)"),
            "[ 2.9] random: a_b (2 bytes)"
        );
    }

    #[test]
    fn a_quoted_line_is_one_line_and_not_long() {
        assert_eq!(quoted("  a\tb\n"), "a b");
        assert_eq!(quoted(&"x".repeat(1000)).len(), QUOTED + 4);
    }
}
