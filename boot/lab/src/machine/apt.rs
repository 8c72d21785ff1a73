//! An apt beside the system's, with package lists and an empty status of its own. The system's own
//! would not do: it fetches only what is not installed, and only from the system's suites. The
//! empty status lets this one fetch whole dependency trees of other suites, and nothing is
//! installed.
//!
//! The mirror is the one that this machine's apt uses, and the keys are the distribution's. apt
//! checks every signature and hash as usual, and does not need root.

use crate::process::{output, run_for_long};
use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const KEYS: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// A package file that apt would fetch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlannedDownload {
    pub(crate) file: String,
    pub(crate) bytes: u64,
}

/// An apt whose state is under one directory.
pub(crate) struct Apt {
    directory: PathBuf,
    options: Vec<String>,
}

/// URIs from which this machine's apt gets Debian's main archive and security updates.
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
        let targets = output(&mut targets)
            .context("cannot run apt-get, by which the lab fetches its kernels and QEMU")?;
        Mirrors::parse(&targets).context(
            "this machine's apt has no package lists of a Debian archive; on a Debian system, run \
             `apt-get update` first",
        )
    }

    /// Parses lines `ORIGIN LABEL... SITE URI`, whose label may contain spaces.
    fn parse(targets: &str) -> Option<Mirrors> {
        let debian = || targets.lines().filter(|line| line.starts_with("Debian "));
        let uri = |line: &str| {
            line.rsplit(' ').next().unwrap_or_default().trim_end_matches('/').to_owned()
        };
        let security = debian().find(|line| line.contains("Debian-Security ")).map(uri);
        let main = debian().find(|line| !line.contains("Debian-Security ")).map(uri)?;
        // A machine without security updates: mirrors have them beside the archive, under this
        // name.
        let security = security.or_else(|| Some(format!("{main}-security")));
        Some(Mirrors { main, security })
    }

    /// Returns the line of a sources.list for a suite or its security updates (`NAME-security`).
    fn source(&self, suite: &str) -> Option<String> {
        let uri = if suite.ends_with("-security") { self.security.as_ref()? } else { &self.main };
        Some(format!("deb [signed-by={KEYS}] {uri} {suite} main\n"))
    }
}

impl Apt {
    /// Sets up an apt in `directory` for these suites and fetches their lists. A suite that the
    /// mirror does not serve is reported and left out.
    pub(crate) fn open(
        directory: PathBuf,
        mirrors: &Mirrors,
        suites: &[&str],
        architecture: &str,
        report: &dyn Fn(&str),
    ) -> Result<Apt> {
        ensure!(
            Path::new(KEYS).exists(),
            "{KEYS} not found, so packages cannot be verified; install debian-archive-keyring"
        );
        for part in ["etc", "state/lists/partial", "cache/archives/partial"] {
            let part = directory.join(part);
            fs::create_dir_all(&part)
                .with_context(|| format!("cannot create {}", part.display()))?;
        }
        fs::write(directory.join("state/status"), "")?;
        let at = |part: &str| directory.join(part).display().to_string();
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
            "APT::Sandbox::User=root".to_owned(), // the user _apt could not write here
            format!("APT::Architecture={architecture}"),
            format!("APT::Architectures={architecture}"),
        ];
        options = options.into_iter().flat_map(|option| ["-o".to_owned(), option]).collect();
        let apt = Apt { directory, options };
        apt.update(mirrors, suites, report)?;
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

    fn update(&self, mirrors: &Mirrors, suites: &[&str], report: &dyn Fn(&str)) -> Result<()> {
        let sources = self.directory.join("etc/sources.list");
        let write = |suites: &[&str]| {
            let lines: String = suites.iter().filter_map(|suite| mirrors.source(suite)).collect();
            fs::write(&sources, lines)
                .with_context(|| format!("cannot write {}", sources.display()))
        };
        let update = || {
            // Without this option, apt treats a missing suite as a passing error, and succeeds.
            output(self.command("apt-get").args(["-o", "APT::Update::Error-Mode=any", "update"]))
        };
        write(suites)?;
        let Err(first) = update() else { return Ok(()) };
        // Try each suite alone to find the missing one. apt does not fetch a valid list again.
        let mut served = Vec::new();
        for &suite in suites {
            write(&[suite])?;
            match update() {
                Ok(_) => served.push(suite),
                Err(error) => report(&format!(
                    "skipped: suite {suite}: {error:#}; its packages are unavailable"
                )),
            }
        }
        if served.is_empty() {
            return Err(first.context("no suite can be fetched"));
        }
        write(&served)?;
        update().map(drop)
    }

    /// Returns the names of packages that match a regular expression.
    pub(crate) fn names(&self, pattern: &str) -> Result<Vec<String>> {
        let found = output(self.command("apt-cache").args(["search", "--names-only", pattern]))?;
        Ok(found.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect())
    }

    /// Returns what apt would fetch for these packages and, with `closure`, for their dependencies.
    pub(crate) fn plan(&self, packages: &[String], closure: bool) -> Result<Vec<PlannedDownload>> {
        let uris = output(self.fetch(packages, closure).arg("--print-uris"))?;
        Ok(uris.lines().filter_map(package).collect())
    }

    /// Fetches the packages into `cache/archives` (with `closure`) or `archives`, and returns their
    /// files. Files that are there already are not fetched again.
    pub(crate) fn download(&self, packages: &[String], closure: bool) -> Result<Vec<PathBuf>> {
        let plan = self.plan(packages, closure)?;
        let archives = self.archives(closure);
        run_for_long(&mut self.fetch(packages, closure))?;
        let files: Vec<PathBuf> = plan.iter().map(|package| archives.join(&package.file)).collect();
        if let Some(missing) = files.iter().find(|file| !file.is_file()) {
            bail!("apt-get succeeded, but did not write {}", missing.display());
        }
        Ok(files)
    }

    fn archives(&self, closure: bool) -> PathBuf {
        self.directory.join(if closure { "cache/archives" } else { "archives" })
    }

    fn fetch(&self, packages: &[String], closure: bool) -> Command {
        let mut command = self.command("apt-get");
        if closure {
            command.args(["install", "--yes", "--download-only", "--no-install-recommends"]);
        } else {
            let archives = self.archives(false);
            let _ = fs::create_dir_all(&archives); // on failure, apt-get reports the error
            command.arg("download").current_dir(archives);
        }
        command.args(packages);
        command
    }
}

/// Parses a line `'URI' FILE BYTES HASH`.
fn package(line: &str) -> Option<PlannedDownload> {
    let mut words = line.strip_prefix('\'')?.split(' ').skip(1);
    Some(PlannedDownload { file: words.next()?.to_owned(), bytes: words.next()?.parse().ok()? })
}

/// Unpacks a package into `directory`, with the calling user as owner.
pub(crate) fn unpack(package: &Path, directory: &Path) -> Result<()> {
    fs::create_dir_all(directory)
        .with_context(|| format!("cannot create {}", directory.display()))?;
    // Not `dpkg-deb -x`, which restores the owners of files when it runs as root.
    let mut shell = Command::new("sh");
    shell.args([
        "-ec",
        r#"dpkg-deb --fsys-tarfile "$1" | tar --extract --no-same-owner --directory "$2""#,
        "sh",
    ]);
    output(shell.args([package, directory]))
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
            Some(PlannedDownload { file: "q_1%3a10_amd64.deb".into(), bytes: 10_278_596 })
        );
        assert_eq!(package("Reading package lists..."), None);
    }
}
