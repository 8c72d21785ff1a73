//! `cargo xtask unsafe-list`: the files that hold `unsafe`, so that a review sees a new site.
//!
//! A site is the keyword itself: of a block, a function, an impl, an extern block or an attribute.
//! Why not a count for each file? Then every file that is split or moved would change the record,
//! and a reviewer who has seen ten harmless changes does not read the eleventh. So the record
//! counts sites by source directory and only names the files: a file that moves within its crate
//! changes no count, while a new site in any file changes one.

use crate::process::root;
use anyhow::{Context, Result, anyhow, bail};
use proc_macro2::{TokenStream, TokenTree};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

/// The checked-in list, below the root of the workspace.
const RECORD: &str = "xtask/unsafe.txt";
/// The directories that hold Rust code.
const DIRECTORIES: [&str; 8] =
    ["boot", "core", "fronts", "measure", "proof", "streams", "text", "xtask"];

/// Prints today's list, and returns an error if it differs from the record.
pub(crate) fn list_and_check() -> Result<ExitCode> {
    print!("{}", list(&root()?)?);
    check()?;
    Ok(ExitCode::SUCCESS)
}

/// Returns an error that names each line in which today's list and the record differ.
pub(crate) fn check() -> Result<()> {
    let root = root()?;
    let list = list(&root)?;
    let record = fs::read_to_string(root.join(RECORD)).context(RECORD)?;
    let differences = differences(&record, &list);
    if !differences.is_empty() {
        bail!(
            "{RECORD} differs from the code:\n{differences}\
             After a review of the new sites: cargo xtask unsafe-list --bless"
        );
    }
    Ok(())
}

/// Makes today's list the record.
pub(crate) fn bless() -> Result<ExitCode> {
    let root = root()?;
    fs::write(root.join(RECORD), list(&root)?).context(RECORD)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the lines that only one of the two has. No line is in a list twice, so that the order
/// does not matter.
fn differences(record: &str, list: &str) -> String {
    let only = |mark: char, these: &str, those: &str| -> String {
        these
            .lines()
            .filter(|line| !those.lines().any(|other| other == *line))
            .map(|line| format!("{mark} {}\n", line.trim()))
            .collect()
    };
    only('-', record, list) + &only('+', list, record)
}

/// Formats the record: a line for each source directory that has sites, then its files.
fn list(root: &Path) -> Result<String> {
    let mut files = Vec::new();
    for directory in DIRECTORIES {
        rust_files(root, Path::new(directory), &mut files)?;
    }
    files.sort();
    let mut directories: BTreeMap<String, (usize, Vec<String>)> = BTreeMap::new();
    for file in files {
        let source = fs::read_to_string(root.join(&file))?;
        let tokens = source.parse().map_err(|e| anyhow!("{file}: {e}"))?;
        let count = keywords(tokens);
        if count > 0 {
            let entry = directories.entry(source_directory(&file)).or_default();
            entry.0 += count;
            entry.1.push(file);
        }
    }
    let lines = |(directory, (count, files)): (String, (usize, Vec<String>))| -> String {
        let files: String = files.iter().map(|file| format!("      {file}\n")).collect();
        format!("{count:>4}  {directory}\n{files}")
    };
    Ok(directories.into_iter().map(lines).collect())
}

/// Returns the path up to the first `src`, `tests` or `benches` in it, else the file's directory.
fn source_directory(file: &str) -> String {
    let parts: Vec<&str> = file.split('/').collect();
    let at = parts.iter().position(|part| ["src", "tests", "benches"].contains(part));
    parts[..at.map_or(parts.len() - 1, |at| at + 1)].join("/")
}

fn keywords(tokens: TokenStream) -> usize {
    let count = |token| match token {
        TokenTree::Ident(word) => usize::from(word == "unsafe"),
        TokenTree::Group(group) => keywords(group.stream()),
        TokenTree::Punct(_) | TokenTree::Literal(_) => 0,
    };
    tokens.into_iter().map(count).sum()
}

/// Collects the paths of all Rust files below the directory.
pub(crate) fn rust_files(root: &Path, directory: &Path, found: &mut Vec<String>) -> Result<()> {
    for entry in fs::read_dir(root.join(directory))? {
        let entry = entry?;
        let path = directory.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            rust_files(root, &path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path.display().to_string());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_the_keyword_wherever_it_is_code() {
        let source = r##"
            // unsafe in a comment
            /// Shows unsafe in documentation
            #[unsafe(no_mangle)] // 1
            #[expect(unsafe_code)]
            unsafe fn f() { unsafe { g("unsafe") } } // 2, 3
            macro_rules! m { () => { unsafe { h() } } } // 4
        "##;
        assert_eq!(keywords(source.parse().unwrap()), 4);
    }

    #[test]
    fn differences_show_removed_and_added_lines() {
        let (record, list) = ("   1  a/src\n      a/src/a.rs\n", "   2  a/src\n      a/src/a.rs\n");
        assert_eq!(differences(record, list), "- 1  a/src\n+ 2  a/src\n");
        assert_eq!(differences(list, list), "");
    }

    #[test]
    fn sites_are_counted_for_the_innermost_source_directory() {
        for (file, directory) in [
            ("core/a/src/linux/mod.rs", "core/a/src"),
            ("core/a/guest/src/main.rs", "core/a/guest/src"),
            ("core/a/src/tests/mod.rs", "core/a/src"),
            ("core/a/tests/support/jump.rs", "core/a/tests"),
            ("core/a/build.rs", "core/a"),
        ] {
            assert_eq!(source_directory(file), directory);
        }
    }
}
