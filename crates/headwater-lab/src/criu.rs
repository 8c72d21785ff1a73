//! `headwater lab criu`: a process is dumped once and restored twice, on this host, by the CRIU in the cache.

use crate::cache::Cache;
use crate::compare::parse_draw;
use crate::guest;
use crate::line::Line;
use crate::process::{last_words, output};
use crate::qemu::program_of;
use crate::situations::{Finding, Kind};
use anyhow::{Context, Result, bail, ensure};
use serde::Serialize;
use std::collections::HashSet;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A process restored twice. As JSON: schema `headwater.lab-criu/1`.
#[derive(Clone, Debug, Serialize)]
pub struct Images {
    schema: &'static str,
    /// This host's `uname -r`.
    pub kernel: String,
    /// CRIU's version.
    pub criu: String,
    /// The C library that the process ran with.
    pub libc: String,
    /// headwater's mode that was asked for.
    pub asked: String,
    /// And served, at the dump.
    pub served: String,
    /// What memory its pages were made of.
    pub page: String,
    /// What a page that the kernel may drop held after the restore: `kept`, `zero`, or `absent` where there is none such.
    pub droppable: String,
    /// And one that is wiped on fork.
    pub wiped: String,
    /// Whether it called `quiesce()` before the dump.
    pub quiesced: bool,
    /// Each witness.
    pub rows: Vec<Row>,
}

/// One witness.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// `libc` (its getrandom), `arc4random`, and those of a guest.
    pub witness: String,
    /// Requests of 16 bytes after the restore, in the first process; 0: absent.
    pub draws: usize,
    /// Those whose bytes the second was given too.
    pub repeated: usize,
}

/// Dumps and restores a process of each mode, with and without `quiesce()`.
///
/// # Errors
///
/// If CRIU is not in the cache, or does not work on this host, or this is not root.
pub fn all(cache: &Cache, given: Option<&Path>, say: &dyn Fn(&str)) -> Result<Vec<Images>> {
    let owner = fs::metadata("/proc/self").context("cannot tell whether this is root")?.uid();
    ensure!(owner == 0, "CRIU dumps and restores as root; run this as root");
    let program = guest::find_dynamic(cache, given)?;
    let mut images = Vec::new();
    for tree in [cache.tools(), cache.criu()] {
        let criu = match version(&tree) {
            Ok(criu) => criu,
            // The first is among the tools that everything here needs; the second may not have been served.
            Err(error) if !images.is_empty() => {
                say(&format!(
                    "skipped: CRIU 4.2: {error:#}; what it does with pages that the kernel may drop is not shown"
                ));
                break;
            }
            Err(error) => return Err(error),
        };
        for mode in ["auto", "buffered", "hedged", "strict"] {
            for quiesced in [false, true] {
                let made = images_of(cache, &tree, &criu, &program, mode, quiesced)
                    .with_context(|| format!("CRIU {criu}"))?;
                let after = if quiesced { ", quiesced" } else { "" };
                say(&format!("criu {criu}, {mode}{after}: {}", brief(&made)));
                images.push(made);
            }
        }
    }
    Ok(images)
}

fn brief(images: &Images) -> String {
    let repeats = images
        .rows
        .iter()
        .filter(|row| row.draws > 0)
        .map(|row| format!("{} {}", row.witness, row.repeated));
    repeats.collect::<Vec<_>>().join(", ")
}

/// CRIU of a tree in the cache, run by its own loader.
fn criu(tree: &Path) -> Result<Command> {
    program_of(tree, "usr/sbin/criu")
}

/// `4.1.1` of its line `Version: 4.1.1`.
fn version(tree: &Path) -> Result<String> {
    let text = output(criu(tree)?.arg("--version"))?;
    let line = text.lines().next().unwrap_or_default();
    Ok(line.strip_prefix("Version:").unwrap_or(line).trim().to_owned())
}

