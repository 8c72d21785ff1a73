//! An apt beside the system's: its own lists, its own empty status, so that whole dependency trees of other suites can
//! be fetched and nothing is installed.
//!
//! The mirror is the one that this machine's apt uses, the keys are the distribution's, and apt checks every signature
//! and hash as it always does. It needs no root.

use crate::process::{output, run_for_long};
use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const KEYS: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// A file that apt would fetch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Package {
    pub(crate) file: String,
    pub(crate) bytes: u64,
}

pub(crate) struct Apt {
    folder: PathBuf,
    options: Vec<String>,
}

/// Where this machine's apt gets Debian's main archive and its security updates from.
#[derive(Clone, Debug)]
pub(crate) struct Mirrors {
    main: String,
    security: Option<String>,
}

impl Mirrors {
    pub(crate) fn of_this_machine() -> Result<Mirrors> {
        let mut targets = Command::new("apt-get");
        targets.args([
            "indextargets",
            "--format",
            "$(ORIGIN) $(LABEL) $(SITE) $(REPO_URI)",
            "Created-By: Packages",
        ]);
        let targets = output(&mut targets).context(
            "the lab gets its kernels and QEMU by Debian's apt-get, which cannot be run",
        )?;
        Mirrors::parse(&targets).context(
            "apt on this machine has no lists of a Debian archive; run `apt-get update`, on a Debian system, first",
        )
    }

    /// Lines `ORIGIN LABEL... SITE URI`: the label may hold spaces.
    fn parse(targets: &str) -> Option<Mirrors> {
        let debian = || targets.lines().filter(|line| line.starts_with("Debian "));
        let uri = |line: &str| {
            line.rsplit(' ').next().unwrap_or_default().trim_end_matches('/').to_owned()
        };
        let security = debian().find(|line| line.contains("Debian-Security ")).map(uri);
        let main = debian().find(|line| !line.contains("Debian-Security ")).map(uri)?;
        // A machine without security updates has them under the usual name beside the archive, or nowhere.
        let security = security.or_else(|| Some(format!("{main}-security")));
        Some(Mirrors { main, security })
    }

    /// Lines of a sources.list for a suite, or for its security updates (`NAME-security`).
    fn source(&self, suite: &str) -> Option<String> {
        let uri = if suite.ends_with("-security") { self.security.as_ref()? } else { &self.main };
        Some(format!("deb [signed-by={KEYS}] {uri} {suite} main\n"))
    }
}

impl Apt {
    /// Sets up an apt in `folder` for these suites and fetches their lists. Suites that are not served are left out,
    /// and told.
    pub(crate) fn open(
        folder: PathBuf,
        mirrors: &Mirrors,
        suites: &[&str],
        architecture: &str,
        say: &dyn Fn(&str),
    ) -> Result<Apt> {
        ensure!(
            Path::new(KEYS).exists(),
            "{KEYS} is missing, without which nothing can be verified; install debian-archive-keyring"
        );
        for part in ["etc", "state/lists/partial", "cache/archives/partial"] {
            let part = folder.join(part);
            fs::create_dir_all(&part).with_context(|| format!("cannot make {}", part.display()))?;
        }
        fs::write(folder.join("state/status"), "")?;
        let at = |part: &str| folder.join(part).display().to_string();
        let mut options = vec![
            format!("Dir::Etc={}", at("etc")),
            format!("Dir::Etc::sourcelist={}", at("etc/sources.list")),
            "Dir::Etc::sourceparts=/dev/null".to_owned(),
            "Dir::Etc::preferencesparts=/dev/null".to_owned(),
            format!("Dir::State={}", at("state")),
            format!("Dir::State::status={}", at("state/status")),
            format!("Dir::Cache={}", at("cache")),
            "Acquire::Languages=none".to_owned(),
            "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false".to_owned(),
            "Acquire::Retries=3".to_owned(),
            "APT::Sandbox::User=root".to_owned(), // its own user could not write here
            format!("APT::Architecture={architecture}"),
            format!("APT::Architectures={architecture}"),
        ];
        options = options.into_iter().flat_map(|option| ["-o".to_owned(), option]).collect();
        let apt = Apt { folder, options };
        apt.update(mirrors, suites, say)?;
        Ok(apt)
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .args(&self.options)
            .env("LC_ALL", "C.UTF-8")
            .env("DEBIAN_FRONTEND", "noninteractive");
        command
    }

