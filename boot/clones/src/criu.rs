//! `headwater clones check` on this machine: each witness is dumped once by CRIU, and restored as
//! often as copies are asked for.

use crate::draw::{self, Draws, Witness};
use crate::plant::{Garden, Planted};
use crate::planting::{self, Key};
use crate::post;
use crate::process::{KillOnDrop, end_group, last_line};
use crate::stop;
use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The time that a restored witness may take.
const LIMIT: Duration = Duration::from_secs(15);
/// Things that a runtime may hold open: connections to itself, locks, sockets, files that were
/// removed. CRIU saves such a file up to 1 MiB, and a native library that a jar has unpacked for
/// itself and removed is larger.
const OPTIONS: [&str; 6] =
    ["--tcp-established", "--file-locks", "--ext-unix-sk", "--link-remap", "--ghost-limit", "64M"];

/// The command of CRIU, and its version.
pub(crate) struct Criu {
    program: PathBuf,
    arguments: Vec<std::ffi::OsString>,
    pub(crate) version: String,
}

impl Criu {
    /// Returns the CRIU of the path, else that of the lab's cache, else that of PATH.
    ///
    /// # Errors
    ///
    /// If there is none, or if the caller is not root.
    pub(crate) fn find(given: Option<&Path>) -> Result<Criu> {
        ensure!(
            rustix::process::geteuid().is_root(),
            "CRIU dumps and restores as root; run this as root, or drive another tool by --spawn \
             and --exec"
        );
        let command = match given {
            Some(path) => Command::new(path),
            None => match headwater_lab::newest_criu() {
                Ok(command) => command,
                Err(_) => Command::new("criu"),
            },
        };
        let arguments = command.get_args().map(ToOwned::to_owned).collect();
        let program = PathBuf::from(command.get_program());
        let mut criu = Criu { program, arguments, version: String::new() };
        let output = criu.command().arg("--version").output().with_context(|| match given {
            Some(path) => format!(
                "cannot run {}; `headwater lab setup --only criu` fetches a CRIU",
                path.display()
            ),
            None => "there is no CRIU; `headwater lab setup --only criu` fetches one, or name it \
                     by --criu"
                .to_owned(),
        })?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        ensure!(output.status.success(), "CRIU does not run: {}", last_line(&output.stderr));
        let version = text.lines().find_map(|line| line.strip_prefix("Version:"));
        let version = version.with_context(|| {
            let name = criu.program.display();
            format!(
                "{name} is no CRIU: asked for its version, it says '{}'",
                last_line(&output.stdout)
            )
        })?;
        criu.version = version.trim().to_owned();
        Ok(criu)
    }

    /// Returns what this version does to the pages by which a process sees that it is a copy.
    pub(crate) fn note(&self) -> Option<&'static str> {
        keeps_pages(&self.version).then_some(
            "CRIU before 4.2 restores pages that the kernel may drop, by which a process sees that it \
             is a copy. So headwater and the vDSO repeat here too, and adapters renew nothing; CRIU \
             4.2 leaves these pages out (`headwater lab setup --only criu` fetches it).",
        )
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments);
        command
    }
}

/// Returns true for versions before 4.2, and false for one that has no number.
fn keeps_pages(version: &str) -> bool {
    let mut numbers = version.split(|c: char| !c.is_ascii_digit()).map(str::parse::<u32>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => (major, minor) < (4, 2),
        (Some(Ok(major)), _) => major < 4,
        _ => false,
    }
}

/// Dumps all witnesses of a garden, restores them `copies` times, and returns the draws of each
/// copy. A witness that cannot be dumped or restored has an error in place of draws.
pub(crate) fn copies(criu: &Criu, garden: Garden, copies: usize) -> Result<Vec<Draws>> {
    let (name, _) = planting::witnesses(&garden.directory)?;
    let mut result: Vec<Draws> = (0..copies)
        .map(|_| Draws {
            schema: draw::SCHEMA.to_owned(),
            planting: name.clone(),
            witnesses: vec![],
            kernel_ms: 0,
            total_ms: 0,
        })
        .collect();
    let key = &garden.key;
    for mut planted in garden.planted {
        let dumped = match planted.process {
            Ok(_) => dump(criu, &mut planted),
            Err(_) => Ok(()),
        };
        for (number, draws) in result.iter_mut().enumerate() {
            let begun = Instant::now();
            let witness = match &dumped {
                Ok(()) => restore(criu, &planted, number + 1, key),
                Err(error) => Err(anyhow::anyhow!("{error:#}")),
            };
            // A signal ends CRIU too, and must not look like a witness that cannot be copied.
            stop::check()?;
            let witness = witness.or_else(|error| absent(&planted, &error, key))?;
            draws.total_ms += u64::try_from(begun.elapsed().as_millis()).unwrap_or(0);
            draws.witnesses.push(witness);
        }
        // Images of Java and Python are tens of megabytes each, and /run is memory.
        let _ = fs::remove_dir_all(images(&planted));
    }
    Ok(result)
}

