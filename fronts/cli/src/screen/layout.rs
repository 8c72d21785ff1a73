//! Lines, columns and colours.

use anstyle::{AnsiColor, Style};
use headwater_text::number::grouped;
use std::fmt::Write;
use textwrap::Options;

pub(super) const WIDTH: usize = 100;
const LABEL: usize = 19;
const VALUE: usize = 14;
pub(super) const INDENT: &str = "  ";

/// A rating of a value, shown as its colour.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Tone {
    Plain,
    Good,
    Weak,
    Wrong,
}

impl Tone {
    fn style(self) -> Style {
        match self {
            Tone::Plain => Style::new(),
            Tone::Good => AnsiColor::Green.on_default(),
            Tone::Weak => AnsiColor::Yellow.on_default(),
            Tone::Wrong => AnsiColor::Red.on_default().bold(),
        }
    }
}

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

/// A text that grows line by line.
pub(super) struct Screen(String);

impl Screen {
    /// Makes a screen with a title.
    pub(super) fn new(title: &str) -> Screen {
        Screen(format!("{BOLD}{title}{BOLD:#}\n"))
    }

    pub(super) fn into_text(self) -> String {
        self.0
    }

    /// Adds the name of a section and a remark.
    pub(super) fn heading(&mut self, name: &str, aside: &str) {
        self.write(format_args!("\n{BOLD}{name}{BOLD:#}"));
        if !aside.is_empty() {
            self.write(format_args!("  {DIM}{aside}{DIM:#}"));
        }
        self.0.push('\n');
    }

    /// Adds a label, a value in the colour of its tone, and a note that may wrap.
    pub(super) fn row(&mut self, label: &str, value: &str, tone: Tone, note: &str) {
        let style = tone.style();
        self.write(format_args!("{INDENT}{DIM}{label:<LABEL$}{DIM:#}{style}{value}{style:#}"));
        // The note starts in its column, or after a value that is wider than its own column, and
        // wraps in its column. Textwrap counts the text before the note as an indent.
        let used = INDENT.len() + LABEL + value.chars().count();
        let column = INDENT.len() + LABEL + VALUE;
        let (first, rest) = (" ".repeat(column.max(used + 2)), " ".repeat(column));
        let options = Options::new(WIDTH).initial_indent(&first).subsequent_indent(&rest);
        let note = textwrap::fill(note, options);
        let note = note.trim_end().get(used..).unwrap_or_default();
        self.write(format_args!("{note}\n"));
    }

    /// Adds names and numbers on one line.
    pub(super) fn pairs(&mut self, pairs: &[(&str, u64, Tone)]) {
        let mut gap = INDENT;
        for (name, number, tone) in pairs {
            let (style, number) = (tone.style(), grouped(*number));
            self.write(format_args!("{gap}{DIM}{name}{DIM:#} {style}{number}{style:#}"));
            gap = "   ";
        }
        self.0.push('\n');
    }

    pub(super) fn line(&mut self, text: &str) {
        self.styled(text, Style::new());
    }

    pub(super) fn dim(&mut self, text: &str) {
        self.styled(text, DIM);
    }

    pub(super) fn bold(&mut self, text: &str) {
        self.styled(text, BOLD);
    }

    fn styled(&mut self, text: &str, style: Style) {
        self.write(format_args!("{INDENT}{style}{text}{style:#}\n"));
    }

    /// Adds a paragraph with a coloured first word.
    pub(super) fn paragraph(&mut self, word: &str, tone: Tone, text: &str) {
        let style = tone.style().bold();
        let whole = textwrap::fill(&format!("{word} {text}"), WIDTH);
        let rest = whole.strip_prefix(word).unwrap_or_default();
        self.write(format_args!("\n{style}{word}{style:#}{rest}\n"));
    }

    fn write(&mut self, text: std::fmt::Arguments<'_>) {
        self.0.write_fmt(text).expect("writing to a String cannot fail");
    }
}
