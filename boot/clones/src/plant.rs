//! Plants witnesses: starts each in a process of its own, and waits until all are warm.

use crate::planting::Key;
use crate::post::{self, Post};
use crate::process::{close_inherited_on_exec, end_group};
use crate::{Usage, builtin, planting, stop};
use anyhow::{Context, Result, bail, ensure};
use std::env;
use std::fs::{self, DirBuilder, File};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The time that a witness may take until it is warm. Compilers of Java and Go are slow on a busy
/// machine, and a witness that hangs must not hold up the others for longer.
const WARM: Duration = Duration::from_secs(120);

/// A runtime whose witness is a text.
struct Script {
    /// The witness's name, which is also the first part of its sources' names.
    name: &'static str,
    /// Programs that can run it; the first that is installed does.
    programs: &'static [&'static str],
    /// Arguments before the file.
    arguments: &'static [&'static str],
    /// The file's name, and its text.
    file: (&'static str, &'static str),
}

macro_rules! script {
    ($name:literal, [$($program:literal),+], [$($argument:literal),*], $file:literal) => {
        Script {
            name: $name,
            programs: &[$($program),+],
            arguments: &[$($argument),*],
            file: ($file, include_str!(concat!("../witnesses/", $file))),
        }
    };
}

/// A small heap and one collector: the witness is copied, and what it does not need is copied too.
/// The file of performance data would be a mapping that a checkpoint cannot keep.
const SCRIPTS: &[Script] = &[
    script!("python", ["python3"], [], "python.py"),
    script!("node", ["node", "nodejs"], [], "node.js"),
    script!("deno", ["deno"], ["run", "--allow-all"], "node.js"),
    script!("bun", ["bun"], [], "node.js"),
    script!(
        "java",
        ["java"],
        ["-XX:+UseSerialGC", "-Xmx128m", "-XX:-UsePerfData", "-XX:TieredStopAtLevel=1"],
        "Witness.java"
    ),
    script!("ruby", ["ruby"], [], "ruby.rb"),
    script!("php", ["php"], [], "php.php"),
    script!("perl", ["perl"], [], "perl.pl"),
    script!("lua", ["lua5.4", "lua5.3", "lua"], [], "lua.lua"),
    script!("bash", ["bash"], [], "bash.bash"),
    script!("nginx", ["bash"], [], "nginx.bash"),
    script!("gawk", ["gawk"], ["-f"], "awk.awk"),
    script!("mawk", ["mawk"], ["-f"], "awk.awk"),
    script!("r", ["Rscript"], ["--vanilla"], "r.R"),
    script!("tcl", ["tclsh", "tclsh8.6"], [], "tcl.tcl"),
];

/// Go's witness is compiled where it is planted, because a program of another release would have
/// other generators.
const GO: &str = "go";
const GO_FILES: [(&str, &str); 3] = [
    ("go.mod", include_str!("../witnesses/go/go.mod")),
    ("main.go", include_str!("../witnesses/go/main.go")),
    ("randv2.go", include_str!("../witnesses/go/randv2.go")),
];

/// Returns the names of all witnesses, in the order in which they draw.
pub(crate) fn names() -> Vec<&'static str> {
    let scripts = SCRIPTS.iter().map(|script| script.name);
    builtin::NAMES.iter().copied().chain(scripts).chain([GO]).collect()
}

/// Returns the names that a user selected, in the order in which they draw.
///
/// # Errors
///
/// If no witness has one of the names. `headwater` selects all modes.
pub(crate) fn selected(only: &[String]) -> Result<Vec<&'static str>> {
    let all = names();
    let is_of = |name: &str, only: &str| name == only || name.starts_with(&format!("{only}-"));
    for wanted in only {
        if !all.iter().any(|name| is_of(name, wanted)) {
            let names = all.join(", ");
            bail!(Usage(format!("no witness is called '{wanted}'; there are {names}")));
        }
    }
    let is_selected = |name: &&str| only.is_empty() || only.iter().any(|only| is_of(name, only));
    Ok(all.into_iter().filter(is_selected).collect())
}

/// A witness that was started, or the reason why it was not.
pub(crate) struct Planted {
    pub(crate) name: &'static str,
    pub(crate) post: Post,
    pub(crate) process: Result<Child, String>,
}

/// The garden: a directory with one directory for each witness.
pub(crate) struct Garden {
    pub(crate) directory: PathBuf,
    pub(crate) key: Key,
    pub(crate) planted: Vec<Planted>,
}

