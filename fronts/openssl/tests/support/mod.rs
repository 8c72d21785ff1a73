//! Finds the versions of OpenSSL on this machine, builds the module, and compiles C programs.

// Every test target compiles its own copy and uses a part of it.
#![allow(dead_code)]

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use tempfile::TempDir;

/// Returns a directory that holds the module under the name that OpenSSL looks for.
pub(crate) fn modules() -> &'static Path {
    static MODULES: OnceLock<TempDir> = OnceLock::new();
    let directory = MODULES.get_or_init(|| {
        // Cargo does not name a package's cdylib to its tests, so this code builds it: cargo
        // releases its lock before tests run, and the build is usually up to date. Optimised tests
        // measure speed, so they need the module that users get. Only a build of the whole
        // workspace makes it, because crates that are built alone may have other features.
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
    /// The installed OpenSSL: 3.0 on Debian 12.
    Installed,
    /// A version below a directory: unpacked and not installed, with a C library of its own. 3.5 is
    /// Debian 13's.
    Unpacked(&'static str, PathBuf),
}

impl OpenSsl {
    /// Returns the versions that this machine has, and prints a line for each that is missing.
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
        for version in ["3.5", "4"] {
            let root = unpacked(version);
            if root.join("usr/bin/openssl").is_file() {
                found.push(OpenSsl::Unpacked(version, root));
            } else {
                println!(
                    "skipped: OpenSSL {version}: not unpacked (cargo xtask openssl); nothing shows whether the provider works there"
                );
            }
        }
        found
    }

    /// Returns a name for messages.
    pub(crate) fn name(&self) -> String {
        match self {
            OpenSsl::Installed => "the installed OpenSSL".to_owned(),
            OpenSsl::Unpacked(version, _) => format!("OpenSSL {version}"),
        }
    }

    /// Returns the start of a command line that runs a program with this OpenSSL's libraries.
    pub(crate) fn program(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = match self {
            OpenSsl::Installed => Command::new(program),
            OpenSsl::Unpacked(_, root) => {
                let libraries = root.join("usr/lib").join(architecture());
                // The name of the loader depends on the architecture; the unpacked one is taken.
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

    /// Returns the command `openssl` of this OpenSSL.
    pub(crate) fn command(&self) -> Command {
        match self {
            OpenSsl::Installed => self.program("openssl"),
            OpenSsl::Unpacked(_, root) => self.program(root.join("usr/bin/openssl")),
        }
    }

    /// Compiles this C program for this OpenSSL. Prints a line and returns `None` if there is no
    /// compiler or no header.
    pub(crate) fn compile(&self, source: &str, directory: &Path) -> Option<PathBuf> {
        self.compile_with(source, directory, &["-lcrypto", "-lpthread"])
    }

    /// Does what [`compile`](OpenSsl::compile) does, with these arguments at the end.
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
        if let OpenSsl::Unpacked(_, root) = self {
            let include = root.join("usr/include");
            compiler.arg("-isystem").arg(&include);
            compiler.arg("-isystem").arg(include.join(architecture()));
            compiler.arg("-L").arg(root.join("usr/lib").join(architecture()));
            // libcrypto needs a newer C library, which the program will have when it runs.
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

/// Returns the directory in which this version of OpenSSL is unpacked, if it is.
fn unpacked(version: &str) -> PathBuf {
    let variable = format!("HEADWATER_OPENSSL_{}", version.replace('.', "_"));
    let root = env::var_os(variable).map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../target/openssl-{version}")),
        PathBuf::from,
    );
    root.canonicalize().unwrap_or(root)
}

/// Returns the name that Debian uses for this architecture's directories.
pub(crate) fn architecture() -> String {
    format!("{}-linux-gnu", env::consts::ARCH)
}

/// Writes a configuration file into this directory: the text `before`, then the content of the
/// configuration that the project ships. Returns the file's path.
pub(crate) fn configuration(directory: &Path, before: &str) -> PathBuf {
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("headwater-openssl.cnf");
    let path = directory.join("openssl.cnf");
    let ours = std::fs::read_to_string(ours).expect("the file");
    std::fs::write(&path, format!("{before}\n{ours}")).expect("a file");
    path
}

/// Returns the stdout of a finished command. Panics with its output unless it succeeded.
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
