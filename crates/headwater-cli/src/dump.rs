//! Bytes on standard output, raw or as text: what `bytes` and `stream` have in common.

use crate::failure::Failure;
use crate::output;
use crate::progress::Progress;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::io::{self, IsTerminal, Write};
use zeroize::Zeroizing;

/// How the bytes are written: as hex on a terminal and raw elsewhere, unless told otherwise.
#[derive(clap::Args)]
#[group(skip)]
pub(crate) struct Form {
    /// As hexadecimal digits, with a newline at the end
    #[arg(long, group = "format")]
    hex: bool,

    /// As base64 (RFC 4648 section 4), with a newline at the end
    #[arg(long, group = "format")]
    base64: bool,

    /// As they are, on a terminal too
    #[arg(long, group = "format")]
    raw: bool,
}

/// Bytes drawn and written at a time: a multiple of 3, so that base64 is padded only at the end.
const CHUNK: usize = 768 << 10;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Raw,
    Hex,
    Base64,
}

/// Writes `total` bytes to standard output, each piece as `fill` makes it.
pub(crate) fn write(
    form: &Form,
    total: u64,
    fill: impl FnMut(&mut [u8]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let format = match form {
        Form { raw: true, .. } => Format::Raw,
        Form { hex: true, .. } => Format::Hex,
        Form { base64: true, .. } => Format::Base64,
        // A terminal takes raw bytes for commands.
        _ if io::stdout().is_terminal() => Format::Hex,
        _ => Format::Raw,
    };
    let mut out = output::unbuffered()?;
    write_to(&mut out, total, format, fill)?;
    if format != Format::Raw {
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// Two buffers are used again and again, and erased at the end, be it an error or not: the bytes may be keys.
fn write_to(
    out: &mut impl Write,
    total: u64,
    format: Format,
    mut fill: impl FnMut(&mut [u8]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let chunk = total.min(CHUNK as u64) as usize; // no more than CHUNK, which is a usize
    let mut bytes = Zeroizing::new(vec![0; chunk]);
    let mut encoded = Zeroizing::new(vec![0; format.encoded_len(chunk)]);
    let mut progress = Progress::new(total);
    let mut left = total;
    while left > 0 {
        let length = left.min(chunk as u64) as usize;
        let bytes = &mut bytes[..length];
        fill(bytes)?;
        out.write_all(format.encode(bytes, &mut encoded))?;
        left -= length as u64;
        progress.at(total - left);
    }
    Ok(())
}

impl Format {
    /// How many bytes of text `length` bytes become; 0 for raw, which is not copied.
    fn encoded_len(self, length: usize) -> usize {
        match self {
            Format::Raw => 0,
            Format::Hex => 2 * length,
            Format::Base64 => 4 * length.div_ceil(3),
        }
    }

    /// What to write for `bytes`, made in `encoded`, which is at least `encoded_len` long.
    fn encode<'a>(self, bytes: &'a [u8], encoded: &'a mut [u8]) -> &'a [u8] {
        match self {
            Format::Raw => bytes,
            Format::Hex => {
                base16ct::lower::encode(bytes, encoded).expect("two digits a byte were reserved")
            }
            Format::Base64 => {
                let length = STANDARD
                    .encode_slice(bytes, encoded)
                    .expect("four digits for three bytes were reserved");
                &encoded[..length]
            }
        }
    }
}

/// A number of bytes, as typed.
pub(crate) fn size(typed: &str) -> Result<u64, String> {
    let digits = typed.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err("a number of bytes is whole and not negative, such as 32 or 4MiB".to_string());
    }
    let unit: u64 = match &typed[digits.len()..] {
        "" | "B" => 1,
        "k" | "K" | "KiB" => 1 << 10,
        "M" | "MiB" => 1 << 20,
        "G" | "GiB" => 1 << 30,
        _ => return Err("a unit is one of k, M, G, KiB, MiB, GiB".to_string()),
    };
    digits
        .parse()
        .ok()
        .and_then(|count: u64| count.checked_mul(unit))
        .ok_or_else(|| "that is more than 2^64 - 1 bytes".to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        for (typed, bytes) in [
            ("0", 0),
            ("1", 1),
            ("7B", 7),
            ("2k", 2048),
            ("2K", 2048),
            ("2KiB", 2048),
            ("3M", 3 << 20),
            ("3MiB", 3 << 20),
            ("500G", 500 << 30),
            ("500GiB", 500 << 30),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(size(typed), Ok(bytes), "{typed}");
        }
    }

    #[test]
    fn no_sizes() {
        for typed in [
            "",
            "k",
            "-1",
            "+1",
            "1.5k",
            "1 k",
            "0x10",
            "1kb",
            "1MB",
            "1T",
            "1_000",
            "ten",
            "18446744073709551616",
            "17179869184G",
            "१",
        ] {
            assert!(size(typed).is_err(), "{typed}");
        }
    }

    /// Around the end of a chunk, text is as long as its bytes say and is padded only at its end.
    #[test]
    fn chunks_join_without_a_seam() {
        for total in [0, 1, 2, 3, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK + 5] {
            for format in [Format::Raw, Format::Hex, Format::Base64] {
                let mut out = Vec::new();
                assert!(write_to(&mut out, total as u64, format, |_| Ok(())).is_ok());
                let decoded = match format {
                    Format::Raw => out,
                    Format::Hex => base16ct_decode(&out),
                    Format::Base64 => STANDARD.decode(&out).unwrap(),
                };
                assert_eq!(decoded.len(), total);
            }
        }
    }

    fn base16ct_decode(text: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; text.len() / 2];
        base16ct::lower::decode(text, &mut bytes).unwrap();
        bytes
    }
}
