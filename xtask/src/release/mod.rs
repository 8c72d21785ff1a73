//! `cargo xtask release`: everything that a release consists of, in `dist/`.
//!
//! Each step builds one kind of artefact, alone or after all others. A step that fails does not
//! stop the next one, because the other artefacts would be lost with it. Instead the last lines say
//! what `dist/` lacks, and the exit status is 1.

mod command;
mod container;
mod crates;
pub(crate) mod debian;
mod fronts;
mod help;
mod index;
mod links;
mod manual;
mod recipes;
mod reproduce;
mod sbom;
mod site;
mod source;
mod stage;
mod tarballs;

pub(crate) use crates::steps as crate_steps;

use crate::process::{EPOCH, output, program, root, run, target_directory};
use crate::report::{Choice, Report};
use anyhow::{Context, Result, ensure};
use clap::Args;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The name of the directory below the repository, if no other one is named.
const DIST: &str = "dist";
const SUMS: &str = "SHA256SUMS";
/// The commit for `headwater --version`, where the sources come without git.
pub(crate) const COMMIT: &str = "HEADWATER_COMMIT";

/// A step of a release.
struct Step {
    name: &'static str,
    /// The artefacts that `dist/` lacks if the step fails.
    loss: &'static str,
    build: fn(&Path) -> Result<()>,
}

const fn step(name: &'static str, loss: &'static str, build: fn(&Path) -> Result<()>) -> Step {
    Step { name, loss, build }
}

/// Every step. The sums come last, because they cover the files of all others.
const STEPS: &[Step] = &[
    step("source", "the sources with every crate, for a build without a network", source::build),
    step("crates", "the packed crates for a registry", crates::build),
    step("library", "the archive of the C library and of OpenSSL's module", tarballs::library),
    step("program", "the archive of the command", tarballs::program),
    step("python", "the Python wheels", fronts::python),
    step("java", "the jar", fronts::java),
    step("npm", "the npm package", fronts::npm),
    step("debian", "the packages of Debian", debian::build),
    // The container holds the command of the step before.
    step("command", "the static commands", command::build),
    step("container", "the container image", container::build),
    step("recipes", "the packages of RPM and Arch", recipes::build),
    step("install", "INSTALL.md, the lines for each language", install_page),
    step("site", "the documentation site", site::build),
    step("sbom", "the lists of components", sbom::build),
    step("reproduce", "the proof that a second build has the same bytes", reproduce::build),
    step("sums", "SHA256SUMS", sums),
];

/// The options of a release.
#[derive(Args)]
pub(crate) struct Options {
    /// Run the step of this name, as `--list` prints it, and the sums; may be repeated
    #[arg(long, value_name = "STEP")]
    only: Vec<String>,
    /// Print the names of all steps, and run none
    #[arg(long, conflicts_with = "only")]
    list: bool,
    /// Write to this directory in place of dist/
    #[arg(long, value_name = "DIR")]
    dist: Option<PathBuf>,
}

/// Builds the release.
pub(crate) fn release(options: Options) -> Result<ExitCode> {
    if options.list {
        for Step { name, loss, .. } in STEPS {
            println!("{name:<12}{loss}");
        }
        return Ok(ExitCode::SUCCESS);
    }
    for name in &options.only {
        let is_known = STEPS.iter().any(|step| step.name == name);
        ensure!(is_known, "no step is called '{name}'; `cargo xtask release --list` prints all");
    }
    let dist = match options.dist {
        Some(dist) => std::path::absolute(dist)?,
        None => root()?.join(DIST),
    };
    env::set_current_dir(root()?)?;
    make_writable(&dist).with_context(|| dist.display().to_string())?;
    // Some steps would ask for these after minutes.
    epoch()?;
    commit()?;
    let mut chosen = options.only;
    let choice = if chosen.is_empty() {
        is_empty(&dist)?;
        if env::var_os(COMMIT).is_none() {
            is_committed(&root()?)?;
        }
        Choice::All
    } else {
        chosen.push("sums".to_owned());
        Choice::Only(chosen)
    };
    let mut report = Report::new(choice);
    for step in STEPS {
        report.step(step.name, || {
            let done = (step.build)(&dist);
            Ok(done.with_context(|| format!("{} lacks {}", dist.display(), step.loss))?)
        });
    }
    Ok(report.finish())
}

