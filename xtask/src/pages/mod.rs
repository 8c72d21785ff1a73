//! Commands of the documents, run as written in clean roots of Debian.
//!
//! A reader starts at the first command of a page. So each page is one script, whose commands run
//! in order in one shell, on a machine that has nothing but what earlier commands installed.

mod block;
mod script;

use crate::process::{output, program, root, run, target_directory};
use crate::report::{Report, need};
use crate::tools;
use anyhow::{Context, Result};
use block::{Block, Place};
use std::fs;
use std::path::{Path, PathBuf};

/// The releases of Debian on which every page must work.
const SUITES: [&str; 2] = ["bookworm", "trixie"];

/// Pages that come first, in this order, because the others presume what they install.
const FIRST: [&str; 2] = ["README.md", "docs/install.md"];

/// A document, and its blocks of commands.
struct Page {
    name: String,
    blocks: Vec<Block>,
}

/// Returns every document of the repository that has commands, in the order of a reader.
fn pages(root: &Path) -> Result<Vec<Page>> {
    let list = output(
        program("git ls-files --cached --others --exclude-standard -- *.md").current_dir(root),
    )?;
    // A record's commands are those of its day, and changes name what older versions had. A link is
    // the page that it leads to.
    let is_page = |name: &&str| {
        !name.starts_with("records/") && *name != "CHANGELOG.md" && !root.join(name).is_symlink()
    };
    let mut names: Vec<&str> = list.lines().filter(is_page).collect();
    names.sort_by_key(|name| (FIRST.iter().position(|first| first == name).unwrap_or(9), *name));
    let mut pages = Vec::new();
    for name in names {
        let text = fs::read_to_string(root.join(name)).with_context(|| name.to_owned())?;
        let blocks = block::blocks(&text).with_context(|| name.to_owned())?;
        if !blocks.is_empty() {
            pages.push(Page { name: name.to_owned(), blocks });
        }
    }
    Ok(pages)
}

/// Runs the pages of a place in a clean root of a suite. `tree` is what the reader has.
fn run_pages(suite: &str, place: Place, tree: &Path) -> Result<()> {
    let top = target_directory()?.join("pages");
    let scripts = top.join("scripts");
    if scripts.exists() {
        fs::remove_dir_all(&scripts)?;
    }
    fs::create_dir_all(&scripts)?;
    for (number, page) in pages(&root()?)?.iter().enumerate() {
        if let Some(script) = script::script(&page.name, &page.blocks, place) {
            let name = format!("{number:02}-{}.sh", page.name.replace('/', "-"));
            fs::write(scripts.join(name), script)?;
        }
    }
    run_scripts(suite, &top, tree, &scripts)
}

/// Runs scripts as a reader in a clean root of a suite, in the order of their names. `cache` keeps
/// the root, and `tree` is what the reader has.
pub(crate) fn run_scripts(suite: &str, cache: &Path, tree: &Path, scripts: &Path) -> Result<()> {
    let mut pages = program("sh");
    pages.arg(root()?.join("tools/release/packages/pages.sh")).arg(suite);
    run(pages.args([cache, tree, scripts]))
}

/// Clones the repository into a directory, in the place of an earlier clone.
pub(crate) fn checkout(directory: &Path) -> Result<PathBuf> {
    let checkout = directory.join("headwater");
    if checkout.exists() {
        fs::remove_dir_all(&checkout).context("an old checkout")?;
    }
    let mut clone = program("git clone --quiet --no-hardlinks");
    run(clone.arg(root()?).arg(&checkout))?;
    Ok(checkout)
}

/// Runs the commands of all documents, in a checkout and among the files of a release.
pub(crate) fn steps(report: &mut Report) {
    const LOSS: &str = "whether the commands of the documents work as written on a new machine";
    for suite in SUITES {
        report.long_step(&format!("documents, in a checkout on a new machine, {suite}"), || {
            need(tools::root_user(), LOSS)?;
            need(tools::packages(&["debootstrap"]), LOSS)?;
            let checkout = checkout(&target_directory()?.join("pages"))?;
            Ok(run_pages(suite, Place::Checkout, &checkout)?)
        });
    }
    for suite in SUITES {
        report.long_step(&format!("documents, with a release on a new machine, {suite}"), || {
            need(tools::root_user(), LOSS)?;
            need(tools::packages(&["debootstrap"]), LOSS)?;
            Ok(run_pages(suite, Place::Dist, &dist()?)?)
        });
    }
}

/// Makes the files of a release of this commit, unless an earlier step has. Changes that are not
/// committed have no name by which they could be found again.
fn dist() -> Result<PathBuf> {
    let dist = target_directory()?.join("pages/dist");
    let git = |words: &str| output(program(words).current_dir(root()?));
    let commit = git("git rev-parse HEAD")?;
    let is_clean = git("git status --porcelain")?.is_empty();
    let made = dist.with_extension("commit");
    if is_clean && dist.exists() && fs::read_to_string(&made).is_ok_and(|of| of == commit) {
        return Ok(dist);
    }
    if dist.exists() {
        fs::remove_dir_all(&dist).context("an old release")?;
    }
    let mut release = program("cargo xtask release --dist");
    release.arg(&dist);
    for step in
        ["source", "library", "program", "python", "java", "npm", "debian", "command", "install"]
    {
        release.args(["--only", step]);
    }
    run(release.current_dir(root()?))?;
    if is_clean {
        fs::write(made, commit)?;
    }
    Ok(dist)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_of_the_documents_can_be_run_or_says_why_not() {
        let pages = pages(&root().unwrap()).unwrap();
        assert_eq!([&pages[0].name, &pages[1].name], FIRST);
        let blocks: usize = pages.iter().map(|page| page.blocks.len()).sum();
        assert!(blocks > 30, "{blocks} blocks");
    }
}
