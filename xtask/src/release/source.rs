//! The source archive of a release, with the sources of every crate that it needs: a distribution
//! builds without a network, and its reviewer reads the licence of each crate in one list.

use super::{epoch, export, fresh, pack};
use crate::process::{output, program, root, run};
use crate::tools;
use crate::version::VERSION;
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The directory of the crates' sources, as cargo names it by default.
const VENDOR: &str = "vendor";
/// The list of the crates with their licences.
const LIST: &str = "VENDORED";

/// Writes `headwater-VERSION-source.tar.gz`.
pub(super) fn build(dist: &Path) -> Result<()> {
    epoch()?;
    let name = format!("headwater-{VERSION}-source");
    let tree = fresh("source")?.join(&name);
    fs::create_dir_all(&tree)?;
    export(&tree)?;
    // Half of the repository, and no build reads it.
    fs::remove_dir_all(tree.join("records"))?;
    vendor(&tree)?;
    let archive = dist.join(format!("{name}.tar.gz"));
    pack(&tree, &archive)?;
    recipes(&archive, dist)
}

/// Writes the recipes of others' package managers, with the version and the sum of the archive.
///
/// Their builds take compilers from their own registries, so the release only lets each language's
/// own reader judge the recipe, and the archive itself is built by the test of packaging.md.
fn recipes(archive: &Path, dist: &Path) -> Result<()> {
    tools::packages(&["nix-bin", "ruby", "python3-yaml"])?;
    let sums = output(program("sha256sum --").arg(archive))?;
    let sum = sums.split_whitespace().next().context("sha256sum names a sum")?;
    for (path, check) in [
        (
            "conda/recipe.yaml",
            ["/usr/bin/python3", "-c", "import yaml, sys; yaml.safe_load(open(sys.argv[1]))"],
        ),
        ("nix/package.nix", ["nix-instantiate", "--parse", "--strict"]),
        ("homebrew/headwater.rb", ["ruby", "-w", "-c"]),
    ] {
        let recipe = fs::read_to_string(root()?.join("tools/release").join(path))?;
        let recipe = recipe.replace("@VERSION@", VERSION).replace("@SHA256@", sum);
        ensure!(!recipe.contains('@'), "{path}: a place is left");
        let name = path.rsplit('/').next().unwrap_or(path);
        let file = dist.join(name);
        fs::write(&file, recipe)?;
        output(Command::new(check[0]).args(&check[1..]).arg(file))
            .with_context(|| path.to_owned())?;
    }
    Ok(())
}

/// Adds the crates to a tree, a configuration by which cargo takes them, and the list of licences.
fn vendor(tree: &Path) -> Result<()> {
    let mut vendor = program("cargo vendor --locked --versioned-dirs");
    let settings = output(vendor.arg(VENDOR).current_dir(tree))?;
    ensure!(settings.contains("directory = \"vendor\""), "cargo vendor said: {settings}");
    let config = tree.join(".cargo/config.toml");
    let mut text = fs::read_to_string(&config).unwrap_or_default();
    let _ =
        write!(text, "\n# Every crate is in {VENDOR}/, so no build asks a network.\n{settings}");
    fs::create_dir_all(tree.join(".cargo"))?;
    fs::write(&config, text)?;
    // Read from the copies themselves: a crate that is missing would be missed here.
    let mut metadata = program("cargo metadata --format-version 1 --offline --locked");
    let metadata = metadata.current_dir(tree).output().context("cargo metadata")?;
    ensure!(metadata.status.success(), "{}", String::from_utf8_lossy(&metadata.stderr));
    let list = licences(&serde_json::from_slice(&metadata.stdout)?)?;
    fs::write(tree.join(LIST), list)?;
    // A build reads the manifest of each crate and would stop at the first wrong sum.
    run(program("cargo tree --offline --locked --workspace --quiet --depth 0").current_dir(tree))
}

/// Returns a line for each crate of others: its directory, licence, authors and address.
fn licences(metadata: &Value) -> Result<String> {
    let mut lines = BTreeSet::new();
    for package in metadata["packages"].as_array().context("metadata without packages")? {
        // A package of this workspace has no source.
        if package["source"].is_null() {
            continue;
        }
        let text = |key: &str| package[key].as_str().unwrap_or_default();
        let (name, version) = (text("name"), text("version"));
        let licence = text("license");
        ensure!(!licence.is_empty(), "{name} {version} names no licence");
        let authors = package["authors"].as_array().map_or(Vec::new(), |authors| {
            authors.iter().filter_map(Value::as_str).collect::<Vec<_>>()
        });
        lines.insert(format!(
            "{VENDOR}/{name}-{version}\t{licence}\t{}\t{}\n",
            authors.join("; "),
            text("repository")
        ));
    }
    ensure!(!lines.is_empty(), "cargo names no crate of others");
    let head = "Crates of others in this archive: directory, licence, authors, address. Each \
                directory has the texts of its licence.\n\n";
    Ok(head.to_owned() + &lines.into_iter().collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn crates_of_others_are_listed_and_one_without_a_licence_is_refused() {
        let ours = json!({"name": "a", "version": "1.0.0", "source": null});
        let theirs = json!({"name": "b", "version": "2.0.0", "source": "registry", "license": "MIT",
                            "authors": ["B", "C"], "repository": "https://b.example"});
        let list = licences(&json!({"packages": [ours, theirs]})).unwrap();
        let line = list.lines().last().unwrap();
        assert_eq!(line, "vendor/b-2.0.0\tMIT\tB; C\thttps://b.example");
        let bare = json!({"name": "c", "version": "1.0.0", "source": "registry", "authors": []});
        let error = licences(&json!({"packages": [bare]})).unwrap_err();
        assert_eq!(error.to_string(), "c 1.0.0 names no licence");
    }
}
