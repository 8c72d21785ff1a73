//! The C library as C programs meet it: with every compiler, under sanitizers and valgrind, and as it is installed.

use crate::machine_code::target_folder;
use crate::process::{output, program, run};
use crate::report::{Report, need};
use crate::test::TOGETHER;
use crate::tools;
use anyhow::Result;
use std::fs;

/// What its tests run, and the Debian packages that have it.
const TOOLS: [(&str, &str); 8] = [
    ("gcc", "gcc"),
    ("g++", "g++"),
    ("clang", "clang"),
    ("llvm-symbolizer", "llvm"), // or a sanitizer's report has addresses and no lines
    ("valgrind", "valgrind"),
    ("cmake", "cmake"),
    ("pkg-config", "pkg-config"),
    ("mandoc", "mandoc"),
];

pub(crate) fn steps(report: &mut Report) {
    report.step("C library", || {
        const LOSS: &str = "the C library with each compiler, sanitizer and build tool";
        let tools = need(tools::debian(&TOOLS).and_then(|()| sanitizers()), LOSS);
        // With what is here, even if that is not all.
        run(&mut program(&format!(
            "cargo test {TOGETHER} --test installed --test programs \
             -- --ignored --nocapture --test-threads=2"
        )))?;
        tools
    });
    report.long_step("C library by cargo-c", || {
        let cargo_c = need(tools::cargo_c(), "whether cargo-c installs the same library")?;
        let mut test = program("cargo test -p headwater-c --test installed -- --ignored cargo_c");
        Ok(run(test.env("HEADWATER_TEST_CARGO_C", cargo_c))?)
    });
}

/// Clang's sanitizers, which Debian has in a package that clang does not ask for.
fn sanitizers() -> Result<()> {
    let folder = target_folder()?.join("tools");
    fs::create_dir_all(&folder)?;
    let (source, linked) = (folder.join("sanitized.c"), folder.join("sanitized"));
    fs::write(&source, "int main(void) { return 0; }\n")?;
    let mut link = program("clang -fsanitize=address,undefined -o");
    match output(link.arg(&linked).arg(&source)) {
        Ok(_) => Ok(()),
        Err(_) => tools::packages(&["libclang-rt-dev"]),
    }
}
