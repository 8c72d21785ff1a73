//! The shim as it is shipped, compilers, and the C library of another release.
#![allow(dead_code)] // each test target uses a part of it

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

fn target() -> &'static Path {
    // target/tmp is cargo's directory for files of tests.
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap()
}

/// Returns the path of the shim, which the first call builds as users do.
pub(crate) fn shim() -> &'static Path {
    static SHIM: OnceLock<PathBuf> = OnceLock::new();
    SHIM.get_or_init(|| {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        // At the root and without a package, because cargo unites features within one build.
        run(Command::new(cargo)
            .args(["build", "--release", "--quiet", "--target-dir"])
            .arg(target())
            .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")));
        target().join("release/libheadwater_preload.so")
    })
}

/// Returns a command that runs a program with the shim.
pub(crate) fn with_shim(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env("LD_PRELOAD", shim());
    command
}

/// Runs a command to its end and returns its output. A status but 0 fails the test.
#[track_caller]
pub(crate) fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let (text, errors) = (
        String::from_utf8_lossy(&output.stdout).into_owned(),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "{command:?}: {}\n{text}{errors}", output.status);
    text
}

/// Returns whether a program is installed, and reports what is skipped without it.
pub(crate) fn has(program: &str, loss: &str) -> bool {
    let found = std::env::var_os("PATH").is_some_and(|path| {
        std::env::split_paths(&path).any(|directory| directory.join(program).is_file())
    });
    if !found {
        eprintln!("skipped: {program}: it is not installed, so nothing here shows {loss}");
    }
    found
}

/// Compiles a program of tests/c with the system's compiler.
pub(crate) fn compile(source: &str) -> PathBuf {
    compile_with("cc", source, &[])
}

/// Compiles a program of tests/c.
pub(crate) fn compile_with(compiler: &str, source: &str, flags: &[&str]) -> PathBuf {
    // env(1) would take a word with an equals sign for a variable.
    let flags_of_name = flags.concat().replace('=', "-");
    let name = format!("preload-{source}-{compiler}{flags_of_name}");
    let program = target().join("tmp").join(format!("{name}-{:?}", std::thread::current().id()));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c").join(source);
    run(Command::new(compiler)
        .args(["-O1", "-Wall", "-Wno-nonnull", "-pthread", "-o"])
        .arg(&program)
        .arg(source)
        .args(flags));
    program
}

/// A C library and its dynamic linker.
pub(crate) struct Libc {
    /// Directory that the release was unpacked to.
    tree: PathBuf,
}

/// Returns Debian 13's C library, where `cargo xtask test` has unpacked it.
pub(crate) fn other_libc() -> Option<Libc> {
    let tree = target().join("openssl-3.5");
    let libc = Libc { tree };
    if libc.linker().is_some_and(|linker| linker.is_file()) {
        return Some(libc);
    }
    eprintln!(
        "skipped: glibc 2.41: it is not unpacked (cargo xtask openssl does that), so nothing here shows \
         its contract"
    );
    None
}

impl Libc {
    /// Returns the directory that the release was unpacked to.
    pub(crate) fn tree(&self) -> &Path {
        &self.tree
    }

    /// Returns the path of a program of this release.
    pub(crate) fn program(&self, name: &str) -> PathBuf {
        self.tree.join("usr/bin").join(name)
    }

    fn linker(&self) -> Option<PathBuf> {
        let names =
            ["usr/lib64/ld-linux-x86-64.so.2", "usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2"];
        names.iter().map(|name| self.tree.join(name)).find(|linker| linker.is_file())
    }

    /// Runs a program with this C library, and with a library in front of it if one is named.
    #[track_caller]
    pub(crate) fn run(&self, program: &Path, arguments: &[&str], preload: Option<&Path>) -> String {
        let mut command = Command::new(self.linker().expect("it was there"));
        command.arg("--library-path").arg(self.tree.join("usr/lib/x86_64-linux-gnu"));
        command.env("PYTHONHOME", self.tree.join("usr"));
        if let Some(library) = preload {
            command.arg("--preload").arg(library);
        }
        command.arg(program);
        run(command.args(arguments))
    }
}

/// The shim's counters over all processes of one run (src/linux/stats.rs).
#[derive(Debug)]
pub(crate) struct Counts {
    pub(crate) draws: u64,
    pub(crate) forwarded: u64,
    pub(crate) programs: u64,
    pub(crate) saved: u64,
}

impl Counts {
    /// Runs a program with the shim and its counters. `body` completes the command, `env` of
    /// coreutils.
    pub(crate) fn of(body: impl FnOnce(&mut Command) -> String) -> (String, Counts) {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(4096).unwrap();
        // The test's own process must not have the shim, so it goes by env(1).
        let mut command = Command::new("/usr/bin/env");
        let mut variable = std::ffi::OsString::from("LD_PRELOAD=");
        variable.push(shim());
        command.arg(variable).env("HEADWATER_STATS", file.path());
        let text = body(&mut command);
        let bytes = fs::read(file.path()).unwrap();
        let (numbers, _) = bytes.as_chunks::<8>();
        let number = |at: usize| u64::from_ne_bytes(numbers[at]);
        (
            text,
            Counts {
                draws: number(0),
                forwarded: number(2),
                programs: number(3),
                saved: number(4),
            },
        )
    }
}
