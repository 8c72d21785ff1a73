//! `headwater clones repair`: makes a copy of a machine differ from its siblings, and proves it.
//!
//! Reseeders of this kind have reported success for many reasons: bytes written to /dev/urandom,
//! which a seeded kernel mixes in and does not use for minutes; entropy added without the call that
//! makes the kernel take it; an error that was not read. So nothing is believed here that the
//! kernel does not show. The reseed generation, which the vDSO publishes since Linux 6.11, moves
//! when the kernel takes a new key, and it is read before and after in one process: between two
//! commands the kernel's own reseed of each minute could come, and would prove a repair that never
//! happened.
//!
//! `entropy` reads the bytes of the host and refuses what cannot be random, `reseed` hands them to
//! the kernel and reads the proof, `identity` renews names and keys. The order matters: a key that
//! is made before the kernel is reseeded is the sibling's key. A watcher may not have seen the
//! copy, above all on a machine without a device. So the copy is counted in its page too, and
//! programs with adapters renew what they hold.

mod entropy;
mod identity;
mod reseed;

use crate::Usage;
use crate::args::RepairArgs;
use crate::planting;
use crate::post::Post;
use crate::process::run_hook;
use crate::stop;
use anyhow::{Context, Result, bail};
pub(crate) use reseed::{Proof, reseed_now};
use serde::Serialize;
use std::ffi::OsString;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Where hooks lie.
pub(crate) const HOOKS: &str = "/etc/headwater/clones.d";

/// The report of a repair.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Repair {
    /// `headwater.clones-repair/1`.
    pub schema: &'static str,
    /// True if the kernel was shown to have reseeded, and every step that was asked for succeeded.
    pub repaired: bool,
    /// The way in which the reseed was shown.
    pub proof: Proof,
    /// The kernel's reseed generation before and after, where it can be read.
    pub generations: [Option<u64>; 2],
    /// A hash of a value that the kernel made after the reseed. Copies with equal ones drew equal
    /// values, so the host has to compare these: no copy can see its siblings.
    pub fingerprint: String,
    /// Microseconds that the two calls of the kernel took.
    pub reseed_us: u64,
    /// Milliseconds from the start to the last step.
    pub total_ms: u64,
    /// The steps after the reseed, in order.
    pub steps: Vec<Step>,
}

/// A step after the reseed.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Step {
    /// The thing that was done.
    pub name: String,
    /// Why it failed.
    pub error: Option<String>,
}

/// Reseeds the kernel of this copy, and does the steps that were asked for. They are not begun
/// unless the reseed is proven.
///
/// # Errors
///
/// If the entropy cannot be used or the kernel refuses a call. A reseed that cannot be shown is not
/// an error, but a repair with `repaired` false.
pub fn repair(args: &RepairArgs) -> Result<Repair> {
    let begun = Instant::now();
    let entropy = match (args.entropy_fd, args.entropy_vsock) {
        (Some(descriptor), _) => entropy::read(descriptor)?,
        (None, Some(address)) => entropy::receive(address)?,
        (None, None) => bail!(Usage(
            "two copies that reseed from what they have stay equal: give at least 32 bytes, other \
             ones to each copy, by --entropy-fd or --entropy-vsock"
                .to_owned()
        )),
    };
    // From here on a signal finds keys or names half renewed, so each step goes to its end.
    stop::listen().context("cannot listen for signals")?;
    let reseeded = reseed::reseed(&entropy)?;
    let fingerprint = reseed::fingerprint()?;
    let noted = note(args, &entropy, &fingerprint);
    drop(entropy);
    let proof = reseeded.proof();
    let is_proven = match proof {
        Proof::Generation => true,
        Proof::Calls => args.without_generation,
        Proof::None => false,
    };
    let mut repair = Repair {
        schema: "headwater.clones-repair/1",
        repaired: is_proven,
        proof,
        generations: reseeded.generations,
        fingerprint,
        reseed_us: reseeded.us,
        total_ms: 0,
        steps: Vec::new(),
    };
    if is_proven {
        // This process held a page of random bytes of its own. The generation has voided it, but on
        // kernels that show none nothing would have.
        headwater::discard().context("cannot discard buffered bytes")?;
        repair.steps = steps(args, noted);
        repair.repaired = repair.steps.iter().all(|step| step.error.is_none());
    }
    repair.total_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    Ok(repair)
}

/// Notes in this copy's planting, if it has one, with which entropy it was repaired, so that
/// `compare` finds two copies that were given the same. The note is a hash under the planting's
/// key, which `draw` hashes once more; both stay in a directory that root alone can read.
///
/// Returns false if there is no planting, and none was named.
fn note(args: &RepairArgs, entropy: &[u8], fingerprint: &str) -> Result<bool> {
    let usual = || planting::default_directory().ok().filter(|directory| directory.is_dir());
    let Some(directory) = args.dir.clone().or_else(usual) else { return Ok(false) };
    planting::witnesses(&directory)?;
    let key = planting::key(&directory)?;
    let text =
        format!("repair/entropy\t{}\nrepair/fingerprint\t{fingerprint}\n", key.hash(entropy));
    Post::new(&directory).write(planting::REPAIR, &text)?;
    Ok(true)
}

