//! Tests that run with restartable sequences and without.

use std::env;
use std::process::Command;

/// Set in the process that runs a test's body.
const VARIANT: &str = "HEADWATER_TEST_VARIANT";

/// Runs `body` in two processes of this test binary: as the machine is, and with sections
/// forbidden. `body` learns whether this process may draw in sections. `test` is the name of the
/// calling test.
pub(crate) fn both_ways(test: &str, body: impl FnOnce(bool)) {
    if env::var_os(VARIANT).is_some() {
        headwater::init().unwrap();
        let path = headwater::status().path;
        if path != headwater::Path::Sections {
            println!(
                "draws add with a lock prefix: {}",
                path.why().unwrap_or("nothing is buffered")
            );
        }
        return body(path == headwater::Path::Sections);
    }
    for no_sections in ["0", "1"] {
        let output = Command::new(env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture", "--test-threads=1"])
            .env("HEADWATER_NO_RSEQ", no_sections)
            .env("RUST_BACKTRACE", "0") // takes locks that a forked child may find taken
            .env(VARIANT, no_sections)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        print!("{text}");
        assert!(
            output.status.success() && text.contains("running 1 test\n"),
            "{test}, HEADWATER_NO_RSEQ={no_sections}: {}\n{text}{errors}",
            output.status
        );
    }
}
