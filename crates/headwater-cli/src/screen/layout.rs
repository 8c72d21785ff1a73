//! Lines, columns and colours.

use anstyle::{AnsiColor, Style};
use std::fmt::Write;
use textwrap::Options;

pub(super) const WIDTH: usize = 100;
const LABEL: usize = 19;
const VALUE: usize = 14;
pub(super) const INDENT: &str = "  ";

/// How good a value is.
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

/// A text that grows downwards.
pub(super) struct Screen(String);

impl Screen {
    /// With a title.
    pub(super) fn new(title: &str) -> Screen {
        Screen(format!("{BOLD}{title}{BOLD:#}\n"))
    }

    pub(super) fn into_text(self) -> String {
        self.0
    }

    /// A section's name, with an aside.
    pub(super) fn heading(&mut self, name: &str, aside: &str) {
        self.write(format_args!("\n{BOLD}{name}{BOLD:#}"));
        if !aside.is_empty() {
            self.write(format_args!("  {DIM}{aside}{DIM:#}"));
        }
        self.0.push('\n');
    }

    /// A label, a value in the colour of its tone, and a note that may take several lines.
    pub(super) fn row(&mut self, label: &str, value: &str, tone: Tone, note: &str) {
        let style = tone.style();
        self.write(format_args!("{INDENT}{DIM}{label:<LABEL$}{DIM:#}{style}{value}{style:#}"));
        // The note begins in its column, or after the value where that is too long for its own, and
        // goes on in its column. Textwrap counts what is already on the line as an indent.
        let used = INDENT.len() + LABEL + value.chars().count();
        let column = INDENT.len() + LABEL + VALUE;
        let (first, rest) = (" ".repeat(column.max(used + 2)), " ".repeat(column));
        let options = Options::new(WIDTH).initial_indent(&first).subsequent_indent(&rest);
        let note = textwrap::fill(note, options);
        let note = note.trim_end().get(used..).unwrap_or_default();
        self.write(format_args!("{note}\n"));
    }

    /// Names and numbers, all on one line.
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

    /// A paragraph whose first word is coloured.
    pub(super) fn paragraph(&mut self, word: &str, tone: Tone, text: &str) {
        let style = tone.style().bold();
        let whole = textwrap::fill(&format!("{word} {text}"), WIDTH);
        let rest = whole.strip_prefix(word).unwrap_or_default();
        self.write(format_args!("\n{style}{word}{style:#}{rest}\n"));
    }

    fn write(&mut self, text: std::fmt::Arguments<'_>) {
        self.0.write_fmt(text).expect("a String takes whatever is written to it");
    }
}

/// A number with its thousands apart: 1,234,567.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands() {
        for (number, text) in
            [(0, "0"), (999, "999"), (1000, "1,000"), (12_345, "12,345"), (1_234_567, "1,234,567")]
        {
            assert_eq!(grouped(number), text);
        }
    }
}
