//! The search on arm64, in an emulated machine.
//!
//! The programs are the same, built for arm64 by Debian's cross compiler. A guest has no libraries,
//! so they are linked statically. All of them are files of one guest, because a guest takes longer
//! to boot than a search.

use crate::lab::HEADWATER;
use crate::process::{line, program, run};
use crate::residue::{TARGET, cargo, profiles, search, searches};
use crate::tools;
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const TRIPLE: &str = "aarch64-unknown-linux-gnu";
/// The forced fact of CPUs without AES instructions; the others are about x86-64.
pub(super) const FACTS: [&str; 1] = ["no-aes"];
/// Bytes of stack that the first draw may take: the profiles `own` and `o1` take more than 4,096.
pub(super) const FIRST_LIMIT: &str = "4608";
/// The seconds that a guest gets. On two CPUs `--all` takes most of an hour.
const LIMIT: &str = "14400";

/// Builds the programs and a list of their searches, and runs the list in a guest.
///
/// Left out are the C library, which is shipped as a shared one, and the disk, since a guest has
/// none.
pub(super) fn look(all: bool, witness: bool) -> Result<()> {
    tools::packages(&["gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross"])?;
    tools::target(TRIPLE)?;
    run(&mut program(&format!("{HEADWATER} lab setup --only tools,arm64")))?;
    let mut guest = Guest::new()?;
    build("--release -p residue")?;
    for program in ["residue-list", "residue"] {
        guest.add(&built("release", program), program)?;
    }
    for profile in profiles(all) {
        build(&format!("-p subject --profile {profile}"))?;
        let subject = guest.add(&built(profile, "subject"), profile)?;
        guest.list(searches(Path::new(SEARCHER), &subject, profile, None, FIRST_LIMIT));
        if !all && *profile != "release" {
            continue;
        }
        let features = if witness { "witness" } else { "forced" };
        build(&format!("-p subject --profile {profile} --features {features}"))?;
        let subject = guest.add(&built(profile, "subject"), &format!("{profile}-{features}"))?;
        if witness {
            guest.list(vec![search(Path::new(SEARCHER), &subject, profile, None, FIRST_LIMIT)]);
        }
        for fact in FACTS {
            guest.list(searches(Path::new(SEARCHER), &subject, profile, Some(fact), FIRST_LIMIT));
        }
    }
    guest.run()
}

/// The searching program, in the directory of the guest's files.
const SEARCHER: &str = "./residue";

/// The files of a guest, and the list of its searches.
struct Guest {
    folder: PathBuf,
    names: Vec<String>,
    lines: String,
}

impl Guest {
    fn new() -> Result<Guest> {
        let folder = Path::new(TARGET).join("guest");
        fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        Ok(Guest { folder, names: Vec::new(), lines: String::new() })
    }

    /// Copies a program to the guest's files under a name of its own, since the next build is
    /// written over it, and returns its path in the guest.
    fn add(&mut self, program: &Path, name: &str) -> Result<PathBuf> {
        let copied = fs::copy(program, self.folder.join(name));
        copied.with_context(|| program.display().to_string())?;
        self.names.push(name.to_owned());
        Ok(Path::new(".").join(name))
    }

    fn list(&mut self, searches: Vec<Command>) {
        for search in searches {
            self.lines += &line(&search);
            self.lines.push('\n');
        }
    }

    /// Runs the list, and returns an error if any search found something.
    fn run(mut self) -> Result<()> {
        fs::write(self.folder.join("list"), &self.lines).context("the list of searches")?;
        self.names.push("list".to_owned());
        let mut lab = program(&format!("{HEADWATER} lab run --limit {LIMIT}"));
        for name in &self.names[1..] {
            lab.arg("--file").arg(self.folder.join(name));
        }
        run(lab.arg(self.folder.join(&self.names[0])).arg("list"))
    }
}

fn built(profile: &str, program: &str) -> PathBuf {
    [TARGET, TRIPLE, profile, program].iter().collect()
}

fn build(what: &str) -> Result<()> {
    let mut build = cargo(&format!("build {what} --target {TRIPLE}"));
    // Settings of the target alone: as variables they would also be those of the host's programs.
    for setting in
        ["linker=\"aarch64-linux-gnu-gcc\"", "rustflags=[\"-Ctarget-feature=+crt-static\"]"]
    {
        build.args(["--config", &format!("target.{TRIPLE}.{setting}")]);
    }
    run(&mut build)
}
