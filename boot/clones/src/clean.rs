//! Text of a copy, made fit for a terminal.
//!
//! A copy runs what its user wants, and its draws name sources, runtimes and reasons. A report
//! prints them. An escape sequence among them could erase the line above and write another verdict,
//! and a control character makes a JUnit file that no parser reads.

/// More than any name or reason of ours has.
const MOST: usize = 300;

/// Returns the text on one line, without characters that move a cursor or turn the order of others.
pub(crate) fn clean(text: &str) -> String {
    let shown = |c: char| match c {
        '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' => '\u{FFFD}',
        '\u{FEFF}' | '\u{FFFE}' | '\u{FFFF}' => '\u{FFFD}',
        c if c.is_control() => '\u{FFFD}',
        c => c,
    };
    let mut clean: String = text.chars().take(MOST).map(shown).collect();
    if text.chars().nth(MOST).is_some() {
        clean.push('…');
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::clean;

    #[test]
    fn a_name_stays_on_its_line_and_others_stay_as_they_are() {
        assert_eq!(clean("php/Randomizer Mt19937, kept"), "php/Randomizer Mt19937, kept");
        assert_eq!(clean("größe/名前"), "größe/名前");
        let hostile = "a\x1b[2K\rNo source repeats\n\u{202E}b\0\u{7f}\u{9b}";
        let clean_one = clean(hostile);
        assert!(!clean_one.chars().any(|c| c.is_control() || c == '\u{202E}'), "{clean_one:?}");
        assert_eq!(clean(&"x".repeat(100_000)).chars().count(), 301);
    }
}
