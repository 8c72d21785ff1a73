//! include/headwater.h is what cbindgen makes of the source.
//!
//! `SNAPSHOTS=overwrite cargo test -p headwater-c --test header` writes it anew, to be looked at in
//! the diff.

use snapbox::{assert_data_eq, file};
use std::path::Path;

fn header() -> String {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(package.join("cbindgen.toml")).unwrap();
    let mut builder = cbindgen::Builder::new().with_config(config);
    // One by one, in the order of the header.
    for file in [
        "draw",
        "rng",
        "bsd",
        "uniform",
        "freshness",
        "process",
        "streams/key",
        "streams/numbers",
        "streams/at",
        "streams/half",
        "streams/distributions",
        "streams/categorical",
        "streams/vectors",
        "streams/pseudo",
        "arrow/mod",
    ] {
        builder = builder.with_src(package.join(format!("src/{file}.rs")));
    }
    let mut header = Vec::new();
    builder.generate().unwrap().write(&mut header);
    without_safety(&String::from_utf8(header).unwrap())
}

/// Leaves out what the comments say to Rust's eyes: in C every pointer must be valid.
fn without_safety(header: &str) -> String {
    let mut kept = Vec::new();
    let mut is_left_out = false;
    for line in header.lines() {
        if line.trim() == "* # Safety" {
            is_left_out = true;
            kept.pop(); // the empty line in front
        }
        if line.trim() == "*/" {
            is_left_out = false;
        }
        if !is_left_out {
            kept.push(line.trim_end());
        }
    }
    // cbindgen ends blocks by comments that C has since 1999.
    let header = kept.join("\n") + "\n";
    header
        .replace("// __cplusplus", "/* __cplusplus */")
        .replace("// extern \"C\"", "/* extern \"C\" */")
}

#[test]
fn the_header_is_what_the_source_says() {
    assert_data_eq!(header(), file!["../include/headwater.h"].raw());
}

#[test]
fn the_header_has_the_version_of_the_package() {
    let header = header();
    let numbers = ["MAJOR", "MINOR", "PATCH"].map(|part| {
        let line = format!("#define HEADWATER_VERSION_{part} ");
        let at = header.find(&line).unwrap_or_else(|| panic!("there is no '{line}'")) + line.len();
        header[at..].lines().next().unwrap()
    });
    assert_eq!(numbers.join("."), env!("CARGO_PKG_VERSION"));
}

/// The functions that abi.txt lists, which are those of libheadwater.so.
#[test]
fn the_header_declares_what_the_library_exports() {
    let header = header();
    let mut declared: Vec<&str> = header
        .lines()
        .filter(|line| !line.trim_start().starts_with(['*', '/']))
        .filter_map(|line| line.split_once('(')?.0.rsplit([' ', '*']).next())
        .filter(|name| name.starts_with("headwater_"))
        .collect();
    declared.sort_unstable();
    let listed: Vec<&str> =
        include_str!("../abi.txt").lines().map(|line| line.split('@').next().unwrap()).collect();
    assert_eq!(declared, listed);
}

/// Programs of strict C89 have no `//` comments, and their compilers refuse them.
#[test]
fn strict_c89_takes_the_header() {
    use std::process::Command;
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("include/headwater.h");
    let flags = ["-std=c89", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "-xc"];
    for compiler in ["gcc", "clang"] {
        let Ok(output) = Command::new(compiler).args(flags).arg(&include).output() else {
            println!("skipped: {compiler}: it is not installed; its view of C89 is not shown");
            continue;
        };
        let words = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{compiler}: {words}");
    }
}
