//! The rules, and the sentences that break them.

use super::text::{self, Passage};

/// A habit that is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rule {
    /// A sentence without a subject: it opens with a word of [`OPENINGS`] and asks nothing.
    Opening,
    /// A pronoun for a person where a thing should be named.
    Person,
    /// A word or phrase that the field has a better one for.
    Word,
    /// A comment or prose line over [`super::text::WIDTH`] columns.
    Wide,
    /// A function whose doc comment does not say what it does.
    Function,
    /// A closure whose parameter is named `it`.
    Closure,
}

impl Rule {
    pub(super) fn name(self) -> &'static str {
        match self {
            Rule::Opening => "openings",
            Rule::Person => "persons",
            Rule::Word => "words",
            Rule::Wide => "wide lines",
            Rule::Function => "functions without a verb",
            Rule::Closure => "closures over `it`",
        }
    }
}

/// Words that open a clause and leave a sentence of it without a subject.
const OPENINGS: &[&str] = &[
    "What", "Whether", "How", "Of", "Such", "Those", "None", "Who", "Whom", "Whose", "Whoever",
    "Nobody", "Somebody", "Anybody", "Likewise",
];
const PERSONS: &[&str] = &["nobody", "somebody", "anybody", "everybody", "whoever", "whom"];
/// In place of: in use, reports, returns, directory, fix, fault, repeats, unavailable; after, under
/// or "by means of"; continue.
const WORDS: &[&str] = &[
    "armed",
    "tell",
    "tells",
    "told",
    "gives",
    "folder",
    "folders",
    "cure",
    "cures",
    "mend",
    "mends",
    "trouble",
    "troubles",
    "out loud",
    "comes twice",
    "came twice",
    "come twice",
    "for want of",
    "to be had",
    "by way of",
    "behind",
    "go on",
    "goes on",
    "went on",
];

/// Returns line, rule and the start of the sentence for each hit in the passage.
pub(super) fn broken(passage: &Passage) -> Vec<(usize, Rule, String)> {
    let mut hits = Vec::new();
    for (start, sentence) in sentences(&passage.text) {
        let shown = || -> String { sentence.chars().take(70).collect() };
        let first = sentence.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        let asks = sentence.trim_end_matches(['"', '*', ')']).ends_with('?');
        if OPENINGS.contains(&first) && !asks && !passage.is_heading {
            hits.push((passage.line_at(start), Rule::Opening, shown()));
        }
        let lower = sentence.to_ascii_lowercase();
        for (words, rule) in [(PERSONS, Rule::Person), (WORDS, Rule::Word)] {
            for at in words.iter().flat_map(|word| positions(&lower, word)) {
                hits.push((passage.line_at(start + at), rule, shown()));
            }
        }
    }
    hits
}

/// Splits at full stops, question and exclamation marks that a space and a new sentence follow.
fn sentences(text: &str) -> Vec<(usize, &str)> {
    let mut sentences = Vec::new();
    let mut start = 0;
    let bytes = text.as_bytes();
    for at in 0..bytes.len() {
        if at < start || !matches!(bytes[at], b'.' | b'!' | b'?') {
            continue;
        }
        // Emphasis and quotes may close after the mark.
        let closing = bytes[at + 1..].iter().take_while(|c| b"*_\"')".contains(c)).count();
        let next = at + 1 + closing;
        let ends = bytes.get(next) == Some(&b' ')
            && bytes[next + 1..]
                .iter()
                .find(|c| !b"*_\"'(".contains(c))
                .is_some_and(|c| c.is_ascii_uppercase() || *c == text::CODE || c.is_ascii_digit());
        if ends {
            sentences.push((start, &text[start..next]));
            start = next + 1;
        }
    }
    sentences.push((start, &text[start..]));
    for (start, sentence) in &mut sentences {
        // Emphasis and quotes before the first word are not part of it.
        let trimmed = sentence.trim_start_matches(['*', '_', '"', '\'', '(', ' ']);
        *start += sentence.len() - trimmed.len();
        *sentence = trimmed;
    }
    sentences
}

/// Returns each place where the phrase stands between word boundaries.
fn positions(text: &str, phrase: &str) -> Vec<usize> {
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(phrase)
        .filter(|(at, _)| {
            !is_word(text[..*at].chars().next_back())
                && !is_word(text[at + phrase.len()..].chars().next())
        })
        .map(|(at, _)| at)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts hits of each rule in a line of a document.
    fn hits(line: &str) -> Vec<&'static str> {
        let (passages, wide) = text::reader("a.md").unwrap()(line);
        let mut names: Vec<_> = passages.iter().flat_map(broken).map(|hit| hit.1.name()).collect();
        names.extend(wide.iter().map(|_| "wide lines"));
        names
    }

    /// The file pairs each line with the rules it breaks; it is not among the counted files.
    #[test]
    fn each_sentence_counts_as_its_line_says() {
        for line in include_str!("sentences.txt").lines().filter(|line| !line.starts_with('#')) {
            let (expected, sentence) = line.split_once(" | ").expect("rules | sentence");
            let expected: Vec<&str> =
                expected.split(',').map(str::trim).filter(|rule| *rule != "-").collect();
            assert_eq!(hits(sentence), expected, "{sentence}");
        }
    }
}
