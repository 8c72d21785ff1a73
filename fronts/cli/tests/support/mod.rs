//! Programs that a test makes and runs.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Writes a program, by a process of its own.
///
/// A file that is open for writing cannot be started (ETXTBSY). If this process opened it, a child
/// that another thread's test forks in the same instant would hold it open until its own exec, long
/// after this function closed it.
#[allow(dead_code)] // each test uses a part
pub(crate) fn write_program(path: impl AsRef<Path>, bytes: &[u8], mode: u32) {
    let mut child = Command::new("sh")
        .args(["-c", "cat > \"$1\" && chmod \"$2\" \"$1\"", "sh"])
        .arg(path.as_ref())
        .arg(format!("{mode:o}"))
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(bytes).unwrap();
    assert!(child.wait().unwrap().success());
}

/// Copies a program with its mode, for the same reason by a process of its own.
#[allow(dead_code)] // each test uses a part
pub(crate) fn copy_program(from: impl AsRef<Path>, to: impl AsRef<Path>) {
    let mut copy = Command::new("cp");
    assert!(copy.arg(from.as_ref()).arg(to.as_ref()).status().unwrap().success());
}
