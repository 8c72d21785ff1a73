//! Licences and origins of the dependencies, read from `cargo metadata` in less than a second.
//!
//! The rules are those of deny.toml. cargo-deny checks them and the known vulnerabilities too, but
//! compiling it takes two CPU-minutes, so only `cargo xtask test --all` runs it.

use crate::process::{output, program, root};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::fs;

/// The one registry that a dependency may come from.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Returns an error that lists every dependency which deny.toml forbids.
pub(crate) fn check() -> Result<()> {
    let rules = fs::read_to_string(root()?.join("deny.toml")).context("deny.toml")?;
    let metadata = output(&mut program("cargo metadata --format-version 1 --all-features"))?;
    let metadata: Value = serde_json::from_str(&metadata).context("cargo metadata")?;
    let packages = metadata["packages"].as_array().context("cargo metadata lists no packages")?;
    let allowed = allowed(&rules);
    let faults: Vec<String> =
        packages.iter().flat_map(|package| faults(package, &allowed)).collect();
    if !faults.is_empty() {
        bail!("deny.toml forbids:\n{}", faults.join("\n"));
    }
    println!("{} packages, all with an allowed licence and origin", packages.len());
    Ok(())
}

/// Returns the names in the list `allow` of the section `[licenses]`.
fn allowed(rules: &str) -> Vec<&str> {
    let list = rules.split_once("[licenses]").map_or("", |(_, rest)| rest);
    list.lines()
        .take_while(|line| *line != "]")
        .filter_map(|line| line.trim().strip_prefix('"')?.split('"').next())
        .collect()
}

/// Returns a line for each rule that a package breaks.
fn faults(package: &Value, allowed: &[&str]) -> Vec<String> {
    let title = format!("{} {}", package["name"], package["version"]);
    let mut faults = Vec::new();
    match package["license"].as_str() {
        Some(licence) if is_allowed(licence, allowed) => {}
        licence => faults.push(format!("{title}: licence {}", licence.unwrap_or("unknown"))),
    }
    match package["source"].as_str() {
        // A package of this workspace.
        None => {
            let dependencies = package["dependencies"].as_array().into_iter().flatten();
            let any_version = dependencies
                .filter(|dependency| dependency["req"] == "*" && dependency["path"].is_null());
            faults.extend(any_version.map(|it| format!("{title}: {} has no version", it["name"])));
        }
        Some(REGISTRY) => {}
        Some(source) => faults.push(format!("{title}: it comes from {source}")),
    }
    faults
}

/// Returns whether the allowed licences satisfy an SPDX expression, or the older form with `/`.
fn is_allowed(expression: &str, allowed: &[&str]) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = &words[..];
    any(&mut rest, allowed) && rest.is_empty()
}

/// Reads parts that OR joins.
fn any(words: &mut &[&str], allowed: &[&str]) -> bool {
    let mut is_one_allowed = all(words, allowed);
    while let ["OR", rest @ ..] = *words {
        *words = rest;
        is_one_allowed |= all(words, allowed); // not `||`: the part has to be read
    }
    is_one_allowed
}

/// Reads parts that AND joins, which binds closer.
fn all(words: &mut &[&str], allowed: &[&str]) -> bool {
    let mut are_all_allowed = one(words, allowed);
    while let ["AND", rest @ ..] = *words {
        *words = rest;
        are_all_allowed &= one(words, allowed);
    }
    are_all_allowed
}

/// Reads a name, with its exception, or an expression in parentheses.
fn one(words: &mut &[&str], allowed: &[&str]) -> bool {
    match *words {
        ["(", rest @ ..] => {
            *words = rest;
            let is_allowed = any(words, allowed);
            let [")", rest @ ..] = *words else { return false };
            *words = rest;
            is_allowed
        }
        // deny.toml allows no exception.
        [_, "WITH", _, rest @ ..] => {
            *words = rest;
            false
        }
        [name, rest @ ..] => {
            *words = rest;
            allowed.contains(name)
        }
        [] => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const ALLOWED: [&str; 2] = ["MIT", "Unicode-3.0"];

    #[test]
    fn expressions_are_read_as_spdx_defines_them() {
        for (expression, expected) in [
            ("MIT", true),
            ("GPL-3.0", false),
            ("MIT OR GPL-3.0", true),
            ("GPL-3.0 OR MIT", true),
            ("MIT/GPL-3.0", true),
            ("MIT AND GPL-3.0", false),
            ("(MIT OR GPL-3.0) AND Unicode-3.0", true),
            ("GPL-3.0 OR MIT AND Unicode-3.0", true),
            ("GPL-3.0 AND MIT OR Unicode-3.0", true),
            ("GPL-3.0 AND (MIT OR Unicode-3.0)", false),
            ("MIT WITH LLVM-exception", false),
            ("MIT WITH LLVM-exception OR MIT", true),
            ("(MIT", false),
            ("MIT)", false),
            ("", false),
        ] {
            assert_eq!(is_allowed(expression, &ALLOWED), expected, "{expression}");
        }
    }

    #[test]
    fn only_the_list_of_licences_is_read() {
        let rules = "[advisories]\na = [\n    \"X\",\n]\n[licenses]\nallow = [\n    \"MIT\",\n    \
                     \"Zlib\", # a reason\n]\n[bans]\n    \"Y\",\n";
        assert_eq!(allowed(rules), ["MIT", "Zlib"]);
    }

    #[test]
    fn each_broken_rule_is_named() {
        let found = |package: Value| faults(&package, &ALLOWED).len();
        let package = |licence: &str, source: Option<&str>| json!({ "name": "a", "version": "1", "license": licence, "source": source });
        assert_eq!(found(package("MIT", Some(REGISTRY))), 0);
        assert_eq!(found(package("GPL-3.0", Some(REGISTRY))), 1);
        assert_eq!(found(package("GPL-3.0", Some("git+https://example.org/a"))), 2);
        assert_eq!(found(json!({ "name": "a", "version": "1", "license": null })), 1);
        let depends = |req: &str, path: Option<&str>| {
            json!({
                "name": "a", "version": "1", "license": "MIT",
                "dependencies": [{ "name": "b", "req": req, "path": path }],
            })
        };
        assert_eq!(found(depends("*", None)), 1);
        assert_eq!(found(depends("*", Some("/b"))), 0);
        assert_eq!(found(depends("^1", None)), 0);
    }
}
