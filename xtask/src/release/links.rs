//! Links of the documents: each leads to a file, directory or heading that exists.

use anyhow::{Context, Result, ensure};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// A link of a document, with its target as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) line: usize,
    pub(super) target: String,
    /// The place of the target in the text.
    pub(super) at: usize,
}

/// Returns an error that lists each relative link without a target.
pub(super) fn check(root: &Path, documents: &[String]) -> Result<()> {
    let mut headings: BTreeMap<PathBuf, Vec<String>> = BTreeMap::new();
    let mut wrong = Vec::new();
    for document in documents {
        let text = fs::read_to_string(root.join(document)).with_context(|| document.clone())?;
        for link in links(&text) {
            let Some((path, anchor)) = resolved(document, &link.target) else { continue };
            let file = root.join(&path);
            let is_page = file.extension().is_some_and(|extension| extension == "md");
            if !file.exists() {
                wrong.push(format!("{document}:{}: no {}", link.line, path.display()));
            } else if let (Some(anchor), true) = (anchor, is_page) {
                if !headings.contains_key(&path) {
                    headings.insert(path.clone(), anchors(&fs::read_to_string(&file)?));
                }
                if !headings[&path].contains(&anchor) {
                    let place = path.display();
                    wrong
                        .push(format!("{document}:{}: no heading #{anchor} in {place}", link.line));
                }
            }
        }
    }
    ensure!(wrong.is_empty(), "links without a target:\n{}", wrong.join("\n"));
    Ok(())
}

/// Returns the links of a text, without those in code.
pub(super) fn links(text: &str) -> Vec<Link> {
    let mut found = Vec::new();
    let mut in_code = false;
    let mut start = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        if !in_code {
            for (at, _) in line.match_indices("](") {
                let target = &line[at + 2..];
                // An odd number of ticks before the link means that it is part of a code span.
                let is_code = line[..at].matches('`').count() % 2 == 1
                    && line[at..].contains('`')
                    && !line[..at].ends_with('`');
                if let (Some(end), false) = (target.find(')'), is_code) {
                    let (line, at) = (number + 1, start + at + 2);
                    found.push(Link { line, target: target[..end].to_owned(), at });
                }
            }
        }
        start += line.len();
    }
    found
}

/// Returns the path below the root and the anchor of a link; `None` for a link to another site.
pub(super) fn resolved(document: &str, target: &str) -> Option<(PathBuf, Option<String>)> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (path, anchor) = match target.split_once('#') {
        Some((path, anchor)) => (path, Some(anchor.to_owned())),
        None => (target, None),
    };
    if path.is_empty() {
        return Some((document.into(), anchor));
    }
    let mut whole = PathBuf::from(document);
    whole.pop();
    for part in Path::new(path).components() {
        match part {
            Component::ParentDir => drop(whole.pop()),
            Component::Normal(name) => whole.push(name),
            _ => {}
        }
    }
    Some((whole, anchor))
}

/// Returns the anchors of the headings of a page, as GitHub and mdBook make them.
fn anchors(text: &str) -> Vec<String> {
    let mut anchors: Vec<String> = Vec::new();
    let mut in_code = false;
    for line in text.lines() {
        if line.starts_with("```") {
            in_code = !in_code;
        }
        let heading = line.trim_start_matches('#');
        if in_code || heading.len() == line.len() || !heading.starts_with(' ') {
            continue;
        }
        let anchor = anchor(heading.trim());
        // A second heading of the same text has a number.
        let same = anchors
            .iter()
            .filter(|other| {
                other.trim_end_matches(|c: char| c == '-' || c.is_ascii_digit()) == anchor
            })
            .count();
        anchors.push(if same == 0 { anchor } else { format!("{anchor}-{same}") });
    }
    anchors
}

fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect::<String>().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_in_code_are_not_links() {
        let text = "[a](b.md) and `[c](d.md)`\n```\n[e](f.md)\n```\n[`g`](h.md#i), [j](k)\n";
        let found: Vec<(usize, String)> =
            links(text).into_iter().map(|link| (link.line, link.target)).collect();
        let expected = [(1, "b.md"), (5, "h.md#i"), (5, "k")];
        assert_eq!(found, expected.map(|(line, target)| (line, target.to_owned())));
        for link in links(text) {
            assert!(text[link.at..].starts_with(&link.target));
        }
    }

    #[test]
    fn a_link_is_resolved_from_its_document() {
        let at = |document, target| resolved(document, target).map(|(path, _)| path);
        assert_eq!(at("docs/a.md", "../README.md#b"), Some("README.md".into()));
        assert_eq!(at("docs/a.md", "b.md"), Some("docs/b.md".into()));
        assert_eq!(at("docs/a.md", "#b"), Some("docs/a.md".into()));
        assert_eq!(at("a.md", "https://example.org/b"), None);
    }

    #[test]
    fn anchors_are_those_of_the_headings() {
        let text =
            "# The C library\n```sh\n# no heading\n```\n## `init()` & more\n## Speed\n## Speed\n";
        assert_eq!(anchors(text), ["the-c-library", "init--more", "speed", "speed-1"]);
    }
}
