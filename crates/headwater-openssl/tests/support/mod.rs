//! The OpenSSLs at hand, the module as cargo builds it, and C programs between the two.

// Every test target compiles its own copy and uses a part of it.
#![allow(dead_code)]

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use tempfile::TempDir;

/// The module, in a directory of its own under the name that OpenSSL looks for.
pub(crate) fn modules() -> &'static Path {
    static MODULES: OnceLock<TempDir> = OnceLock::new();
    let directory = MODULES.get_or_init(|| {
        // Tests are not given a cdylib of their package by cargo. By the time they run it has let
        // go of its lock, and most of the time there is nothing left to build. Tests that are
        // optimised, which tell speeds, take what users get: all that `cargo build --release`
        // makes, since crates that are built alone may have other features.
        let what: &[&str] = if cfg!(debug_assertions) {
            &["--package", "headwater-openssl-module"]
        } else {
            &["--release"]
        };
        let built = Command::new(env!("CARGO"))
            .args(["build", "--message-format", "json"])
            .args(what)
            .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
            .stderr(Stdio::inherit())
            .output()
            .expect("cargo runs");
        assert!(built.status.success(), "the module does not build");
        let messages = String::from_utf8(built.stdout).expect("JSON is UTF-8");
        let end = messages.rfind("libheadwater_openssl.so\"").expect("cargo names the module");
        let path = messages[..end].rsplit('"').next().expect("a path between quotes");
        let directory = tempfile::tempdir().expect("a directory");
        std::fs::copy(
            format!("{path}libheadwater_openssl.so"),
            directory.path().join("headwater.so"),
        )
        .expect("the module can be copied");
        directory
    });
    directory.path()
}

/// An OpenSSL of this machine.
pub(crate) enum OpenSsl {
    /// The installed one: 3.0 on Debian 12.
    Installed,
    /// Debian 13's, unpacked and not installed, with a C library of its own.
    Unpacked(PathBuf),
}

impl OpenSsl {
    /// Those that are here; a line about each that is not.
    pub(crate) fn all() -> Vec<OpenSsl> {
        let mut found = Vec::new();
        if Command::new("openssl")
            .arg("version")
            .output()
            .is_ok_and(|output| output.status.success())
        {
            found.push(OpenSsl::Installed);
        } else {
            println!(
                "skipped: the installed OpenSSL: there is no `openssl`; nothing shows whether the provider works here"
            );
        }
        let unpacked = env::var_os("HEADWATER_OPENSSL_3_5").map_or_else(
            || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/openssl-3.5"),
            PathBuf::from,
        );
        match unpacked.canonicalize() {
            Ok(root) if root.join("usr/bin/openssl").is_file() => {
                found.push(OpenSsl::Unpacked(root));
            }
            _ => println!(
                "skipped: OpenSSL 3.5: not unpacked (cargo xtask openssl); nothing shows whether the provider works there"
            ),
        }
        found
    }

    /// A name for messages.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            OpenSsl::Installed => "the installed OpenSSL",
            OpenSsl::Unpacked(_) => "OpenSSL 3.5",
        }
    }

    /// The start of a command line that runs a program with this OpenSSL's libraries.
    pub(crate) fn program(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = match self {
            OpenSsl::Installed => Command::new(program),
            OpenSsl::Unpacked(root) => {
                let libraries = root.join("usr/lib").join(architecture());
                // Named from within, so that the same line serves both architectures.
                let loader = ["ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"]
                    .into_iter()
                    .map(|name| libraries.join(name))
                    .find(|path| path.is_file())
                    .expect("a loader was unpacked");
                let mut command = Command::new(loader);
                command.arg("--library-path").arg(libraries).arg(program);
                command
            }
        };
        command
            .env("HEADWATER_MODULES", modules())
            .env_remove("OPENSSL_CONF")
            .env_remove("OPENSSL_MODULES")
            .env_remove("HEADWATER_MODE")
            .stdin(Stdio::null());
        command
    }

    /// The command `openssl` of this OpenSSL.
    pub(crate) fn command(&self) -> Command {
        match self {
            OpenSsl::Installed => self.program("openssl"),
            OpenSsl::Unpacked(root) => self.program(root.join("usr/bin/openssl")),
        }
    }

    /// This C program, compiled for this OpenSSL; None, and a line, if there is no compiler or no
    /// header.
    pub(crate) fn compile(&self, source: &str, directory: &Path) -> Option<PathBuf> {
        self.compile_with(source, directory, &["-lcrypto", "-lpthread"])
    }

    /// As [`compile`](OpenSsl::compile), with these arguments at the end.
    pub(crate) fn compile_with(
        &self,
        source: &str,
        directory: &Path,
        last: &[&str],
    ) -> Option<PathBuf> {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c");
        let program = directory.join(source.trim_end_matches(".c"));
        let mut compiler = Command::new(env::var_os("CC").unwrap_or_else(|| "cc".into()));
        compiler.args(["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-o"]).arg(&program);
        if let OpenSsl::Unpacked(root) = self {
            let include = root.join("usr/include");
            compiler.arg("-isystem").arg(&include);
            compiler.arg("-isystem").arg(include.join(architecture()));
            compiler.arg("-L").arg(root.join("usr/lib").join(architecture()));
            // It needs a newer C library, which it will have when it runs.
            compiler.arg("-Wl,--allow-shlib-undefined");
        }
        let skip = |why: &str| {
            println!(
                "skipped: {source} with {}: {why}; nothing shows whether C programs work",
                self.name()
            );
        };
        match compiler.arg(sources.join(source)).args(last).output() {
            Err(error) => skip(&format!("no C compiler ({error})")),
            Ok(output) if output.status.success() => return Some(program),
            Ok(output) => {
                let said = String::from_utf8_lossy(&output.stderr);
                let is_missing = said.contains("No such file") || said.contains("cannot find -l");
                assert!(is_missing, "{source} does not compile:\n{said}");
                skip("its headers or libraries are not installed (libssl-dev)");
            }
        }
        None
    }
}

/// As Debian names directories.
pub(crate) fn architecture() -> String {
    format!("{}-linux-gnu", env::consts::ARCH)
}

/// The configuration that the project ships, with what stands before it, in a file of this
/// directory.
pub(crate) fn configuration(directory: &Path, before: &str) -> PathBuf {
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("headwater-openssl.cnf");
    let path = directory.join("openssl.cnf");
    std::fs::write(&path, format!("{before}\n.include {}\n", ours.display())).expect("a file");
    path
}

/// Ends unless it succeeded; what it wrote to stdout.
pub(crate) fn said(output: Output) -> String {
    let (out, err) = (&output.stdout, &output.stderr);
    assert!(
        output.status.success(),
        "{}\n{}{}",
        output.status,
        String::from_utf8_lossy(out),
        String::from_utf8_lossy(err)
    );
    String::from_utf8(output.stdout).expect("text")
}
