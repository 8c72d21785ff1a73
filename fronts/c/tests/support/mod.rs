//! The library as it is shipped, and the compilers that this machine has.

#![allow(dead_code, unreachable_pub)] // each test uses a part

use object::read::elf::ElfFile64;
use object::{Object, ObjectSymbol, SymbolSection};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// Returns the directory of this package.
pub fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the directory with the results of `cargo build --release`: libheadwater.so,
/// libheadwater.a and the command.
pub fn library() -> &'static Path {
    static DIRECTORY: OnceLock<PathBuf> = OnceLock::new();
    DIRECTORY.get_or_init(|| {
        // Another build of the library, such as an installed one.
        if let Some(named) = std::env::var_os("HEADWATER_TEST_LIBRARY") {
            return named.into();
        }
        // target/tmp is where cargo has tests put their files.
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        // Builds all packages from the root. Cargo unites the features of all packages in a build,
        // so a build of one package would make another library than users get.
        run(Command::new(cargo)
            .args(["build", "--release", "--quiet", "--target-dir"])
            .arg(target)
            .current_dir(package().join("../..")));
        target.join("release")
    })
}

/// Runs the command to its end and returns its stdout. Panics with its output unless it succeeds.
#[track_caller]
pub fn run(command: &mut Command) -> String {
    let output = outcome(command);
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[track_caller]
pub fn outcome(command: &mut Command) -> Output {
    command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

/// Returns whether a program is installed. If it is not, prints a line that names the loss.
pub fn has(program: &str, loss: &str) -> bool {
    let there = Command::new(program).arg("--version").output().is_ok();
    if !there {
        eprintln!("skipped: {program}: it is not installed, so that nothing here shows {loss}");
    }
    there
}

/// Returns the exported symbols of a shared object, as name or name@version, sorted.
pub fn exported(library: &Path) -> Vec<String> {
    let bytes = std::fs::read(library).unwrap();
    let file: ElfFile64<'_> = ElfFile64::parse(&*bytes).unwrap();
    let versions = file.elf_section_table().versions(file.endian(), &*bytes).unwrap();
    let version = |index| {
        let versions = versions.as_ref()?;
        let index = versions.version_index(file.endian(), index);
        assert!(!index.is_hidden(), "what is linked without a version gets this one");
        Some(str::from_utf8(versions.version(index).unwrap()?.name()).unwrap())
    };
    let mut exported: Vec<String> = file
        .dynamic_symbols()
        .filter(|symbol| symbol.is_definition() && symbol.is_global())
        .filter(|symbol| symbol.section() != SymbolSection::Absolute) // the version itself
        .map(|symbol| match version(symbol.index()) {
            Some(version) => format!("{}@{version}", symbol.name().unwrap()),
            None => symbol.name().unwrap().to_owned(),
        })
        .collect();
    exported.sort_unstable();
    exported
}

/// Returns whether the linker driver is gcc, with which build.rs adds versions to the symbols.
pub fn linked_by_gcc() -> bool {
    let asked = Command::new("cc").args(["-wrapper", "env", "-print-prog-name=ld"]).output();
    asked.is_ok_and(|answer| answer.status.success())
}

/// A compiler and the way it is called.
#[derive(Clone, Copy)]
pub struct Compiler {
    pub name: &'static str,
    pub standards: &'static [&'static str],
}

pub const GCC: Compiler = Compiler { name: "gcc", standards: &["c99", "c11", "c17", "c2x"] };
pub const CLANG: Compiler = Compiler { name: "clang", standards: &["c99", "c11", "c17", "c2x"] };
pub const GPP: Compiler =
    Compiler { name: "g++", standards: &["c++11", "c++14", "c++17", "c++20"] };
pub const CLANGPP: Compiler =
    Compiler { name: "clang++", standards: &["c++11", "c++14", "c++17", "c++20"] };

impl Compiler {
    pub fn is_there(self) -> bool {
        has(self.name, "that its programs build and run")
    }

    /// Returns whether the sanitizers' libraries are installed. Debian's clang package does not
    /// depend on them.
    pub fn has_sanitizers(self) -> bool {
        let directory = tempfile::tempdir().unwrap();
        let source = directory.path().join("empty.c");
        std::fs::write(&source, "int main(void) { return 0; }").unwrap();
        let mut link = Command::new(self.name);
        link.arg("-fsanitize=address,undefined").arg(source).arg("-o");
        let has = outcome(link.arg(directory.path().join("empty"))).status.success();
        if !has {
            eprintln!(
                "skipped: sanitizers of {}: their libraries are not installed, so that nothing here shows wrong use of memory",
                self.name
            );
        }
        has
    }

    /// Builds a program with every warning an error.
    pub fn build(self, source: &Path, program: &Path, link: Link, options: &[&str]) {
        let mut command = self.command(source, options);
        command.arg("-o").arg(program);
        run(command.args(["-x", "none"]).args(link.arguments()));
    }

    /// Reads the source and writes nothing. Panics if the compiler warns.
    pub fn read(self, source: &Path, options: &[&str]) {
        run(self.command(source, options).arg("-fsyntax-only"));
    }

    fn command(self, source: &Path, options: &[&str]) -> Command {
        let is_cpp = self.name.ends_with("++");
        let mut command = Command::new(self.name);
        command.args(["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1", "-g"]);
        // Also where nothing is linked: it declares what POSIX has beyond the standard.
        command.args(["-pthread", "-I"]).arg(package().join("include")).args(options);
        // C++ compilers must take files that end in .c as C++.
        command.args(if is_cpp { ["-x", "c++"] } else { ["-x", "c"] }).arg(source);
        command
    }
}

/// Returns the path of a source in tests/c.
pub fn source(name: &str) -> PathBuf {
    package().join("tests/c").join(name)
}

/// Returns a directory with links to the library under the names of an installation.
pub fn installed() -> &'static Path {
    static DIRECTORY: OnceLock<PathBuf> = OnceLock::new();
    DIRECTORY.get_or_init(|| {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("libheadwater-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        for name in ["libheadwater.so", "libheadwater.so.0"] {
            let link = directory.join(name);
            let _ = std::fs::remove_file(&link);
            std::os::unix::fs::symlink(library().join("libheadwater.so"), link).unwrap();
        }
        directory
    })
}

/// The kind of library that a program is linked with.
#[derive(Clone, Copy, Debug)]
pub enum Link {
    /// libheadwater.so
    Shared,
    /// libheadwater.a, in a program that is otherwise dynamic.
    Archive,
    /// libheadwater.a, and nothing dynamic at all.
    Static,
}

impl Link {
    pub fn arguments(self) -> Vec<String> {
        let archive = library().join("libheadwater.a").display().to_string();
        let directory = installed().display();
        match self {
            Link::Shared => {
                vec![
                    format!("-L{directory}"),
                    "-lheadwater".into(),
                    format!("-Wl,-rpath,{directory}"),
                ]
            }
            Link::Archive => vec![archive],
            Link::Static => vec!["-static".into(), archive],
        }
    }
}
