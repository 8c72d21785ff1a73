//! A number as an error has it.

use core::fmt;

/// Letters of a number.
///
/// An error keeps them instead of the number, because a library for C spells errors without
/// `core::fmt`, which knows how floats are written but can panic. So floats are written where the
/// error is made, and not at all in that library; whole numbers are written here.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Shown {
    letters: [u8; Shown::MOST],
    len: usize,
}

impl Shown {
    /// The digits and the sign of a number of 128 bits. A float takes at most 24.
    const MOST: usize = 40;

    /// Writes a float, with the digits that have no other float.
    #[cfg(feature = "std")]
    pub(crate) fn real(number: f64) -> Shown {
        let mut shown = Shown::default();
        // Never an error: letters without room are left out.
        let _ = fmt::Write::write_fmt(&mut shown, format_args!("{number:?}"));
        // As Python and SQL write NaN.
        shown.letters.make_ascii_lowercase();
        shown
    }

    /// Returns no letters.
    #[cfg(not(feature = "std"))]
    pub(crate) fn real(_: f64) -> Shown {
        Shown::default()
    }

    /// Writes a whole number.
    #[must_use]
    pub fn whole(number: i128) -> Shown {
        // By pieces of 32 bits: a division of 128 bits is a function of the compiler's library,
        // whose code can unwind, and then a library for C does not link.
        let mut pieces = [96, 64, 32, 0].map(|place| (number.unsigned_abs() >> place) as u32);
        let mut digits = [b'0'; 39];
        for digit in digits.iter_mut().rev() {
            let mut rest = 0;
            for piece in &mut pieces {
                let dividend = rest << 32 | u64::from(*piece);
                (*piece, rest) = ((dividend / 10) as u32, dividend % 10);
            }
            *digit += rest as u8;
        }
        let mut shown = Shown::default();
        if number < 0 {
            shown.push(b'-');
        }
        let first = digits.iter().position(|&digit| digit != b'0').unwrap_or(digits.len() - 1);
        digits.iter().skip(first).for_each(|&digit| shown.push(digit));
        shown
    }

    /// Appends a letter, if there is room.
    fn push(&mut self, letter: u8) {
        if let Some(place) = self.letters.get_mut(self.len) {
            *place = letter;
            self.len += 1;
        }
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

#[cfg(feature = "std")]
impl fmt::Write for Shown {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.bytes().filter(u8::is_ascii).for_each(|letter| self.push(letter));
        Ok(())
    }
}

impl fmt::Debug for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}
