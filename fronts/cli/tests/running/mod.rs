//! `headwater run`, with OpenSSL's module and the preload library as cargo builds them.
#![allow(dead_code)] // each test target uses a part of it

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::{env, fs, process};

/// Creates a directory whose name ends in the id of the test process, and returns its path.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", process::id()));
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Returns the directory with OpenSSL's module and the preload library, as cargo builds them. The
/// first call builds both.
pub(crate) fn modules() -> &'static Path {
    static MODULES: OnceLock<PathBuf> = OnceLock::new();
    MODULES.get_or_init(|| {
        let folder = folder("modules");
        for (package, built, name) in [
            ("headwater-openssl-module", "libheadwater_openssl.so", "headwater.so"),
            ("headwater-preload", PRELOAD, PRELOAD),
            ("headwater-adapters", CLONES, CLONES),
        ] {
            let cargo = Command::new(env!("CARGO"))
                .args(["build", "--package", package, "--message-format", "json"])
                .current_dir(env!("CARGO_MANIFEST_DIR"))
                .stderr(Stdio::inherit())
                .output()
                .unwrap();
            assert!(cargo.status.success());
            let messages = String::from_utf8(cargo.stdout).unwrap();
            let end = messages.rfind(&format!("{built}\"")).expect("cargo names the library");
            let path = messages[..end].rsplit('"').next().unwrap();
            fs::copy(format!("{path}{built}"), folder.join(name)).unwrap();
        }
        folder
    })
}

pub(crate) const PRELOAD: &str = "libheadwater_preload.so";
pub(crate) const CLONES: &str = "libheadwater_clones.so";

/// Returns a command that runs `headwater run` with these arguments and with both libraries in
/// place.
pub(crate) fn run(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_headwater"));
    command.arg("run").args(arguments).env("OPENSSL_MODULES", modules());
    command.env("HEADWATER_PRELOAD", modules().join(PRELOAD)).env_remove("LD_PRELOAD");
    command.env("HEADWATER_CLONES_LIBRARY", modules().join(CLONES));
    command.env("XDG_RUNTIME_DIR", folder("runtime")).env_remove("OPENSSL_CONF");
    command.env("XDG_STATE_HOME", folder("state"));
    command.stdin(Stdio::null());
    command
}

/// Checks the status and that stdout is empty, and returns the one line on stderr.
pub(crate) fn refused(output: Output, status: i32) -> String {
    assert_eq!(output.status.code(), Some(status), "{output:?}");
    assert!(output.stdout.is_empty(), "{output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said.matches('\n').count(), 1, "{said}");
    assert!(said.starts_with("headwater: "), "{said}");
    said
}

/// Returns a Perl program that draws eight bytes a thousand times, by the system call's number. The
/// program ends with status 7.
pub(crate) fn draws() -> String {
    let number = if cfg!(target_arch = "x86_64") { 318 } else { 278 };
    format!("my $b = 'x' x 8; for (1..1000) {{ syscall({number}, $b, 8, 0) == 8 or die }} exit 7")
}
