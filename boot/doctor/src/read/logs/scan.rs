//! Relevant lines of a large file. The plain way would split the file into lines and search each,
//! but nearly all lines hold none of the words. So whole blocks are searched, and only around a hit
//! is the line's begin and end looked for.

use super::Blocks;
use aho_corasick::{AhoCorasick, Span, packed};
use memchr::{memchr, memchr_iter, memrchr};
use std::cell::Cell;
use std::io::{self, Read};
use std::sync::OnceLock;

/// A line that holds one of the words. Its number and its predecessor cost a search of the block,
/// and few relevant lines become evidence, so both are found on demand.
pub(crate) struct Line<'a> {
    /// The line without its newline.
    pub(crate) text: &'a [u8],
    /// The lines of the block, and the place at which this line begins.
    whole: &'a [u8],
    begin: usize,
    /// A place in the block, and the number of its line.
    counted: &'a Cell<(usize, u64)>,
    /// The last line of the blocks before that is not empty.
    last: &'a [u8],
}

impl<'a> Line<'a> {
    /// Returns the number of the line, from 1.
    pub(crate) fn number(&self) -> u64 {
        let (from, number) = self.counted.get();
        let passed = self.whole.get(from..self.begin).unwrap_or_default();
        let number = number + memchr_iter(b'\n', passed).count() as u64;
        self.counted.set((self.begin, number));
        number
    }

    /// Returns the line before it that is not empty, whether it holds a word or not.
    pub(crate) fn before(&self) -> &'a [u8] {
        last_line(&self.whole[..self.begin]).unwrap_or(self.last)
    }
}

/// A search for any of several words.
enum Words {
    /// By vector instructions, several bytes at a time.
    Packed(packed::Searcher),
    /// By a table, on CPUs without these instructions.
    Table(AhoCorasick),
}

impl Words {
    fn new(words: &[&str]) -> io::Result<Words> {
        if let Some(packed) = packed::Searcher::new(words) {
            return Ok(Words::Packed(packed));
        }
        AhoCorasick::new(words).map(Words::Table).map_err(io::Error::other)
    }

    /// Returns the place of the first word at or after `from`.
    fn find(&self, text: &[u8], from: usize) -> Option<usize> {
        let span = Span::from(from..text.len());
        match self {
            Words::Packed(packed) => packed.find_in(text, span).map(|found| found.start()),
            Words::Table(table) => {
                let input = aho_corasick::Input::new(text).span(span);
                table.find(input).map(|found| found.start())
            }
        }
    }
}

/// A search for any of several texts in one line, which is prepared once.
pub(crate) struct Texts {
    texts: &'static [&'static str],
    words: OnceLock<Option<Words>>,
}

impl Texts {
    pub(crate) const fn new(texts: &'static [&'static str]) -> Texts {
        Texts { texts, words: OnceLock::new() }
    }

    /// Returns the place of the first of the texts.
    pub(crate) fn find(&self, line: &str) -> Option<usize> {
        match self.words.get_or_init(|| Words::new(self.texts).ok()) {
            Some(words) => words.find(line.as_bytes(), 0),
            None => self.texts.iter().filter_map(|text| line.find(text)).min(),
        }
    }

    pub(crate) fn is_in(&self, line: &str) -> bool {
        self.find(line).is_some()
    }
}

/// The number of lines at the end of a block among which the last one that counts is looked for:
/// pastes end with a prompt, a login, a run of NULs.
const TRAILERS: usize = 200;

/// Calls `each` for every line that holds one of `words`, in order. Returns the last line that
/// counts.
pub(crate) fn scan<R: Read>(
    blocks: &mut Blocks<R>,
    words: &[&str],
    mut each: impl FnMut(&Line<'_>),
    counts: impl Fn(&[u8]) -> bool,
) -> io::Result<Vec<u8>> {
    let words = Words::new(words)?;
    let (mut last, mut counted_last) = (Vec::new(), Vec::new());
    while let Some(block) = blocks.next()? {
        let whole = block.text;
        let counted = Cell::new((0, block.first));
        let mut from = 0;
        while let Some(hit) = words.find(whole, from) {
            // A hit lies after the end of the last one's line.
            let begin = memrchr(b'\n', &whole[from..hit]).map_or(from, |at| from + at + 1);
            let end = memchr(b'\n', &whole[hit..]).map_or(whole.len(), |at| hit + at);
            each(&Line { text: &whole[begin..end], whole, begin, counted: &counted, last: &last });
            from = (end + 1).min(whole.len());
        }
        if let Some(line) = last_line(whole) {
            line.clone_into(&mut last);
        }
        let lines = whole.rsplit(|byte| *byte == b'\n').take(TRAILERS);
        if let Some(line) = lines.into_iter().find(|line| !line.is_empty() && counts(line)) {
            line.clone_into(&mut counted_last);
        }
    }
    Ok(counted_last)
}

/// Returns the last line that is not empty.
fn last_line(text: &[u8]) -> Option<&[u8]> {
    let end = text.iter().rposition(|byte| !byte.is_ascii_whitespace())? + 1;
    let begin = memrchr(b'\n', &text[..end]).map_or(0, |at| at + 1);
    Some(&text[begin..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_with_a_word_are_found_in_order_with_the_line_before() {
        let text = b"zero\none random\n\ntwo\ncrng and random and crng\nlast line \n\n";
        let mut found = Vec::new();
        let last = scan(
            &mut Blocks::new(&text[..]),
            &["random", "crng"],
            |line| {
                found.push((line.number(), line.text.to_vec(), line.before().to_vec()));
            },
            |line| line.starts_with(b"t"),
        );
        let expected = [
            (2, b"one random".to_vec(), b"zero".to_vec()),
            (5, b"crng and random and crng".to_vec(), b"two".to_vec()),
        ];
        assert_eq!(found, expected);
        assert_eq!(last.unwrap(), b"two");
    }

    /// Against splitting at every newline, on lines that cross the ends of blocks.
    #[test]
    fn what_is_found_is_what_a_plain_search_finds() {
        let text: String = (0..150_000_u32)
            .map(|number| match number.wrapping_mul(2_654_435_761) >> 27 {
                0 => format!("{number} here is a random word\n"),
                1 => format!("{number} crng\n"),
                2 => "\n".to_owned(),
                _ => format!("{number} something else that is not looked for\n"),
            })
            .collect();
        let mut found = Vec::new();
        scan(
            &mut Blocks::new(text.as_bytes()),
            &["crng", "random"],
            |line| {
                found.push((line.number(), String::from_utf8(line.text.to_vec()).unwrap()));
            },
            |_| true,
        )
        .unwrap();
        let plain: Vec<(u64, String)> = (1..)
            .zip(text.lines())
            .filter(|(_, line)| line.contains("random") || line.contains("crng"))
            .map(|(number, line)| (number, line.to_owned()))
            .collect();
        assert_eq!(found, plain);
    }
}
