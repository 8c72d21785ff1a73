//! A line that a guest says: `HW WORD key=value ... [text=REST]`. docs/lab.md lists the words.

use std::collections::BTreeMap;

/// One line, taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// What it is about.
    pub word: String,
    values: BTreeMap<String, String>,
}

impl Line {
    /// `None` for anything else that comes over the line.
    pub fn parse(line: &str) -> Option<Line> {
        let rest = line.trim_end_matches(['\r', '\n']).strip_prefix("HW ")?;
        let (rest, text) = match rest.split_once(" text=") {
            Some((rest, text)) => (rest, Some(text)),
            None => (rest, None),
        };
        let mut words = rest.split_ascii_whitespace();
        let word = words.next()?.to_owned();
        let mut values: BTreeMap<String, String> = words
            .filter_map(|word| word.split_once('='))
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect();
        if let Some(text) = text {
            values.insert("text".to_owned(), text.to_owned());
        }
        Some(Line { word, values })
    }

    /// The value of a key; empty if it has none.
    pub fn get(&self, key: &str) -> &str {
        self.values.get(key).map_or("", String::as_str)
    }

    /// The value of a key as a number.
    pub fn number<T: std::str::FromStr>(&self, key: &str) -> Option<T> {
        self.values.get(key)?.parse().ok()
    }

    /// Whether a key says `true`.
    pub fn is(&self, key: &str) -> bool {
        self.get(key) == "true"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_taken_apart() {
        let line = Line::parse("HW kmsg at=0.066262 text=random: crng init done a=b\r\n").unwrap();
        assert_eq!(line.word, "kmsg");
        assert_eq!(line.number("at"), Some(0.066262));
        assert_eq!(line.get("text"), "random: crng init done a=b");
        assert_eq!(line.get("a"), "");
    }

    #[test]
    fn other_text_is_none() {
        for text in ["", "HW", "HW ", "[    0.000000] Linux version", "xHW ok"] {
            assert_eq!(Line::parse(text), None, "{text:?}");
        }
        assert_eq!(Line::parse("HW ok").unwrap().word, "ok");
    }
}