fn images(planted: &Planted) -> PathBuf {
    planted.post.path("images")
}

/// Dumps a witness, which ends it, and lets its copies draw.
fn dump(criu: &Criu, planted: &mut Planted) -> Result<()> {
    let Ok(process) = &mut planted.process else { bail!("it was not started") };
    let images = planted.post.path("images");
    fs::create_dir(&images)?;
    let mut command = criu.command();
    command.args(["dump", "--tree", &process.id().to_string(), "--images-dir"]).arg(&images);
    command.args(["-o", "dump.log", "-v2"]).args(OPTIONS).stdin(Stdio::null());
    let output = command.output().context("cannot run CRIU")?;
    if !output.status.success() {
        end_group(process);
        bail!("CRIU cannot dump it: {}", explanation(&images.join("dump.log")));
    }
    let begun = Instant::now();
    while process.try_wait()?.is_none() {
        stop::check()?;
        if begun.elapsed() > LIMIT {
            end_group(process);
            bail!(
                "CRIU dumped it and left it running; take leave-running out of its configuration"
            );
        }
        sleep(Duration::from_millis(5));
    }
    planted.post.write(post::GO, "0\n")
}

/// Restores a witness in a namespace where its process number is free, and returns what it drew.
fn restore(criu: &Criu, planted: &Planted, number: usize, key: &Key) -> Result<Witness> {
    if planted.process.is_err() {
        return draw::collect(planted.name, &planted.post, Duration::ZERO, key);
    }
    let images = images(planted);
    let log = planted.post.path(planting::LOG);
    // CRIU restores a file only if it is as long as it was at the dump.
    let at_dump = fs::read(&log)?;
    let mut command = Command::new("unshare");
    command.args(["--pid", "--fork", "--mount-proc", "--kill-child"]);
    command.arg(&criu.program).args(&criu.arguments);
    let name = format!("restore-{number}.log");
    command.args(["restore", "--images-dir"]).arg(&images).args(["-o", &name, "-v2"]).args(OPTIONS);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let process = KillOnDrop(command.spawn().context("cannot run unshare (package util-linux)")?);
    let answered = planted.post.wait(post::DRAWS, LIMIT)?;
    drop(process);
    let witness = match answered {
        Some(_) => draw::collect(planted.name, &planted.post, Duration::ZERO, key),
        None => {
            let words = last_line(&fs::read(&log)?);
            Err(anyhow::anyhow!(
                "its copy did not answer: {}; {words}",
                explanation(&images.join(&name))
            ))
        }
    };
    let _ = fs::remove_file(planted.post.path(post::DRAWS));
    fs::write(&log, at_dump)?;
    witness
}

/// Returns the witness without draws and with an error.
fn absent(planted: &Planted, error: &anyhow::Error, key: &Key) -> Result<Witness> {
    let mut witness = draw::collect(planted.name, &planted.post, Duration::ZERO, key)?;
    witness.error = Some(format!("{error:#}"));
    Ok(witness)
}

/// Returns the last error in a log of CRIU.
fn explanation(log: &Path) -> String {
    let text = fs::read_to_string(log).unwrap_or_default();
    let error = text.lines().rfind(|line| line.contains("Error"));
    error
        .unwrap_or("CRIU names no reason; the kernel may lack checkpoint support")
        .trim()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::keeps_pages;

    #[test]
    fn versions_that_keep_pages_are_those_before_4_2() {
        for (version, keeps) in [
            ("3.15", true),
            ("3.17.1", true),
            ("3.19", true),
            ("4.0", true),
            ("4.1", true),
            ("4.1.1", true),
            ("4.1-dirty", true),
            ("4.2", false),
            ("4.2.1", false),
            ("4.10", false),
            ("4.2-42-gdeadbeef", false),
            ("5.0", false),
            ("12.1", false),
            ("3", true),
            ("5", false),
            ("", false),
            ("unknown", false),
            ("v4.1", false),
        ] {
            assert_eq!(keeps_pages(version), keeps, "{version}");
        }
    }
}
