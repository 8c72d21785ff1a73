//! The files that `cargo xtask install` writes: pkg-config and CMake find them, even after a move.
//! The man pages are free of warnings, and the examples of docs/c.md compile and run.

mod support;

use std::fs;
use std::path::Path;
use std::process::Command;
use support::{CLANG, GCC, Link, has, outcome, package, run};

#[test]
fn the_examples_of_the_page_compile_and_run() {
    let Some(compiler) = [GCC, CLANG].into_iter().find(|compiler| compiler.is_there()) else {
        return;
    };
    let page = fs::read_to_string(package().join("../../docs/c.md")).unwrap();
    let examples: Vec<&str> =
        page.split("```c\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(examples.len(), 5);
    let directory = tempfile::tempdir().unwrap();
    for example in examples {
        let (source, program) =
            (directory.path().join("example.c"), directory.path().join("example"));
        fs::write(&source, example).unwrap();
        compiler.build(&source, &program, Link::Shared, &["-std=c99"]);
        run(&mut Command::new(program));
    }
}

#[test]
fn the_man_pages_are_clean() {
    if !has("man", "that the man pages can be read") {
        return;
    }
    let verbs = fs::read_dir(package().join("../cli/man")).unwrap();
    let verbs = verbs.map(|page| page.unwrap().path());
    for page in verbs.chain([package().join("man/headwater.3")]) {
        let mut man = Command::new("man");
        // At 80 columns the longest name and its first argument need a line that is too long.
        man.args(["--warnings", "-l"]).arg(&page).env("MANPAGER", "cat").env("MANWIDTH", "100");
        let shown = outcome(&mut man);
        assert!(shown.status.success());
        assert_eq!(String::from_utf8_lossy(&shown.stderr), "", "{}", page.display());
    }
}

#[test]
#[ignore = "needs mandoc: cargo xtask test"]
fn mandoc_finds_no_fault_in_the_man_page() {
    // mandoc has no --version.
    let page = package().join("man/headwater.3");
    match Command::new("mandoc").args(["-T", "lint", "-W", "warning"]).arg(page).output() {
        Ok(output) => assert_eq!(String::from_utf8_lossy(&output.stdout), ""),
        Err(error) => eprintln!("skipped: mandoc: {error}, so that headwater.3 is not linted"),
    }
}

/// Installs the C library alone, in Debian's directory of libraries, or removes it again.
fn xtask(verb: &str, destdir: &Path) -> String {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    run(Command::new(cargo)
        .args(["xtask", verb, "--prefix", "/opt/headwater", "--libdir", LIBDIR])
        .args(["--only", "library", "--destdir"])
        .arg(destdir)
        .current_dir(package().join("../..")))
}

const LIBDIR: &str = "lib/some-linux-gnu";

/// This version's first two numbers: a project asks for a series of versions.
const SERIES: [&str; 2] = [env!("CARGO_PKG_VERSION_MAJOR"), env!("CARGO_PKG_VERSION_MINOR")];

const CMAKE: &str = "\
cmake_minimum_required(VERSION 3.13)
project(user C)
find_package(headwater SERIES REQUIRED)
add_executable(shared contract.c)
target_link_libraries(shared headwater::headwater)
add_executable(static contract.c)
target_link_libraries(static headwater::static)
";

#[test]
#[ignore = "installs and needs CMake and pkg-config: cargo xtask test"]
fn an_installation_is_found_by_pkg_config_and_cmake() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join("root");
    xtask("install", &root);
    assert_finished(&root.join("opt/headwater"));
    // Moved: no file may contain the path of the installation.
    let prefix = directory.path().join("elsewhere");
    fs::rename(root.join("opt/headwater"), &prefix).unwrap();
    let source = support::source("contract.c");
    if GCC.is_there() && has("pkg-config", "that headwater.pc is right") {
        let flags = run(Command::new("pkg-config")
            .args(["--cflags", "--libs", "headwater"])
            .env("PKG_CONFIG_PATH", prefix.join(LIBDIR).join("pkgconfig")));
        let program = directory.path().join("by-pkg-config");
        run(Command::new("gcc")
            .arg(&source)
            .args(flags.split_whitespace())
            .arg("-o")
            .arg(&program));
        run(Command::new(&program).env("LD_LIBRARY_PATH", prefix.join(LIBDIR)));
    }
    if GCC.is_there() && has("cmake", "that CMake finds the library") {
        let (user, build) = (directory.path().join("user"), directory.path().join("build"));
        fs::create_dir(&user).unwrap();
        let [major, minor] = SERIES.map(|number| number.parse::<u32>().unwrap());
        let list = |series: String| CMAKE.replace("SERIES", &series);
        fs::write(user.join("CMakeLists.txt"), list(format!("{major}.{minor}"))).unwrap();
        for file in ["contract.c", "check.h"] {
            fs::copy(support::source(file), user.join(file)).unwrap();
        }
        // CMake searches lib, and below lib the directory of the platform that it detects. A
        // directory of another platform is named.
        let found = prefix.join(LIBDIR).join("cmake/headwater");
        run(Command::new("cmake")
            .args([Path::new("-S"), &user, Path::new("-B"), &build])
            .arg(format!("-Dheadwater_DIR={}", found.display())));
        run(Command::new("cmake").arg("--build").arg(&build));
        run(&mut Command::new(build.join("shared")));
        run(&mut Command::new(build.join("static")));
        // CMake must refuse the package to a project that asks for a later series.
        fs::write(user.join("CMakeLists.txt"), list(format!("{major}.{}", minor + 1))).unwrap();
        let configured = outcome(
            Command::new("cmake")
                .args([Path::new("-S"), &user, Path::new("-B"), &directory.path().join("other")])
                .arg(format!("-Dheadwater_DIR={}", found.display())),
        );
        assert!(!configured.status.success());
    }
}

