//! `headwater clones`, as a user calls it.

#[path = "../support/mod.rs"]
mod support;

mod check;
mod compare;
mod plant;
mod repair;
mod watch;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// A directory that is removed with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let folder = std::env::temp_dir().join(format!("clones-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).unwrap();
        Folder(folder)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    fn write(&self, name: &str, text: &str) -> String {
        fs::write(self.0.join(name), text).unwrap();
        self.path(name)
    }

    fn program(&self, name: &str, text: &str) {
        support::write_program(self.0.join(name), text.as_bytes(), 0o755);
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn clones(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_headwater"));
    command.arg("clones").args(arguments).stdin(Stdio::null()).output().unwrap()
}

fn status(output: &Output) -> i32 {
    output.status.code().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Returns the draws of a copy, with the values of two sources.
fn draws(planting: &str, rand: &str, urandom: &str) -> String {
    format!(
        r#"{{"schema": "headwater.clones-draw/1", "planting": "{planting}", "kernel_ms": 1,
        "total_ms": 2, "witnesses": [{{"name": "libc", "title": "glibc", "error": null,
        "reseeds": [], "skipped": [], "rows": [
        {{"id": "libc/rand", "values": ["{rand}"], "ms": []}},
        {{"id": "kernel/dev-urandom", "values": ["{urandom}"], "ms": []}}]}}]}}"#
    )
}

/// Returns how many witnesses of a directory run. A witness may have a child for a moment, which
/// inherits its variables and is none.
fn witnesses(directory: &str) -> usize {
    let variable = format!("HEADWATER_WITNESS_DIR={directory}/");
    let of = |entry: fs::DirEntry| fs::read_to_string(entry.path().join("environ")).ok();
    let environments = fs::read_dir("/proc").unwrap().flatten().filter_map(of);
    let own = environments.filter_map(|text| {
        text.split('\0').find(|entry| entry.starts_with(&variable)).map(str::to_owned)
    });
    own.collect::<std::collections::BTreeSet<_>>().len()
}

fn random() -> Vec<u8> {
    headwater::array::<64>().unwrap().to_vec()
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_headwater"));
    command.arg("clones").args(arguments);
    command
}
