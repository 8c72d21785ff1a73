//! The size of the two pages that a stranger opens first: a README of one screen or two, and claims
//! that are read at a glance.

use super::text::WIDTH;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::Path;

const LINES_OF_README: usize = 100;
const WORDS_OF_A_CLAIM: usize = 20;

/// Returns an error that names each place where a page is larger than it may be.
pub(super) fn check(root: &Path) -> Result<()> {
    let read = |name: &str| fs::read_to_string(root.join(name)).with_context(|| name.to_owned());
    let faults = [readme(&read("README.md")?), security(&read("SECURITY.md")?)].concat();
    if faults.is_empty() {
        return Ok(());
    }
    bail!("prose:\n    {}", faults.join("\n    "));
}

/// Tables count here: they are what the other rules let pass. Comments do not: no reader sees them.
fn readme(text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let comments = text.split("<!--").skip(1).filter_map(|rest| rest.split("-->").next());
    let hidden: usize = comments.map(|comment| comment.matches('\n').count() + 1).sum();
    let lines = text.lines().count() - hidden;
    if lines > LINES_OF_README {
        faults.push(format!("README.md has {lines} lines, {LINES_OF_README} are allowed"));
    }
    for (index, line) in text.lines().enumerate() {
        let columns = line.chars().count();
        if columns > WIDTH {
            let number = index + 1;
            faults.push(format!("README.md:{number}: {columns} columns, {WIDTH} are allowed"));
        }
    }
    faults
}

/// Returns a message for each cell of a table with too many words. A span of code counts as one
/// word.
fn security(text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| line.starts_with('|')) {
        // Odd parts are inside of backticks.
        let plain: String = line
            .split('`')
            .enumerate()
            .map(|(i, part)| if i % 2 == 0 { part } else { "x" })
            .collect();
        for cell in plain.split('|') {
            let words = cell.split_whitespace().count();
            if words > WORDS_OF_A_CLAIM {
                let (number, start) = (index + 1, cell.chars().take(50).collect::<String>());
                faults.push(format!(
                    "SECURITY.md:{number}: {words} words, {WORDS_OF_A_CLAIM} are allowed: \
                     {start}..."
                ));
            }
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_readme_has_a_hundred_lines_of_a_hundred_columns() {
        let fits = format!("{}|\n", " ".repeat(99)).repeat(100);
        assert_eq!(readme(&fits), [""; 0]);
        let faults = readme(&format!("{fits}| {} |\n", "x".repeat(97)));
        assert_eq!(
            faults,
            [
                "README.md has 101 lines, 100 are allowed",
                "README.md:101: 101 columns, 100 are allowed"
            ]
        );
    }

    #[test]
    fn a_claim_has_twenty_words() {
        let twenty = "w ".repeat(19) + "`a | b | c d`";
        assert_eq!(security(&format!("| {twenty} | {twenty} |\n")), [""; 0]);
        let faults = security(&format!("text\n| a | more {twenty} |\n"));
        assert_eq!(faults.len(), 1);
        assert!(faults[0].starts_with("SECURITY.md:2: 21 words, 20 are allowed:  more w w"));
        // Only tables hold claims.
        assert_eq!(security(&"word ".repeat(30)), [""; 0]);
    }
}
