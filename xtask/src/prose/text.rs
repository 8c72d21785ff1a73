//! Finds the prose in a file: comments and strings of Rust and C, comments of TOML, and Markdown.

/// Columns that a comment or prose line may take.
pub(super) const WIDTH: usize = 100;
/// Stands for a span of code, in which no rule looks for words.
pub(super) const CODE: u8 = b'`';
/// A string literal with fewer words is a name or a format and not a sentence.
const WORDS_OF_A_SENTENCE: usize = 4;

/// A paragraph, with its line breaks replaced by spaces.
#[derive(Debug, Default)]
pub(super) struct Passage {
    pub(super) text: String,
    /// Headings name their section and need no subject.
    pub(super) is_heading: bool,
    /// Where in `text` each line starts, and its number in the file.
    lines: Vec<(usize, usize)>,
}

impl Passage {
    fn push(&mut self, number: usize, line: &str) {
        if !self.text.is_empty() {
            self.text.push(' ');
        }
        self.lines.push((self.text.len(), number));
        self.text.push_str(line);
    }

    /// Returns the line of the file that holds this place of the text.
    pub(super) fn line_at(&self, at: usize) -> usize {
        self.lines.iter().take_while(|(start, _)| *start <= at).last().map_or(0, |(_, line)| *line)
    }
}

/// Lines over [`WIDTH`] columns, with their start.
type Wide = Vec<(usize, String)>;

/// Splits a file into its paragraphs, and lists its wide lines.
type Reader = fn(&str) -> (Vec<Passage>, Wide);

/// Returns the function that reads files of this name, if they hold prose.
pub(super) fn reader(file: &str) -> Option<Reader> {
    match file.rsplit_once('.')?.1 {
        "rs" => Some(|source| source_text(source, true)),
        "c" | "h" => Some(|source| source_text(source, false)),
        "md" => Some(markdown),
        "toml" => Some(toml),
        _ => None,
    }
}

fn markdown(source: &str) -> (Vec<Passage>, Wide) {
    let mut paragraphs = Paragraphs::default();
    for (index, line) in source.lines().enumerate() {
        paragraphs.line(index + 1, line, line);
    }
    paragraphs.finish()
}

fn toml(source: &str) -> (Vec<Passage>, Wide) {
    let mut paragraphs = Paragraphs::default();
    for (index, line) in source.lines().enumerate() {
        // A `#` inside a string is not worth a parser: no key of ours holds one.
        match line.split_once('#') {
            Some((_, comment)) => paragraphs.line(index + 1, comment.trim(), line),
            None => paragraphs.end(),
        }
    }
    paragraphs.finish()
}

/// Collects lines into paragraphs, by the rules of Markdown that matter here.
#[derive(Default)]
struct Paragraphs {
    done: Vec<Passage>,
    open: Passage,
    wide: Wide,
    in_code: bool,
}

impl Paragraphs {
    /// Takes one line: its prose, and the line of the file for its width.
    fn line(&mut self, number: usize, prose: &str, whole: &str) {
        let prose = prose.trim();
        if prose.starts_with("```") || prose.starts_with("~~~") {
            self.in_code = !self.in_code;
            return self.end();
        }
        if self.in_code {
            return;
        }
        let is_table = prose.starts_with('|');
        if !is_table && is_wide(whole, prose) {
            self.wide.push((number, prose.chars().take(70).collect()));
        }
        let item = after_list_mark(prose);
        if prose.is_empty() || prose.starts_with('#') || is_table || item.is_some() {
            self.end();
        }
        if is_table {
            // Each cell by itself, and as a heading: cells are often phrases.
            for cell in prose.split('|').map(str::trim).filter(|cell| !cell.is_empty()) {
                self.open.push(number, &without_code(cell));
                self.open.is_heading = true;
                self.end();
            }
            return;
        }
        if !prose.is_empty() {
            self.open.push(number, &without_code(item.unwrap_or(prose)));
            self.open.is_heading = prose.starts_with('#');
            if self.open.is_heading {
                self.end();
            }
        }
    }

    /// Ends the paragraph.
    fn end(&mut self) {
        if !self.open.text.is_empty() {
            self.done.push(std::mem::take(&mut self.open));
        }
    }

    fn finish(mut self) -> (Vec<Passage>, Wide) {
        self.end();
        (self.done, self.wide)
    }
}

