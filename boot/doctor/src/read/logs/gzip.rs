//! A file in gzip, which has one member or more, and may have other bytes after the last one.

use flate2::bufread::GzDecoder;
use std::io::{self, BufRead, Read};

/// The content of all members, one after the other. flate2 has a decoder of several members, but
/// to that one everything after a member is a member, so a signature or the NULs of a tape make the
/// whole log unreadable. gzip(1) ignores them, and so do we: what has no member's header ends the
/// file. A member that is cut off after its header remains an error, because otherwise a log that
/// ends early would look like a boot that was never ready.
pub(super) struct Members<R: BufRead> {
    /// The member that is being read; `None` at the end.
    member: Option<GzDecoder<R>>,
    is_first: bool,
}

impl<R: BufRead> Members<R> {
    pub(super) fn new(source: R) -> Members<R> {
        Members { member: Some(GzDecoder::new(source)), is_first: true }
    }
}

impl<R: BufRead> Read for Members<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            match member.read(buffer) {
                Ok(0) if !buffer.is_empty() => {
                    let source = self.member.take().map(GzDecoder::into_inner);
                    self.member = source.map(GzDecoder::new);
                    self.is_first = false;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => return Err(error),
                Err(_) if !self.is_first && member.header().is_none() => self.member = None,
                result => return result,
            }
        }
        Ok(0)
    }
}
