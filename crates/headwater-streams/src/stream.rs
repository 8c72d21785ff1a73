//! Streams: any element of any length of them, at any time.

use crate::words::Words;
use crate::{Error, Key, counter};

/// One of a key's 2^48 streams: a function from an element's number to its value.
///
/// It has no position and no state: filling is `&self`, and whoever fills element `e`, from whatever thread and in
/// whatever order, gets the same value. [Not for secrets](crate).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stream {
    key: Key,
    id: u64,
}

impl Stream {
    pub(crate) const fn new(key: Key, id: u64) -> Stream {
        Stream { key, id }
    }

    /// Its key.
    pub const fn key(&self) -> Key {
        self.key
    }

    /// Its number.
    pub const fn id(&self) -> u64 {
        self.id
    }

    /// Writes elements `start..start + out.len()` of the stream of `u64`.
    ///
    /// # Errors
    ///
    /// [`Error::RangeTooLong`] if the range ends past 2^64 - 1.
    pub fn fill_u64(&self, start: u64, out: &mut [u64]) -> Result<(), Error> {
        check(start, out.len())?;
        self.words(0, start, out);
        Ok(())
    }
}

/// Whether a range of elements exists.
pub(crate) fn check(start: u64, len: usize) -> Result<(), Error> {
    match start.checked_add(len as u64) {
        Some(_) => Ok(()),
        None => Err(Error::RangeTooLong { start, len }),
    }
}

impl Words for Stream {
    fn words(&self, draw: u16, start: u64, out: &mut [u64]) {
        let upper = u128::from(counter::upper(self.id, draw)) << 64;
        let key = u128::from_le_bytes(self.key.to_raw());
        for (i, word) in (start..).zip(out) {
            let block = self.key.engine().block(key, upper | u128::from(i / 2));
            *word = (block >> (64 * (i % 2))) as u64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Engine;

    /// Random123, `kat_vectors`, "philox4x32 10" and "ars4x32 7".
    #[test]
    fn known_answers() {
        let key = Key::from_raw(Engine::Philox4x32, [0; 16]);
        let mut out = [0; 2];
        key.stream(0).unwrap().fill_u64(0, &mut out).unwrap();
        assert_eq!(out, [0xe169_c58d_6627_e8d5, 0x9b00_dbd8_bc57_ac4c]);
    }
}
