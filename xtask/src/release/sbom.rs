//! The lists of components (CycloneDX) of the programs and libraries that are shipped.

use super::{epoch, fresh};
use crate::process::{EPOCH, run};
use crate::tools;
use crate::version::VERSION;
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The packages whose dependencies end in a file of the release.
const PACKAGES: [(&str, &str); 6] = [
    ("headwater-cli", "fronts/cli"),
    ("headwater-c", "fronts/c"),
    ("headwater-openssl-module", "fronts/openssl/module"),
    ("headwater-preload", "fronts/preload"),
    ("headwater-python", "fronts/python"),
    ("headwater-java", "fronts/java/native"),
];

/// The manifests whose workspaces have these packages.
const MANIFESTS: [&str; 3] = ["Cargo.toml", crate::python::MANIFEST, crate::java::MANIFEST];

pub(super) fn build(dist: &Path) -> Result<()> {
    let tool = tools::cargo_cyclonedx()?;
    // The tool writes beside the manifests of the whole workspace, so it works on a copy.
    let tree = fresh("sbom")?;
    super::export(&tree)?;
    for manifest in MANIFESTS {
        let mut list = Command::new(&tool);
        list.args(["cyclonedx", "--format", "json", "--spec-version", "1.5", "--quiet"]);
        list.args(["--target", "x86_64-unknown-linux-gnu", "--manifest-path"]);
        list.arg(tree.join(manifest)).env(EPOCH, epoch()?.to_string());
        run(&mut list)?;
    }
    for (name, directory) in PACKAGES {
        let made = tree.join(directory).join(format!("{name}.cdx.json"));
        let text = fs::read_to_string(&made).with_context(|| made.display().to_string())?;
        let document = checked(&text).with_context(|| name.to_owned())?;
        // A path of the building machine would be the only difference between two machines.
        let text = serde_json::to_string_pretty(&document)? + "\n";
        let text = text.replace(&tree.display().to_string(), "/headwater");
        fs::write(dist.join(format!("{name}-{VERSION}.cdx.json")), text)?;
    }
    Ok(())
}

/// Parses a document, and returns an error unless it names the version and what it contains.
fn checked(text: &str) -> Result<Value> {
    let document: Value = serde_json::from_str(text)?;
    ensure!(document["bomFormat"] == "CycloneDX", "not a CycloneDX document");
    let version = document["metadata"]["component"]["version"].as_str();
    ensure!(version == Some(VERSION), "a document of version {version:?}");
    let components = document["components"].as_array().context("no components")?;
    ensure!(
        components.iter().any(|component| component["name"] == "libc"),
        "{} components, without libc",
        components.len()
    );
    Ok(document)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_another_version_or_without_components_is_refused() {
        let list = |version: &str, component: &str| {
            format!(
                "{{\"bomFormat\":\"CycloneDX\",\"metadata\":{{\"component\":{{\"version\":\
                 \"{version}\"}}}},\"components\":[{{\"name\":\"{component}\"}}]}}"
            )
        };
        assert!(checked(&list(VERSION, "libc")).is_ok());
        assert!(checked(&list("0.0.1", "libc")).is_err());
        assert!(checked(&list(VERSION, "other")).is_err());
        assert!(checked("{}").is_err());
    }
}
