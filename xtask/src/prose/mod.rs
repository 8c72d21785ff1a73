//! `cargo xtask prose`: counts the openings, pronouns and words that make this project's prose hard
//! to read, the comment and prose lines that are too wide, the functions whose comment does not say
//! what they do, and the closures over `it`. Its check also holds the README and the claims to
//! their size.

mod front;
mod functions;
mod rules;
mod text;

use crate::process::{output, program, root};
use anyhow::{Context, Result, bail};
use rules::Rule;
use std::fmt;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

/// The number of hits that a failed check shows; `cargo xtask prose` lists all.
const SHOWN: usize = 20;

/// One place where a rule is broken.
struct Hit {
    file: String,
    line: usize,
    rule: Rule,
    /// The start of the sentence, for a person who looks through the list.
    shown: String,
}

impl fmt::Display for Hit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}: {}", self.file, self.line, self.rule.name(), self.shown)
    }
}

/// Prints each hit, or those in a crate, a directory or a file.
pub(crate) fn list(area: Option<&str>) -> Result<ExitCode> {
    let mut hits = hits(&root()?)?;
    hits.retain(|hit| area.is_none_or(|area| is_in(&hit.file, area)));
    hits.iter().for_each(|hit| println!("{hit}"));
    println!("{} hits", hits.len());
    if area.is_none()
        && let Err(error) = front::check(&root()?)
    {
        println!("{error:#}");
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns an error that names the hits, or each place where a front page is too large.
pub(crate) fn check() -> Result<()> {
    let root = root()?;
    front::check(&root)?;
    let hits = hits(&root)?;
    if hits.is_empty() {
        return Ok(());
    }
    let shown: String = hits.iter().take(SHOWN).map(|hit| format!("\n    {hit}")).collect();
    bail!("{} places break a rule of prose; `cargo xtask prose` lists them:{shown}", hits.len());
}

/// Returns whether the file is the one named, lies below it, or below a directory of that name.
fn is_in(file: &str, name: &str) -> bool {
    let name = name.trim_end_matches('/');
    file == name || format!("/{file}").contains(&format!("/{name}/"))
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
        let (mut functions, mut closures) = (vec![], vec![]);
        if file.ends_with(".rs") {
            functions = functions::without_verb(&source);
            closures = functions::over_it(&source);
        }
        let functions = functions.into_iter().map(|(line, shown)| (line, Rule::Function, shown));
        let closures = closures.into_iter().map(|(line, shown)| (line, Rule::Closure, shown));
        for (line, rule, shown) in found.chain(wide).chain(functions).chain(closures) {
            hits.push(Hit { file: file.to_owned(), line, rule, shown });
        }
    }
    hits.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
    Ok(hits)
}

/// Returns true for files whose text comes from other files, which are searched themselves.
fn is_generated(file: &str) -> bool {
    file == "fronts/c/include/headwater.h"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_area_is_named_in_full_or_by_its_last_part() {
        const FILE: &str = "fronts/c/src/rng.rs";
        for name in ["fronts", "fronts/c", "fronts/c/", "c", FILE] {
            assert!(is_in(FILE, name), "{name}");
        }
        for name in ["core/headwater", "headwater", "ronts/c", "rng.rs", "docs"] {
            assert!(!is_in(FILE, name), "{name}");
        }
    }
}
