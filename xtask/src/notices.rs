//! The licences of the crates that a shipped file contains. A list of names would not do, because
//! most of these licences require that a copy of their text goes with every copy of the compiled
//! code.

use crate::process::{output, program};
use crate::tools;
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// Beginnings of the names of files with a licence, in capital letters.
const NAMES: [&str; 5] = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE"];

const HEAD: &str = "\
Crates of other authors that this part of headwater contains, each with its version, its licence,
and the numbers of its texts below. Texts that several crates share are printed once.
";

/// The machines of the packages. One list serves both, because Debian installs the library for two
/// machines side by side only if they share the same files of documentation.
const TARGETS: [&str; 4] =
    ["--target", "x86_64-unknown-linux-gnu", "--target", "aarch64-unknown-linux-gnu"];

/// The name of the notices in a wheel and in the jar.
pub(crate) const FILE: &str = "NOTICES";

/// Writes the notices for a package where its builder looks for them, and returns them.
pub(crate) fn write(workspace: &Path, package: &str, directory: &Path) -> Result<String> {
    let text = notices(workspace, package)?;
    fs::create_dir_all(directory)?;
    fs::write(directory.join(FILE), &text)?;
    Ok(text)
}

/// Returns an error unless the archive, a wheel or a jar, has these notices below `directory`.
/// This must be checked, because their builders leave out without a word what they do not find.
pub(crate) fn expect(text: &str, archive: &Path, directory: &str) -> Result<()> {
    tools::package("unzip", "unzip")?;
    let packed = output(program("unzip -p").arg(archive).arg(format!("{directory}/{FILE}")));
    let packed = packed.with_context(|| format!("{} has no {FILE}", archive.display()))?;
    ensure!(packed == text, "{}: other {FILE} than those of its crates", archive.display());
    Ok(())
}

/// Returns the notices for a package of the workspace in this directory.
pub(crate) fn notices(root: &Path, package: &str) -> Result<String> {
    // Unlike `cargo metadata`, the tree contains no crate that another package alone asks for.
    let mut tree = program("cargo tree --edges normal,no-proc-macro --prefix none --format {p}");
    let tree = output(tree.args(["--package", package]).args(TARGETS).current_dir(root))?;
    // Cargo's own description of 300 packages is too long for the log.
    let mut metadata = program("cargo metadata --format-version 1");
    let metadata = metadata.current_dir(root).output().context("cargo metadata")?;
    ensure!(metadata.status.success(), "{}", String::from_utf8_lossy(&metadata.stderr));
    let metadata: Value = serde_json::from_slice(&metadata.stdout)?;
    let packages = metadata["packages"].as_array().context("metadata without packages")?;

    let mut texts: Vec<String> = Vec::new();
    let mut list = String::new();
    for (name, version) in crates(&tree) {
        let is_this = |package: &&Value| package["name"] == name && package["version"] == version;
        let package = packages.iter().find(is_this);
        let package = package.with_context(|| format!("no metadata of {name} {version}"))?;
        // A package of this workspace has no source.
        if package["source"].is_null() {
            continue;
        }
        let licence = package["license"].as_str().unwrap_or("see the texts");
        let manifest = package["manifest_path"].as_str().context("a package without a manifest")?;
        let directory = Path::new(manifest).parent().context("a manifest without a directory")?;
        let mut numbers = Vec::new();
        for text in texts_of(directory)? {
            let place = texts.iter().position(|present| *present == text);
            let place = place.unwrap_or_else(|| {
                texts.push(text);
                texts.len() - 1
            });
            numbers.push((place + 1).to_string());
        }
        let numbers = if numbers.is_empty() { "no text".to_owned() } else { numbers.join(", ") };
        let _ = writeln!(list, "{name} {version}, {licence}: {numbers}");
    }
    let mut out = format!("{HEAD}\n{list}");
    for (number, text) in (1..).zip(texts) {
        let _ = write!(out, "\n---- Text {number} ----\n\n{text}\n");
    }
    Ok(out)
}

/// Returns the names and versions in the output of `cargo tree`, sorted and each once.
fn crates(tree: &str) -> BTreeSet<(&str, &str)> {
    let lines = tree.lines().filter_map(|line| {
        let mut words = line.split(' ');
        Some((words.next()?, words.next()?.strip_prefix('v')?))
    });
    lines.collect()
}