    fn update(&self, mirrors: &Mirrors, suites: &[&str], say: &dyn Fn(&str)) -> Result<()> {
        let sources = self.folder.join("etc/sources.list");
        let write = |suites: &[&str]| {
            let lines: String = suites.iter().filter_map(|suite| mirrors.source(suite)).collect();
            fs::write(&sources, lines)
                .with_context(|| format!("cannot write {}", sources.display()))
        };
        let update = || {
            // Without this, apt takes a suite that is not there for a passing trouble, and succeeds.
            output(self.command("apt-get").args(["-o", "APT::Update::Error-Mode=any", "update"]))
        };
        write(suites)?;
        let Err(first) = update() else { return Ok(()) };
        // Which one? Each alone; the lists that are there already are not fetched again.
        let mut served = Vec::new();
        for &suite in suites {
            write(&[suite])?;
            match update() {
                Ok(_) => served.push(suite),
                Err(error) => say(&format!(
                    "skipped: suite {suite}: {error:#}; its packages are not to be had"
                )),
            }
        }
        if served.is_empty() {
            return Err(first.context("no suite can be fetched"));
        }
        write(&served)?;
        update().map(drop)
    }

    /// Names of packages that match a regular expression.
    pub(crate) fn names(&self, pattern: &str) -> Result<Vec<String>> {
        let found = output(self.command("apt-cache").args(["search", "--names-only", pattern]))?;
        Ok(found.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect())
    }

    /// What would be fetched for these packages and, with `closure`, all that they depend on.
    pub(crate) fn plan(&self, packages: &[String], closure: bool) -> Result<Vec<Package>> {
        let uris = output(self.fetch(packages, closure).arg("--print-uris"))?;
        Ok(uris.lines().filter_map(package).collect())
    }

    /// Fetches them into `folder/cache/archives` (with `closure`) or `folder/archives`; what lies there already is not
    /// fetched again.
    pub(crate) fn download(&self, packages: &[String], closure: bool) -> Result<Vec<PathBuf>> {
        let plan = self.plan(packages, closure)?;
        let archives = self.archives(closure);
        run_for_long(&mut self.fetch(packages, closure))?;
        let files: Vec<PathBuf> = plan.iter().map(|package| archives.join(&package.file)).collect();
        if let Some(missing) = files.iter().find(|file| !file.is_file()) {
            bail!("apt-get ended well, and {} is not there", missing.display());
        }
        Ok(files)
    }

    fn archives(&self, closure: bool) -> PathBuf {
        self.folder.join(if closure { "cache/archives" } else { "archives" })
    }

    fn fetch(&self, packages: &[String], closure: bool) -> Command {
        let mut command = self.command("apt-get");
        if closure {
            command.args(["install", "--yes", "--download-only", "--no-install-recommends"]);
        } else {
            let archives = self.archives(false);
            let _ = fs::create_dir_all(&archives); // if it cannot be made, the command says so
            command.arg("download").current_dir(archives);
        }
        command.args(packages);
        command
    }
}

/// A line `'URI' FILE BYTES HASH`.
fn package(line: &str) -> Option<Package> {
    let mut words = line.strip_prefix('\'')?.split(' ').skip(1);
    Some(Package { file: words.next()?.to_owned(), bytes: words.next()?.parse().ok()? })
}

/// Unpacks a package into `folder`, owned by whoever runs this.
pub(crate) fn unpack(package: &Path, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    // dpkg-deb -x would restore owners as root, and hardly needs more than this otherwise.
    let mut shell = Command::new("sh");
    shell.args([
        "-ec",
        r#"dpkg-deb --fsys-tarfile "$1" | tar --extract --no-same-owner --directory "$2""#,
        "sh",
    ]);
    output(shell.args([package, folder]))
        .map(drop)
        .with_context(|| format!("cannot unpack {}", package.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mirrors_are_those_of_the_machine() {
        let mirrors = Mirrors::parse(
            "Cloud tools Cloud https://packages.example https://packages.example/apt/\n\
             Debian Debian-Security http://mirror.example http://mirror.example/debian-security/\n\
             Debian Debian Backports http://mirror.example http://mirror.example/debian/\n",
        )
        .unwrap();
        let line = mirrors.source("trixie").unwrap();
        assert_eq!(
            line,
            format!("deb [signed-by={KEYS}] http://mirror.example/debian trixie main\n")
        );
        assert!(
            mirrors
                .source("trixie-security")
                .unwrap()
                .contains("/debian-security trixie-security main")
        );
        assert!(
            Mirrors::parse("Ubuntu Ubuntu http://a.example http://a.example/ubuntu/\n").is_none()
        );
    }

    #[test]
    fn lines_of_apt_become_packages() {
        let line =
            "'http://m.example/pool/q_1%3a10_amd64.deb' q_1%3a10_amd64.deb 10278596 SHA256:00";
        assert_eq!(
            package(line),
            Some(Package { file: "q_1%3a10_amd64.deb".into(), bytes: 10_278_596 })
        );
        assert_eq!(package("Reading package lists..."), None);
    }
}
