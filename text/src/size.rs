//! Sizes in bytes, as a person types and reads them. All units are binary: `4k` is a page.

use std::fmt;

/// Units by name, largest first.
const UNITS: [(&str, u64); 7] = [
    ("EiB", 1 << 60),
    ("PiB", 1 << 50),
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("B", 1),
];

/// The reason why a text is not a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadSize {
    /// The text does not begin with a whole number that is not negative.
    Number,
    /// The text after the number is not a unit.
    Unit,
    /// The size does not fit 64 bits.
    TooLarge,
}

impl fmt::Display for BadSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BadSize::Number => "a size is a whole number of bytes, such as 32, 4k or 4MiB",
            BadSize::Unit => {
                "a unit is one of B, KiB, MiB, GiB, TiB, PiB, EiB, or k, M, G, T, P, E"
            }
            BadSize::TooLarge => "the size is larger than 2^64 - 1 bytes",
        })
    }
}

impl std::error::Error for BadSize {}

/// Reads a size such as `16`, `16B`, `1k`, `64KiB` or `1gib`, in upper or lower case.
///
/// `kB` and `MB` are refused, because they mean 1,000 to some readers and 1,024 to others.
///
/// # Errors
///
/// [`BadSize`] with the part of the text that cannot be read.
///
/// ```
/// use headwater_text::size;
/// assert_eq!(size::parse("64KiB"), Ok(65_536));
/// assert_eq!(size::parse("64kB"), Err(size::BadSize::Unit));
/// ```
pub fn parse(text: &str) -> Result<u64, BadSize> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    if digits.is_empty() {
        return Err(BadSize::Number);
    }
    let unit = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "t" | "tib" => 1 << 40,
        "p" | "pib" => 1 << 50,
        "e" | "eib" => 1 << 60,
        // "1.5k" and "1_000" fail at their number, and "1kB" at its unit.
        other if other.starts_with(|c: char| c.is_ascii_alphabetic()) => return Err(BadSize::Unit),
        _ => return Err(BadSize::Number),
    };
    let count: u64 = digits.parse().map_err(|_| BadSize::TooLarge)?;
    count.checked_mul(unit).ok_or(BadSize::TooLarge)
}

/// Writes a size with the largest unit that divides it: `1024` is `1 KiB`, `1536` is `1536 B`.
///
/// No digit is lost, so [`parse`] reads the text again once the blank is removed.
pub fn exact(bytes: u64) -> String {
    let divides = |&(_, unit): &(&str, u64)| bytes.is_multiple_of(unit);
    let (name, unit) = match bytes {
        0 => ("B", 1),
        _ => UNITS.into_iter().find(divides).unwrap_or(("B", 1)),
    };
    format!("{} {name}", bytes / unit)
}

/// Writes a size with one decimal in the largest unit that it reaches: `1536` is `1.5 KiB`.
pub fn rounded(bytes: u64) -> String {
    match UNITS.into_iter().find(|&(_, unit)| bytes >= unit && unit > 1) {
        Some((name, unit)) => format!("{:.1} {name}", bytes as f64 / unit as f64),
        None => format!("{bytes} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_in_any_case() {
        for (text, bytes) in [
            ("0", 0),
            ("16", 16),
            ("7B", 7),
            ("2k", 2048),
            ("2K", 2048),
            ("64KiB", 65_536),
            ("64kib", 65_536),
            ("3M", 3 << 20),
            ("1MiB", 1 << 20),
            ("500g", 500 << 30),
            ("500GiB", 500 << 30),
            ("2T", 2 << 40),
            ("3PiB", 3 << 50),
            ("15e", 15 << 60),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(parse(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn ambiguous_and_broken_sizes_are_refused() {
        for text in ["", "k", "-1", "+1", " 1", "1.5k", "1 k", "1_000", "ten", "१", "1é"] {
            assert_eq!(parse(text), Err(BadSize::Number), "{text}");
        }
        for text in ["1kb", "1MB", "0x10", "1kk", "1PB", "1Z", "5e3"] {
            assert_eq!(parse(text), Err(BadSize::Unit), "{text}");
        }
        for text in ["18446744073709551616", "17179869184G", "16777216T", "16384P", "16E"] {
            assert_eq!(parse(text), Err(BadSize::TooLarge), "{text}");
        }
    }

    #[test]
    fn exact_sizes_are_read_again() {
        for (bytes, text) in [
            (0, "0 B"),
            (100, "100 B"),
            (1024, "1 KiB"),
            (1536, "1536 B"),
            (64 << 20, "64 MiB"),
            (3 << 40, "3 TiB"),
            (1 << 60, "1 EiB"),
            (u64::MAX, "18446744073709551615 B"),
        ] {
            assert_eq!(exact(bytes), text);
            assert_eq!(parse(&text.replace(' ', "")), Ok(bytes));
        }
    }

    #[test]
    fn rounded_sizes_have_one_decimal() {
        for (bytes, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.0 KiB"),
            (1536, "1.5 KiB"),
            (5 << 30, "5.0 GiB"),
            (u64::MAX, "16.0 EiB"),
        ] {
            assert_eq!(rounded(bytes), text);
        }
    }
}
