//! The ceilings: a line for each area, and under it a line for each rule.
//!
//! A count has a line to itself, so that two branches which lower different areas merge cleanly.

use super::rules::Rule;
use anyhow::{Context, Result};
use std::collections::BTreeMap;

/// The checked-in ceilings, below the root of the workspace.
pub(super) const RECORD: &str = "xtask/prose.txt";

/// The count of each rule in one area; a rule that is not broken there is absent.
pub(super) type Counts = BTreeMap<Rule, usize>;

/// Formats the counts as [`parse`] reads them.
pub(super) fn table(areas: &BTreeMap<String, Counts>) -> String {
    let mut text = String::new();
    for (area, counts) in areas {
        text.push_str(&format!("{area}\n"));
        for rule in Rule::ALL {
            text.push_str(&format!(
                "{:>8}  {}\n",
                counts.get(&rule).copied().unwrap_or(0),
                rule.name()
            ));
        }
    }
    text
}

/// Reads the text that [`table`] writes.
pub(super) fn parse(text: &str) -> Result<BTreeMap<String, Counts>> {
    let mut areas: BTreeMap<String, Counts> = BTreeMap::new();
    let mut area = None;
    for (index, line) in text.lines().enumerate() {
        let at = || format!("{RECORD}:{}: '{line}'", index + 1);
        if !line.starts_with(' ') {
            area = Some(areas.entry(line.to_owned()).or_default());
            continue;
        }
        let (count, name) = line.trim().split_once("  ").with_context(at)?;
        let rule = Rule::ALL.into_iter().find(|rule| rule.name() == name).with_context(at)?;
        area.as_mut().with_context(at)?.insert(rule, count.parse().with_context(at)?);
    }
    Ok(areas)
}

/// Returns area, rule, ceiling and count of everything that rose. A new area starts at zero.
pub(super) fn risen(
    ceilings: &BTreeMap<String, Counts>,
    counts: &BTreeMap<String, Counts>,
) -> Vec<(String, Rule, usize, usize)> {
    let mut risen = Vec::new();
    for (area, counts) in counts {
        for (rule, count) in counts {
            let ceiling =
                ceilings.get(area).and_then(|area| area.get(rule)).copied().unwrap_or_default();
            if *count > ceiling {
                risen.push((area.clone(), *rule, ceiling, *count));
            }
        }
    }
    risen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_read_back() {
        let counts = Counts::from([(Rule::Opening, 3), (Rule::Wide, 1)]);
        let text = table(&BTreeMap::from([("docs".to_owned(), counts)]));
        let back = parse(&text).unwrap();
        assert_eq!(back["docs"][&Rule::Opening], 3);
        assert_eq!(back["docs"][&Rule::Person], 0);
        assert!(parse("   3  openings\n").is_err(), "a count without an area");
    }

    #[test]
    fn only_rising_counts_are_reported() {
        let areas =
            |count| BTreeMap::from([("docs".to_owned(), Counts::from([(Rule::Word, count)]))]);
        assert!(risen(&areas(3), &areas(3)).is_empty());
        assert!(risen(&areas(3), &areas(2)).is_empty());
        assert_eq!(risen(&areas(3), &areas(4)), [("docs".to_owned(), Rule::Word, 3, 4)]);
        assert_eq!(risen(&BTreeMap::new(), &areas(1)), [("docs".to_owned(), Rule::Word, 0, 1)]);
    }
}