fn images_of(
    cache: &Cache,
    tree: &Path,
    criu_version: &str,
    guest: &Path,
    mode: &str,
    quiesced: bool,
) -> Result<Images> {
    let folder = cache.run("criu")?;
    let images = folder.join("images");
    fs::create_dir(&images)?;
    let subject = Subject::start(cache, guest, mode, quiesced, &folder)?;
    let ready = subject.line("ready")?;
    let pid = ready.get("pid").to_owned();
    let dump = output(
        criu(tree)?
            .args(["dump", "--tree", &pid, "--images-dir"])
            .arg(&images)
            .args(["-o", "dump.log", "-v2"]),
    );
    dump.with_context(|| explain(&images.join("dump.log")))?;
    drop(subject.child); // dumped, and thereby ended
    let at_dump = fs::read(&subject.log)?;
    fs::write(&subject.go, "")?;
    let mut told = Vec::new();
    let mut pages = [const { String::new() }; 2];
    for number in ["1", "2"] {
        // CRIU wants every file as long as it was.
        fs::write(&subject.log, &at_dump)?;
        let (bye, draws) = restore(tree, &images, &subject.log, number)?;
        pages = ["droppable", "wiped"].map(|kind| bye.get(kind).to_owned());
        told.push(draws);
    }
    let names: Vec<&str> = ready.get("witnesses").split(',').collect();
    let rows = names.iter().enumerate().map(|(index, name)| {
        let words = |rounds: &[Vec<Option<u128>>]| -> Vec<u128> {
            rounds.iter().filter_map(|round| *round.get(index)?).collect()
        };
        let (one, two) = (words(&told[0]), words(&told[1]));
        let halves = |bytes: u128| [(bytes >> 64) as u64, bytes as u64];
        let other: HashSet<u64> = two.iter().flat_map(|bytes| halves(*bytes)).collect();
        let repeated = one
            .iter()
            .filter(|bytes| halves(**bytes).iter().any(|half| other.contains(half)))
            .count();
        Row { witness: (*name).to_owned(), draws: one.len(), repeated }
    });
    let [droppable, wiped] = pages;
    Ok(Images {
        schema: "headwater.lab-criu/1",
        kernel: fs::read_to_string("/proc/sys/kernel/osrelease")
            .unwrap_or_default()
            .trim()
            .to_owned(),
        criu: criu_version.to_owned(),
        libc: format!("glibc {}", ready.get("libc")),
        asked: mode.to_owned(),
        served: ready.get("mode").to_owned(),
        page: ready.get("page").to_owned(),
        droppable,
        wiped,
        quiesced,
        rows: rows.collect(),
    })
}

/// The process that is dumped.
struct Subject {
    child: Ended,
    log: PathBuf,
    go: PathBuf,
}

/// A child that does not outlive us.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Subject {
    fn start(
        cache: &Cache,
        guest: &Path,
        mode: &str,
        quiesced: bool,
        folder: &Path,
    ) -> Result<Subject> {
        // Its loader and libraries are copies: CRIU itself runs by the originals, and cannot restore a process over a
        // file that it has mapped as its own loader.
        let libraries = folder.join("libraries");
        fs::create_dir(&libraries)?;
        let tools = cache.tools().join("usr");
        for file in [
            "lib64/ld-linux-x86-64.so.2",
            "lib/x86_64-linux-gnu/libc.so.6",
            "lib/x86_64-linux-gnu/libgcc_s.so.1",
        ] {
            let from = tools.join(file);
            let name = from.file_name().context("a library has a name")?;
            fs::copy(&from, libraries.join(name))
                .with_context(|| format!("cannot copy {}", from.display()))?;
        }
        let (log, go) = (folder.join("log"), folder.join("go"));
        let file = File::create(&log)?;
        // A session of its own, or CRIU would have to restore our terminal.
        let mut command = Command::new("setsid");
        command
            .arg(libraries.join("ld-linux-x86-64.so.2"))
            .arg("--library-path")
            .arg(&libraries)
            .arg(guest);
        command.args(["restored", mode, if quiesced { "quiesce" } else { "go-on" }]).arg(&go);
        command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file).current_dir("/");
        let child =
            Ended(command.spawn().context("cannot start the process that is to be dumped")?);
        Ok(Subject { child, log, go })
    }

    fn line(&self, word: &str) -> Result<Line> {
        wait_for(&self.log, word)?
            .into_iter()
            .rfind(|line| line.word == word)
            .context("the line is there")
    }
}

