//! The C library as C programs meet it: with every compiler, under sanitizers and valgrind, and as it is installed.

use crate::process::{program, run};
use crate::report::{Report, need};
use crate::tools;

/// What its tests run, and the Debian packages that have it.
const TOOLS: [(&str, &str); 7] = [
    ("gcc", "gcc"),
    ("g++", "g++"),
    ("clang", "clang"),
    ("valgrind", "valgrind"),
    ("cmake", "cmake"),
    ("pkg-config", "pkg-config"),
    ("mandoc", "mandoc"),
];

pub(crate) fn step(report: &mut Report) {
    report.step("C library", || {
        const LOSS: &str = "the C library with each compiler, sanitizer and build tool";
        need(tools::debian(&TOOLS), LOSS)?;
        // Clang's sanitizers are a package of their own, of which the number is the compiler's.
        Ok(run(&mut program(
            "cargo test -p headwater-c -- --ignored --nocapture --test-threads=2",
        ))?)
    });
}
