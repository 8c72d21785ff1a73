//! DuckDB's extension: the library of fronts/duckdb with the end that DuckDB looks for.

use crate::install::reproducible;
use crate::process::{EPOCH, program, root, run, target_directory};
use crate::python::MANIFEST;
use crate::version::VERSION;
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The file's name. DuckDB takes the part before the point for the name of the extension, and calls
/// the function `headwater_init_c_api` of the library.
pub(crate) const FILE: &str = "headwater.duckdb_extension";
/// The glibc of the wheels of a release.
const GLIBC: &str = "2.17";

/// Builds the extension for this machine and prints its path.
pub(crate) fn extension() -> Result<ExitCode> {
    let platform = platform(std::env::consts::ARCH);
    let file = build(None, platform.context("DuckDB has no platform for this machine")?)?;
    place(&file)?;
    println!("{}", file.display());
    Ok(ExitCode::SUCCESS)
}

/// Puts the extension for this machine into the Python package, beside its modules.
pub(crate) fn for_package() -> Result<()> {
    let Some(platform) = platform(std::env::consts::ARCH) else { return remove() };
    place(&build(None, platform)?)
}

/// Puts the extension for a target of a release into the Python package. The wheel of musl has
/// none, because DuckDB makes no wheels for musl since version 1.4.
pub(crate) fn for_wheel(target: &str, zig: &Path, epoch: Option<u64>) -> Result<()> {
    let architecture = target.split('-').next().unwrap_or_default();
    match platform(architecture) {
        Some(platform) if target.ends_with("-gnu") => {
            place(&build(Some((target, zig, epoch)), platform)?)
        }
        _ => remove(),
    }
}

/// Returns DuckDB's name of Linux on machines of this architecture.
fn platform(architecture: &str) -> Option<&'static str> {
    match architecture {
        "x86_64" => Some("linux_amd64"),
        "aarch64" => Some("linux_arm64"),
        _ => None,
    }
}

fn in_package() -> Result<PathBuf> {
    Ok(root()?.join("fronts/python/headwater").join(FILE))
}

fn place(file: &Path) -> Result<()> {
    let to = in_package()?;
    fs::copy(file, &to).with_context(|| format!("cannot write {}", to.display()))?;
    Ok(())
}

/// Removes the extension of an earlier build, which could be one for another machine.
fn remove() -> Result<()> {
    let file = in_package()?;
    if file.exists() {
        fs::remove_file(&file).with_context(|| format!("cannot remove {}", file.display()))?;
    }
    Ok(())
}

/// Builds the extension with its end. It shares the Python package's target directory and
/// workspace, so that the streams are compiled once for both.
fn build(cross: Option<(&str, &Path, Option<u64>)>, platform: &str) -> Result<PathBuf> {
    let target = target_directory()?.join("python");
    let mut cargo = program("cargo rustc");
    let mut built = target.clone();
    if let Some((triple, zig, epoch)) = cross {
        cargo = std::process::Command::new(zig.join("cargo-zigbuild"));
        cargo.args(["rustc", "--target"]).arg(format!("{triple}.{GLIBC}"));
        // It starts zig as the module ziglang of the Python that it finds first.
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(zig.to_path_buf()).chain(std::env::split_paths(&path));
        cargo.env("PATH", std::env::join_paths(folders)?);
        if let Some(epoch) = epoch {
            cargo.env(EPOCH, epoch.to_string());
            reproducible(&mut cargo, &root()?);
        }
        built = built.join(triple);
    }
    cargo.args(["--release", "--locked", "--quiet", "--manifest-path"]);
    cargo.arg(root()?.join(MANIFEST)).args(["--package", "headwater-duckdb"]);
    cargo.env("CARGO_TARGET_DIR", &target).args(["--", "-C", "strip=symbols"]);
    run(&mut cargo)?;
    let library = built.join("release/libheadwater_duckdb.so");
    let mut bytes =
        fs::read(&library).with_context(|| format!("cannot read {}", library.display()))?;
    bytes.extend(end(platform));
    let folder = target.join("duckdb").join(platform);
    fs::create_dir_all(&folder)?;
    let file = folder.join(FILE);
    fs::write(&file, bytes).with_context(|| format!("cannot write {}", file.display()))?;
    Ok(file)
}

/// Returns the 512 bytes at the end of an extension: eight fields of 32 bytes, of which the last
/// five are used, and room for a signature, which is zeros where there is none.
///
/// The form is that of `scripts/append_extension_metadata.py` in DuckDB's repository
/// extension-ci-tools. DuckDB compares the platform with its own and the version with those of its
/// struct, and refuses others before it opens the library.
fn end(platform: &str) -> Vec<u8> {
    let version = format!("v{VERSION}");
    let fields = ["", "", "", "C_STRUCT", &version, "v1.2.0", platform, "4"];
    let mut end = Vec::with_capacity(512);
    for field in fields {
        let start = end.len();
        end.extend(field.as_bytes());
        end.resize(start + 32, 0);
    }
    end.resize(512, 0);
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Here and not in the crate, whose tests would compile the streams once more.
    #[test]
    fn functions_are_where_the_header_has_them() {
        let root = root().unwrap().join("fronts/duckdb/src");
        let header = fs::read_to_string(root.join("struct.txt")).unwrap();
        let names: Vec<&str> = header.lines().collect();
        assert_eq!(names.len(), 357);
        let code = fs::read_to_string(root.join("abi.rs")).unwrap();
        let mut found = 0;
        for line in code.lines() {
            let Some((place, rest)) = line.trim().split_once(' ') else { continue };
            let (Ok(place), Some((name, _))) = (place.parse::<usize>(), rest.split_once(": fn("))
            else {
                continue;
            };
            assert_eq!(names[place], format!("duckdb_{name}"));
            found += 1;
        }
        // One more is the macro's own pattern.
        assert_eq!(found + 1, code.matches(": fn(").count());
        assert!(found > 20);
    }

    #[test]
    fn the_end_has_its_fields_where_duckdb_reads_them() {
        let end = end("linux_amd64");
        assert_eq!(end.len(), 512);
        let field = |place: usize| {
            let bytes = &end[place * 32..][..32];
            String::from_utf8(bytes.iter().copied().take_while(|byte| *byte != 0).collect())
        };
        let fields: Vec<String> = (0..8).map(|place| field(place).unwrap()).collect();
        let version = format!("v{VERSION}");
        assert_eq!(fields, ["", "", "", "C_STRUCT", &version, "v1.2.0", "linux_amd64", "4"]);
        assert!(end[256..].iter().all(|byte| *byte == 0));
    }
}
