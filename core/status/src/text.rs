//! A short text without an allocation.

use core::fmt;
use core::ops::Deref;

/// Length of the longest kernel release (`__NEW_UTS_LEN`); longer texts are cut.
const ROOM: usize = 64;

/// A text of at most 64 bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Text {
    bytes: [u8; ROOM],
    len: usize,
}

impl Text {
    pub(crate) const fn new() -> Text {
        Text { bytes: [0; ROOM], len: 0 }
    }

    /// Appends whole characters as far as they fit.
    pub(crate) fn push(&mut self, text: &str) {
        for character in text.chars() {
            let end = self.len + character.len_utf8();
            let Some(place) = self.bytes.get_mut(self.len..end) else { return };
            let mut encoded = [0; 4];
            for (to, from) in place.iter_mut().zip(character.encode_utf8(&mut encoded).bytes()) {
                *to = from;
            }
            self.len = end;
        }
    }

    /// Returns the first line without surrounding space and without bytes that are not UTF-8, or
    /// `None` if nothing remains.
    pub(crate) fn first_line(bytes: &[u8]) -> Option<Text> {
        let line = bytes.split(|&byte| byte == b'\n').next()?;
        let mut text = Text::new();
        for chunk in line.trim_ascii().utf8_chunks() {
            text.push(chunk.valid());
        }
        (text.len > 0).then_some(text)
    }
}

impl From<&str> for Text {
    fn from(from: &str) -> Text {
        let mut text = Text::new();
        text.push(from);
        text
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        let bytes = self.bytes.get(..self.len).unwrap_or_default();
        core::str::from_utf8(bytes).unwrap_or_default() // never the default: whole characters only
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&**self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_trimmed_and_cut_at_a_character() {
        assert_eq!(&*Text::first_line(b" KVM \nmore").unwrap(), "KVM");
        assert_eq!(&*Text::first_line(b"a\xFFb").unwrap(), "ab");
        assert!(Text::first_line(b" \n").is_none());
        let long = Text::from(&*"\u{e9}".repeat(40));
        assert_eq!(long.len(), 64);
        let odd = Text::from(&*format!("a{}", "\u{e9}".repeat(40)));
        assert_eq!(odd.len(), 63);
    }
}
