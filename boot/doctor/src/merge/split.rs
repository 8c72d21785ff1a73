//! Splits a stream of JSON documents, however they are put together: one after the other, one a
//! line, or as the elements of an array.
//!
//! A document that ends too early must not cost the next one, so to count braces is not enough: the
//! missing ones would be taken from there. But in valid JSON no text contains a raw line break, and
//! a brace at the start of a line follows a comma, a colon or a bracket. Therefore any other brace
//! at the start of a line begins a new document.

use std::io::{self, Read};

/// Longer documents are skipped. A report with a thousand boots in it is a tenth as long.
pub(super) const LONGEST: usize = 32 << 20;
const CHUNK: usize = 1 << 18;

/// A piece of the input.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// Text from an opening brace to its closing brace.
    Document(&'a [u8]),
    /// Text that is not part of a document, or a document without an end.
    Bad(Fault),
}

/// The reason why a piece is not a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The text does not begin with a brace.
    NotAnObject,
    /// The document ends before its last brace.
    Truncated,
    /// The document is longer than [`LONGEST`].
    TooLong,
}

/// A reader of documents. It holds one document at a time.
pub(super) struct Splitter<R> {
    source: R,
    buffer: Vec<u8>,
    /// The part of the buffer that is not consumed yet.
    start: usize,
    is_at_end: bool,
    /// A place in the last piece where a new document may have begun.
    restart: Option<usize>,
}

/// The end of the document at the buffer's start.
enum End {
    At(usize),
    /// The document has no end: the next one begins here.
    CutAt(usize),
    NeedsMore,
}

impl<R: Read> Splitter<R> {
    pub(super) fn new(source: R) -> Splitter<R> {
        Splitter { source, buffer: Vec::new(), start: 0, is_at_end: false, restart: None }
    }

    /// Returns the next piece, or `None` at the end of the input.
    pub(super) fn next(&mut self) -> io::Result<Option<Piece<'_>>> {
        self.restart = None;
        if !self.skip_separators()? {
            return Ok(None);
        }
        if self.rest().first() != Some(&b'{') {
            self.skip_line(Fault::NotAnObject)?;
            return Ok(Some(Piece::Bad(Fault::NotAnObject)));
        }
        let mut scan = Scan::default();
        loop {
            match scan.go(self.buffer.get(self.start..).unwrap_or_default()) {
                End::At(length) => {
                    let from = self.start;
                    self.start += length;
                    self.restart = scan.restart.map(|at| from + at);
                    return Ok(Some(Piece::Document(
                        self.buffer.get(from..from + length).unwrap_or_default(),
                    )));
                }
                End::CutAt(length) => {
                    self.start += length;
                    return Ok(Some(Piece::Bad(Fault::Truncated)));
                }
                End::NeedsMore if self.rest().len() > LONGEST => {
                    self.skip_line(Fault::TooLong)?;
                    return Ok(Some(Piece::Bad(Fault::TooLong)));
                }
                End::NeedsMore => {
                    if !self.read_more()? {
                        let cut = scan.restart.map(|at| self.start + at);
                        self.start = cut.unwrap_or(self.buffer.len());
                        return Ok(Some(Piece::Bad(Fault::Truncated)));
                    }
                }
            }
        }
    }

    /// Continues inside the last document, if it was not valid and another one may begin there: a
    /// document that was cut after a comma looks as if the next one was an element of it.
    pub(super) fn retreat(&mut self) {
        if let Some(at) = self.restart.take() {
            self.start = at;
        }
    }

    fn rest(&self) -> &[u8] {
        self.buffer.get(self.start..).unwrap_or_default()
    }

    /// Skips blanks and the signs between the elements of an array. Returns false at the end.
    fn skip_separators(&mut self) -> io::Result<bool> {
        loop {
            // 0x1e begins each document of RFC 7464; the last three are the byte order mark.
            let is_between = |byte: &&u8| b" \t\r\n,[]\x1e\xef\xbb\xbf".contains(byte);
            let skipped = self.rest().iter().take_while(is_between).count();
            self.start += skipped;
            if !self.rest().is_empty() {
                return Ok(true);
            }
            if !self.read_more()? {
                return Ok(false);
            }
        }
    }

    /// Skips to the next line; for a document that is too long, to the next one.
    fn skip_line(&mut self, fault: Fault) -> io::Result<()> {
        let mut is_line_start = false;
        loop {
            let mut skipped = 0;
            let mut is_found = false;
            for byte in self.rest() {
                if is_line_start && (fault == Fault::NotAnObject || *byte == b'{') {
                    is_found = true;
                    break;
                }
                is_line_start = *byte == b'\n';
                skipped += 1;
            }
            self.start += skipped;
            if is_found || !self.read_more()? {
                return Ok(());
            }
        }
    }

    /// Reads the next chunk. Returns false at the end of the input.
    fn read_more(&mut self) -> io::Result<bool> {
        if self.is_at_end {
            return Ok(false);
        }
        self.buffer.drain(..self.start);
        self.start = 0;
        let filled = self.buffer.len();
        self.buffer.resize(filled + CHUNK, 0);
        let read = loop {
            match self.source.read(self.buffer.get_mut(filled..).unwrap_or_default()) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other,
            }
        };
        let count = match &read {
            Ok(count) => *count,
            Err(_) => 0,
        };
        self.buffer.truncate(filled + count);
        self.is_at_end = count == 0;
        read.map(|count| count > 0)
    }
}

