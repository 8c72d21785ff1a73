//! `cargo xtask version`: the one version, `workspace.package.version` of Cargo.toml, and the
//! places that repeat it because their tools cannot read it there.
//!
//! All other places follow by themselves: crates inherit it, C files contain `@VERSION@`, and
//! maturin takes the version of fronts/python/Cargo.toml.

use crate::process::{program, root, run};
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::Path;
use std::process::ExitCode;

/// The version of the workspace, which this crate inherits.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Lines of a file that repeat the version. In each line that contains `mark`, the version follows
/// `before`.
struct Place {
    file: &'static str,
    mark: &'static str,
    before: &'static str,
    part: Part,
}

/// The part of the version that a line repeats.
enum Part {
    Whole,
    /// One of the three numbers.
    Number(usize),
}

const fn place(file: &'static str, mark: &'static str, before: &'static str) -> Place {
    Place { file, mark, before, part: Part::Whole }
}

const fn number(file: &'static str, before: &'static str, number: usize) -> Place {
    Place { file, mark: before, before, part: Part::Number(number) }
}

const C_SOURCE: &str = "fronts/c/src/process.rs";
const C_HEADER: &str = "fronts/c/include/headwater.h";

const PLACES: [Place; 25] = [
    place("Cargo.toml", "path = \"", "version = \""),
    place("fronts/c/Cargo.toml", "path = \"", "version = \""),
    place("fronts/openssl/module/Cargo.toml", "path = \"", "version = \""),
    number(C_SOURCE, "HEADWATER_VERSION_MAJOR: i32 = ", 0),
    number(C_SOURCE, "HEADWATER_VERSION_MINOR: i32 = ", 1),
    number(C_SOURCE, "HEADWATER_VERSION_PATCH: i32 = ", 2),
    number(C_HEADER, "#define HEADWATER_VERSION_MAJOR ", 0),
    number(C_HEADER, "#define HEADWATER_VERSION_MINOR ", 1),
    number(C_HEADER, "#define HEADWATER_VERSION_PATCH ", 2),
    place("fronts/java/native/Cargo.toml", "\nversion = \"", "\nversion = \""),
    place("fronts/npm/wasm/Cargo.toml", "\nversion = \"", "\nversion = \""),
    place("fronts/npm/package.json", "\n  \"version\": \"", "\n  \"version\": \""),
    place("fronts/duckdb/Cargo.toml", "\nversion = \"", "\nversion = \""),
    place("fronts/python/Cargo.toml", "\nversion = \"", "\nversion = \""),
    // Two spaces: the versions of dependencies and plugins stand further to the right.
    place("fronts/java/pom.xml", "\n  <version>", "\n  <version>"),
    place("fronts/java/bench/pom.xml", "\n  <version>", "\n  <version>"),
    place("fronts/java/spark/pom.xml", "\n  <version>", "\n  <version>"),
    place("fronts/java/clones/pom.xml", "\n  <version>", "\n  <version>"),
    place("fronts/java/src/main/java/headwater/Library.java", "String VERSION = ", "\""),
    place("docs/java.md", "fronts/java/target/headwater-", "fronts/java/target/headwater-"),
    place("docs/java.md", "headwater-spark-", "headwater-spark-"),
    place("docs/java.md", "headwater-clones-", "headwater-clones-"),
    // CMake refuses another series while the first number is 0.
    place("docs/c.md", "find_package(headwater ", "find_package(headwater "),
    place("tools/release/RELEASE.md", "git tag -s v", "git tag -s v"),
    place("tools/release/RELEASE.md", "-t \"headwater ", "-t \"headwater "),
];

impl Place {
    /// Returns the text that belongs there.
    fn expected(&self, version: &'static str) -> &'static str {
        match self.part {
            Part::Whole => version,
            Part::Number(at) => version.split('.').nth(at).unwrap_or_default(),
        }
    }
}

/// The workspaces, whose lock files record the packages of this repository with their versions.
pub(crate) const LOCKS: [&str; 6] =
    [".", "boot/fuzz", "fronts/java/native", "fronts/npm/wasm", "fronts/python", "proof/residue"];

/// Prints the version, or returns an error that lists the places with another one.
pub(crate) fn check() -> Result<ExitCode> {
    let wrong = differences(&root()?)?;
    ensure!(
        wrong.is_empty(),
        "the version is {VERSION}, but not in these places; `cargo xtask version --bless` writes \
         them:\n{}",
        wrong.join("\n")
    );
    println!("{VERSION}");
    Ok(ExitCode::SUCCESS)
}

/// Writes the version to every place. The heading of the changelog is left to its author.
pub(crate) fn bless() -> Result<ExitCode> {
    let root = root()?;
    for place in &PLACES {
        let path = root.join(place.file);
        let text = fs::read_to_string(&path).context(place.file)?;
        fs::write(path, with_version(&text, place, place.expected(VERSION)))?;
    }
    for folder in LOCKS {
        let manifest = root.join(folder).join("Cargo.toml");
        run(program("cargo update --workspace --quiet --manifest-path").arg(manifest))?;
    }
    check()
}

fn differences(root: &Path) -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    for place in &PLACES {
        let text = fs::read_to_string(root.join(place.file)).context(place.file)?;
        let found = versions(&text, place);
        if found.is_empty() {
            wrong.push(format!("  {}: no version after {:?}", place.file, place.before));
        }
        let others = found.into_iter().filter(|found| *found != place.expected(VERSION));
        wrong.extend(others.map(|other| format!("  {}: {}{other}", place.file, place.before)));
    }
    for folder in LOCKS {
        let name = Path::new(folder).join("Cargo.lock");
        let lock = fs::read_to_string(root.join(&name)).context(folder)?;
        let others = local_packages(&lock).filter(|(_, version)| *version != VERSION);
        let others =
            others.map(|(package, other)| format!("  {}: {package} {other}", name.display()));
        wrong.extend(others);
    }
    let changelog = fs::read_to_string(root.join("CHANGELOG.md")).context("CHANGELOG.md")?;
    match newest_release(&changelog) {
        Some(newest) if newest == VERSION => {}
        newest => wrong.push(format!("  CHANGELOG.md: {} is the newest", newest.unwrap_or("none"))),
    }
    Ok(wrong)
}

