//! A number as an error has it.

use core::fmt;

/// Letters of a number.
///
/// An error keeps them instead of the number, because a library for C spells errors without
/// `core::fmt`, which knows how floats are written but can panic. So they are written where the
/// error is made, which that library does not compile.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Shown {
    letters: [u8; Shown::MOST],
    len: usize,
}

impl Shown {
    /// The digits and the sign of a number of 128 bits. A float takes at most 24.
    const MOST: usize = 40;

    /// Writes a number. Letters that find no room are left out.
    #[cfg(feature = "std")]
    pub(crate) fn new(number: fmt::Arguments<'_>) -> Shown {
        let mut shown = Shown::default();
        // The only error is a full room.
        let _ = fmt::Write::write_fmt(&mut shown, number);
        // As Python and SQL write NaN.
        shown.letters.make_ascii_lowercase();
        shown
    }

    /// Returns the letters.
    pub fn as_str(&self) -> &str {
        let letters = self.letters.get(..self.len).unwrap_or_default();
        core::str::from_utf8(letters).unwrap_or_default()
    }
}

impl Default for Shown {
    fn default() -> Shown {
        Shown { letters: [0; Shown::MOST], len: 0 }
    }
}

impl fmt::Write for Shown {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes().filter(u8::is_ascii) {
            *self.letters.get_mut(self.len).ok_or(fmt::Error)? = byte;
            self.len += 1;
        }
        Ok(())
    }
}

impl fmt::Debug for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}
