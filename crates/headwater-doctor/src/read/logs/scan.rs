//! Relevant lines of a large file. Whole blocks are searched for words, so most of a log is never
//! split into lines.

use super::Blocks;
use memchr::memmem::Finder;
use memchr::{memchr, memchr_iter, memrchr};
use std::io::{self, Read};

/// A line that holds one of the words.
pub(crate) struct Line<'a> {
    /// Its number, from 1.
    pub(crate) number: u64,
    /// The line without its newline.
    pub(crate) text: &'a [u8],
    /// The line before it that is not empty, whether it holds a word or not.
    pub(crate) before: &'a [u8],
}

/// Calls `each` for every line that holds one of `words`, in order. Returns the last line that is
/// not empty.
pub(crate) fn scan<R: Read>(
    blocks: &mut Blocks<R>,
    words: &[&str],
    mut each: impl FnMut(Line<'_>),
) -> io::Result<Vec<u8>> {
    let finders: Vec<Finder<'_>> = words.iter().map(Finder::new).collect();
    // The next position of each word. A rare word is searched for once in a block, however often
    // the others occur.
    let mut next: Vec<usize> = vec![0; finders.len()];
    let mut last = Vec::new();
    while let Some(whole) = blocks.next()? {
        let text = whole.text;
        let find = |finder: &Finder<'_>, from: usize| {
            finder.find(&text[from..]).map_or(usize::MAX, |at| from + at)
        };
        for (finder, next) in finders.iter().zip(&mut next) {
            *next = find(finder, 0);
        }
        let (mut number, mut counted) = (whole.first, 0);
        loop {
            let hit = next.iter().copied().min().unwrap_or(usize::MAX);
            if hit == usize::MAX {
                break;
            }
            let begin = memrchr(b'\n', &text[..hit]).map_or(0, |at| at + 1);
            let end = memchr(b'\n', &text[hit..]).map_or(text.len(), |at| hit + at);
            number += memchr_iter(b'\n', &text[counted..begin]).count() as u64;
            counted = begin;
            let before = last_line(&text[..begin]).unwrap_or(&last);
            each(Line { number, text: &text[begin..end], before });
            for (finder, next) in finders.iter().zip(&mut next) {
                if *next < end {
                    *next = find(finder, end);
                }
            }
        }
        if let Some(line) = last_line(text) {
            line.clone_into(&mut last);
        }
    }
    Ok(last)
}

/// The last line that is not empty.
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
        let last = scan(&mut Blocks::new(&text[..]), &["random", "crng"], |line| {
            found.push((line.number, line.text.to_vec(), line.before.to_vec()));
        });
        let expected = [
            (2, b"one random".to_vec(), b"zero".to_vec()),
            (5, b"crng and random and crng".to_vec(), b"two".to_vec()),
        ];
        assert_eq!(found, expected);
        assert_eq!(last.unwrap(), b"last line");
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
        scan(&mut Blocks::new(text.as_bytes()), &["crng", "random"], |line| {
            found.push((line.number, String::from_utf8(line.text.to_vec()).unwrap()));
        })
        .unwrap();
        let plain: Vec<(u64, String)> = (1..)
            .zip(text.lines())
            .filter(|(_, line)| line.contains("random") || line.contains("crng"))
            .map(|(number, line)| (number, line.to_owned()))
            .collect();
        assert_eq!(found, plain);
    }
}