impl Garden {
    /// Starts the witnesses, and waits until each is warm or has failed.
    ///
    /// # Errors
    ///
    /// If the directory exists or cannot be made, or if a signal ends the work. Nothing is left
    /// then.
    pub(crate) fn plant(directory: &Path, names: &[&'static str]) -> Result<Garden> {
        // Never into a directory that is there: another user may have made it, and would choose
        // what the witnesses say. For the same reason no other user may enter it.
        let made = DirBuilder::new().mode(0o700).create(directory);
        made.with_context(|| {
            let advice = match directory.exists() {
                true => "`headwater clones uproot` removes an earlier planting",
                false => "--dir names another directory",
            };
            format!("cannot make {}; {advice}", directory.display())
        })?;
        let mut planted = Vec::new();
        let made = fill(directory, names, &mut planted);
        if made.is_err() {
            for witness in &mut planted {
                if let Ok(process) = &mut witness.process {
                    end_group(process);
                }
            }
            let _ = fs::remove_dir_all(directory);
        }
        let (directory, key) = made?;
        Ok(Garden { directory, key, planted })
    }
}

/// Starts the witnesses in a new directory. After an error, `planted` has those that were
/// started.
fn fill(
    directory: &Path,
    names: &[&'static str],
    planted: &mut Vec<Planted>,
) -> Result<(PathBuf, Key)> {
    let directory = directory.canonicalize()?;
    let key = planting::begin(&directory)?;
    close_inherited_on_exec()?;
    for name in names {
        stop::check()?;
        let own = directory.join(name);
        fs::create_dir(&own)?;
        let process = start(name, &own).map_err(|error| format!("{error:#}"));
        planted.push(Planted { name, post: Post::new(&own), process });
    }
    let begun = Instant::now();
    for witness in planted {
        let left = WARM.saturating_sub(begun.elapsed()).max(Duration::from_secs(1));
        if let Ok(process) = &mut witness.process
            && let Err(error) = warm(&witness.post, process, left)
        {
            stop::check()?;
            end_group(process);
            witness.process = Err(format!("{error:#}"));
        }
        if let Err(why) = &witness.process {
            witness.post.write(planting::ABSENT, why)?;
        }
    }
    Ok((directory, key))
}

/// Waits until a witness is warm. One that ends before is an error, with its last words.
fn warm(post: &Post, process: &mut Child, limit: Duration) -> Result<()> {
    let begun = Instant::now();
    loop {
        if post.wait(post::READY, Duration::from_millis(20))?.is_some() {
            return Ok(());
        }
        if let Some(status) = process.try_wait()? {
            bail!("the witness ended ({status}): {}", post.last_words());
        }
        if begun.elapsed() > limit {
            bail!("the witness was not warm in {} s: {}", limit.as_secs(), post.last_words());
        }
    }
}

/// Starts a witness in its directory.
fn start(name: &str, directory: &Path) -> Result<Child> {
    let (program, arguments) = if builtin::NAMES.contains(&name) {
        let own = env::current_exe().context("cannot find this command's own file")?;
        (own, ["clones", "witness", name].map(PathBuf::from).to_vec())
    } else if name == GO {
        (compiled_go(directory)?, vec![])
    } else {
        let script = SCRIPTS.iter().find(|script| script.name == name);
        let script = script.with_context(|| format!("no witness is called '{name}'"))?;
        let program = script.programs.iter().find_map(|program| find(program));
        let program =
            program.with_context(|| format!("{} is not installed", script.programs[0]))?;
        let file = directory.join(script.file.0);
        fs::write(&file, script.file.1)?;
        let arguments = script.arguments.iter().map(PathBuf::from);
        (program, arguments.chain([file]).collect())
    };
    let log = File::create(directory.join(planting::LOG))?;
    // In a session of its own, so that the end of this terminal ends no witness, and no checkpoint
    // has to keep a terminal.
    let mut command = Command::new("setsid");
    command.arg(program).args(arguments);
    command.env(post::DIRECTORY, directory).env(post::NAME, name);
    command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).current_dir("/");
    command.spawn().context("cannot run setsid (package util-linux)")
}

fn compiled_go(directory: &Path) -> Result<PathBuf> {
    let go = find("go").context("go is not installed")?;
    for (name, text) in GO_FILES {
        fs::write(directory.join(name), text)?;
    }
    let mut build = Command::new(go);
    // Offline, and with the toolchain that is here: a check must not fetch another one.
    build.env("GOFLAGS", "-mod=mod").env("GOTOOLCHAIN", "local").env("GOPROXY", "off");
    build.env("GOWORK", "off");
    // A go that a signal ends leaves its files, so they lie where they can be removed. They are
    // large, and the planting's own directory is memory.
    let work = Work::new()?;
    build.env("GOTMPDIR", &work.0);
    build.args(["build", "-o", "witness", "."]).current_dir(directory);
    let output = build.output().context("cannot run go")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "go cannot build the witness: {}", said.trim());
    Ok(directory.join("witness"))
}

/// A directory for a compiler's files, which is removed when it is no longer needed.
struct Work(PathBuf);

impl Work {
    fn new() -> Result<Work> {
        let temporary = std::path::absolute(env::temp_dir())?;
        let work = temporary.join(format!("headwater-go-{}", planting::new()?));
        let made = DirBuilder::new().mode(0o700).create(&work);
        made.with_context(|| format!("cannot make {}", work.display()))?;
        Ok(Work(work))
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Returns the first file of this name in the directories of PATH that can be executed.
fn find(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    // A relative directory would be another one for the witness, which starts in /.
    let directories = env::split_paths(&path).filter(|directory| directory.is_absolute());
    let files = directories.map(|directory| directory.join(program));
    let is_program = |file: &PathBuf| {
        rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok() && file.is_file()
    };
    files.into_iter().find(is_program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_name_selects_all_that_begin_with_it() {
        let names = |only: &[&str]| {
            selected(&only.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(names(&["headwater"]).unwrap().len(), 5);
        assert_eq!(names(&["ruby", "kernel"]).unwrap(), ["kernel", "ruby"], "the kernel is first");
        assert_eq!(names(&[]).unwrap(), super::names());
        let error = names(&["cobol"]).unwrap_err().to_string();
        assert!(error.contains("'cobol'") && error.contains("python"), "{error}");
    }
}
