//! The real binary, as a user runs it.
#![allow(dead_code)] // each test target uses a part of it

use snapbox::cmd::{Command, OutputAssert};
use snapbox::str;

/// Returns a command that runs the binary with these arguments. A mode and colours that the
/// environment of the tests asks for do not reach it.
pub(crate) fn headwater(args: &[&str]) -> Command {
    Command::new(env!("CARGO_BIN_EXE_headwater"))
        .args(args)
        .env_remove("HEADWATER_MODE")
        .env_remove("CLICOLOR_FORCE")
}

pub(crate) fn stdout(args: &[&str]) -> Vec<u8> {
    let done = headwater(args).assert().success().stderr_eq(str![""]);
    done.get_output().stdout.clone()
}

pub(crate) fn text(args: &[&str]) -> String {
    String::from_utf8(stdout(args)).unwrap()
}

/// Asserts that these arguments are refused: nothing on stdout, one line on stderr, status 2. The
/// line ends in a reference to the help.
pub(crate) fn misused(args: &[&str]) -> OutputAssert {
    let done = headwater(args).assert().code(2).stdout_eq(str![""]);
    let words = String::from_utf8_lossy(&done.get_output().stderr).into_owned();
    assert_eq!(words.matches('\n').count(), 1, "{words}");
    assert!(words.contains("; see 'headwater") && words.ends_with(" --help'\n"), "{words}");
    done
}
