//! Compares documents with the sources that they list: what a source has and its document lacks is
//! found by a test, because a reader of the document cannot miss what is not there.

use crate::process::root;
use crate::unsafe_list::rust_files;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The core's implementation for Linux, whose files ARCHITECTURE.md has in a table.
const CORE: &str = "core/headwater/src/linux";

/// The documents that list each variable that the core reads.
const OF_VARIABLES: [&str; 4] = [
    "core/PLATFORM.md",
    "fronts/c/cbindgen.toml",
    "fronts/c/man/headwater.3",
    "fronts/cli/src/args.rs",
];

fn text(path: &str) -> String {
    fs::read_to_string(root().unwrap().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns the names of the modules in a directory.
fn modules(directory: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(root().unwrap().join(directory)).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.map(|name| name.trim_end_matches(".rs").to_owned()).filter(|name| name != "mod").collect()
}

#[test]
fn the_map_of_the_core_has_each_of_its_modules() {
    let page = text("ARCHITECTURE.md");
    let table = page.split("## Inside the core").nth(1).unwrap().split("\n## ").next().unwrap();
    let first_cells = table.lines().filter_map(|line| line.strip_prefix("| `")?.split('|').next());
    let listed: BTreeSet<&str> =
        first_cells.flat_map(|cell| cell.split(['`', ',', '/', ' '])).collect();
    // `atomic` only names the atomics that loom replaces.
    let there = modules(CORE).into_iter().chain(modules(&format!("{CORE}/pool")));
    let missing: Vec<String> =
        there.filter(|name| name != "atomic" && !listed.contains(name.as_str())).collect();
    assert!(
        missing.is_empty(),
        "{CORE} has {missing:?}, which ARCHITECTURE.md lacks: add a row to \"Inside the core\""
    );
}

#[test]
fn each_variable_of_the_core_is_in_the_documents() {
    let root = root().unwrap();
    let mut files = Vec::new();
    rust_files(&root, Path::new("core/headwater/src"), &mut files).unwrap();
    let sources: String =
        files.iter().map(|file| fs::read_to_string(root.join(file)).unwrap()).collect();
    let names: BTreeSet<&str> = sources
        .split("environment(c\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect();
    assert!(names.contains("HEADWATER_MODE"), "the core reads {names:?}");
    for name in names {
        for document in OF_VARIABLES {
            assert!(
                text(document).contains(name),
                "the core reads {name}, which {document} lacks: describe it there; then \
                 `SNAPSHOTS=overwrite cargo test -p headwater-cli`, and `-p headwater-c --test \
                 header`"
            );
        }
    }
}
