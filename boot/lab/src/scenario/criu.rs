//! `headwater lab criu`: dumps a process of this host once and restores it twice, with CRIU from
//! the cache.

use crate::judge::image::{RestoredImages, Rounds, compare};
use crate::machine::cache::{Cache, criu_trees};
use crate::machine::command::program_of;
use crate::machine::program;
use crate::process::{last_lines, output};
use anyhow::{Context, Result, bail, ensure};
use headwater_lab_protocol::{
    self as protocol, Dumpable, Failed, Message, Payload, Restored, Round,
};
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

pub use crate::judge::image::findings;

/// Dumps and restores a process of each mode, with and without `quiesce()`.
///
/// # Errors
///
/// If CRIU is not in the cache or does not work on this host, or if the caller is not root.
pub fn all(
    cache: &Cache,
    given: Option<&Path>,
    report: &dyn Fn(&str),
) -> Result<Vec<RestoredImages>> {
    let owner = fs::metadata("/proc/self").context("cannot read the user's number")?.uid();
    ensure!(owner == 0, "CRIU dumps and restores as root; run this command as root");
    version(&cache.tools())?; // before a program is built for nothing
    let program = program::find_dynamic(cache, given)?;
    let mut images = Vec::new();
    for tree in [cache.tools(), cache.criu()] {
        let criu = match version(&tree) {
            Ok(criu) => criu,
            // The first is among the tools that every run needs; no mirror may serve the second.
            Err(error) if !images.is_empty() => {
                report(&format!(
                    "skipped: CRIU 4.2: {error:#}; how it treats pages that the kernel may drop is \
                     not shown"
                ));
                break;
            }
            Err(error) => return Err(error),
        };
        for mode in ["auto", "buffered", "hedged", "strict"] {
            for quiesced in [false, true] {
                let dump = Dump { cache, tree: &tree, criu: &criu, program: &program };
                let restored =
                    dump.restore_twice(mode, quiesced).with_context(|| format!("CRIU {criu}"))?;
                let after = if quiesced { ", quiesced" } else { "" };
                report(&format!("criu {criu}, {mode}{after}: {}", brief(&restored)));
                images.push(restored);
            }
        }
    }
    Ok(images)
}

fn brief(images: &RestoredImages) -> String {
    let repeats = images
        .rows
        .iter()
        .filter(|row| row.draws > 0)
        .map(|row| format!("{} {}", row.witness, row.repeated));
    repeats.collect::<Vec<_>>().join(", ")
}

/// Returns the command of the newest CRIU that `setup` has fetched. Others than the lab restore
/// with it, too.
///
/// # Errors
///
/// If there is none in the cache.
pub fn newest() -> Result<Command> {
    let found = criu_trees().iter().find_map(|tree| criu(tree).ok());
    found.context("no CRIU in the lab's cache")
}

/// Returns the command of a tree's CRIU, started by its own loader.
fn criu(tree: &Path) -> Result<Command> {
    program_of(tree, "usr/sbin/criu")
}

/// Returns `4.1.1` for CRIU's line `Version: 4.1.1`.
fn version(tree: &Path) -> Result<String> {
    let text = output(criu(tree)?.arg("--version"))?;
    let line = text.lines().next().unwrap_or_default();
    Ok(line.strip_prefix("Version:").unwrap_or(line).trim().to_owned())
}

/// The tools of one dump.
struct Dump<'a> {
    cache: &'a Cache,
    tree: &'a Path,
    /// CRIU's version.
    criu: &'a str,
    /// The program that is dumped.
    program: &'a Path,
}