/// The state of a scan, which continues where it stopped when more text arrives.
#[derive(Default)]
struct Scan {
    at: usize,
    depth: usize,
    is_in_text: bool,
    is_escaped: bool,
    /// The last byte that is not a blank.
    last: u8,
    is_line_start: bool,
    /// The first brace at the start of a line inside the document.
    restart: Option<usize>,
}

impl Scan {
    fn go(&mut self, text: &[u8]) -> End {
        while let Some(&byte) = text.get(self.at) {
            // Most bytes of a report are inside texts, where only three bytes matter.
            if self.is_in_text && !self.is_escaped && !self.is_line_start {
                let rest = text.get(self.at..).unwrap_or_default();
                match memchr::memchr3(b'"', b'\\', b'\n', rest) {
                    Some(0) => {}
                    Some(skipped) => {
                        self.at += skipped;
                        continue;
                    }
                    None => {
                        self.at = text.len();
                        continue;
                    }
                }
            }
            if self.is_line_start && byte == b'{' && self.at > 0 {
                if self.is_in_text || !matches!(self.last, b',' | b':' | b'[') {
                    return End::CutAt(self.restart.unwrap_or(self.at));
                }
                self.restart.get_or_insert(self.at);
            }
            self.is_line_start = byte == b'\n';
            self.at += 1;
            if self.is_in_text {
                match byte {
                    _ if self.is_escaped => self.is_escaped = false,
                    b'\\' => self.is_escaped = true,
                    b'"' => self.is_in_text = false,
                    _ => {}
                }
                continue;
            }
            match byte {
                b'"' => self.is_in_text = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        return End::At(self.at);
                    }
                }
                _ => {}
            }
            if !byte.is_ascii_whitespace() {
                self.last = byte;
            }
        }
        End::NeedsMore
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader that returns a few bytes at a time, so that every state crosses a chunk's end.
    struct Slow<'a>(&'a [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(self.0.len()).min(out.len());
            let (now, later) = self.0.split_at(count);
            out[..count].copy_from_slice(now);
            self.0 = later;
            Ok(count)
        }
    }

    /// Returns the documents, with `!` for a truncated one and `?` for other text.
    fn pieces(text: &str) -> Vec<String> {
        let mut answers = [1, 3, 4096].map(|step| {
            let mut splitter = Splitter::new(Slow(text.as_bytes(), step));
            let mut all = Vec::new();
            while let Some(piece) = splitter.next().unwrap() {
                all.push(match piece {
                    Piece::Document(text) => String::from_utf8_lossy(text).into_owned(),
                    Piece::Bad(Fault::Truncated) => "!".to_owned(),
                    Piece::Bad(_) => "?".to_owned(),
                });
            }
            all
        });
        assert_eq!(answers[0], answers[1], "{text}");
        assert_eq!(answers[1], answers[2], "{text}");
        std::mem::take(&mut answers[2])
    }

    #[test]
    fn documents_are_found_however_they_are_put_together() {
        let cases: [(&str, &[&str]); 26] = [
            ("", &[]),
            (" \n\t", &[]),
            ("{}", &["{}"]),
            ("{}{}", &["{}", "{}"]),
            ("{\"a\":1}\n{\"b\":2}\n", &["{\"a\":1}", "{\"b\":2}"]),
            ("[{\"a\":1},{\"b\":2}]", &["{\"a\":1}", "{\"b\":2}"]),
            ("[\n  {\"a\": 1},\n  {}\n]\n", &["{\"a\": 1}", "{}"]),
            ("\u{feff}{}", &["{}"]),
            ("\x1e{}\n\x1e{}\n", &["{}", "{}"]),
            ("{\"a\":\"}\"}", &["{\"a\":\"}\"}"]),
            ("{\"a\":\"\\\"}\"}{}", &["{\"a\":\"\\\"}\"}", "{}"]),
            ("{\"a\":\"\\\\\"}{}", &["{\"a\":\"\\\\\"}", "{}"]),
            ("{\n\"a\": {\n\"b\": 1\n}\n}\n", &["{\n\"a\": {\n\"b\": 1\n}\n}"]),
            // Python's json.dump(indent=0) writes braces at the start of lines.
            ("{\n\"a\": [\n{\n\"b\": 1\n},\n{}\n]\n}", &["{\n\"a\": [\n{\n\"b\": 1\n},\n{}\n]\n}"]),
            ("{\"a\":", &["!"]),
            ("{\"a\": tru\n{\"b\":2}", &["!", "{\"b\":2}"]),
            ("{\"a\": \"long te\n{\"b\":2}", &["!", "{\"b\":2}"]),
            ("{\n \"a\": [1\n{\"b\":2}\n{}", &["!", "{\"b\":2}", "{}"]),
            ("{\"a\": {\"x\": 1}\n{\"b\":2}", &["!", "{\"b\":2}"]),
            ("{\"a\": 1,\n{\"b\":2}\n{}", &["!", "{\"b\":2}", "{}"]),
            ("{\"a\":\n{\"b\":2}\n{}", &["!", "{\"b\":2}", "{}"]),
            ("garbage\n{}", &["?", "{}"]),
            ("<html>\n<p>\n{}", &["?", "?", "{}"]),
            ("{}garbage\n{}", &["{}", "?", "{}"]),
            ("null\n{}", &["?", "{}"]),
            ("\"text\"", &["?"]),
        ];
        for (text, expected) in cases {
            assert_eq!(pieces(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_document_without_an_end_takes_no_more_memory_than_the_limit() {
        struct Endless(usize);
        impl Read for Endless {
            fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
                let count = out.len().min(self.0);
                self.0 -= count;
                out[..count].fill(b'[');
                Ok(count)
            }
        }
        let text = b"{\"a\":".as_slice().chain(Endless(LONGEST * 2)).chain(b"\n{}".as_slice());
        let mut splitter = Splitter::new(text);
        assert_eq!(splitter.next().unwrap(), Some(Piece::Bad(Fault::TooLong)));
        assert!(splitter.buffer.capacity() < 3 * LONGEST);
        assert_eq!(splitter.next().unwrap(), Some(Piece::Document(b"{}")));
    }

    #[test]
    fn random_bytes_end_the_split_and_never_panic() {
        proptest::proptest!(|(bytes in proptest::collection::vec(
            proptest::sample::select(b"{}[]\"\\\n, a:1\xff".to_vec()), 0..200))| {
            let mut splitter = Splitter::new(bytes.as_slice());
            let mut count = 0;
            while splitter.next().unwrap().is_some() {
                count += 1;
                assert!(count <= 200);
            }
        });
    }
}
