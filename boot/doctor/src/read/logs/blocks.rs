//! A stream in blocks of whole lines: memory stays flat, whatever the file.

use memchr::{memchr, memrchr};
use std::io::{self, Read};

/// The longest line that is not cut, and the bytes that decide the format of a file.
pub(crate) const BLOCK: usize = 1 << 20;

/// A block ends at the last line break of so many bytes, unless a line is longer. Larger blocks
/// would mean fewer calls, but these bytes are still in the CPU's second-level cache when they are
/// searched.
const CHUNK: usize = 1 << 18;

/// A stream in blocks of whole lines.
pub(crate) struct Blocks<R> {
    source: R,
    buffer: Vec<u8>,
    /// The end of the bytes handed out.
    given: usize,
    /// The end of the bytes read.
    filled: usize,
    /// The number of the line that begins at `given`, from 1.
    line: u64,
    /// Inside a line that is longer than a block: what is left of it is dropped.
    skipping: bool,
    ended: bool,
    /// Bytes that are read before lines are handed out.
    wanted: usize,
}

/// Whole lines. The last line of a stream may lack its newline; a line longer than a block is cut.
#[derive(Clone, Copy)]
pub(crate) struct Lines<'a> {
    pub(crate) text: &'a [u8],
    /// The number of the first of them, from 1.
    pub(crate) first: u64,
}

impl<R: Read> Blocks<R> {
    pub(crate) fn new(source: R) -> Blocks<R> {
        Blocks {
            source,
            buffer: vec![0; BLOCK],
            given: 0,
            filled: 0,
            line: 1,
            skipping: false,
            ended: false,
            wanted: BLOCK,
        }
    }

    /// Returns the first bytes, up to a block, without taking them.
    pub(crate) fn peek(&mut self) -> io::Result<&[u8]> {
        self.fill()?;
        Ok(&self.buffer[self.given..self.filled])
    }

    /// Returns the next lines, as many as fit into a block; `None` at the end.
    pub(crate) fn next(&mut self) -> io::Result<Option<Lines<'_>>> {
        loop {
            self.fill()?;
            if self.given == self.filled {
                return Ok(None);
            }
            if self.skipping {
                self.skip();
                continue;
            }
            let unread = &self.buffer[self.given..self.filled];
            let length = match memrchr(b'\n', unread) {
                Some(last) => last + 1,
                None => {
                    // No newline: the last line of the stream, or a line longer than a block.
                    self.skipping = !self.ended;
                    unread.len()
                }
            };
            let (from, first) = (self.given, self.line);
            self.given += length;
            let text = &self.buffer[from..from + length];
            self.line += memchr::memchr_iter(b'\n', text).count() as u64;
            return Ok(Some(Lines { text, first }));
        }
    }

    fn skip(&mut self) {
        match memchr(b'\n', &self.buffer[self.given..self.filled]) {
            Some(end) => {
                self.given += end + 1;
                self.line += 1;
                self.skipping = false;
            }
            None => self.given = self.filled,
        }
    }

    /// Moves the rest to the front, and reads until the buffer holds a chunk with a whole line, is
    /// full, or the stream ends. The first time the whole buffer is filled, because its content
    /// decides the format of the file.
    fn fill(&mut self) -> io::Result<()> {
        if self.given > 0 {
            self.buffer.copy_within(self.given..self.filled, 0);
            self.filled -= self.given;
            self.given = 0;
            self.wanted = CHUNK;
        }
        while !self.ended && self.filled < self.buffer.len() {
            if self.filled >= self.wanted {
                if memrchr(b'\n', &self.buffer[..self.filled]).is_some() {
                    break;
                }
                self.wanted = self.buffer.len();
            }
            let end = self.wanted.max(self.filled + 1).min(self.buffer.len());
            match self.source.read(&mut self.buffer[self.filled..end]) {
                Ok(0) => self.ended = true,
                Ok(read) => self.filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Returns a reader of the whole stream, which begins with the bytes that are buffered. It
    /// serves formats that are not read by lines.
    pub(crate) fn into_reader(self) -> impl Read {
        let Blocks { source, mut buffer, given, filled, .. } = self;
        buffer.truncate(filled);
        let mut read = io::Cursor::new(buffer);
        read.set_position(given as u64);
        read.chain(source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Effect one byte more at each call, to cut lines at every place.
    struct Trickle<'a>(&'a [u8], usize);

    impl Read for Trickle<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.1 = self.1 % 4096 + 1;
            let length = self.1.min(buffer.len()).min(self.0.len());
            buffer[..length].copy_from_slice(&self.0[..length]);
            self.0 = &self.0[length..];
            Ok(length)
        }
    }

    fn collect(text: &[u8]) -> Vec<(u64, Vec<u8>)> {
        let mut blocks = Blocks::new(Trickle(text, 0));
        let mut lines = Vec::new();
        while let Some(whole) = blocks.next().unwrap() {
            let split = whole.text.split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec);
            lines.extend((whole.first..).zip(split));
        }
        lines
    }

    #[test]
    fn every_line_comes_once_with_its_number() {
        let text: Vec<u8> = (0..200_000)
            .flat_map(|number| format!("line {number} {}\n", "x".repeat(number % 40)).into_bytes())
            .collect();
        assert!(text.len() > 3 * BLOCK);
        let lines = collect(&text[..text.len() - 1]);
        assert_eq!(
            lines.iter().flat_map(|(_, line)| line.clone()).collect::<Vec<u8>>(),
            text[..text.len() - 1]
        );
        assert!(lines.iter().enumerate().all(|(at, (number, _))| *number == at as u64 + 1));
    }

    #[test]
    fn a_line_longer_than_a_block_is_cut_and_the_next_keeps_its_number() {
        let mut text = b"first\n".to_vec();
        text.extend(std::iter::repeat_n(b'y', 3 * BLOCK));
        text.extend(b"\nthird\n");
        let lines = collect(&text);
        assert_eq!(lines.first().unwrap(), &(1, b"first\n".to_vec()));
        assert_eq!(lines.last().unwrap(), &(3, b"third\n".to_vec()));
        assert_eq!(lines.len(), 3);
        assert!(lines[1].1.len() <= BLOCK);
    }
}
