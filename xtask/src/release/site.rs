//! The documentation site: an mdBook of the documents as they lie in the repository, a page for
//! each command from its help, the man pages of the C library, and the interface of the crates from
//! rustdoc.

use super::help::markdown;
use super::{fresh, links, manual, pack};
use crate::process::{output, program, root, run, target_directory};
use crate::tools;
use crate::version::VERSION;
use anyhow::{Context, Result, ensure};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The chapters: a heading of the side bar, and its documents.
const PARTS: &[(&str, &[&str])] = &[
    (
        "Libraries",
        &[
            "docs/install.md",
            "docs/c.md",
            "fronts/python/README.md",
            "docs/python/secrets.md",
            "docs/python/streams.md",
            "docs/python/distributions.md",
            "docs/python/numpy.md",
            "docs/python/generator.md",
            "docs/python/reference.md",
            "docs/python/dask.md",
            "docs/java.md",
            "docs/javascript.md",
            "docs/openssl.md",
            "docs/programs.md",
            "streams/STREAMS.md",
            "docs/one-array.md",
            "docs/devices.md",
            "docs/distributions.md",
            "examples/README.md",
        ],
    ),
    (
        "Operators",
        &[
            "docs/doctor.md",
            "docs/observer.md",
            "docs/fleet.md",
            "docs/hosts.md",
            "docs/clones.md",
            "docs/copies.md",
            "docs/adapters.md",
            "docs/storage.md",
            "docs/packaging.md",
        ],
    ),
    (
        "Reference",
        &[
            "core/PLATFORM.md",
            "docs/rseq.md",
            "SECURITY.md",
            "core/DESIGN.md",
            "COMPARE.md",
            "CHANGELOG.md",
            "streams/vectors/README.md",
        ],
    ),
    (
        "Developers",
        &[
            "ARCHITECTURE.md",
            "core/README.md",
            "proof/README.md",
            "streams/README.md",
            "fronts/README.md",
            "measure/README.md",
            "boot/README.md",
            "text/README.md",
            "CONTRIBUTING.md",
            "tools/release/RELEASE.md",
            "docs/bench.md",
            "docs/lab.md",
            "docs/quality.md",
            "boot/fuzz/README.md",
        ],
    ),
];

/// The front page, which has no part.
const HOME: &str = "README.md";
const STYLE: &str = "docs/site.css";
/// The directory of rustdoc's pages in the book.
const INTERFACE: &str = "rust";

/// Returns an error unless each link of the documents has a target.
pub(crate) fn check() -> Result<()> {
    links::check(&root()?, &documents())
}

fn documents() -> Vec<String> {
    let parts = PARTS.iter().flat_map(|(_, pages)| *pages);
    [HOME].into_iter().chain(parts.copied()).map(str::to_owned).collect()
}

/// Builds the site as an archive, and checks the links of its pages.
pub(super) fn build(dist: &Path) -> Result<()> {
    let mdbook = tools::mdbook()?;
    check()?;
    let book = fresh("site")?;
    let source = book.join("src");
    let mut summary = String::from("# headwater\n\n[headwater](README.md)\n\n");
    let mut linked = BTreeSet::new();
    copy(HOME, &source, &mut linked)?;
    for (part, pages) in PARTS {
        let _ = writeln!(summary, "# {part}\n");
        if *part == "Libraries" {
            fs::write(source.join("rust.md"), RUST)?;
            summary += "- [Rust](rust.md)\n";
        }
        for page in *pages {
            let title = copy(page, &source, &mut linked)?;
            let _ = writeln!(summary, "- [{title}]({page})");
        }
        if *part == "Reference" {
            summary += &manual::pages(&source)?;
        }
        summary += "\n";
        if *part == "Operators" {
            summary += &commands(&source)?;
        }
    }
    // The files that documents link to, and those that these link to in turn.
    summary += "# Records\n\n";
    while let Some(path) = linked.pop_first() {
        let to = source.join(&path);
        if to.exists() {
            continue;
        }
        if path.extension().is_some_and(|extension| extension == "md") {
            let title = copy(&path.display().to_string(), &source, &mut linked)?;
            let _ = writeln!(summary, "- [{title}]({})", path.display());
        } else {
            fs::create_dir_all(to.parent().context("a path without a directory")?)?;
            fs::copy(&path, &to).with_context(|| path.display().to_string())?;
        }
    }
    fs::write(source.join("SUMMARY.md"), summary)?;
    fs::write(book.join("book.toml"), BOOK)?;
    fs::copy(STYLE, book.join("site.css"))?;
    run(Command::new(mdbook).arg("build").arg(&book))?;
    let site = book.join(format!("headwater-site-{VERSION}"));
    fs::rename(book.join("book"), &site)?;
    interface(&site)?;
    check_pages(&site)?;
    pack(&site, &dist.join(format!("headwater-site-{VERSION}.tar.gz")))
}

