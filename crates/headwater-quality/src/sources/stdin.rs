//! Standard input: bytes of anybody's generator, little-endian words.

use super::Source;
use crate::Error;
use std::io::{ErrorKind, Read};

/// Anything that can be read.
pub(crate) struct Stdin<R> {
    from: R,
    /// Bytes behind the last whole word, which are tested by nobody.
    pub(crate) left_over: usize,
}

impl<R: Read> Stdin<R> {
    pub(crate) fn new(from: R) -> Stdin<R> {
        Stdin { from, left_over: 0 }
    }
}

impl<R: Read + Send> Source for Stdin<R> {
    fn fill(&mut self, out: &mut [u64]) -> Result<usize, Error> {
        let mut bytes = vec![0; 8 * out.len()];
        let mut filled = 0;
        while filled < bytes.len() {
            match self.from.read(&mut bytes[filled..]) {
                Ok(0) => break,
                Ok(n) => filled += n,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    return Err(Error::Source {
                        source: "standard input".to_owned(),
                        reason: error.to_string(),
                    });
                }
            }
        }
        self.left_over = filled % 8;
        for (word, bytes) in out.iter_mut().zip(bytes[..filled].chunks_exact(8)) {
            *word = u64::from_le_bytes(bytes.try_into().expect("chunks of eight"));
        }
        Ok(filled / 8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives one byte at a time, as a pipe may.
    struct Drip<'a>(&'a [u8]);

    impl Read for Drip<'_> {
        fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
            let n = out.len().min(1).min(self.0.len());
            out[..n].copy_from_slice(&self.0[..n]);
            self.0 = &self.0[n..];
            Ok(n)
        }
    }

    #[test]
    fn short_reads_do_not_matter_and_the_end_is_told() {
        let bytes: Vec<u8> = (1..=29).collect();
        let mut source = Stdin::new(Drip(&bytes));
        let mut words = [0; 2];
        assert_eq!(source.fill(&mut words).unwrap(), 2);
        assert_eq!(words, [0x0807_0605_0403_0201, 0x100f_0e0d_0c0b_0a09]);
        assert_eq!(source.fill(&mut words).unwrap(), 1);
        assert_eq!(source.left_over, 5);
    }
}
