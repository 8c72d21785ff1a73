//! libheadwater.a beside Rust static libraries of other projects, in one program.
//!
//! Two Rust archives of one compiler define the same symbols, such as `rust_begin_unwind`.
//! libheadwater.a hides all symbols but the functions of the header (link.sh), so it links beside
//! any other archive, in any order.

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;
use support::{CLANG, Compiler, GCC, library, outcome, package, run, source};

/// A foreign archive: its source in tests/foreign, compiled with these options.
#[derive(Clone, Copy, Debug)]
struct Foreign {
    source: &'static str,
    options: &'static [&'static str],
}

const STD: Foreign = Foreign { source: "std.rs", options: &["-Copt-level=2"] };
const STD_LTO: Foreign =
    Foreign { source: "std.rs", options: &["-Copt-level=2", "-Clto=fat", "-Ccodegen-units=1"] };
/// Only with link-time optimisation: without it such an archive does not link even alone, because
/// `rust_eh_personality` is undefined.
const BARE_LTO: Foreign = Foreign {
    source: "bare.rs",
    options: &["-Copt-level=2", "-Cpanic=abort", "-Clto=fat", "-Ccodegen-units=1"],
};

impl Foreign {
    /// Compiles the archive as position-independent code, so that it fits every kind of program.
    fn build(self, directory: &Path, second: bool) -> PathBuf {
        let name = if second { "second" } else { "first" };
        let archive = directory.join(format!("lib{name}.a"));
        let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
        rustc.args(["--edition=2024", "--crate-type=staticlib", "-Crelocation-model=pic"]);
        rustc.args(["--crate-name", name]).args(self.options);
        if second {
            rustc.arg("--cfg=second");
        }
        rustc.arg("-o").arg(&archive).arg(package().join("tests/foreign").join(self.source));
        run(&mut rustc);
        archive
    }
}

/// Links the archives in this order, and runs the program.
fn links(compiler: Compiler, archives: &[&Path], options: &[&str]) {
    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("program");
    let mut link = Command::new(compiler.name);
    link.args(["-Wall", "-Werror", "-O1", "-fPIE", "-I"]).arg(package().join("include"));
    link.args(options).arg("-o").arg(&program).arg(source("foreign.c")).args(archives);
    run(link.args(["-lpthread", "-ldl", "-lm"]));
    run(&mut Command::new(program));
}

#[test]
fn the_archive_has_no_global_symbol_but_the_functions() {
    let archive = library().join("libheadwater.a");
    let symbols = outcome(Command::new("nm").args(["-g", "--defined-only", "-P"]).arg(&archive));
    if !symbols.status.success() {
        eprintln!("skipped: symbols of libheadwater.a: no nm, so hidden symbols stay untested");
        return;
    }
    let text = String::from_utf8_lossy(&symbols.stdout).into_owned();
    let mut names: Vec<&str> =
        text.lines().filter_map(|line| line.split_once(' ')).map(|(name, _)| name).collect();
    names.retain(|name| !name.ends_with(':') && !name.contains('['));
    names.sort_unstable();
    let listed = include_str!("../abi.txt").lines().map(|line| line.split('@').next().unwrap());
    assert_eq!(names, listed.collect::<Vec<_>>());
}

#[test]
fn the_archive_does_not_name_its_builders_directories() {
    let bytes = std::fs::read(library().join("libheadwater.a")).unwrap();
    let text = String::from_utf8_lossy(&bytes);
    for path in ["/.cargo/", env!("CARGO_MANIFEST_DIR")] {
        assert!(!text.contains(path), "the archive contains {path}");
    }
}

/// Links one foreign archive, with and without link-time optimisation, before ours and after it.
#[test]
fn the_archive_links_beside_a_foreign_one_in_either_order() {
    let ours = library().join("libheadwater.a");
    for foreign in [STD, STD_LTO, BARE_LTO] {
        let directory = tempfile::tempdir().unwrap();
        let first = foreign.build(directory.path(), false);
        for compiler in [GCC, CLANG] {
            if !compiler.is_there() {
                continue;
            }
            for options in [&["-pie"][..], &["-static-pie"], &["-static"]] {
                links(compiler, &[&ours, &first], options);
                links(compiler, &[&first, &ours], options);
            }
        }
    }
}

/// Links two foreign archives, both built without link-time optimisation: with it, two foreign
/// archives do not link with each other, even without ours.
#[test]
fn the_archive_links_beside_two_foreign_ones() {
    let ours = library().join("libheadwater.a");
    let directory = tempfile::tempdir().unwrap();
    let (first, second) = (STD.build(directory.path(), false), STD.build(directory.path(), true));
    for compiler in [GCC, CLANG] {
        if !compiler.is_there() {
            continue;
        }
        for options in [&["-DSECOND", "-pie"][..], &["-DSECOND", "-static-pie"]] {
            links(compiler, &[&ours, &first, &second], options);
            links(compiler, &[&first, &ours, &second], options);
            links(compiler, &[&second, &first, &ours], options);
        }
    }
}