/// Returns whether a line is too wide. A line with a link that alone would not fit cannot be
/// broken, so it is not wide.
fn is_wide(whole: &str, prose: &str) -> bool {
    let indent = whole.chars().count() - prose.chars().count().min(whole.chars().count());
    let unbreakable = |word: &&str| {
        (word.contains("://") || word.contains("](")) && indent + word.chars().count() > WIDTH - 20
    };
    whole.chars().count() > WIDTH && !prose.split_whitespace().any(|word| unbreakable(&word))
}

/// Returns the text of a list item, if the line starts one.
fn after_list_mark(line: &str) -> Option<&str> {
    let bullet = line.strip_prefix("* ").or_else(|| line.strip_prefix("- "));
    bullet.or_else(|| {
        let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
        if rest.len() == line.len() {
            return None;
        }
        rest.strip_prefix(". ")
    })
}

/// Replaces spans of code by one mark, so that names in them do not count as words.
fn without_code(text: &str) -> String {
    let mut kept = String::new();
    for (index, part) in text.split('`').enumerate() {
        if index % 2 == 0 { kept.push_str(part) } else { kept.push(char::from(CODE)) }
    }
    kept
}

/// Comments and strings of Rust or C.
fn source_text(source: &str, is_rust: bool) -> (Vec<Passage>, Wide) {
    let lines: Vec<&str> = source.lines().collect();
    let mut strings = Vec::new();
    let mut paragraphs = Paragraphs::default();
    // The last comment line: its number and its marker.
    let mut before: (usize, &str) = (0, "");
    let tokens = Tokens { source, at: 0, line: 1, is_rust, in_block: false };
    for token in tokens {
        match token {
            Token::LineComment { line, text } => {
                let whole = lines[line - 1];
                let marker = ["///", "//!", "//"].into_iter().find(|mark| text.starts_with(mark));
                let marker = marker.unwrap_or_default();
                if before != (line - 1, marker) || !whole.trim_start().starts_with(marker) {
                    paragraphs.end();
                    paragraphs.in_code = false;
                }
                before = (line, marker);
                paragraphs.line(line, &text[marker.len()..], whole);
            }
            Token::BlockComment { line, text, is_first } => {
                if is_first {
                    paragraphs.end();
                    paragraphs.in_code = false;
                }
                let text = text.trim_start().trim_start_matches('*');
                paragraphs.line(line, text, lines[line - 1]);
            }
            Token::String { line, text } => {
                if text.split_whitespace().count() >= WORDS_OF_A_SENTENCE {
                    let mut passage = Passage::default();
                    for (index, part) in text.lines().enumerate() {
                        let part = part.trim().trim_end_matches('\\');
                        passage.push(line + index, &without_code(part.trim()));
                    }
                    strings.push(passage);
                }
            }
        }
    }
    let (mut passages, wide) = paragraphs.finish();
    passages.extend(strings);
    (passages, wide)
}