/// The lines of a log, when one of this word is among them.
fn wait_for(log: &Path, word: &str) -> Result<Vec<Line>> {
    let begun = Instant::now();
    loop {
        let text = fs::read_to_string(log).unwrap_or_default();
        let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
        let lines: Vec<Line> = whole.lines().filter_map(Line::parse).collect();
        if let Some(failed) = lines.iter().find(|line| line.word == "failed") {
            bail!("the process to be dumped says: {}", failed.get("text"));
        }
        if lines.iter().any(|line| line.word == word) {
            return Ok(lines);
        }
        ensure!(
            begun.elapsed() < Duration::from_secs(60),
            "the process says no '{word}': {}",
            last_words(text.as_bytes())
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Restores it, in a namespace where its number is free, and returns its last line and what it draws.
fn restore(
    tree: &Path,
    images: &Path,
    log: &Path,
    number: &str,
) -> Result<(Line, Vec<Vec<Option<u128>>>)> {
    let criu = criu(tree)?;
    let mut command = Command::new("unshare");
    command
        .args(["--pid", "--fork", "--mount-proc", "--kill-child"])
        .arg(criu.get_program())
        .args(criu.get_args());
    let name = format!("restore-{number}.log");
    command.args(["restore", "--images-dir"]).arg(images).args(["-o", &name, "-v2"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let restored = Ended(command.spawn().context("cannot run unshare")?);
    let lines = wait_for(log, "bye").with_context(|| explain(&images.join(name)))?;
    drop(restored);
    let draws = lines.iter().filter(|line| line.word == "draw").map(parse_draw);
    let draws = draws.map(|draw| Ok(draw?.1.into_iter().map(|draw| draw.bytes).collect()));
    let draws = draws.collect::<Result<_>>()?;
    let bye = lines.into_iter().rfind(|line| line.word == "bye").context("the line is there")?;
    Ok((bye, draws))
}

/// The errors in a log of CRIU's.
fn explain(log: &Path) -> String {
    let text = fs::read_to_string(log).unwrap_or_default();
    let errors: Vec<&str> = text.lines().filter(|line| line.contains("Error")).collect();
    match errors.last() {
        Some(error) => format!("CRIU says: {error}"),
        None => "CRIU needs a kernel with checkpoint support".to_owned(),
    }
}

impl Images {
    /// Whether headwater's pages came back empty, as others of their kind did.
    fn came_back_empty(&self) -> bool {
        self.page == "droppable" && self.droppable == "zero"
    }

    /// Without a libcrypto there is none with headwater's provider either.
    fn lacks_libcrypto(&self, witness: &str) -> bool {
        witness == "headwater-openssl"
            && self.rows.iter().any(|row| row.witness == "openssl" && row.draws == 0)
    }

    fn findings(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        let mut add = |kind, text: String| {
            let text = format!("{}, {text}", self.criu);
            findings.push(Finding { situation: "criu", kind, text });
        };
        let empty = self.came_back_empty();
        let safe = self.quiesced || empty || matches!(self.served.as_str(), "hedged" | "strict");
        let after = if self.quiesced { ", after quiesce()" } else { "" };
        for row in self.rows.iter().filter(|row| row.witness.starts_with("headwater")) {
            // Else at most what was left of one page: one slot, or the handle's own.
            const PAGE: usize = 3536 / 16;
            let what = format!("{} in {}{after}", row.witness, self.asked);
            if row.repeated > if safe { 0 } else { PAGE } {
                let Row { repeated, draws, .. } = row;
                add(Kind::Broken, format!("{what}: {repeated} of {draws} came twice"));
            }
            if row.draws == 0 && !self.lacks_libcrypto(&row.witness) {
                add(Kind::NotShown, format!("{what}: nothing was drawn"));
            }
        }
        // The kernel's own vDSO state, which an older CRIU restores like any page.
        let vdso = self.rows.iter().find(|row| row.witness == "vdso");
        if !empty && vdso.is_none_or(|row| row.repeated == 0) {
            add(
                Kind::NotShown,
                format!(
                    "{}: the vDSO's getrandom() did not repeat; the kernel reseeded meanwhile",
                    self.asked
                ),
            );
        }
        findings
    }
}

/// What does not hold. Nothing may come twice in `hedged` and `strict`, after `quiesce()`, and where the pages come back
/// empty; else at most a page may.
pub fn findings(images: &[Images]) -> Vec<Finding> {
    images.iter().flat_map(Images::findings).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn images([page, droppable]: [&str; 2], quiesced: bool, repeated: [usize; 2]) -> Images {
        let rows = [("vdso", repeated[0]), ("headwater-rng", repeated[1])];
        let row =
            |(witness, repeated): (&str, _)| Row { witness: witness.into(), draws: 300, repeated };
        Images {
            schema: "",
            kernel: String::new(),
            criu: "4".into(),
            libc: String::new(),
            asked: "buffered".into(),
            served: "buffered".into(),
            page: page.into(),
            droppable: droppable.into(),
            wiped: "kept".into(),
            quiesced,
            rows: rows.into_iter().map(row).collect(),
        }
    }

    #[test]
    fn a_page_may_come_twice_only_where_it_is_restored_as_it_was() {
        let kinds = |images: Images| -> Vec<Kind> {
            images.findings().into_iter().map(|finding| finding.kind).collect()
        };
        let (kept, zero) = (["droppable", "kept"], ["droppable", "zero"]);
        assert_eq!(kinds(images(kept, false, [300, 221])), []);
        assert_eq!(kinds(images(kept, false, [300, 222])), [Kind::Broken]);
        assert_eq!(kinds(images(kept, true, [300, 1])), [Kind::Broken]);
        assert_eq!(kinds(images(kept, true, [0, 0])), [Kind::NotShown]);
        assert_eq!(kinds(images(zero, false, [0, 0])), []);
        assert_eq!(kinds(images(zero, false, [0, 1])), [Kind::Broken]);
        assert_eq!(kinds(images(["wipe-on-fork", "zero"], false, [300, 221])), []);
    }
}
