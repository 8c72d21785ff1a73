//! A document as the check sees it: blocks of text, and the speeds that stand in them.

use std::ops::Range;

/// Units and phrases that make the number before them a speed.
const UNITS: [(&str, Option<&str>); 17] = [
    ("ns", Some("ns")),
    ("µs", Some("us")),
    ("us", Some("us")),
    ("ms", Some("ms")),
    ("nanoseconds", Some("ns")),
    ("microseconds", Some("us")),
    ("milliseconds", Some("ms")),
    ("GB/s", Some("GB/s")),
    ("times as fast", None),
    ("times faster", None),
    ("times as slow", None),
    ("times slower", None),
    ("times the speed", None),
    ("x faster", None),
    ("x as fast", None),
    ("% faster", None),
    ("% slower", None),
];

/// Words between two numbers that share the unit after the second: "4 and 8 ns".
const JOINS: [&str; 4] = [" to ", " and ", " or ", "–"];

/// A paragraph, a list item, a heading or a row of a table, with single spaces in place of line
/// breaks.
pub(crate) struct Block {
    pub(crate) text: String,
    /// Where each line of the document starts in `text`, and the number of the line.
    lines: Vec<(usize, usize)>,
    /// Only for rows of tables: which block is the heading, and how many rows lie between.
    pub(crate) row: Option<(usize, usize)>,
}

impl Block {
    /// Returns the line of the document that holds the byte at `at`.
    pub(crate) fn line(&self, at: usize) -> usize {
        self.lines.iter().take_while(|(start, _)| *start <= at).last().map_or(0, |(_, line)| *line)
    }

    /// Returns the ranges of a row's cells, without the spaces around them.
    pub(crate) fn cells(&self) -> Vec<Range<usize>> {
        let bars: Vec<usize> = self.text.match_indices('|').map(|(at, _)| at).collect();
        let between = bars.windows(2).map(|pair| pair[0] + 1..pair[1]);
        between.map(|cell| trimmed(&self.text, cell)).collect()
    }
}

fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let start = range.end - text[range.clone()].trim_start().len();
    start..start + text[range].trim().len()
}

/// Splits a document into blocks. Fenced code is left out, because it shows markup and output.
pub(crate) fn blocks(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut open = false; // the next line of text belongs to the last block
    let mut code = false;
    let mut heading: Option<usize> = None;
    for (index, line) in text.lines().enumerate() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let bare = words.join(" ");
        if bare.starts_with("```") {
            code = !code;
            open = false;
            continue;
        }
        let in_table = bare.starts_with('|');
        if !in_table {
            heading = None;
        }
        if code || bare.is_empty() {
            open = false;
            continue;
        }
        if open && !in_table && !starts_block(&bare) {
            let block = blocks.last_mut().expect("an open block");
            block.text.push(' ');
            block.lines.push((block.text.len(), index + 1));
            block.text.push_str(&bare);
            continue;
        }
        let row = heading.map(|heading| (heading, blocks.len() - heading));
        if in_table && heading.is_none() {
            heading = Some(blocks.len());
        }
        open = !in_table && !bare.starts_with('#');
        blocks.push(Block { text: bare, lines: vec![(0, index + 1)], row });
    }
    blocks
}

/// Reports whether a line begins a list item or a heading.
fn starts_block(line: &str) -> bool {
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    line.starts_with("* ")
        || line.starts_with("- ")
        || line.starts_with('#')
        || (digits.len() < line.len() && digits.starts_with(". "))
}

/// Finds the speeds in a block of prose, or in one cell: a number before a unit. The range has the
/// number and, after it, its interval in brackets.
pub(crate) fn speeds(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for (unit, _) in UNITS {
        for (at, _) in text.match_indices(unit) {
            if text[at + unit.len()..].starts_with(char::is_alphanumeric) {
                continue;
            }
            let mut before = text[..at].trim_end_matches([' ', '\u{a0}', '-', '*', '_', '`']);
            while let Some(figure) = last_figure(before) {
                before = &text[..figure.start];
                found.push(figure);
                match JOINS.iter().find_map(|join| before.strip_suffix(join)) {
                    Some(rest) => before = rest,
                    None => break,
                }
            }
        }
    }
    // A number with an interval is a ratio, whatever follows.
    for (at, _) in text.match_indices(')') {
        if let Some(figure) = last_figure(&text[..=at])
            && is_interval(&text[figure.clone()])
        {
            found.push(figure);
        }
    }
    found.sort_by_key(|range| (range.start, range.end));
    found.dedup();
    found
}

/// Returns the unit that directly follows a figure, in the words of queries: ns, us, ms, GB/s.
pub(crate) fn unit_behind(text: &str) -> Option<&'static str> {
    let text = text.trim_start_matches([' ', '\u{a0}', '*', '_', '`']);
    let (_, unit) = UNITS.into_iter().rev().find(|(unit, _)| {
        text.strip_prefix(unit).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    })?;
    unit
}

/// Finds the number at the end of a text, such as `7.4` or `1.35 (1.35 to 1.36)`.
fn last_figure(text: &str) -> Option<Range<usize>> {
    let number = |text: &str| {
        let start = text.trim_end_matches(is_of_number).len();
        // A full stop or comma of the sentence before does not belong to the number.
        Some(start + text[start..].find(|c: char| c.is_ascii_digit())?)
    };
    let start = match text.strip_suffix(')') {
        Some(inside) => number(&text[..inside.rfind(" (")?])?,
        None => number(text).filter(|_| text.ends_with(|c: char| c.is_ascii_digit()))?,
    };
    Some(start..text.len())
}

/// Reports whether a figure has the form `1.35 (1.35 to 1.36)`.
fn is_interval(figure: &str) -> bool {
    let inside = figure.strip_suffix(')').and_then(|figure| figure.split_once(" ("));
    let bounds = inside.and_then(|(_, inside)| inside.split_once(" to "));
    bounds.is_some_and(|(low, high)| [low, high].iter().all(|bound| bound.parse::<f64>().is_ok()))
}

/// Returns the number that a cell begins with, if it begins with one.
pub(crate) fn first_number(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !is_of_number(c)).unwrap_or(text.len());
    text.starts_with(|c: char| c.is_ascii_digit()).then(|| &text[..end])
}

fn is_of_number(c: char) -> bool {
    c.is_ascii_digit() || c == '.' || c == ','
}

/// Returns the bytes that the heading of a column stands for, such as `64 KiB`.
pub(crate) fn length(text: &str) -> Option<usize> {
    let (count, unit) = text.split_once(' ')?;
    let units = [("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20)];
    let (_, bytes) = units.into_iter().find(|(name, _)| *name == unit)?;
    Some(count.parse::<usize>().ok()? * bytes)
}

/// Returns the numbers in a figure.
pub(crate) fn numbers(figure: &str) -> Vec<String> {
    let parts = figure.split(|c: char| !is_of_number(c));
    parts.filter(|part| part.contains(|c: char| c.is_ascii_digit())).map(str::to_owned).collect()
}

/// Returns the numbers with a decimal point that stand outside brackets.
pub(crate) fn decimals(sentence: &str) -> Vec<String> {
    let mut text = String::new();
    let mut depth = 0;
    for c in sentence.chars() {
        depth += i32::from(c == '(') - i32::from(c == ')');
        text.push(if depth > 0 { ' ' } else { c });
    }
    let words = text.split_whitespace();
    let words = words.map(|word| word.trim_end_matches([',', '.', ';']).to_owned());
    words.filter(|word| word.contains('.') && word.parse::<f64>().is_ok()).collect()
}
