//! The C library as C programs use it: with every compiler, under sanitizers and valgrind, and as
//! installed.

use crate::failures::run_tests;
use crate::process::{TOGETHER, cargo, output, program, run, target_directory};
use crate::report::{Report, need};
use crate::tools;
use anyhow::Result;
use std::fs;

/// The programs that its tests run, each with its Debian package.
const TOOLS: [(&str, &str); 8] = [
    ("gcc", "gcc"),
    ("g++", "g++"),
    ("clang", "clang"),
    ("llvm-symbolizer", "llvm"), // else a sanitizer reports addresses in place of lines
    ("valgrind", "valgrind"),
    ("cmake", "cmake"),
    ("pkg-config", "pkg-config"),
    ("mandoc", "mandoc"),
];

/// The target whose C library is musl.
const MUSL: &str = "x86_64-unknown-linux-musl";

pub(crate) fn steps(report: &mut Report) {
    report.step("C library", || {
        const LOSS: &str = "the C library with each compiler, sanitizer and build tool";
        let tools = need(tools::debian(&TOOLS).and_then(|()| sanitizers()), LOSS);
        // The tests run even if a tool is missing; each says what it skips.
        run_tests(&mut program(&format!(
            "cargo test {TOGETHER} --test installed --test programs \
             -- --ignored --nocapture --test-threads=2"
        )))?;
        tools
    });
    report.long_step("programs of other projects", || {
        // Each program that is not installed is skipped, and its name printed.
        cargo("build --release")?;
        let release = target_directory()?.join("release");
        Ok(run(program("python3 fronts/outside/cases.py").arg(release))?)
    });
    report.long_step("C library for musl", || {
        const LOSS: &str = "whether programs of musl link the library and draw from it";
        need(tools::debian(&[("musl-gcc", "musl-tools")]), LOSS)?;
        need(tools::target(MUSL), LOSS)?;
        let mut test = program("cargo test -p headwater-c --test programs -- --ignored musl");
        Ok(run(test.env("HEADWATER_TEST_MUSL", MUSL))?)
    });
    report.long_step("C library by cargo-c", || {
        let cargo_c = need(tools::cargo_c(), "whether cargo-c installs the same library")?;
        let mut test = program("cargo test -p headwater-c --test installed -- --ignored cargo_c");
        Ok(run(test.env("HEADWATER_TEST_CARGO_C", cargo_c))?)
    });
}

/// Installs clang's sanitizers, whose Debian package clang does not depend on.
fn sanitizers() -> Result<()> {
    let folder = target_directory()?.join("tools");
    fs::create_dir_all(&folder)?;
    let (source, linked) = (folder.join("sanitized.c"), folder.join("sanitized"));
    fs::write(&source, "int main(void) { return 0; }\n")?;
    let mut link = program("clang -fsanitize=address,undefined -o");
    match output(link.arg(&linked).arg(&source)) {
        Ok(_) => Ok(()),
        Err(_) => tools::packages(&["libclang-rt-dev"]),
    }
}
