//! `cargo xtask prose`: counts the openings, pronouns and words that make this project's prose hard
//! to read, the comment and prose lines that are too wide, and the functions whose comment does not
//! say what they do. Its check also holds the README and the claims to their size.
//!
//! `xtask/prose.txt` holds a ceiling for each area and rule. A count may fall and may not rise, so
//! the old text can be reworded at any pace while new text follows the rules at once.

mod ceilings;
mod front;
mod functions;
mod rules;
mod text;

use crate::process::{output, program, root};
use anyhow::{Context, Result, bail};
use ceilings::{Counts, RECORD};
use rules::Rule;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

/// One place where a rule is broken.
struct Hit {
    file: String,
    line: usize,
    rule: Rule,
    /// The start of the sentence, for a person who looks through the list.
    shown: String,
}

/// Prints each hit in an area, a directory or a file; without a name only the counts of all areas.
pub(crate) fn list(area: Option<&str>) -> Result<ExitCode> {
    let root = root()?;
    let hits = hits(&root)?;
    let chosen = |hit: &Hit| {
        area.is_none_or(|name| is_in(&hit.file, name) || is_in(&area_of(&hit.file), name))
    };
    let hits: Vec<Hit> = hits.into_iter().filter(chosen).collect();
    if area.is_some() {
        for Hit { file, line, rule, shown } in &hits {
            println!("{file}:{line}: {}: {shown}", rule.name());
        }
    }
    let counts = counts(&hits, None);
    if counts.is_empty() {
        println!("no hits");
    }
    print!("{}", ceilings::table(&counts));
    Ok(ExitCode::SUCCESS)
}

/// Returns an error that names each count above its ceiling, with the hits of that area and rule,
/// or each place where a front page is too large.
pub(crate) fn check() -> Result<()> {
    let root = root()?;
    front::check(&root)?;
    let hits = hits(&root)?;
    let record = fs::read_to_string(root.join(RECORD)).with_context(|| RECORD.to_owned())?;
    let risen = ceilings::risen(&ceilings::parse(&record)?, &counts(&hits, None));
    if risen.is_empty() {
        println!("prose: no count is above its ceiling in {RECORD}");
        return Ok(());
    }
    let mut text = String::new();
    for (area, rule, ceiling, count) in risen {
        text.push_str(&format!(
            "\n{area}: {} rose from {ceiling} to {count}; see `cargo xtask prose {area}`",
            rule.name()
        ));
        let of_area = hits.iter().filter(|hit| hit.rule == rule && area_of(&hit.file) == area);
        // In an area with few hits the new one is among these.
        for Hit { file, line, shown, .. } in of_area.take(10) {
            text.push_str(&format!("\n    {file}:{line}: {shown}"));
        }
    }
    bail!("prose:{text}");
}

/// Returns whether the path is the one named, lies below it, or ends with its name.
fn is_in(path: &str, name: &str) -> bool {
    let name = name.trim_end_matches('/');
    path.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        || path.strip_suffix(name).is_some_and(|rest| rest.ends_with('/'))
}

/// Writes today's counts as ceilings, for all areas or for one.
pub(crate) fn bless(area: Option<&str>) -> Result<ExitCode> {
    let root = root()?;
    let counts = counts(&hits(&root)?, area);
    let path = root.join(RECORD);
    let mut ceilings = match fs::read_to_string(&path) {
        Ok(record) => ceilings::parse(&record)?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => BTreeMap::new(),
        Err(error) => return Err(error).with_context(|| RECORD.to_owned()),
    };
    ceilings.retain(|name, _| area.is_some_and(|area| !is_in(name, area)));
    ceilings.extend(counts);
    fs::write(&path, ceilings::table(&ceilings)).with_context(|| RECORD.to_owned())?;
    Ok(ExitCode::SUCCESS)
}

fn counts(hits: &[Hit], area: Option<&str>) -> BTreeMap<String, Counts> {
    let mut counts: BTreeMap<String, Counts> = BTreeMap::new();
    for hit in hits {
        let name = area_of(&hit.file);
        if area.is_none_or(|area| is_in(&name, area)) {
            *counts.entry(name).or_default().entry(hit.rule).or_default() += 1;
        }
    }
    counts
}

/// Returns the directory that a count belongs to: a crate, an instrument, `docs`, or `root`.
fn area_of(file: &str) -> String {
    let parts: Vec<&str> = file.split('/').collect();
    match parts[..] {
        [_] => "root".to_owned(),
        ["crates" | "tools", name, _, ..] => format!("{}/{name}", parts[0]),
        [name, ..] => name.to_owned(),
        [] => String::new(),
    }
}

/// Searches every file that git tracks, and every new one that git does not ignore.
fn hits(root: &Path) -> Result<Vec<Hit>> {
    let mut git = program("git ls-files --cached --others --exclude-standard --deduplicate");
    let files = output(git.current_dir(root))?;
    let mut hits = Vec::new();
    for file in files.lines().filter(|file| !is_generated(file)) {
        let Some(read) = text::reader(file) else { continue };
        let source = match fs::read_to_string(root.join(file)) {
            Ok(source) => source,
            // Deleted in the working tree, and still in the index.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error).with_context(|| file.to_owned()),
        };
        let (passages, wide) = read(&source);
        let found = passages.iter().flat_map(rules::broken);
        let wide = wide.into_iter().map(|(line, shown)| (line, Rule::Wide, shown));
        let functions =
            if file.ends_with(".rs") { functions::without_verb(&source) } else { vec![] };
        let functions = functions.into_iter().map(|(line, shown)| (line, Rule::Function, shown));
        for (line, rule, shown) in found.chain(wide).chain(functions) {
            hits.push(Hit { file: file.to_owned(), line, rule, shown });
        }
    }
    hits.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
    Ok(hits)
}

/// Returns true for files whose text comes from other files, which are searched themselves.
fn is_generated(file: &str) -> bool {
    file == "crates/headwater-c/include/headwater.h"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_area_is_named_in_full_or_by_its_last_part() {
        for name in ["crates", "crates/headwater-c", "crates/headwater-c/", "headwater-c"] {
            assert!(is_in("crates/headwater-c", name), "{name}");
        }
        assert!(!is_in("crates/headwater-c", "crates/headwater"));
        assert!(!is_in("crates/headwater-c", "c"));
    }

    #[test]
    fn areas_are_crates_instruments_documents_and_the_root() {
        for (file, area) in [
            ("README.md", "root"),
            ("docs/c.md", "docs"),
            ("crates/headwater-lab/guest/src/main.rs", "crates/headwater-lab"),
            ("tools/soak/src/main.rs", "tools/soak"),
            ("xtask/src/main.rs", "xtask"),
        ] {
            assert_eq!(area_of(file), area);
        }
    }
}
