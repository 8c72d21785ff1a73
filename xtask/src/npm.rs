//! The npm package: its library, its tests in Node, in a browser and under TypeScript's compiler.

use crate::install::reproducible;
use crate::process::{output, program, root, run, target_directory};
use crate::report::{Report, Stop, need};
use crate::tools;
use crate::version::VERSION;
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A crate outside the workspace, because it is compiled for WebAssembly alone.
pub(crate) const MANIFEST: &str = "fronts/npm/wasm/Cargo.toml";
/// The licences of the linked crates, as `cargo xtask generate` writes them.
pub(crate) const NOTICES: &str = "fronts/npm/NOTICES";
const TRIPLE: &str = "wasm32-unknown-unknown";
/// The oldest Node that the package names.
const OLDEST: u32 = 18;
const TYPESCRIPT: &str = "typescript@5.9.3";
const TESTS: [&str; 3] = ["documents", "outside", "vectors"];
/// Files without which the package would break, or a licence.
const PACKED: [&str; 7] = [
    "index.js",
    "index.d.ts",
    "src/factories.d.ts",
    "src/wasm.js",
    "LICENSE-MIT",
    "LICENSE-THIRD-PARTY",
    "NOTICES",
];
/// The most bytes of the library, so that a page's visitors do not pay for an oversight.
const MOST: u64 = 512_000;

pub(crate) fn steps(report: &mut Report) {
    report.step("format and clippy, npm's library", || {
        need(tools::component("rustfmt"), "the layout of the library's source")?;
        run(&mut program(&format!("cargo fmt --check --manifest-path {MANIFEST}")))?;
        need(tools::component("clippy"), "what clippy warns of in the library")?;
        need(tools::target(TRIPLE), "what clippy warns of in the library")?;
        let line = format!("cargo clippy --release --manifest-path {MANIFEST} --target {TRIPLE}");
        let mut clippy = program(&line);
        clippy.env("CARGO_TARGET_DIR", folder()?);
        Ok(run(clippy.args(["--", "-D", "warnings"]))?)
    });
    report.step("npm package", || {
        const LOSS: &str = "the streams in JavaScript, and their equality with the vectors";
        let package = built(LOSS)?;
        let library = folder()?.join(TRIPLE).join("release/headwater_npm.wasm");
        let size = fs::metadata(&library).context("the library")?.len();
        if size > MOST {
            return Err(Stop::Failed(anyhow::anyhow!("the library has {size} bytes of {MOST}")));
        }
        let mut tests = program("node --expose-gc --test --test-reporter spec");
        // By name: Node would also run the modules that are no tests.
        tests.args(TESTS.map(|name| format!("fronts/npm/test/{name}.test.mjs")));
        Ok(run(tests.env("HEADWATER_NPM", &package))?)
    });
    report.long_step("npm package, in a browser", || {
        const LOSS: &str = "whether a browser computes the same values";
        let package = built(LOSS)?;
        let chromium = need(tools::chromium(), LOSS)?;
        let mut page = program("node fronts/npm/test/page.mjs");
        Ok(run(page.arg(&package).env("CHROMIUM", chromium))?)
    });
    report.long_step("npm package, types", || {
        const LOSS: &str = "whether TypeScript's declarations are those of the modules";
        let package = built(LOSS)?;
        let compiler = need(typescript(), LOSS)?;
        // The program imports the package by its name, as users do.
        let program_folder = folder()?.join("types");
        let modules = program_folder.join("node_modules");
        let _ = fs::remove_dir_all(&program_folder);
        fs::create_dir_all(&modules).context("a directory for a program")?;
        run(program("cp -r").arg(&package).arg(modules.join("headwater")))?;
        let source = program_folder.join("uses.ts");
        fs::copy(root()?.join("fronts/npm/test/uses.ts"), &source).context("uses.ts")?;
        let mut check = Command::new("node");
        check.arg(compiler).args(["--strict", "--noEmit", "--module", "nodenext"]);
        Ok(run(check.args(["--target", "es2022"]).arg(&source))?)
    });
}

/// Builds the package, and returns its directory.
fn built(loss: &'static str) -> Result<PathBuf, Stop> {
    need(node(), loss)?;
    need(tools::target(TRIPLE), loss)?;
    Ok(build(false)?)
}

fn build(for_release: bool) -> Result<PathBuf> {
    let folder = folder()?;
    let package = folder.join("package");
    let mut build = program("node fronts/npm/build.mjs");
    if for_release {
        reproducible(&mut build, &root()?);
    }
    run(build.arg(&package).env("CARGO_TARGET_DIR", &folder))?;
    Ok(package)
}

/// Packs the package as a registry has it. All files get one time of npm's own.
pub(crate) fn release(dist: &Path) -> Result<()> {
    node()?;
    tools::package("npm", "npm")?;
    tools::target(TRIPLE)?;
    let package = build(true)?;
    let mut pack = program("npm pack --offline --ignore-scripts --loglevel error");
    let dist = std::path::absolute(dist)?;
    run(pack.arg("--pack-destination").arg(&dist).current_dir(package))?;
    // npm leaves out without a word what its rules do not name, and links.
    let archive = dist.join(format!("headwater-{VERSION}.tgz"));
    let names = output(program("tar --list --gzip --file").arg(archive))?;
    for name in PACKED {
        let is_there = names.lines().any(|line| line.strip_prefix("package/") == Some(name));
        ensure!(is_there, "the packed package has no {name}:\n{names}");
    }
    Ok(())
}

/// Returns an error unless a Node is here that is new enough; installs Debian's if there is none.
fn node() -> Result<()> {
    tools::package("node", "nodejs")?;
    let version = output(&mut program("node --version"))?;
    let number = version.trim().trim_start_matches('v').split('.').next().unwrap_or_default();
    let is_new = number.parse::<u32>().is_ok_and(|number| number >= OLDEST);
    ensure!(is_new, "Node {} is older than {OLDEST}", version.trim());
    Ok(())
}

/// Returns TypeScript's compiler, which the first call installs into the target directory.
fn typescript() -> Result<PathBuf> {
    tools::package("npm", "npm")?;
    let tools = target_directory()?.join("tools/typescript");
    let compiler = tools.join("node_modules/typescript/lib/tsc.js");
    if !compiler.is_file() {
        fs::create_dir_all(&tools)?;
        let mut install = program("npm install --no-save --no-audit --no-fund --ignore-scripts");
        run(install.arg("--prefix").arg(&tools).arg(TYPESCRIPT))?;
    }
    Ok(compiler)
}

fn folder() -> Result<PathBuf> {
    Ok(target_directory()?.join("npm"))
}
