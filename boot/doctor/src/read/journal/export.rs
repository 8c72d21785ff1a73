//! journalctl's export format (systemd's JOURNAL_EXPORT_FORMATS): `NAME=value` a line, an empty
//! line after each entry, and for a value that is not plain text its name, eight bytes of length,
//! little-endian, and the bytes.
//!
//! The other formats are searched for keywords, and only lines with one are parsed. That would be
//! wrong here: a value may hold any bytes, even newlines and text that looks like another entry, so
//! a hit might lie inside what some program wrote. Therefore the stream is read field by field. It
//! is no slower, because a field that does not matter costs one search for its end.

use super::json::{Fields, Value};
use memchr::memchr;
use std::borrow::Cow;
use std::io::{self, Read};

const BUFFER: usize = 1 << 20;
/// A value is kept up to this length; no message that matters is longer.
const VALUE: usize = 1 << 14;
/// The longest name of a field, by systemd.
const NAME: usize = 64;

/// The fields that matter.
const NAMES: [&str; 9] = [
    "MESSAGE",
    "_TRANSPORT",
    "SYSLOG_IDENTIFIER",
    "_PID",
    "SYSLOG_PID",
    "UNIT",
    "_BOOT_ID",
    "__MONOTONIC_TIMESTAMP",
    "_SOURCE_MONOTONIC_TIMESTAMP",
];

/// Calls `each` for every entry, with its number from 1.
pub(super) fn read(source: impl Read, mut each: impl FnMut(u64, Fields<'_>)) -> io::Result<()> {
    let mut fields = Stream { source, buffer: vec![0; BUFFER], from: 0, to: 0, ended: false };
    let mut entry = Slots::default();
    let mut number = 0;
    loop {
        let more = fields.next(&mut entry)?;
        if more == Next::Field {
            continue;
        }
        if entry.any {
            number += 1;
            each(number, entry.fields());
            entry.clear();
        }
        if more == Next::Nothing {
            return Ok(());
        }
    }
}

/// Returns whether a line begins as a field does: with a name and `=`.
pub(super) fn is_field(line: &[u8]) -> bool {
    memchr(b'=', &line[..line.len().min(NAME + 1)]).is_some_and(|end| is_name(&line[..end]))
}

fn is_name(name: &[u8]) -> bool {
    !name.is_empty()
        && name.len() <= NAME
        && name
            .iter()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_')
}

#[derive(PartialEq, Eq)]
enum Next {
    Field,
    EndOfEntry,
    Nothing,
}

/// The values that matter, of the entry that is being read.
#[derive(Default)]
struct Slots {
    values: [Vec<u8>; NAMES.len()],
    filled: [bool; NAMES.len()],
    any: bool,
}

impl Slots {
    /// Returns the place for a field's value; `None` if the field does not matter, or if the entry
    /// has had one of this name.
    fn slot(&mut self, name: &[u8]) -> Option<&mut Vec<u8>> {
        let place = NAMES.iter().position(|known| known.as_bytes() == name)?;
        self.any = true;
        if self.filled[place] {
            return None;
        }
        self.filled[place] = true;
        self.values[place].clear();
        Some(&mut self.values[place])
    }

    fn clear(&mut self) {
        self.filled = [false; NAMES.len()];
        self.any = false;
    }

    fn fields(&self) -> Fields<'_> {
        let [message, transport, identifier, pid, syslog_pid, unit, boot, received, written] =
            std::array::from_fn(|place| {
                let text = |bytes| -> Cow<'_, str> { String::from_utf8_lossy(bytes) };
                Value(self.filled[place].then(|| text(&self.values[place])))
            });
        let wall = Value::default();
        Fields {
            message,
            transport,
            identifier,
            pid,
            syslog_pid,
            unit,
            boot,
            received,
            written,
            wall,
        }
    }
}

struct Stream<R> {
    source: R,
    buffer: Vec<u8>,
    from: usize,
    to: usize,
    ended: bool,
}

impl<R: Read> Stream<R> {
    /// Takes one field into its slot.
    fn next(&mut self, entry: &mut Slots) -> io::Result<Next> {
        let Some(end) = self.line_end()? else {
            // The last line lacks its newline, or a value is longer than the buffer: what there is
            // of it is taken.
            let rest = self.from..self.to;
            if rest.is_empty() {
                return Ok(Next::Nothing);
            }
            keep(&self.buffer[rest], entry);
            self.from = self.to;
            self.skip_line()?;
            return Ok(Next::Field);
        };
        let line = self.from..end;
        self.from = end + 1;
        if line.is_empty() {
            return Ok(Next::EndOfEntry);
        }
        if !keep(&self.buffer[line.clone()], entry) && is_name(&self.buffer[line.clone()]) {
            let mut name = [0; NAME];
            let name = &mut name[..line.len()];
            name.copy_from_slice(&self.buffer[line]);
            self.binary(entry.slot(name))?;
        }
        Ok(Next::Field)
    }

