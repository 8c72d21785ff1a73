//! The crates for a registry: packed, tested outside this repository, and used by a new project.

use super::fresh;
use crate::process::{program, run};
use crate::report::{Report, need};
use crate::tools;
use crate::version::VERSION;
use anyhow::Result;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The crates for users, each after those that it needs. All others have `publish = false`.
const CRATES: [&str; 2] = ["headwater", "headwater-streams"];
/// The features that docs.rs shows of each: all but the hooks for tests.
const SHOWN: [&str; 2] = ["--features=std,uuid", "--all-features"];
/// The last commit with version 0.1.0, with which the public interface is compared.
const BASELINE: &str = "44096b5";

/// Runs the checks that only `cargo xtask test --all` runs, because each builds the crates anew.
pub(crate) fn steps(report: &mut Report) {
    report.long_step("crates, packed and used by a new project", || {
        let packed = pack()?;
        test_packed(&packed)?;
        Ok(use_in_a_project(&packed)?)
    });
    report.long_step("crates, every set of features", || {
        need(tools::cargo_hack(), "sets of features that do not compile together")?;
        for name in CRATES {
            let mut hack = Command::new(tools::cargo_hack()?);
            // Not --no-dev-deps, because that rewrites the manifests of the tree while it runs. Nor
            // is it needed: since cargo's resolver 2, a check of a library takes no features from
            // those dependencies.
            hack.args(["hack", "check", "--feature-powerset", "-p", name]);
            // Hooks for tests, which no user enables and which double the number of sets.
            run(hack.args(["--exclude-features", "testing"]))?;
        }
        Ok(())
    });
    report.long_step("crates, compared with the last version", || {
        let tool = need(tools::cargo_semver_checks(), "breaks of the interface")?;
        for (name, features) in CRATES.into_iter().zip(SHOWN) {
            let mut compare = Command::new(&tool);
            compare.args(["semver-checks", "-p", name, "--baseline-rev", BASELINE]);
            // To cargo, 0.2 after 0.1 may break everything, so that the tool would check nothing.
            compare.args(["--release-type", "minor", features]);
            // Without this, named features come beside all others. With all it is refused.
            if features != "--all-features" {
                compare.arg("--default-features");
            }
            run(&mut compare)?;
        }
        Ok(())
    });
    report.long_step("crates, documentation as docs.rs builds it", || {
        need(tools::toolchain("nightly", &[]), "whether docs.rs can show the crates")?;
        for (name, features) in CRATES.into_iter().zip(SHOWN) {
            let line = format!("cargo +nightly doc --no-deps -p {name} {features}");
            let mut doc = program(&line);
            doc.arg("--target-dir").arg(fresh("docs.rs")?);
            run(doc.env("RUSTDOCFLAGS", "--cfg docsrs -Dwarnings"))?;
        }
        Ok(())
    });
}

pub(super) fn build(dist: &Path) -> Result<()> {
    let packed = pack()?;
    test_packed(&packed)?;
    use_in_a_project(&packed)?;
    // Sends nothing, and fails where the registry would refuse the metadata.
    let mut publish = program("cargo publish --dry-run --no-verify --allow-dirty");
    for name in CRATES {
        publish.args(["-p", name]);
    }
    run(publish.arg("--target-dir").arg(&packed))?;
    for name in CRATES {
        let file = format!("{name}-{VERSION}.crate");
        fs::copy(packed.join("package").join(&file), dist.join(&file))?;
    }
    Ok(())
}

/// Packs the crates and compiles each from its archive. Returns the target directory.
fn pack() -> Result<PathBuf> {
    let target = fresh("crates")?;
    // A release is made from a clean checkout, and a test also runs before the commit.
    let mut package = program("cargo package --allow-dirty");
    for name in CRATES {
        package.args(["-p", name]);
    }
    run(package.arg("--target-dir").arg(&target))?;
    Ok(target)
}

/// Unpacks the crates outside the repository, where no other package is in reach, and runs their
/// tests.
fn test_packed(packed: &Path) -> Result<()> {
    let outside = Outside::new("tests")?;
    for name in CRATES {
        outside.unpack(packed, name)?;
    }
    for name in CRATES {
        let directory = outside.0.join(format!("{name}-{VERSION}"));
        let mut test = program("cargo test --quiet --config profile.dev.opt-level=1");
        // The crate of this version is in no registry yet.
        if name != CRATES[0] {
            let path = outside.0.join(format!("{}-{VERSION}", CRATES[0]));
            test.arg("--config").arg(format!("patch.crates-io.headwater.path={path:?}"));
        }
        test.arg("--target-dir").arg(packed.join("outside"));
        run(test.current_dir(directory))?;
    }
    Ok(())
}

