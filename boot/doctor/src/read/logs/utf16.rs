//! Text in UTF-16, as PowerShell writes what a program prints: `wsl dmesg > boot.log`.

use std::io::{self, Cursor, Read};

/// Returns the stream in UTF-8 if its first two bytes are the mark of UTF-16, and otherwise as it
/// is. Without the mark a guess would have to count NULs, which power cuts leave in logs as well.
pub(crate) fn decoded<'a>(mut source: impl Read + 'a) -> io::Result<Box<dyn Read + 'a>> {
    let mut mark = Vec::with_capacity(2);
    source.by_ref().take(2).read_to_end(&mut mark)?;
    let from = match *mark.as_slice() {
        [0xff, 0xfe] => u16::from_le_bytes,
        [0xfe, 0xff] => u16::from_be_bytes,
        _ => return Ok(Box::new(Cursor::new(mark).chain(source))),
    };
    Ok(Box::new(Utf16 { source, from, rest: Vec::new(), ready: Vec::new(), given: 0 }))
}

struct Utf16<R> {
    source: R,
    from: fn([u8; 2]) -> u16,
    /// Bytes of a character whose end has not been read.
    rest: Vec<u8>,
    /// Characters in UTF-8, and the number of bytes of them that were handed out.
    ready: Vec<u8>,
    given: usize,
}

impl<R: Read> Utf16<R> {
    /// Reads more characters. Returns false at the end.
    fn fill(&mut self) -> io::Result<bool> {
        let mut bytes = [0; 1 << 14];
        let read = self.source.read(&mut bytes)?;
        self.rest.extend(bytes.iter().take(read));
        let units: Vec<u16> = self.rest.as_chunks().0.iter().map(|two| (self.from)(*two)).collect();
        // A pair of units makes one character, so a first half waits for its second one.
        let is_half = |unit: &&u16| (0xd800..0xdc00).contains(*unit) && read > 0;
        let whole = units.len() - usize::from(units.last().filter(is_half).is_some());
        let text: String = char::decode_utf16(units.into_iter().take(whole))
            .map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect();
        self.rest.drain(..2 * whole);
        (self.ready, self.given) = (text.into_bytes(), 0);
        Ok(read > 0)
    }
}

impl<R: Read> Read for Utf16<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.given == self.ready.len() {
            if !self.fill()? && self.ready.is_empty() {
                return Ok(0);
            }
        }
        let ready = self.ready.get(self.given..).unwrap_or_default();
        let length = ready.len().min(buffer.len());
        buffer[..length].copy_from_slice(&ready[..length]);
        self.given += length;
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The standard library's encoder is the reference; a byte at a time cuts every character.
    #[test]
    fn both_orders_of_bytes_are_read() {
        struct Single<'a>(&'a [u8]);
        impl Read for Single<'_> {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                let length = self.0.len().min(buffer.len()).min(1);
                buffer[..length].copy_from_slice(&self.0[..length]);
                self.0 = &self.0[length..];
                Ok(length)
            }
        }
        let text = "[    1.500000] random: crng init done\r\n🎲 für\n";
        for to in [u16::to_le_bytes, u16::to_be_bytes] {
            let units = std::iter::once(0xfeff).chain(text.encode_utf16());
            let bytes: Vec<u8> = units.flat_map(to).collect();
            for (mut source, what) in [
                (decoded(Single(&bytes)).unwrap(), "single bytes"),
                (decoded(&*bytes).unwrap(), "all at once"),
            ] {
                let mut found = String::new();
                source.read_to_string(&mut found).unwrap();
                assert_eq!(found, text, "{what}");
            }
        }
        let mut plain = String::new();
        decoded(text.as_bytes()).unwrap().read_to_string(&mut plain).unwrap();
        assert_eq!(plain, text);
    }
}
