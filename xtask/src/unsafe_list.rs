//! `cargo xtask unsafe-list`: where `unsafe` is, so that a new site is seen in review.
//!
//! A site is the keyword itself, in a block, a function, an impl, an extern block or an attribute.

use crate::process::root;
use anyhow::{Context, Result, anyhow, bail};
use proc_macro2::{TokenStream, TokenTree};
use std::fs;
use std::path::Path;
use std::process::ExitCode;

/// The checked-in list, at the root of the workspace.
const RECORD: &str = "xtask/unsafe.txt";
/// The folders that hold Rust code.
const FOLDERS: [&str; 4] = ["crates", "reference", "tools", "xtask"];

/// Prints the list; an error that names what differs from the record, if anything does.
pub(crate) fn check() -> Result<ExitCode> {
    let root = root()?;
    let list = list(&root)?;
    print!("{list}");
    let record = fs::read_to_string(root.join(RECORD)).context("cannot read xtask/unsafe.txt")?;
    let differences = differences(&record, &list);
    if !differences.is_empty() {
        bail!(
            "xtask/unsafe.txt says otherwise:\n{differences}If that is meant: cargo xtask unsafe-list --bless"
        );
    }
    Ok(ExitCode::SUCCESS)
}

/// Makes today's list the record.
pub(crate) fn bless() -> Result<ExitCode> {
    let root = root()?;
    fs::write(root.join(RECORD), list(&root)?).context("cannot write xtask/unsafe.txt")?;
    Ok(ExitCode::SUCCESS)
}

/// The lines that only one of the two has. A path is in each once, so the order does not matter.
fn differences(record: &str, list: &str) -> String {
    let only = |mark: char, these: &str, those: &str| -> String {
        these
            .lines()
            .filter(|line| !those.lines().any(|other| other == *line))
            .map(|line| format!("{mark}{line}\n"))
            .collect()
    };
    only('-', record, list) + &only('+', list, record)
}

/// One line for each file that has any, sorted by path.
fn list(root: &Path) -> Result<String> {
    let mut files = Vec::new();
    for folder in FOLDERS {
        rust_files(root, Path::new(folder), &mut files)?;
    }
    files.sort();
    let mut list = String::new();
    for file in files {
        let source = fs::read_to_string(root.join(&file))?;
        let tokens = source.parse().map_err(|e| anyhow!("{file}: {e}"))?;
        match keywords(tokens) {
            0 => {}
            count => list.push_str(&format!("{count:>4}  {file}\n")),
        }
    }
    Ok(list)
}

fn keywords(tokens: TokenStream) -> usize {
    let count = |token| match token {
        TokenTree::Ident(word) => usize::from(word == "unsafe"),
        TokenTree::Group(group) => keywords(group.stream()),
        TokenTree::Punct(_) | TokenTree::Literal(_) => 0,
    };
    tokens.into_iter().map(count).sum()
}

pub(crate) fn rust_files(root: &Path, folder: &Path, found: &mut Vec<String>) -> Result<()> {
    for entry in fs::read_dir(root.join(folder))? {
        let entry = entry?;
        let path = folder.join(entry.file_name());
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
            /// unsafe in documentation
            #[unsafe(no_mangle)] // 1
            #[expect(unsafe_code)]
            unsafe fn f() { unsafe { g("unsafe") } } // 2, 3
            macro_rules! m { () => { unsafe { h() } } } // 4
        "##;
        assert_eq!(keywords(source.parse().unwrap()), 4);
    }

    #[test]
    fn shows_what_went_and_what_came() {
        let (record, list) = ("   1  a.rs\n   2  b.rs\n", "   1  a.rs\n   3  b.rs\n");
        assert_eq!(differences(record, list), "-   2  b.rs\n+   3  b.rs\n");
        assert_eq!(differences(list, list), "");
    }
}