/// Returns the texts in a crate's directory, in the order of the files' names.
fn texts_of(directory: &Path) -> Result<Vec<String>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).with_context(|| directory.display().to_string())? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
        if path.is_file() && NAMES.iter().any(|start| name.starts_with(start)) {
            files.push(path);
        }
    }
    files.sort();
    let text = |file| {
        let bytes = fs::read(file)?;
        // Ends of lines differ between copies of one text.
        let text = String::from_utf8_lossy(&bytes).replace("\r\n", "\n");
        Ok(text.trim_matches('\n').to_owned())
    };
    files.into_iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_is_listed_once_with_its_version() {
        let tree = "ours v0.2.0 (/directory of ours)\nlibc v0.2.1\nclap v4.0.0\nclap v4.0.0 (*)\n";
        let expected = [("clap", "4.0.0"), ("libc", "0.2.1"), ("ours", "0.2.0")];
        assert_eq!(crates(tree), BTreeSet::from(expected));
    }

    #[test]
    fn notices_of_the_fronts_come_from_their_own_workspaces() {
        let root = crate::process::root().unwrap();
        for (workspace, package, linked, not_linked) in [
            ("fronts/python", "headwater-python", ["pyo3 ", "serde_json "], "pyo3-macros "),
            ("fronts/java/native", "headwater-java", ["blake2 ", "libc "], "pyo3 "),
        ] {
            let notices = notices(&root.join(workspace), package).unwrap();
            let list = notices.split("\n----").next().unwrap();
            let has = |name: &str| list.lines().any(|line| line.starts_with(name));
            assert!(linked.into_iter().all(has) && !has(not_linked), "{package}: {list}");
            assert!(!list.contains("no text"), "a crate without the text of its licence: {list}");
        }
    }

    #[test]
    fn an_archive_without_notices_is_refused() {
        let top = std::env::temp_dir().join(format!("headwater-notices-{}", std::process::id()));
        fs::create_dir_all(&top).unwrap();
        // The end of an archive in zip's format that holds no file.
        let empty = top.join("empty.whl");
        fs::write(&empty, [&b"PK\x05\x06"[..], &[0; 18]].concat()).unwrap();
        let error = expect("text", &empty, "META-INF").unwrap_err();
        assert!(error.to_string().contains("has no NOTICES"), "{error}");
        // One file, stored: META-INF/NOTICES with one byte, "a".
        let name = b"META-INF/NOTICES";
        let fields = |start: &[u8], more: usize| {
            // Version, flags, method, time and date, the checksum of "a", both sizes, the name's.
            let sums = [0x43, 0xbe, 0xb7, 0xe8, 1, 0, 0, 0, 1, 0, 0, 0, 16, 0];
            let fixed = [10, 0, 0, 0, 0, 0, 0, 0, 0x21, 0x52];
            [start, &fixed, &sums, &vec![0; more], name].concat()
        };
        let local = [&fields(b"PK\x03\x04", 2)[..], b"a"].concat();
        let central = fields(b"PK\x01\x02\x14\x03", 16);
        let sizes = [central.len() as u8, 0, 0, 0, local.len() as u8, 0, 0, 0, 0, 0];
        let end = [&b"PK\x05\x06\0\0\0\0\x01\0\x01\0"[..], &sizes].concat();
        let full = top.join("full.whl");
        fs::write(&full, [local, central, end].concat()).unwrap();
        expect("a", &full, "META-INF").unwrap();
        assert!(expect("b", &full, "META-INF").is_err());
        fs::remove_dir_all(&top).unwrap();
    }

    #[test]
    fn notices_have_every_crate_of_the_library_and_a_text_for_each() {
        let root = crate::process::root().unwrap();
        let notices = notices(&root, "headwater-c").unwrap();
        let list = notices.strip_prefix(HEAD).unwrap();
        let list = list.split("\n----").next().unwrap();
        for name in ["libc ", "blake2 "] {
            assert!(list.lines().any(|line| line.starts_with(name)), "no {name}in {list}");
        }
        assert!(!list.contains("headwater"), "{list}");
        assert!(!list.contains("no text"), "a crate without the text of its licence: {list}");
        // "MIT" names a text, so the full text must be present, with its copyright holders.
        assert!(notices.contains("Permission is hereby granted") && notices.contains("Copyright"));
    }
}
