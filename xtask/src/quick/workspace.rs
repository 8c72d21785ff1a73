//! The packages of the workspace: which file belongs to which, and which depends on which.

use crate::process::{output, program};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

/// A package of the workspace.
pub(super) struct Package {
    pub(super) name: String,
    /// Its directory, below the root of the workspace.
    dir: String,
    /// Names of the files in `tests/` that cargo builds.
    pub(super) tests: Vec<String>,
    pub(super) has_lib: bool,
    pub(super) has_bins: bool,
    /// Directories of the packages that it is built from.
    builds_on: Vec<String>,
    /// Directories of the packages that only its tests use.
    tests_with: Vec<String>,
}

/// All packages of the workspace, as `cargo metadata` lists them.
pub(super) struct Workspace(pub(super) Vec<Package>);

impl Workspace {
    pub(super) fn read(root: &Path) -> Result<Workspace> {
        let mut metadata = program("cargo metadata --format-version 1 --no-deps");
        let metadata = output(metadata.current_dir(root))?;
        Workspace::parse(&metadata, root)
    }

    fn parse(metadata: &str, root: &Path) -> Result<Workspace> {
        let metadata: Value = serde_json::from_str(metadata).context("cargo metadata")?;
        let packages = metadata["packages"].as_array().context("cargo metadata: no packages")?;
        let packages: Option<Vec<Package>> =
            packages.iter().map(|package| Package::parse(package, root)).collect();
        Ok(Workspace(packages.context("cargo metadata: a package of an unknown form")?))
    }

    /// Returns the package of this name, which may lack its `headwater-`.
    pub(super) fn find(&self, name: &str) -> Result<&Package> {
        let long = format!("headwater-{name}");
        for wanted in [name, long.as_str()] {
            if let Some(package) = self.0.iter().find(|package| package.name == wanted) {
                return Ok(package);
            }
        }
        let names: Vec<&str> = self.0.iter().map(|package| package.name.as_str()).collect();
        bail!("no package is called '{name}'; there are {}", names.join(", "))
    }

    /// Returns the package whose directory holds the file: the innermost one.
    pub(super) fn owner(&self, file: &str) -> Option<&Package> {
        let holds = |package: &&Package| {
            file.strip_prefix(&package.dir).is_some_and(|rest| rest.starts_with('/'))
        };
        self.0.iter().filter(holds).max_by_key(|package| package.dir.len())
    }

    /// Returns the packages that are built from one of these, or whose tests use one of those.
    pub(super) fn dependents(&self, touched: &[&Package]) -> Vec<&Package> {
        let mut built: BTreeSet<&str> =
            touched.iter().map(|package| package.dir.as_str()).collect();
        loop {
            let more: Vec<&str> = self
                .0
                .iter()
                .filter(|package| !built.contains(package.dir.as_str()))
                .filter(|package| package.builds_on.iter().any(|dir| built.contains(dir.as_str())))
                .map(|package| package.dir.as_str())
                .collect();
            if more.is_empty() {
                break;
            }
            built.extend(more);
        }
        // A package whose tests use another one is built the same, so nothing follows from it.
        let is_dependent = |package: &&Package| {
            let is_touched = touched.iter().any(|touched| touched.dir == package.dir);
            let is_tested_with = package.tests_with.iter().any(|dir| built.contains(dir.as_str()));
            !is_touched && (built.contains(package.dir.as_str()) || is_tested_with)
        };
        self.0.iter().filter(is_dependent).collect()
    }
}

impl Package {
    fn parse(package: &Value, root: &Path) -> Option<Package> {
        let below = |path: &str| -> Option<String> {
            Some(Path::new(path).strip_prefix(root).ok()?.to_str()?.to_owned())
        };
        let manifest = package["manifest_path"].as_str()?;
        let mut new = Package {
            name: package["name"].as_str()?.to_owned(),
            dir: below(manifest.strip_suffix("/Cargo.toml")?)?,
            tests: Vec::new(),
            has_lib: false,
            has_bins: false,
            builds_on: Vec::new(),
            tests_with: Vec::new(),
        };
        for target in package["targets"].as_array()? {
            if target["test"].as_bool()? {
                match target["kind"][0].as_str()? {
                    "test" => new.tests.push(target["name"].as_str()?.to_owned()),
                    "bin" => new.has_bins = true,
                    _ => new.has_lib = true,
                }
            }
        }
        for dependency in package["dependencies"].as_array()? {
            let Some(dir) = dependency["path"].as_str().and_then(below) else { continue };
            let is_dev = dependency["kind"].as_str() == Some("dev");
            if is_dev { new.tests_with.push(dir) } else { new.builds_on.push(dir) }
        }
        Some(new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a workspace of four crates: `cli` is built from `core`, which is tested with
    /// `oracle`.
    fn workspace() -> Workspace {
        let package = |name: &str, dir: &str, dependencies: &str| {
            format!(
                r#"{{"name": "{name}", "manifest_path": "/root/{dir}/Cargo.toml",
                     "targets": [{{"test": true, "kind": ["lib"], "name": "x"}},
                                 {{"test": true, "kind": ["test"], "name": "api"}}],
                     "dependencies": [{dependencies}]}}"#
            )
        };
        let on = |dir: &str, kind: &str| format!(r#"{{"path": "/root/{dir}", "kind": {kind}}}"#);
        let packages = [
            package("core", "storey/core", &on("oracle", "\"dev\"")),
            package("headwater-cli", "storey/cli", &on("storey/core", "null")),
            package("guest", "storey/core/guest", r#"{"path": null, "kind": null}"#),
            package("oracle", "oracle", ""),
        ];
        let metadata = format!(r#"{{"packages": [{}]}}"#, packages.join(","));
        Workspace::parse(&metadata, Path::new("/root")).unwrap()
    }

    fn names<'a>(packages: &[&'a Package]) -> Vec<&'a str> {
        packages.iter().map(|package| package.name.as_str()).collect()
    }

    #[test]
    fn a_file_belongs_to_the_innermost_package() {
        let workspace = workspace();
        let owner = |file| workspace.owner(file).map(|package| package.name.as_str());
        assert_eq!(owner("storey/core/src/lib.rs"), Some("core"));
        assert_eq!(owner("storey/core/guest/src/main.rs"), Some("guest"));
        assert_eq!(owner("storey/corecore/src/lib.rs"), None);
        assert_eq!(owner("README.md"), None);
    }

    #[test]
    fn nothing_follows_from_a_package_that_only_tests_use() {
        let workspace = workspace();
        let dependents = |name| {
            let package = workspace.find(name).unwrap();
            names(&workspace.dependents(&[package]))
        };
        assert_eq!(dependents("core"), ["headwater-cli"]);
        assert_eq!(dependents("oracle"), ["core"]);
        assert!(dependents("cli").is_empty());
    }

    #[test]
    fn a_name_may_lack_its_prefix() {
        let workspace = workspace();
        assert_eq!(workspace.find("cli").unwrap().name, "headwater-cli");
        assert_eq!(workspace.find("core").unwrap().tests, ["api"]);
        let error = workspace.find("clay").map(|package| &package.name).unwrap_err().to_string();
        assert!(error.contains("headwater-cli"), "{error}");
    }
}
