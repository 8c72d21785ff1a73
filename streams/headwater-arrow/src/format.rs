//! Types of columns, from the format strings of the Arrow C data interface.

use core::fmt;

/// A type, as far as the kernel distinguishes types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    /// Integers of so many bytes.
    Integer { bytes: u8, signed: bool },
    /// Decimal numbers of so many bytes with so many digits after the point.
    Decimal { bytes: u8, scale: i16 },
    /// Floating-point numbers of 4 or of 8 bytes, which are parameters and no ids.
    Float { bytes: u8 },
    /// Bits.
    Bool,
    /// Texts and binary values whose ends are numbers of 4 or of 8 bytes.
    Bytes { large: bool },
    /// Texts and binary values by views of 16 bytes.
    Views,
    /// Binary values of one width.
    Fixed { width: u32 },
    /// Days in 4 bytes.
    Days,
    /// Milliseconds of whole days in 8 bytes.
    DayMillis,
    /// Times since 1970 in 8 bytes, so many in a second.
    Timestamp { per_second: u32 },
    /// Nulls, without a buffer.
    Null,
    /// Any other type.
    Other,
}

impl Type {
    /// Reads a format string without its NUL.
    pub(crate) fn parse(format: &[u8]) -> Type {
        let integer = |bytes, signed| Type::Integer { bytes, signed };
        match format {
            b"c" => integer(1, true),
            b"C" => integer(1, false),
            b"s" => integer(2, true),
            b"S" => integer(2, false),
            b"i" => integer(4, true),
            b"I" => integer(4, false),
            b"l" => integer(8, true),
            b"L" => integer(8, false),
            // Integers of 128 bits, as Polars has them under a format of its own.
            b"_pli128" => Type::Decimal { bytes: 16, scale: 0 },
            b"f" => Type::Float { bytes: 4 },
            b"g" => Type::Float { bytes: 8 },
            b"b" => Type::Bool,
            b"u" | b"z" => Type::Bytes { large: false },
            b"U" | b"Z" => Type::Bytes { large: true },
            b"vu" | b"vz" => Type::Views,
            b"tdD" => Type::Days,
            b"tdm" => Type::DayMillis,
            b"n" => Type::Null,
            [b'w', b':', width @ ..] => {
                number(width).map_or(Type::Other, |width| Type::Fixed { width })
            }
            [b't', b's', unit, b':', ..] => {
                let per_second = match unit {
                    b's' => 1,
                    b'm' => 1_000,
                    b'u' => 1_000_000,
                    b'n' => 1_000_000_000,
                    _ => return Type::Other,
                };
                Type::Timestamp { per_second }
            }
            [b'd', b':', numbers @ ..] => decimal(numbers).unwrap_or(Type::Other),
            _ => Type::Other,
        }
    }

    /// Returns the number of buffers, and whether there may be more.
    pub(crate) fn buffers(self) -> (i64, bool) {
        match self {
            // The specification says none. Polars adds one of validity, which is not read.
            Type::Null => (0, true),
            Type::Bytes { .. } => (3, false),
            Type::Views => (3, true),
            Type::Other => (0, true),
            _ => (2, false),
        }
    }

    /// Returns the bytes of a row in the second buffer, or 0 for bits and for types without one.
    pub(crate) fn width(self) -> usize {
        match self {
            Type::Integer { bytes, .. } | Type::Decimal { bytes, .. } | Type::Float { bytes } => {
                bytes.into()
            }
            Type::Bytes { large: false } | Type::Days => 4,
            Type::Bytes { large: true } | Type::DayMillis | Type::Timestamp { .. } => 8,
            Type::Views => 16,
            Type::Fixed { width } => width as usize,
            Type::Bool | Type::Null | Type::Other => 0,
        }
    }
}

/// Reads `precision,scale` or `precision,scale,bits`, of up to 128 bits.
fn decimal(numbers: &[u8]) -> Option<Type> {
    let mut parts = numbers.split(|&byte| byte == b',');
    let _precision = number(parts.next()?)?;
    let scale = match parts.next()? {
        [b'-', digits @ ..] => -(i16::try_from(number(digits)?).ok()?),
        digits => i16::try_from(number(digits)?).ok()?,
    };
    let bytes = match parts.next().map(number) {
        None | Some(Some(128)) => 16,
        Some(Some(64)) => 8,
        Some(Some(32)) => 4,
        Some(_) => return None,
    };
    Some(Type::Decimal { bytes, scale })
}