/// A program of a user, who has read the front pages of the crates.
const PROGRAM: &str = "\
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (a, b) = (headwater::array::<32>()?, headwater::array::<32>()?);
    assert_ne!(a, b);
    let stream = headwater_streams::Key::from_seed(42).stream(0)?;
    let mut words = [0_u64; 4];
    stream.fill_u64(0, &mut words)?;
    println!(\"{} bytes, mode {}\", a.len() + b.len(), headwater::status().mode);
    Ok(())
}
";

/// Adds the crates to a new project from a registry on the disk, by `cargo add`, and runs a program
/// that draws.
fn use_in_a_project(packed: &Path) -> Result<()> {
    let outside = Outside::new("project")?;
    let registry = outside.0.join("registry");
    vendor(packed, &outside, &registry)?;
    let project = outside.0.join("project");
    run(program("cargo init --quiet --vcs none --name draws").arg(&project))?;
    fs::create_dir_all(project.join(".cargo"))?;
    let source = format!(
        "[source.crates-io]\nreplace-with = \"packed\"\n[source.packed]\ndirectory = {registry:?}\n"
    );
    fs::write(project.join(".cargo/config.toml"), source)?;
    let mut add = program("cargo add --quiet --offline");
    // `io::Error` and `Box<dyn Error>` are conversions of this feature.
    run(add.args(CRATES).args(["--features", "headwater/std"]).current_dir(&project))?;
    fs::write(project.join("src/main.rs"), PROGRAM)?;
    let mut draw = program("cargo run --quiet --offline");
    draw.arg("--target-dir").arg(packed.join("project"));
    run(draw.current_dir(&project))
}

/// Makes a directory registry of the packed crates and of all crates that they need.
fn vendor(packed: &Path, outside: &Outside, registry: &Path) -> Result<()> {
    let mut manifest = String::from(
        "[package]\nname = \"needs\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n",
    );
    let mut patches = String::from("[patch.crates-io]\n");
    for name in CRATES {
        let directory = outside.unpack(packed, name)?;
        manifest += &format!("[dependencies.{name}]\npath = {directory:?}\n");
        patches += &format!("{name} = {{ path = {directory:?} }}\n");
    }
    let needs = outside.0.join("needs");
    fs::create_dir_all(needs.join("src"))?;
    fs::write(needs.join("src/lib.rs"), "")?;
    fs::write(needs.join("Cargo.toml"), manifest + &patches)?;
    run(program("cargo vendor --quiet").arg(registry).current_dir(&needs))?;
    for name in CRATES {
        let directory = registry.join(format!("{name}-{VERSION}"));
        let unpacked = outside.0.join(format!("{name}-{VERSION}"));
        run(program("cp --recursive --").arg(unpacked).arg(&directory))?;
        // A checksum of nothing: the files come from the archive that was packed a moment ago.
        fs::write(directory.join(".cargo-checksum.json"), "{\"files\":{}}")?;
    }
    Ok(())
}

/// A directory outside the repository, because cargo looks for a workspace in each one above. It is
/// removed at the end.
struct Outside(PathBuf);

impl Outside {
    fn new(name: &str) -> Result<Outside> {
        let process = std::process::id();
        let directory = std::env::temp_dir().join(format!("headwater-crates-{name}-{process}"));
        fs::create_dir_all(&directory)?;
        Ok(Outside(directory))
    }

    fn unpack(&self, packed: &Path, name: &str) -> Result<PathBuf> {
        let file = packed.join(format!("package/{name}-{VERSION}.crate"));
        run(program("tar --extract --gzip --file").arg(file).arg("--directory").arg(&self.0))?;
        Ok(self.0.join(format!("{name}-{VERSION}")))
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::{output, root};

    /// The step itself takes minutes and runs before a release, which is late to hear of it.
    #[test]
    fn unit_tests_that_the_archives_cannot_compile_are_left_out_of_them() {
        let root = root().unwrap();
        for (storey, name) in ["core", "streams"].into_iter().zip(CRATES) {
            let crate_root = root.join(storey).join(name);
            let mut list = program("git ls-files -- src/*.rs");
            let files = output(list.current_dir(&crate_root)).unwrap();
            let text = |file: &Path| fs::read_to_string(crate_root.join(file)).unwrap();
            let is_guarded = |file: &Path| {
                let text = text(file);
                text.contains("#[cfg(reference)]") || text.contains("#[cfg(all(test, reference))]")
            };
            let mut users = 0;
            for file in files.lines().map(Path::new) {
                let calls = |line: &str| {
                    let line = line.trim_start();
                    !line.starts_with("//") && line.contains("reference::")
                };
                if !text(file).lines().any(calls) {
                    continue;
                }
                users += 1;
                // tests.rs and the files of tests/ are guarded where their module is declared.
                let parents =
                    file.ancestors().find(|path| path.with_extension("").ends_with("tests"));
                let declared = parents.map(|tests| tests.with_file_name("mod.rs"));
                let guard = declared.as_deref().unwrap_or(file);
                assert!(is_guarded(guard), "{name}: {} needs the reference", file.display());
            }
            assert!(users > 2, "{name}: {users} files use the reference");
        }
    }
}