/// Makes the directory, and returns an error if it takes no file: the steps write there after
/// minutes of work.
fn make_writable(dist: &Path) -> Result<()> {
    fs::create_dir_all(dist)?;
    let probe = dist.join(".writable");
    fs::write(&probe, "")?;
    Ok(fs::remove_file(probe)?)
}

/// Returns an error if the directory has files, because the sums would also cover those of an
/// earlier version.
fn is_empty(dist: &Path) -> Result<()> {
    let names = files(dist)?;
    ensure!(
        names.is_empty(),
        "{} has {} files of an earlier run; remove them, or choose steps by --only",
        dist.display(),
        names.len()
    );
    Ok(())
}

/// Returns an error if the tree has changes, because `headwater --version` and the second build
/// would name a commit without them.
fn is_committed(root: &Path) -> Result<()> {
    let changes = output(program("git status --porcelain").current_dir(root))
        .context("set HEADWATER_COMMIT and SOURCE_DATE_EPOCH, because git knows no commit here")?;
    ensure!(changes.is_empty(), "commit these files first, or choose steps by --only:\n{changes}");
    Ok(())
}

/// Writes docs/install.md for a reader who has no more than these files: without the comments of
/// its test, and without links to pages that are not there.
fn install_page(dist: &Path) -> Result<()> {
    let page = fs::read_to_string(root()?.join("docs/install.md"))?;
    Ok(fs::write(dist.join("INSTALL.md"), alone(&page))?)
}