/// Checks that every function has a man page, that libraries are stripped, and that no library
/// names a directory of its builder.
fn assert_finished(prefix: &Path) {
    for name in include_str!("../abi.txt").lines().filter_map(|line| line.split('@').next()) {
        let page = fs::read_to_string(prefix.join(format!("share/man/man3/{name}.3"))).expect(name);
        assert!(page.contains(&format!(".Nm {name}")), "{name}");
    }
    let builders = package().join("../..").canonicalize().unwrap();
    for name in ["libheadwater.so.0", "libheadwater.a"] {
        let file = prefix.join(LIBDIR).join(name);
        let bytes = fs::read(&file).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        for path in ["/.cargo/registry", builders.to_str().unwrap(), ".debug_info"] {
            assert!(!text.contains(path), "{name} contains {path}");
        }
    }
}

#[test]
#[ignore = "installs: cargo xtask test"]
fn uninstalling_leaves_no_file() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join("root");
    xtask("install", &root);
    let foreign = root.join("opt/headwater/share/man/man3/another.3");
    fs::write(&foreign, "another package's page").unwrap();
    xtask("uninstall", &root);
    let left = run(Command::new("find").arg(&root).args(["-type", "f", "-o", "-type", "l"]));
    assert_eq!(left.trim(), foreign.to_str().unwrap());
    assert!(!root.join("opt/headwater/share/doc/headwater").exists());
}

/// Distributions install with cargo-c instead, which must write the same files.
#[test]
#[ignore = "needs cargo-c: cargo xtask test --all"]
fn cargo_c_installs_the_same_library() {
    let Some(cargo_c) = std::env::var_os("HEADWATER_TEST_CARGO_C") else {
        eprintln!(
            "skipped: cargo-c: HEADWATER_TEST_CARGO_C does not name it, so that nothing here shows that it installs the library"
        );
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let installed = directory.path().join("usr");
    run(Command::new(cargo_c)
        .args(["cinstall", "--release", "--prefix", "/usr", "--libdir", "/usr/lib", "--destdir"])
        .arg(directory.path())
        .args([Path::new("--target-dir"), &Path::new(env!("CARGO_TARGET_TMPDIR")).join("cargo-c")])
        .current_dir(package()));
    let library = support::library().join("libheadwater.so");
    assert_eq!(
        support::exported(&installed.join("lib/libheadwater.so")),
        support::exported(&library)
    );
    let header = fs::read(package().join("include/headwater.h")).unwrap();
    assert_eq!(fs::read(installed.join("include/headwater.h")).unwrap(), header);
    if GCC.is_there() && has("pkg-config", "that headwater.pc is right") {
        let flags = run(Command::new("pkg-config")
            .args(["--cflags", "--libs", "headwater"])
            .env("PKG_CONFIG_PATH", installed.join("lib/pkgconfig"))
            .env("PKG_CONFIG_SYSROOT_DIR", directory.path()));
        let program = directory.path().join("program");
        run(Command::new("gcc")
            .arg(support::source("contract.c"))
            .args(flags.split_whitespace())
            .arg("-o")
            .arg(&program));
        // Programs must need only the file that the soname names, so the other one is removed.
        fs::remove_file(installed.join("lib/libheadwater.so")).unwrap();
        run(Command::new(&program).env("LD_LIBRARY_PATH", installed.join("lib")));
        let later = fs::read_link(installed.join("lib/libheadwater.so.0")).unwrap();
        assert_eq!(later.as_os_str(), concat!("libheadwater.so.", env!("CARGO_PKG_VERSION")));
    }
}
