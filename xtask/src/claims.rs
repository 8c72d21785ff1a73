//! What SECURITY.md names in evidence must be there: a claim whose test was renamed or removed is a claim without one.

use crate::process::root;
use crate::unsafe_list::rust_files;
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::Path;

const DOCUMENT: &str = "SECURITY.md";
/// Where its tests are.
const CORE: &str = "crates/headwater";

/// An error that lists the names which lead nowhere.
pub(crate) fn check() -> Result<()> {
    let root = root()?;
    let text = fs::read_to_string(root.join(DOCUMENT)).context(DOCUMENT)?;
    let mut files = Vec::new();
    rust_files(&root, Path::new(CORE), &mut files)?;
    let sources: String =
        files.iter().map(|file| fs::read_to_string(root.join(file))).collect::<Result<_, _>>()?;
    let names = names(&text);
    ensure!(
        names.len() > 50,
        "{DOCUMENT} names {} tests and files: is it read right?",
        names.len()
    );
    let missing: Vec<&str> = names
        .into_iter()
        .filter(|name| match name.strip_suffix(".rs") {
            Some(_) => !files.iter().any(|file| file.ends_with(&format!("/{name}"))),
            None => {
                !sources.contains(&format!("#[test]\nfn {name}("))
                    && !sources.contains(&format!("#[test]\n    fn {name}("))
                    && !sources.contains(&format!("]\nfn {name}("))
            }
        })
        .collect();
    ensure!(missing.is_empty(), "{DOCUMENT} names what is not there: {}", missing.join(", "));
    Ok(())
}

/// The names of tests and of Rust files among what is set in code.
fn names(text: &str) -> Vec<&str> {
    let code = text.split('`').skip(1).step_by(2);
    code.filter(|code| {
        let name = code.strip_suffix(".rs").unwrap_or(code);
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
        is_name && (name.contains('_') || name.len() < code.len())
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_and_files_are_found_among_code() {
        let text = "a `fork.rs`: `a_child_draws`, by `fork` and `Page::WipeOnFork` (`look_alikes`)";
        assert_eq!(names(text), ["fork.rs", "a_child_draws", "look_alikes"]);
    }

    #[test]
    fn the_claims_lead_somewhere() {
        check().unwrap();
    }
}