    /// Reads a binary value: eight bytes of length, that many bytes, a newline.
    fn binary(&mut self, mut into: Option<&mut Vec<u8>>) -> io::Result<()> {
        while self.to - self.from < 8 {
            if !self.fill()? {
                self.from = self.to;
                return Ok(());
            }
        }
        let (length, _) =
            self.buffer[self.from..self.to].split_first_chunk().expect("eight bytes are there");
        let mut left = u64::from_le_bytes(*length).saturating_add(1);
        self.from += 8;
        while left > 0 {
            if self.from == self.to && !self.fill()? {
                return Ok(());
            }
            let here = usize::try_from(left).unwrap_or(usize::MAX).min(self.to - self.from);
            let bytes = &self.buffer[self.from..self.from + here];
            if let Some(into) = &mut into {
                // The newline at the end is not part of the value.
                let value = if here as u64 == left { &bytes[..here - 1] } else { bytes };
                into.extend_from_slice(&value[..value.len().min(VALUE - into.len().min(VALUE))]);
            }
            self.from += here;
            left -= here as u64;
        }
        Ok(())
    }

    /// Returns the end of the line that begins at `from`; `None` if the line is longer than the
    /// buffer.
    fn line_end(&mut self) -> io::Result<Option<usize>> {
        loop {
            if let Some(end) = memchr(b'\n', &self.buffer[self.from..self.to]) {
                return Ok(Some(self.from + end));
            }
            if self.to - self.from == self.buffer.len() || !self.fill()? {
                return Ok(None);
            }
        }
    }

    fn skip_line(&mut self) -> io::Result<()> {
        loop {
            if let Some(end) = memchr(b'\n', &self.buffer[self.from..self.to]) {
                self.from += end + 1;
                return Ok(());
            }
            self.from = self.to;
            if !self.fill()? {
                return Ok(());
            }
        }
    }

    /// Reads more; `false` at the end.
    fn fill(&mut self) -> io::Result<bool> {
        self.buffer.copy_within(self.from..self.to, 0);
        self.to -= self.from;
        self.from = 0;
        while !self.ended {
            match self.source.read(&mut self.buffer[self.to..]) {
                Ok(0) => self.ended = true,
                Ok(read) => {
                    self.to += read;
                    return Ok(true);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(false)
    }
}

/// Takes `NAME=value`; `false` for a line that is not one.
fn keep(line: &[u8], entry: &mut Slots) -> bool {
    let Some(end) = memchr(b'=', &line[..line.len().min(NAME + 1)]) else { return false };
    if let Some(slot) = entry.slot(&line[..end]) {
        let value = &line[end + 1..];
        slot.extend_from_slice(&value[..value.len().min(VALUE)]);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Effect `1` byte at a time, so that each field is cut at every place.
    struct Slow<'a>(&'a [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.0.read(&mut buffer[..1])
        }
    }

    fn messages(text: &[u8]) -> Vec<(u64, String)> {
        let mut all = Vec::new();
        read(Slow(text), |number, fields| {
            all.push((number, fields.message.0.unwrap_or_default().into_owned()));
        })
        .unwrap();
        all
    }

    fn binary(name: &str, value: &[u8]) -> Vec<u8> {
        [name.as_bytes(), b"\n", &(value.len() as u64).to_le_bytes(), value, b"\n"].concat()
    }

    /// A value that looks like the end of an entry, and another one in which the kernel is ready,
    /// is a value.
    #[test]
    fn what_a_binary_value_holds_is_no_entry() {
        let lies = b"a\n\nMESSAGE=random: crng init done\n_TRANSPORT=kernel\n\n";
        let text = [
            b"__CURSOR=1\n".to_vec(),
            binary("COREDUMP", lies),
            binary("MESSAGE", b"two\nlines"),
            b"_PID=1\n\n__CURSOR=2\nMESSAGE=plain\n".to_vec(),
        ]
        .concat();
        assert_eq!(messages(&text), [(1, "two\nlines".to_owned()), (2, "plain".to_owned())]);
    }

    #[test]
    fn cut_anywhere_a_stream_gives_whole_entries_and_no_others() {
        let text = [
            &b"MESSAGE=one\n_PID=1\n\n"[..],
            &binary("MESSAGE", b"two\nlines"),
            b"_PID=1\n\nMESSAGE=three\n\n",
        ]
        .concat();
        let all = messages(&text);
        for end in 0..text.len() {
            for (number, message) in messages(&text[..end]) {
                let (_, whole) = &all[number as usize - 1];
                assert!(whole.starts_with(&message), "{end}: {message}");
            }
        }
    }

    #[test]
    fn an_absurd_length_ends_the_stream_and_takes_no_memory() {
        let text =
            [b"MESSAGE=one\n\nMESSAGE\n".to_vec(), vec![0xff; 8], b"MESSAGE=two\n\n".to_vec()]
                .concat();
        let found = messages(&text);
        assert_eq!(found[0].1, "one");
        assert_eq!(found.len(), 2);
    }
}