enum Token<'a> {
    /// A comment up to the end of its line, with its marker.
    LineComment { line: usize, text: &'a str },
    /// One line of a block comment.
    BlockComment { line: usize, text: &'a str, is_first: bool },
    /// The content of a string literal.
    String { line: usize, text: &'a str },
}

/// The comments and strings of a source, in order. A block comment is one token
/// per line.
struct Tokens<'a> {
    source: &'a str,
    at: usize,
    line: usize,
    is_rust: bool,
    in_block: bool,
}

impl<'a> Tokens<'a> {
    /// Advances by `len` bytes and returns them with the line they start in.
    fn take(&mut self, len: usize) -> (usize, &'a str) {
        let (line, text) = (self.line, &self.source[self.at..self.at + len]);
        self.line += text.matches('\n').count();
        self.at += len;
        (line, text)
    }

    /// Returns the length of a string literal up to its closing quote, from after the opening
    /// quote.
    fn string_len(rest: &str) -> usize {
        let mut escaped = false;
        rest.bytes()
            .position(|c| {
                let ends = c == b'"' && !escaped;
                escaped = c == b'\\' && !escaped;
                ends
            })
            .unwrap_or(rest.len())
    }

    /// Returns the number of `#` of a raw string, if a raw string starts here.
    fn raw_string(&self, rest: &str) -> Option<usize> {
        let hashes = rest.strip_prefix('r')?;
        let text = hashes.trim_start_matches('#');
        let is_name_before = self.source[..self.at]
            .ends_with(|c: char| (c.is_alphanumeric() || c == '_') && c != 'b' && c != 'c');
        (self.is_rust && !is_name_before && text.starts_with('"'))
            .then_some(hashes.len() - text.len())
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            let rest = &self.source[self.at..];
            let first = rest.chars().next()?;
            if rest.starts_with("//") && !self.in_block {
                let (line, text) = self.take(rest.find('\n').unwrap_or(rest.len()));
                return Some(Token::LineComment { line, text });
            }
            if rest.starts_with("/*") && !self.in_block {
                self.take(2);
                self.in_block = true;
            } else if self.in_block {
                // One line, without the `*` that many start with.
                let end = rest.find("*/");
                let len = rest.find('\n').unwrap_or(rest.len()).min(end.unwrap_or(rest.len()));
                let is_first = self.source[..self.at].ends_with("/*");
                let (line, text) = self.take(len);
                self.in_block = end != Some(len);
                let mark = if self.in_block { 1 } else { 2 };
                self.take(mark.min(self.source.len() - self.at));
                return Some(Token::BlockComment { line, text, is_first });
            } else if let Some(hashes) = self.raw_string(rest) {
                self.take(2 + hashes);
                let rest = &self.source[self.at..];
                let end = format!("\"{}", "#".repeat(hashes));
                let len = rest.find(&end).unwrap_or(rest.len());
                let (line, text) = self.take(len);
                self.take(end.len().min(self.source.len() - self.at));
                return Some(Token::String { line, text });
            } else if first == '"' {
                self.take(1);
                let (line, text) = self.take(Self::string_len(&self.source[self.at..]));
                self.take(usize::from(self.at < self.source.len()));
                return Some(Token::String { line, text });
            } else if first == '\'' {
                let mut chars = rest[1..].chars();
                let len = match (chars.next(), chars.next()) {
                    (Some('\\'), Some(escaped)) => {
                        let from = 2 + escaped.len_utf8();
                        rest[from..].find('\'').map_or(1, |end| from + end + 1)
                    }
                    (Some(c), Some('\'')) => 2 + c.len_utf8(),
                    // A lifetime.
                    _ => 1,
                };
                self.take(len);
            } else {
                self.take(first.len_utf8());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(file: &str, source: &str) -> Vec<String> {
        let (passages, _) = reader(file).unwrap()(source);
        passages.into_iter().map(|passage| passage.text).collect()
    }

    #[test]
    fn comments_become_paragraphs_and_strings_of_a_few_words_count() {
        let source = r##"
            //! One sentence
            //! on two lines.
            //!
            //! * An item
            //! ```
            //! let code = "not a passage of prose";
            //! ```
            use a::b; // beside code
            /// Documents.
            fn f<'a>(x: &'a str) -> char { g("too short"); '"' }
            const S: &str = r#"four "words" and more"#;
            const T: &str = "continued on \
                the next \"line\"";
        "##;
        let expected = [
            "One sentence on two lines.",
            "An item",
            "beside code",
            "Documents.",
            "four \"words\" and more",
            r#"continued on the next \"line\""#,
        ];
        assert_eq!(texts("a.rs", source), expected);
    }

    #[test]
    fn block_comments_of_c_are_read_line_by_line() {
        let source = "/* One\n * two. */\nint x; // three\nchar c = '\"';\n/* four */\n";
        assert_eq!(texts("a.c", source), ["One two.", "three", "four"]);
    }

    #[test]
    fn lines_are_those_of_the_file() {
        let (passages, _) = reader("a.rs").unwrap()("\n// one\n// two\n");
        assert_eq!((passages[0].line_at(0), passages[0].line_at(5)), (2, 3));
    }

    #[test]
    fn wide_lines_count_but_for_tables_code_and_links() {
        let long = "word ".repeat(25);
        let wide = |file: &str, text: &str| reader(file).unwrap()(text).1.len();
        assert_eq!(wide("a.md", &long), 1);
        assert_eq!(wide("a.rs", &format!("// {long}")), 1);
        assert_eq!(wide("a.rs", &format!("fn f() {{}} // {long}")), 1);
        assert_eq!(wide("a.rs", &format!("const S: &str = \"{long}\";")), 0);
        assert_eq!(wide("a.md", &format!("| {long} |")), 0);
        assert_eq!(wide("a.md", &format!("```\n{long}\n```")), 0);
        assert_eq!(wide("a.md", &format!("* [x](https://{})", "a".repeat(90))), 0);
    }
}
