//! Reads and writes at offsets, past the page cache where the alignment allows it.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// One target, opened once for any offset and once for direct input and output.
#[derive(Debug)]
pub(crate) struct Channel {
    pub(crate) buffered: File,
    direct: Option<(File, u64)>,
    /// The kernel has refused a direct call that its own alignment allows.
    refused: AtomicBool,
}

impl Channel {
    pub(crate) fn new(buffered: File, direct: Option<(File, u64)>) -> Channel {
        Channel { buffered, direct, refused: AtomicBool::new(false) }
    }

    pub(crate) fn is_direct(&self) -> bool {
        self.direct.is_some() && !self.refused.load(Relaxed)
    }

    /// Splits a range into an unaligned head, an aligned body and an unaligned tail.
    fn parts(&self, range: Range<u64>) -> [(Range<u64>, Option<&File>); 3] {
        let Range { start, end } = range;
        let Some((direct, align)) = self.direct.as_ref().filter(|_| self.is_direct()) else {
            return [(start..end, None), (end..end, None), (end..end, None)];
        };
        let body = start.next_multiple_of(*align).min(end);
        let tail = (end - end % align).max(body);
        [(start..body, None), (body..tail, Some(direct)), (tail..end, None)]
    }

    /// Returns the file for direct input and output, if it can transfer all of this range.
    pub(crate) fn direct_for(&self, range: &Range<u64>) -> Option<&File> {
        let (file, align) = self.direct.as_ref().filter(|_| self.is_direct())?;
        let is_aligned = range.start.is_multiple_of(*align) && range.end.is_multiple_of(*align);
        is_aligned.then_some(file)
    }

    /// Writes all of `bytes` at `offset`. The address of `bytes` is aligned as the offset is.
    pub(crate) fn write(&self, offset: u64, bytes: &[u8]) -> Result<(), (u64, io::Error)> {
        for (part, direct) in self.parts(offset..offset + bytes.len() as u64) {
            let mut at = part.start;
            let mut direct = direct;
            while at < part.end {
                let rest = &bytes[(at - offset) as usize..(part.end - offset) as usize];
                match direct.unwrap_or(&self.buffered).write_at(rest, at) {
                    Ok(0) => return Err((at, io::ErrorKind::WriteZero.into())),
                    Ok(written) => {
                        at += written as u64;
                        // The rest of a short direct write may be unaligned.
                        direct = direct.filter(|_| written == rest.len());
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) if direct.is_some() && is_refusal(&error) => {
                        self.refused.store(true, Relaxed);
                        direct = None;
                    }
                    Err(error) => return Err((at, error)),
                }
            }
        }
        Ok(())
    }

    /// Reads up to the end of `bytes` or of the target, and returns the number of bytes.
    pub(crate) fn read(&self, offset: u64, bytes: &mut [u8]) -> Result<usize, (u64, io::Error)> {
        for (part, direct) in self.parts(offset..offset + bytes.len() as u64) {
            let mut at = part.start;
            let mut direct = direct;
            while at < part.end {
                let rest = &mut bytes[(at - offset) as usize..(part.end - offset) as usize];
                match direct.unwrap_or(&self.buffered).read_at(rest, at) {
                    Ok(0) => return Ok((at - offset) as usize),
                    Ok(read) => {
                        at += read as u64;
                        // After a short direct read the next one is unaligned: the end is near.
                        direct = direct.filter(|_| read == rest.len());
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) if direct.is_some() && is_refusal(&error) => {
                        self.refused.store(true, Relaxed);
                        direct = None;
                    }
                    Err(error) => return Err((at, error)),
                }
            }
        }
        Ok(bytes.len())
    }

    /// Makes the data that was written so far durable. Data that the kernel failed to write back
    /// since the target was opened is an error here, and nowhere else.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.buffered.sync_data()
    }
}

/// Reports whether an error says that direct input and output is not possible here.
fn is_refusal(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EINVAL | libc::EOPNOTSUPP))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_aligned_middle_is_direct() {
        let null = || File::open("/dev/null").unwrap();
        let channel = Channel::new(null(), Some((null(), 512)));
        for (range, body) in [
            (0..4096, 0..4096),
            (1..4096, 512..4096),
            (0..4097, 0..4096),
            (513..1023, 1023..1023),
            (100..200, 200..200),
            (512..512, 512..512),
            (511..1025, 512..1024),
        ] {
            let parts = channel.parts(range.clone());
            assert_eq!(parts[1].0, body);
            assert_eq!(parts[0].0, range.start..body.start);
            assert_eq!(parts[2].0, body.end..range.end);
        }
    }
}