fn number(digits: &[u8]) -> Option<u32> {
    core::str::from_utf8(digits).ok()?.parse().ok()
}

/// The name of a type in errors: its usual one, or the letters of its format.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Name {
    letters: [u8; 23],
    len: u8,
}

impl Name {
    pub(crate) fn new(format: &[u8]) -> Name {
        let mut letters = [0; 23];
        let mut len = 0;
        for (to, &from) in letters.iter_mut().zip(format) {
            *to = if from.is_ascii_graphic() { from } else { b'?' };
            len += 1;
        }
        Name { letters, len }
    }

    fn format(&self) -> &str {
        let letters = self.letters.get(..usize::from(self.len)).unwrap_or_default();
        core::str::from_utf8(letters).unwrap_or_default()
    }
}

impl Name {
    /// Hands the pieces of the name to `write`.
    pub(crate) fn spell(&self, write: &mut dyn FnMut(&str)) {
        let format = self.format();
        let usual = match format {
            "e" => "float16",
            "f" => "float32",
            "g" => "float64",
            "b" => "booleans",
            "u" | "U" | "vu" => "text",
            "z" | "Z" | "vz" => "binary values",
            "tdD" | "tdm" => "dates",
            "+s" => "structs",
            "+l" | "+L" | "+vl" | "+vL" => "lists",
            "+r" => "runs (run-end encoding)",
            _ if format.starts_with("ts") => "timestamps",
            _ if format.starts_with("tt") => "times of day",
            _ if format.starts_with("tD") => "durations",
            _ if format.starts_with("d:") => match Type::parse(format.as_bytes()) {
                Type::Decimal { scale: ..0, .. } => "decimals that count tens or more",
                Type::Decimal { scale: 0, .. } => "decimals",
                Type::Decimal { .. } => "decimals with digits after the point",
                _ => "decimals of 256 bits (cast them to 128 first)",
            },
            _ => return ["Arrow type '", format, "'"].into_iter().for_each(write),
        };
        write(usual);
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Name({})", self.format())
    }
}

#[cfg(test)]
mod tests {
    extern crate alloc;

    use super::*;
    use alloc::string::String;

    #[test]
    fn decimals_are_called_by_what_is_wrong_with_them() {
        for (format, name) in [
            ("d:9,2", "decimals with digits after the point"),
            ("d:9,2,64", "decimals with digits after the point"),
            ("d:9,-2", "decimals that count tens or more"),
            ("d:76,0,256", "decimals of 256 bits (cast them to 128 first)"),
            ("d:76,3,256", "decimals of 256 bits (cast them to 128 first)"),
        ] {
            let mut spelled = String::new();
            Name::new(format.as_bytes()).spell(&mut |letters| spelled.push_str(letters));
            assert_eq!(spelled, name, "{format}");
        }
    }

    #[test]
    fn formats_of_the_specification_are_read() {
        for (format, expected) in [
            ("c", Type::Integer { bytes: 1, signed: true }),
            ("L", Type::Integer { bytes: 8, signed: false }),
            ("tsu:", Type::Timestamp { per_second: 1_000_000 }),
            ("tsn:Europe/Berlin", Type::Timestamp { per_second: 1_000_000_000 }),
            ("w:16", Type::Fixed { width: 16 }),
            ("d:38,0", Type::Decimal { bytes: 16, scale: 0 }),
            ("d:9,-2,32", Type::Decimal { bytes: 4, scale: -2 }),
            ("d:76,0,256", Type::Other),
            ("d:", Type::Other),
            ("d:5", Type::Other),
            ("w:", Type::Other),
            ("w:-1", Type::Other),
            ("w:99999999999", Type::Other),
            ("tsx:", Type::Other),
            ("ts", Type::Other),
            ("", Type::Other),
            ("ll", Type::Other),
            ("+w:3", Type::Other),
        ] {
            assert_eq!(Type::parse(format.as_bytes()), expected, "{format}");
        }
    }
}
