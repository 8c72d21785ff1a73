//! Programs that run a test's body: a debugger, a checker of memory.

use std::env;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Set in a program that a tool runs; its value says which part the program plays.
pub(crate) const PART: &str = "HEADWATER_TEST_PART";

/// Returns whether this process is the program that a tool runs.
pub(crate) fn is_run_by_a_tool() -> bool {
    env::var_os(PART).is_some()
}

/// Returns the path of a program, if it is installed.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    let folders = env::var_os("PATH")?;
    env::split_paths(&folders).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// Runs the body of `test` in this test binary, under `tool` with these arguments. Returns whether
/// the tool ended with status 0, and all that it and the program have printed.
///
/// The time limit ends a run that hangs, and measures no speed.
pub(crate) fn run(tool: &str, arguments: &[&str], test: &str) -> (bool, String) {
    let output = Command::new("timeout")
        .args(["--kill-after=5", "170", tool])
        .args(arguments)
        .arg(env::current_exe().expect("this binary has a path"))
        .args(["--exact", test, "--include-ignored", "--nocapture", "--test-threads=1"])
        .env(PART, "tested")
        .env_remove("HEADWATER_MODE")
        .env("DEBUGINFOD_URLS", "") // gdb would ask the network for sources
        .stdin(Stdio::null())
        .output()
        .expect("timeout is part of coreutils");
    let text = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    (output.status.success(), text)
}