/// Does the steps that were asked for: names first, because hooks start programs that read them.
fn steps(args: &RepairArgs, noted: Result<bool>) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut step = |name: &str, result: Result<()>| {
        let error = result.err().map(|error| format!("{error:#}"));
        steps.push(Step { name: name.to_owned(), error });
    };
    match noted {
        Ok(false) => {}
        Ok(true) => step("note", Ok(())),
        Err(error) => step("note", Err(error.context("the repair cannot be noted for `compare`"))),
    }
    // Before the hooks: programs with adapters may serve them, and draw new seeds from here on.
    match crate::watch::count_beside(&args.page) {
        Ok(false) => {}
        Ok(true) => step("count of copies", Ok(())),
        Err(error) => step("count of copies", Err(error)),
    }
    let root = Path::new("/");
    if let Some(name) = &args.host_name {
        step("host name", identity::host_name(root, name));
    }
    if args.machine_id {
        step("machine-id", identity::machine_id(root));
    }
    if args.seed_file {
        step("seed file", identity::seed_file(root));
    }
    if args.ssh_host_keys {
        step("SSH host keys", identity::ssh_host_keys(root));
    }
    let directory = args.hooks.as_deref().unwrap_or(Path::new(HOOKS));
    // The usual directory need not be there. One that was named does.
    if args.hooks.is_some() || directory.is_dir() {
        match hooks(directory) {
            Ok(hooks) => {
                for hook in hooks {
                    step(&hook, run_hook(&mut Command::new(directory.join(&hook))));
                }
            }
            Err(error) => step("hooks", Err(error)),
        }
    }
    if stop::check().is_err() {
        let error = Some("a signal came, so no later step is taken".to_owned());
        steps.push(Step { name: "signal".to_owned(), error });
    }
    if let Some(cgroup) = &args.thaw {
        let file = cgroup.join("cgroup.freeze");
        // Last, and not after a failure: whatever is frozen must not run on a sibling's names.
        let is_sound = steps.iter().all(|step| step.error.is_none());
        let thawed = match is_sound {
            true => fs::write(&file, "0").with_context(|| file.display().to_string()),
            false => Err(anyhow::anyhow!("an earlier step failed, so {} stays", file.display())),
        };
        let error = thawed.err().map(|error| format!("{error:#}"));
        steps.push(Step { name: "thaw".to_owned(), error });
    }
    steps
}

/// Returns the programs to run after a copy. The usual directory need not be there.
pub(crate) fn hooks_of(directory: Option<&Path>) -> Result<Vec<PathBuf>> {
    let usual = Path::new(HOOKS);
    if directory.is_none() && !usual.is_dir() {
        return Ok(Vec::new());
    }
    let directory = directory.unwrap_or(usual);
    Ok(hooks(directory)?.iter().map(|name| directory.join(name)).collect())
}

/// Returns the names of the programs in a directory, sorted as run-parts(8) does.
fn hooks(directory: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(directory).with_context(|| directory.display().to_string())? {
        let entry = entry?;
        let path = entry.path();
        let is_program = rustix::fs::access(&path, rustix::fs::Access::EXEC_OK).is_ok();
        if let (true, true, Ok(name)) =
            (path.is_file(), is_program, entry.file_name().into_string())
            && !name.starts_with('.')
            && !name.ends_with('~')
        {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// Becomes the gated program. Returns only if it cannot be run.
pub fn pass_gate(command: &[OsString]) -> anyhow::Error {
    let Some((program, arguments)) = command.split_first() else {
        return anyhow::anyhow!("no command follows --gate");
    };
    // One that came after the last step, while the report was written: it meant the gate as well.
    if let Err(stopped) = stop::check() {
        return stopped;
    }
    let error = Command::new(program).args(arguments).exec();
    anyhow::Error::new(error).context(format!("cannot run {}", program.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_are_programs_in_order() {
        let directory =
            std::env::temp_dir().join(format!("headwater-hooks-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        for (name, mode) in [("20-b", 0o755), ("10-a", 0o755), ("note", 0o644), (".x", 0o755)] {
            // By a process of its own: a file that a child of another test's holds open for writing
            // cannot be started.
            let text = "printf '#!/bin/sh\necho why >&2\nexit 4\n' > \"$1\" && chmod \"$2\" \"$1\"";
            let mut write = Command::new("sh");
            write.args(["-c", text, "sh"]).arg(directory.join(name)).arg(format!("{mode:o}"));
            assert!(write.status().unwrap().success());
        }
        let names = hooks(&directory).unwrap();
        let error = run_hook(&mut Command::new(directory.join("10-a"))).unwrap_err().to_string();
        fs::remove_dir_all(&directory).unwrap();
        assert_eq!(names, ["10-a", "20-b"]);
        assert!(error.contains('4') && error.ends_with("why"), "{error}");
        assert!(hooks(&directory).is_err(), "a directory that was named has to be there");
    }
}