/// Returns the start and the end of each version of a place.
fn spans(text: &str, Place { mark, before, .. }: &Place) -> Vec<(usize, usize)> {
    // Line breaks belong to the line that follows, so that a mark may begin with one.
    let starts = text.match_indices('\n').map(|(at, _)| at);
    let starts: Vec<usize> = [0].into_iter().chain(starts).chain([text.len()]).collect();
    let lines = starts.windows(2).map(|pair| (pair[0], &text[pair[0]..pair[1]]));
    lines
        .filter(|(_, line)| line.contains(mark))
        .filter_map(|(start, line)| {
            let from = start + line.find(before)? + before.len();
            let length = text[from..].find(|c: char| !c.is_ascii_digit() && c != '.')?;
            // The point of "headwater-0.2.0.jar" ends the version.
            Some((from, from + text[from..from + length].trim_end_matches('.').len()))
        })
        .collect()
}

fn versions<'a>(text: &'a str, place: &Place) -> Vec<&'a str> {
    spans(text, place).into_iter().map(|(from, to)| &text[from..to]).collect()
}

fn with_version(text: &str, place: &Place, version: &str) -> String {
    let mut new = text.to_owned();
    for (from, to) in spans(text, place).into_iter().rev() {
        new.replace_range(from..to, version);
    }
    new
}

/// Returns names and versions of the packages that come from this repository, which have no source.
/// A version of 0.0.0 marks a package that is never released.
fn local_packages(lock: &str) -> impl Iterator<Item = (&str, &str)> {
    let packages = lock.split("[[package]]").skip(1).filter(|text| !text.contains("\nsource = "));
    packages
        .filter_map(|text| Some((field(text, "name")?, field(text, "version")?)))
        .filter(|(_, version)| *version != "0.0.0")
}

fn field<'a>(package: &'a str, name: &str) -> Option<&'a str> {
    let line = package.lines().find(|line| line.starts_with(name))?;
    line.split('"').nth(1)
}

/// Returns the first version that the changelog has a heading for: 0.2.0 of "## [0.2.0] - DATE".
pub(crate) fn newest_release(changelog: &str) -> Option<&str> {
    let headings = changelog.lines().filter_map(|line| line.strip_prefix("## ["));
    headings.filter_map(|rest| rest.split(']').next()).find(|name| *name != "Unreleased")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_has_the_version_of_the_workspace() {
        let wrong = differences(&root().unwrap()).unwrap();
        assert!(wrong.is_empty(), "`cargo xtask version --bless` writes:\n{}", wrong.join("\n"));
    }

    #[test]
    fn only_the_marked_lines_change() {
        let place = place("Cargo.toml", "path = \"", "version = \"");
        let text =
            "version = \"1.0.0\"\na = { path = \"a\", version = \"1.0.0\" }\nb = \"1.0.0\"\n";
        assert_eq!(versions(text, &place), ["1.0.0"]);
        let changed = with_version(text, &place, "1.10.0");
        assert_eq!(
            changed,
            text.replace("\"a\", version = \"1.0.0\"", "\"a\", version = \"1.10.0\"")
        );
    }

    #[test]
    fn the_extension_of_a_file_is_no_part_of_its_version() {
        let place = place("page.md", "target/headwater-", "target/headwater-");
        assert_eq!(versions("java target/headwater-0.2.0.jar", &place), ["0.2.0"]);
    }

    #[test]
    fn a_number_of_the_version_is_replaced_alone() {
        let place = number("x.h", "#define MINOR ", 1);
        let text = "#define MAJOR 0\n#define MINOR 1\n";
        let new = with_version(text, &place, place.expected("3.20.1"));
        assert_eq!(new, "#define MAJOR 0\n#define MINOR 20\n");
    }

    #[test]
    fn packages_of_a_registry_keep_their_versions() {
        let lock = "[[package]]\nname = \"a\"\nversion = \"1.2.3\"\nsource = \"registry\"\n\n\
                    [[package]]\nname = \"b\"\nversion = \"0.2.0\"\n\n\
                    [[package]]\nname = \"c\"\nversion = \"0.0.0\"\n";
        assert_eq!(local_packages(lock).collect::<Vec<_>>(), [("b", "0.2.0")]);
    }

    #[test]
    fn the_newest_release_is_below_the_unreleased_changes() {
        let text = "# Changelog\n\n## [Unreleased]\n\n## [0.3.0] - 2027-01-01\n\n## [0.2.0] - x\n";
        assert_eq!(newest_release(text), Some("0.3.0"));
        assert_eq!(newest_release("# Changelog\n"), None);
    }
}