impl Dump<'_> {
    /// Starts a process, dumps it, and restores it twice.
    fn restore_twice(&self, mode: &str, quiesced: bool) -> Result<RestoredImages> {
        let directory = self.cache.run("criu")?;
        let images = directory.join("images");
        fs::create_dir(&images)?;
        let process = self.start(mode, quiesced, &directory)?;
        let messages = wait_for::<Dumpable>(&process.log)?;
        let ready = protocol::first::<Dumpable>(&messages).context("the process is not ready")?;
        let dump = output(
            criu(self.tree)?
                .args(["dump", "--tree", &ready.pid.to_string(), "--images-dir"])
                .arg(&images)
                .args(["-o", "dump.log", "-v2"]),
        );
        dump.with_context(|| explain(&images.join("dump.log")))?;
        drop(process.child); // CRIU has ended the process
        let log_at_dump = fs::read(&process.log)?;
        fs::write(&process.go, "")?;
        let mut restored = Vec::new();
        for number in [1, 2] {
            // CRIU requires every open file to have its old length.
            fs::write(&process.log, &log_at_dump)?;
            restored.push(self.restore(&images, &process.log, number)?);
        }
        let [(first, one), (end, two)] = &restored[..] else { bail!("a restore is missing") };
        let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        Ok(RestoredImages {
            schema: "headwater.lab-criu/1",
            kernel: release.trim().to_owned(),
            criu: self.criu.to_owned(),
            libc: format!("glibc {}", ready.libc),
            asked: mode.to_owned(),
            served: ready.mode.clone(),
            page: ready.page.clone(),
            droppable: end.droppable.name().to_owned(),
            wiped: end.wiped.name().to_owned(),
            stamps: [first.stamp, end.stamp].map(|stamp| stamp.name().to_owned()),
            quiesced,
            rows: compare(&ready.witnesses, [one, two]),
        })
    }

    /// Starts the process that is dumped.
    fn start(&self, mode: &str, quiesced: bool, directory: &Path) -> Result<DumpedProcess> {
        // Copies of the loader and libraries: CRIU itself is started by the originals, and cannot
        // restore a process over a file that it has mapped as its own loader.
        let libraries = directory.join("libraries");
        fs::create_dir(&libraries)?;
        let tools = self.cache.tools().join("usr");
        for file in [
            "lib64/ld-linux-x86-64.so.2",
            "lib/x86_64-linux-gnu/libc.so.6",
            "lib/x86_64-linux-gnu/libgcc_s.so.1",
        ] {
            let from = tools.join(file);
            let name = from.file_name().context("a library without a name")?;
            fs::copy(&from, libraries.join(name))
                .with_context(|| format!("cannot copy {}", from.display()))?;
        }
        let (log, go) = (directory.join("log"), directory.join("go"));
        let file = File::create(&log)?;
        // A session of its own, because CRIU cannot restore the terminal of this one.
        let mut command = Command::new("setsid");
        command
            .arg(libraries.join("ld-linux-x86-64.so.2"))
            .arg("--library-path")
            .arg(&libraries)
            .arg(self.program);
        command.args(["restored", mode, if quiesced { "quiesce" } else { "go-on" }]).arg(&go);
        command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file).current_dir("/");
        let child = command.spawn().context("cannot start the process that is dumped")?;
        Ok(DumpedProcess { child: KillOnDrop(child), log, go })
    }

    /// Restores the process in a namespace where its number is free. Returns its last message and
    /// its draws.
    fn restore(&self, images: &Path, log: &Path, number: u32) -> Result<(Restored, Rounds)> {
        let criu = criu(self.tree)?;
        let mut command = Command::new("unshare");
        command
            .args(["--pid", "--fork", "--mount-proc", "--kill-child"])
            .arg(criu.get_program())
            .args(criu.get_args());
        let name = format!("restore-{number}.log");
        command.args(["restore", "--images-dir"]).arg(images).args(["-o", &name, "-v2"]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let process = KillOnDrop(command.spawn().context("cannot run unshare")?);
        let messages = wait_for::<Restored>(log).with_context(|| explain(&images.join(name)))?;
        drop(process);
        let rounds = protocol::all::<Round>(&messages)
            .map(|round| round.draws.iter().map(|draw| draw.bytes).collect())
            .collect();
        let end = protocol::first::<Restored>(&messages).context("the process did not end")?;
        Ok((end.clone(), rounds))
    }
}

/// The process that is dumped.
struct DumpedProcess {
    child: KillOnDrop,
    /// Its output.
    log: PathBuf,
    /// The file whose existence lets it draw again.
    go: PathBuf,
}

/// A child that does not outlive this process.
struct KillOnDrop(Child);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Waits for a message of a kind in a log, and returns all messages of the log.
fn wait_for<T: Payload + 'static>(log: &Path) -> Result<Vec<Message>> {
    let begun = Instant::now();
    loop {
        let text = fs::read_to_string(log).unwrap_or_default();
        let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
        let messages: Vec<Message> = whole
            .lines()
            .filter_map(|line| protocol::read(line).transpose())
            .collect::<Result<_, _>>()?;
        if let Some(failed) = protocol::first::<Failed>(&messages) {
            bail!("the process to be dumped reports: {}", failed.text);
        }
        if protocol::first::<T>(&messages).is_some() {
            return Ok(messages);
        }
        ensure!(
            begun.elapsed() < Duration::from_secs(60),
            "the process to be dumped does not answer: {}",
            last_lines(text.as_bytes())
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Returns the last error in a log of CRIU.
fn explain(log: &Path) -> String {
    let text = fs::read_to_string(log).unwrap_or_default();
    let errors: Vec<&str> = text.lines().filter(|line| line.contains("Error")).collect();
    match errors.last() {
        Some(error) => format!("CRIU reports: {error}"),
        None => "CRIU needs a kernel with checkpoint support".to_owned(),
    }
}
