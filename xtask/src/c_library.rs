//! The C library as C programs meet it: with every compiler, under sanitizers and valgrind, and as it is installed.

use crate::process::{program, run};
use crate::report::{Report, need};
use crate::tools;

/// What its tests run, and the Debian packages that have it.
const TOOLS: [(&str, &str); 8] = [
    ("gcc", "gcc"),
    ("g++", "g++"),
    ("clang", "clang"),
    ("llvm-symbolizer", "llvm"), // with it come clang's sanitizers, a package of another name in each release
    ("valgrind", "valgrind"),
    ("cmake", "cmake"),
    ("pkg-config", "pkg-config"),
    ("mandoc", "mandoc"),
];

pub(crate) fn step(report: &mut Report) {
    report.step("C library", || {
        const LOSS: &str = "the C library with each compiler, sanitizer and build tool";
        need(tools::debian(&TOOLS), LOSS)?;
        Ok(run(&mut program(
            "cargo test -p headwater-c -- --ignored --nocapture --test-threads=2",
        ))?)
    });
}
