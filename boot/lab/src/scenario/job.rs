//! `headwater lab run`: one program in a guest, as on a machine that has nothing else on it.
//!
//! Tests of a kernel's behaviour need that kernel, and a test of arm64 needs that machine. So any
//! program that is linked statically can be a guest's: its output comes back while it runs, and its
//! exit status at the end.

use crate::args::NEWEST;
use crate::machine::cache::Cache;
use crate::machine::part::ARM_PART;
use crate::machine::qemu::{Guest, Machine};
use crate::machine::{elf, program, setup};
use crate::plan::JobPlan;
use anyhow::{Context, Result, bail, ensure};
use headwater_lab_protocol::{Command, Ended, Job, Message, Output};
use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const MIB: u64 = 1 << 20;
/// The guest's CPUs on arm64.
const ARM_CPU: &str = "max";

/// Runs the program of a plan, and passes on what it writes.
///
/// # Errors
///
/// If the file is no program that the guest could start, if the guest cannot be started or runs out
/// of memory, or if the program has not ended at the plan's limit.
pub fn run(cache: &Cache, plan: &JobPlan, output: &mut dyn FnMut(&Output)) -> Result<Ended> {
    let files = files(plan)?;
    let kernel = setup::find_kernel(cache, kernel(plan)?)?;
    let architecture = elf::architecture(&plan.program)?;
    ensure!(
        kernel.architecture == architecture,
        "{} is for {architecture}, and the kernel for {}",
        plan.program.display(),
        kernel.architecture
    );
    let guest = program::find(cache, plan.guest.as_deref(), &kernel.architecture)?;
    let archive = program::archive_with(cache, &guest, &kernel, &files)?;
    let directory = cache.run("run")?;
    let mut machine = Machine::new(&kernel, archive.path());
    let arm = kernel.architecture == "aarch64";
    machine.cpu = if arm { ARM_CPU } else { super::sections::CPU }.to_owned();
    machine.cpus = plan.cpus;
    machine.append = format!("hw.limit=60 {}", plan.append);
    machine.device(&format!("-m {} {}", plan.memory, plan.devices));
    let (mut guest, _) = Guest::start_until_ready(cache, &machine, &directory, "run")?;
    let command = Command::Run(Job {
        program: name(&plan.program)?.to_owned(),
        arguments: plan.arguments.clone(),
        environment: plan.environment.clone(),
    });
    guest.send(&command)?;
    let ended = watch(&mut guest, plan, output)?;
    guest.off();
    Ok(ended)
}

/// Passes on the output until the program has ended.
fn watch(guest: &mut Guest, plan: &JobPlan, output: &mut dyn FnMut(&Output)) -> Result<Ended> {
    let limit = Duration::from_secs(plan.limit_s);
    let begun = Instant::now();
    let mut ended = None;
    let mut messages = 0;
    loop {
        let next = guest.next(limit.saturating_sub(begun.elapsed()));
        ensure!(
            begun.elapsed() < limit,
            "the program did not end in {} s; give it more with --limit",
            plan.limit_s
        );
        match next.context("the machine ended before the program")? {
            Message::Output(written) => output(&written),
            Message::Ended(end) => ended = Some(end),
            Message::Done(done) => {
                ensure!(done.messages == messages, "output was lost on the serial line");
                return ended.context("the guest did not send the program's end");
            }
            _ => {}
        }
        messages += 1;
    }
}

/// Returns the files of the job: the program and those beside it.
fn files(plan: &JobPlan) -> Result<Vec<PathBuf>> {
    let mut files = vec![plan.program.clone()];
    files.extend(plan.files.iter().cloned());
    let mut names = HashSet::new();
    let mut bytes = 0;
    for file in &files {
        let about = file.metadata().ok().filter(Metadata::is_file);
        bytes +=
            about.with_context(|| format!("{} is not a file that exists", file.display()))?.len();
        ensure!(
            names.insert(name(file)?),
            "two files have the name {}, and the guest has one directory for all",
            name(file)?
        );
    }
    // The kernel unpacks the archive from memory to memory, and needs some for itself.
    let (files_mib, needed_mib) = (bytes / MIB, 2 * bytes / MIB + 96);
    ensure!(
        needed_mib <= plan.memory as u64,
        "the program and its files take {files_mib} MiB, and the machine has {} MiB of memory for \
         them; give it --memory {needed_mib}",
        plan.memory
    );
    Ok(files)
}

fn name(file: &Path) -> Result<&str> {
    file.file_name()
        .and_then(OsStr::to_str)
        .with_context(|| format!("{} has no name that a guest could use", file.display()))
}

/// Returns the requested kernel, or the newest for the program's architecture.
fn kernel(plan: &JobPlan) -> Result<&str> {
    match (elf::architecture(&plan.program)?, plan.kernel.as_deref()) {
        ("aarch64", None) => Ok(ARM_PART),
        ("aarch64", Some(kernel)) => bail!(
            "{} is for arm64, for which the lab has one kernel; leave out --kernel {kernel}",
            plan.program.display()
        ),
        (_, kernel) => Ok(kernel.unwrap_or(NEWEST)),
    }
}
