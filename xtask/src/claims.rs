//! The tests that documents name as evidence must exist: a claim whose test was renamed or removed
//! has lost its evidence.

use crate::process::root;
use crate::unsafe_list::rust_files;
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::Path;

/// The documents, and the heading at which the evidence begins in each.
const DOCUMENTS: [(&str, &str); 2] =
    [("SECURITY.md", "## What it claims"), ("core/PLATFORM.md", "## What has bitten")];
/// The storeys whose tests count.
const STOREYS: [&str; 5] = ["boot", "core", "fronts", "measure", "streams"];
/// The directory of the Python package's tests, which count too.
const PYTHON: &str = "fronts/python/tests";

/// Returns an error that lists the names without a test or file.
pub(crate) fn check() -> Result<()> {
    let root = root()?;
    let mut files = Vec::new();
    for storey in STOREYS {
        rust_files(&root, Path::new(storey), &mut files)?;
    }
    let mut sources: String =
        files.iter().map(|file| fs::read_to_string(root.join(file))).collect::<Result<_, _>>()?;
    for entry in fs::read_dir(root.join(PYTHON)).context(PYTHON)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "py") {
            sources += &fs::read_to_string(path)?;
        }
    }
    for (document, begin) in DOCUMENTS {
        let text = fs::read_to_string(root.join(document)).context(document)?;
        let at = text.find(begin).with_context(|| format!("{document} has no '{begin}'"))?;
        let missing: Vec<&str> = names(&text[at..])
            .into_iter()
            .filter(|name| match name.strip_suffix(".rs") {
                Some(_) => !files.iter().any(|file| file.ends_with(&format!("/{name}"))),
                None => !is_test(&sources, name),
            })
            .collect();
        ensure!(
            missing.is_empty(),
            "{document} names missing tests or files: {}",
            missing.join(", ")
        );
    }
    Ok(())
}

/// Returns whether a function of this name follows an attribute, a macro that makes tests takes the
/// name, or a function in Python has it.
fn is_test(sources: &str, name: &str) -> bool {
    let forms = [
        format!("]\nfn {name}("),
        format!("]\n    fn {name}("),
        format!("\n    {name}: "),
        format!("\ndef {name}("),
    ];
    forms.iter().any(|form| sources.contains(form))
}

/// Returns the names of tests and Rust files among the text set as code.
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
