//! Compressed logs, recognised by their first bytes: logrotate writes gzip, journals are often sent
//! as xz or zstd.

use super::gzip::Members;
use super::utf16::decoded;
use std::io::{self, BufReader, Cursor, Read};

/// The longest magic, xz's.
const MAGIC: usize = 6;

/// Returns the text of a stream that may be compressed, and in UTF-16.
pub(crate) fn unpack<'a>(mut source: impl Read + 'a) -> io::Result<Box<dyn Read + 'a>> {
    let mut magic = Vec::with_capacity(MAGIC);
    source.by_ref().take(MAGIC as u64).read_to_end(&mut magic)?;
    let kind = magic.clone();
    let whole = Cursor::new(magic).chain(source);
    match kind.as_slice() {
        [0x1f, 0x8b, ..] => decoded(Members::new(BufReader::new(whole))),
        [0xfd, b'7', b'z', b'X', b'Z', 0] => decoded(lzma_rust2::XzReader::new(whole, true)),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            decoded(ruzstd::decoding::StreamingDecoder::new(whole).map_err(io::Error::other)?)
        }
        _ => decoded(whole),
    }
}