/// Removes comments, and of each link to another page the target.
fn alone(page: &str) -> String {
    let mut parts = page.split("<!--");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let after = part.split_once("-->").map_or(part, |(_, after)| after);
        text.push_str(after.strip_prefix('\n').unwrap_or(after));
    }
    let mut out = String::new();
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once("](") {
        let Some((target, after)) = after.split_once(')') else { break };
        let is_here = target.starts_with('#');
        match before.rfind('[') {
            Some(start) if !is_here => {
                out.push_str(&before[..start]);
                out.push_str(&before[start + 1..]);
            }
            _ => {
                out.push_str(before);
                out.push_str("](");
                out.push_str(target);
                out.push(')');
            }
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Writes the SHA-256 sums of all files, in the form that `sha256sum --check` reads.
fn sums(dist: &Path) -> Result<()> {
    let mut names = files(dist)?;
    names.retain(|name| name != SUMS);
    ensure!(!names.is_empty(), "no file in {}", dist.display());
    let sums = output(program("sha256sum --").args(&names).current_dir(dist))?;
    fs::write(dist.join(SUMS), &sums)?;
    print!("{sums}");
    Ok(())
}

/// Returns the names of the files of a directory, sorted.
fn files(directory: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// Returns the time of the release: `SOURCE_DATE_EPOCH`, or the time of the commit. The time of day
/// would not do, because it differs from build to build.
pub(crate) fn epoch() -> Result<u64> {
    let text = match env::var(EPOCH) {
        Ok(text) => text,
        Err(_) => output(&mut program("git log -1 --format=%ct"))
            .context("set SOURCE_DATE_EPOCH, because the time of the commit is unknown")?,
    };
    text.trim().parse().with_context(|| format!("{EPOCH} is '{}', not a number", text.trim()))
}

/// Returns the commit: `HEADWATER_COMMIT`, or the one that is checked out.
fn commit() -> Result<String> {
    let named = env::var(COMMIT);
    let commit = named.or_else(|_| output(&mut program("git rev-parse HEAD")));
    Ok(commit.context("set HEADWATER_COMMIT, because git knows no commit here")?.trim().to_owned())
}

/// Writes the files of the commit to a directory, without those that are not committed.
fn export(directory: &Path) -> Result<()> {
    let archive = directory.with_extension("tar");
    let mut export = program("git archive --format=tar --output");
    run(export.arg(&archive).arg(commit()?).current_dir(root()?))?;
    run(program("tar --extract --file").arg(&archive).arg("--directory").arg(directory))?;
    Ok(fs::remove_file(archive)?)
}

/// Packs a directory as `NAME.tar.gz`, with the same bytes for the same files: names in order, one
/// time, one owner, and no time of the compression.
fn pack(directory: &Path, archive: &Path) -> Result<()> {
    let (parent, name) = (directory.parent(), directory.file_name());
    let (parent, name) = parent.zip(name).context("a directory without a name")?;
    let mut tar = program(
        "tar --create --sort=name --format=gnu --owner=0 --group=0 --numeric-owner \
         --mode=u+rw,go+r,go-w",
    );
    tar.arg(format!("--mtime=@{}", epoch()?)).arg("--use-compress-program=gzip -n -9");
    tar.arg("--file").arg(archive).arg("--directory").arg(parent).arg(name);
    run(&mut tar)
}

/// Returns an empty directory of this name below the target directory.
fn fresh(name: &str) -> Result<PathBuf> {
    let directory = target_directory()?.join("dist").join(name);
    if directory.exists() {
        fs::remove_dir_all(&directory)?;
    }
    fs::create_dir_all(&directory)?;
    Ok(directory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_does_not_depend_on_the_time_or_the_order_of_its_files() {
        let top = env::temp_dir().join(format!("headwater-pack-{}", std::process::id()));
        let archives = [["a", "b"], ["b", "a"]].map(|order| {
            let tree = top.join(order.concat()).join("tree");
            fs::create_dir_all(&tree).unwrap();
            for name in order {
                fs::write(tree.join(name), name).unwrap();
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
            let archive = top.join(format!("{}.tar.gz", order.concat()));
            pack(&tree, &archive).unwrap();
            fs::read(archive).unwrap()
        });
        assert!(!archives[0].is_empty() && archives[0] == archives[1]);
        fs::remove_dir_all(&top).unwrap();
    }

    #[test]
    fn a_directory_that_takes_no_file_is_refused_before_the_steps() {
        let top = env::temp_dir().join(format!("headwater-writable-{}", std::process::id()));
        make_writable(&top.join("new/directory")).unwrap();
        assert!(files(&top.join("new/directory")).unwrap().is_empty());
        // Root cannot write there either.
        assert!(make_writable(Path::new("/proc/self/fd")).is_err());
        let file = top.join("file");
        fs::write(&file, "").unwrap();
        assert!(make_writable(&file).is_err());
        fs::remove_dir_all(&top).unwrap();
    }

    #[test]
    fn a_whole_release_needs_a_commit_and_an_empty_directory() {
        let top = env::temp_dir().join(format!("headwater-whole-{}", std::process::id()));
        fs::create_dir_all(&top).unwrap();
        // The variables that git sets for a hook would name another repository.
        let git = |line: &str| {
            let mut git = program(line);
            for name in ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"] {
                git.env_remove(name);
            }
            run(git.current_dir(&top)).unwrap();
        };
        is_empty(&top).unwrap();
        git("git init --quiet");
        fs::write(top.join("file"), "first").unwrap();
        assert!(is_empty(&top).is_err());
        let error = is_committed(&top).unwrap_err().to_string();
        assert!(error.contains("?? file"), "{error}");
        git("git add file");
        git("git -c user.name=a -c user.email=a@example.org commit --quiet --message a");
        is_committed(&top).unwrap();
        fs::write(top.join("file"), "second").unwrap();
        assert!(is_committed(&top).is_err());
        fs::remove_dir_all(&top).unwrap();
    }

    #[test]
    fn a_page_alone_has_no_comments_and_no_links_to_other_pages() {
        let page = "# A\n<!-- commands\nin: dist\n-->\n```sh\nx\n```\n[b](b.md) and [c](#c)\n";
        assert_eq!(alone(page), "# A\n```sh\nx\n```\nb and [c](#c)\n");
    }

    #[test]
    fn every_step_has_a_name_of_its_own_and_the_sums_are_last() {
        let mut names: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
        assert_eq!(names.last(), Some(&"sums"));
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), STEPS.len());
    }
}