const BOOK: &str = "\
[book]
title = \"headwater\"
description = \"Secure random bytes for Linux programs, at memory speed\"
language = \"en\"
src = \"src\"

[build]
build-dir = \"book\"
create-missing = false

[output.html]
additional-css = [\"site.css\"]
no-section-label = true

[output.html.search]
limit-results = 20
";

/// The page that leads to rustdoc's pages, which mdBook neither makes nor checks.
const RUST: &str = "\
# Rust

* [headwater](rust/headwater/index.html): random bytes, `Rng` with the traits of rand, `Stamp`,
  UUIDs and the status.
* [headwater-streams](rust/headwater_streams/index.html): reproducible streams.

```sh
cargo add --path ../headwater/core/headwater
cargo add --path ../headwater/streams/headwater-streams
```
";

/// Copies a document with its links adapted, collects the files that it links to, and returns the
/// title. A directory without a README.md becomes a page with its names.
fn copy(document: &str, source: &Path, linked: &mut BTreeSet<PathBuf>) -> Result<String> {
    let mut text = match fs::read_to_string(document) {
        Err(_) if document.ends_with("README.md") => list(Path::new(document))?,
        text => text.with_context(|| document.to_owned())?,
    };
    let title = text.lines().find_map(|line| line.strip_prefix("# "));
    let title = title.with_context(|| format!("{document} has no title"))?.replace('`', "");
    // From the end, so that the places of earlier links stay.
    for link in links::links(&text).into_iter().rev() {
        let Some((mut path, _)) = links::resolved(document, &link.target) else { continue };
        let mut target = link.target.clone();
        if path.is_dir() {
            // A site does not list directories.
            path.push("README.md");
            target = format!("{}/README.md", target.trim_end_matches('/'));
        }
        // mdBook makes index.html of README.md, but leaves links to it.
        let new = target.replace("README.md", "index.md");
        text.replace_range(link.at..link.at + link.target.len(), &new);
        linked.insert(path);
    }
    let to = source.join(document);
    fs::create_dir_all(to.parent().context("a path without a directory")?)?;
    fs::write(to, text)?;
    Ok(title)
}

/// Returns a page with the names in a directory of the repository.
fn list(page: &Path) -> Result<String> {
    let directory = page.parent().context("a page without a directory")?;
    let mut names: Vec<String> = fs::read_dir(directory)?
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect::<Result<_>>()?;
    names.sort();
    let place = directory.display();
    let mut text = format!("# {place}\n\nThe repository has these files there:\n\n");
    for name in names {
        let _ = writeln!(text, "* `{name}`");
    }
    Ok(text)
}

/// Writes a page for each verb of the command from its help, and returns their lines of the
/// summary.
fn commands(source: &Path) -> Result<String> {
    let mut summary = String::from("# Commands\n\n");
    fs::create_dir_all(source.join("commands"))?;
    run(&mut program("cargo build --package headwater-cli"))?;
    let top = help(&[])?;
    let page = format!("# headwater\n\n{}", markdown(&top));
    fs::write(source.join("commands/headwater.md"), page)?;
    summary += "- [headwater](commands/headwater.md)\n";
    for verb in verbs(&top) {
        let text = help(&[&verb])?;
        let mut page = format!("# headwater {verb}\n\n{}", markdown(&text));
        for below in verbs(&text) {
            let text = help(&[&verb, &below])?;
            let _ = write!(page, "## headwater {verb} {below}\n\n{}", markdown(&text));
        }
        fs::write(source.join(format!("commands/{verb}.md")), page)?;
        let _ = writeln!(summary, "- [headwater {verb}](commands/{verb}.md)");
    }
    Ok(summary + "\n")
}

/// Returns the help text of a verb. The caller has built the command.
fn help(verbs: &[&str]) -> Result<String> {
    let mut command = Command::new(target_directory()?.join("debug/headwater"));
    let text = output(command.args(verbs).arg("--help"))?;
    Ok(text.trim_end().to_owned() + "\n")
}

/// Returns the verbs in the list "Commands:" of a help text.
fn verbs(help: &str) -> Vec<String> {
    let list = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let list = list.take_while(|line| !line.trim().is_empty());
    // A verb stands two columns from the edge; its text may continue below, further to the right.
    let names =
        list.filter_map(|line| line.strip_prefix("  ")).filter(|line| !line.starts_with(' '));
    let names = names.filter_map(|line| line.split(' ').next()).filter(|name| *name != "help");
    names.map(str::to_owned).collect()
}

/// Adds rustdoc's pages of the crates for users.
fn interface(site: &Path) -> Result<()> {
    let target = fresh("rustdoc")?;
    let mut doc = program("cargo doc --no-deps -p headwater -p headwater-streams");
    doc.args(["--features", "headwater/uuid,headwater/std"]).arg("--target-dir").arg(&target);
    run(&mut doc)?;
    let to = site.join(INTERFACE);
    run(program("cp --recursive --").arg(target.join("doc")).arg(&to))?;
    // Cargo's lock on the directory.
    let _ = fs::remove_file(to.join(".lock"));
    ensure!(to.join("headwater/index.html").is_file(), "rustdoc wrote no page of headwater");
    Ok(())
}

/// Returns an error unless each link between the pages of mdBook has a target.
fn check_pages(site: &Path) -> Result<()> {
    let mut pages = Vec::new();
    html_files(site, &mut pages)?;
    ensure!(pages.len() > 30, "{} pages", pages.len());
    let mut wrong = Vec::new();
    for page in &pages {
        let name = page.strip_prefix(site)?.display().to_string();
        // The page for print holds all others, and "not found" is shown at any address.
        if name.starts_with(INTERFACE) || name == "print.html" || name == "404.html" {
            continue;
        }
        let text = fs::read_to_string(page)?;
        for target in text.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
            let Some((path, anchor)) = links::resolved(&name, target) else { continue };
            let file = site.join(&path);
            let Ok(there) = fs::read(&file) else {
                wrong.push(format!("{name}: no {}", path.display()));
                continue;
            };
            let anchor = anchor.filter(|anchor| !anchor.is_empty());
            let id = anchor.map(|anchor| format!("id=\"{anchor}\""));
            let text = String::from_utf8_lossy(&there);
            if let Some(id) = id.filter(|id| !text.contains(id.as_str())) {
                wrong.push(format!("{name}: no {id} in {}", path.display()));
            }
        }
    }
    wrong.dedup();
    ensure!(wrong.is_empty(), "links without a target:\n{}", wrong.join("\n"));
    println!("{} pages, each link between them has a target", pages.len());
    Ok(())
}

fn html_files(directory: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            html_files(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "html") {
            found.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_link_of_the_documents_has_a_target() {
        check_from(&root().unwrap());
    }

    fn check_from(root: &Path) {
        if let Err(error) = links::check(root, &documents()) {
            panic!("{error}");
        }
    }

    #[test]
    fn every_document_is_in_the_book() {
        let root = root().unwrap();
        for directory in ["", "docs", "docs/python"] {
            for entry in fs::read_dir(root.join(directory)).unwrap() {
                let name = entry.unwrap().file_name().into_string().unwrap();
                let path = Path::new(directory).join(&name).display().to_string();
                if name.ends_with(".md") {
                    assert!(documents().contains(&path), "{path} is in no part of the book");
                }
            }
        }
    }

    #[test]
    fn verbs_are_read_from_a_help_text() {
        let help = "Usage: x [COMMAND]\n\nCommands:\n  status  Show\n          more\n  wait    \
                    Wait\n  help    Print\n\nOptions:\n  -V  version\n";
        assert_eq!(verbs(help), ["status", "wait"]);
    }
}
