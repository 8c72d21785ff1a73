//! Bytes on standard output, raw or as text, for `bytes` and `stream`.

use crate::failure::Failure;
use crate::output;
use crate::progress::Progress;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::io::{self, IsTerminal, Write};
use zeroize::Zeroizing;

/// The form of the output. Without an option it is hex on a terminal and raw elsewhere.
#[derive(clap::Args)]
#[group(skip)]
pub(crate) struct Form {
    /// Write hexadecimal digits and a newline
    #[arg(long, group = "format")]
    hex: bool,

    /// Write base64 (RFC 4648 section 4) and a newline
    #[arg(long, group = "format")]
    base64: bool,

    /// Write the bytes themselves, on a terminal too
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

/// Writes `total` bytes to standard output, in pieces that `fill` makes.
pub(crate) fn write(
    form: &Form,
    total: u64,
    fill: impl FnMut(&mut [u8]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let format = match form {
        Form { raw: true, .. } => Format::Raw,
        Form { hex: true, .. } => Format::Hex,
        Form { base64: true, .. } => Format::Base64,
        // A terminal would interpret raw bytes as control sequences.
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

/// Writes in pieces through two buffers, and erases both at the end, also after an error: the bytes
/// may be keys.
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
    /// Returns the length of `length` bytes as text, or 0 for raw, which is not copied.
    fn encoded_len(self, length: usize) -> usize {
        match self {
            Format::Raw => 0,
            Format::Hex => 2 * length,
            Format::Base64 => 4 * length.div_ceil(3),
        }
    }

    /// Returns the form of `bytes`, built in `encoded`, which holds at least `encoded_len` bytes.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Text that crosses the end of a chunk has the right length, and padding only at its end.
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
