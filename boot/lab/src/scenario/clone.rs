//! `headwater lab clone`: saves a guest that draws at full speed, and resumes it twice.

use crate::judge::compare::{Thread, last_equal};
use crate::judge::pair::{ClonePair, CloneTranscript, PairTranscript, judge};
use crate::machine::cache::Cache;
use crate::machine::command::{make_disk, saved, with_path};
use crate::machine::manifest::KernelImage;
use crate::machine::qemu::{Guest, Machine};
use crate::machine::temporary::Temporary;
use crate::machine::{program, setup};
use crate::plan::{ClonePlan, CopyMethod, Vmgenid};
use crate::scenario::hibernation::{self, SwapDisk};
use anyhow::{Context, Result, bail, ensure};
use headwater_lab_protocol::{self as protocol, Command, Message, Round};
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(180);
const DRAWING: Duration = Duration::from_millis(300);
/// Pause of a watched thread between two rounds; a ring then holds thirteen minutes of rounds.
const PACE_MS: u64 = 50;
/// A kernel that has been up for two minutes reseeds every 60 s.
const RESEED_S: u64 = 75;
/// Rounds between the marks that are compared first.
const STEP: u64 = 64;

/// Returns how long the clones draw, at least: long enough for the kernel to notice the clone, and
/// short enough for the rings.
fn drawing(plan: &ClonePlan) -> Duration {
    if plan.watch_s == 0 { DRAWING } else { Duration::from_secs(u64::from(plan.watch_s)) }
}

/// Returns the number of rounds of each thread that are compared, at most.
fn rounds(plan: &ClonePlan) -> u64 {
    if plan.watch_s == 0 { plan.count } else { u64::from(plan.watch_s) * 1000 / PACE_MS }
}

/// Makes and compares a pair of clones.
///
/// # Errors
///
/// If a guest cannot be started, saved or resumed, or does not answer.
pub fn clone(cache: &Cache, plan: &ClonePlan) -> Result<ClonePair> {
    ensure!(!plan.modes.is_empty(), "a clone needs at least one mode to draw in");
    let begun = Instant::now();
    let kernel = setup::find_kernel(cache, &plan.kernel)?;
    if plan.method == CopyMethod::Hibernation {
        hibernation::check(&kernel)?;
    }
    let program = program::find(cache, plan.guest.as_deref(), &kernel.architecture)?;
    let archive = program::archive(cache, &program, &kernel)?;
    let directory = cache.run("clone")?;
    // They are large, and no later step reads them.
    let _large = ["state", "disk", "disk.qcow2"].map(|name| Temporary::new(directory.join(name)));
    let machine = machine(cache, &kernel, archive.path(), plan, &directory)?;
    let transcript = match plan.method {
        CopyMethod::SavedState => start_twice(cache, &machine, plan, &directory),
        CopyMethod::Rollback => roll_back(cache, &machine, plan, &directory),
        CopyMethod::Hibernation => hibernate(cache, &machine, plan, &directory),
    };
    let transcript = transcript.with_context(|| format!("kernel {}", kernel.release))?;
    let mut pair = judge(plan, &kernel, &transcript)?;
    pair.wall_s = begun.elapsed().as_secs_f64();
    Ok(pair)
}

fn machine(
    cache: &Cache,
    kernel: &KernelImage,
    archive: &Path,
    plan: &ClonePlan,
    directory: &Path,
) -> Result<Machine> {
    let mut machine = Machine::new(kernel, archive);
    if kernel.architecture == "aarch64" {
        // `max` has RNDR and every feature that the crates look for; cortex-a57 has AES and no
        // RNDR.
        machine.cpu = if plan.rdrand { "max,pauth-impdef=on" } else { "cortex-a57" }.into();
    } else {
        // The features of the cheapest cloud machine: AES, and no AVX.
        machine.cpu += ",+ssse3,+sse4.1,+sse4.2,+aes,+pclmulqdq";
        if plan.rdrand {
            machine.cpu += ",+rdrand";
        }
    }
    machine.cpus = plan.smp;
    match plan.vmgenid {
        Vmgenid::None => {}
        Vmgenid::Auto => machine.device("-device vmgenid,guid=auto"),
        Vmgenid::Fixed => {
            machine.device("-device vmgenid,guid=324e6eaf-d1d1-4bf6-bf41-b9bb6c91fb87");
        }
    }
    if plan.vmclock {
        machine.device("-device vmclock");
    }
    if plan.method == CopyMethod::Rollback {
        let disk = directory.join("disk.qcow2");
        make_disk(cache, &disk)?;
        machine.device("-drive");
        machine.devices.push(with_path("if=none,id=disk,format=qcow2,file=", &disk));
    }
    machine.append = format!("hw.modes={} hw.limit=60", plan.modes.join(","));
    if plan.watch_s > 0 {
        machine.append += &format!(" hw.threads=1 hw.pace={PACE_MS}");
    }
    Ok(machine)
}

/// Boots the guest that is cloned. Returns it while it draws at full speed, with its messages.
fn source(
    cache: &Cache,
    machine: &Machine,
    plan: &ClonePlan,
    directory: &Path,
) -> Result<(Guest, Vec<Message>)> {
    let (mut guest, mut messages) = Guest::start_until_ready(cache, machine, directory, "source")?;
    sleep(Duration::from_secs_f64(plan.after_s));
    messages.extend(guest.ask(&Command::Status)?);
    // Without a device that reports the clone, a reseed by the kernel's clock must not end the
    // repeats before they are seen.
    if plan.vmgenid != Vmgenid::Auto || plan.method != CopyMethod::SavedState {
        guest.ask(&Command::Reseeded { limit_s: RESEED_S })?;
    }
    Ok((guest, messages))
}

fn start_twice(
    cache: &Cache,
    machine: &Machine,
    plan: &ClonePlan,
    directory: &Path,
) -> Result<PairTranscript> {
    let (mut guest, source) = source(cache, machine, plan, directory)?;
    let state = directory.join("state");
    guest.qmp.ask("stop", json!({}))?;
    guest.qmp.ask("migrate", json!({ "uri": saved(&state) }))?;
    let saved = guest.qmp.wait_for("query-migrate", &["completed", "failed"], PATIENCE)?;
    if saved != "completed" {
        let reason = guest.qmp.ask("query-migrate", json!({}))?;
        bail!(
            "QEMU could not save the guest to {}: {}; the state needs about 100 MiB of disk",
            state.display(),
            reason["error-desc"].as_str().unwrap_or("no reason given")
        );
    }
    drop(guest);
    let state_mib = fs::metadata(&state)?.len() >> 20;
    let mut clones = [
        Guest::start(cache, machine, directory, "clone-1", Some(&state))?,
        Guest::start(cache, machine, directory, "clone-2", Some(&state))?,
    ];
    for guest in &mut clones {
        let status =
            guest.qmp.wait_for("query-status", &["paused", "postmigrate", "running"], PATIENCE)?;
        ensure!(status != "running", "a clone ran before it was resumed");
    }
    for guest in &mut clones {
        guest.qmp.ask("cont", json!({}))?;
    }
    sleep(drawing(plan));
    for guest in &mut clones {
        stop(guest, plan)?;
    }
    compare(clones, source, state_mib, plan)
}

/// Lets the guest hibernate, and resumes it on two machines, one after the other.
fn hibernate(
    cache: &Cache,
    machine: &Machine,
    plan: &ClonePlan,
    directory: &Path,
) -> Result<PairTranscript> {
    let disk = SwapDisk::new(&directory.join("disk"))?;
    let (guest, source) = source(cache, &disk.hibernating(machine), plan, directory)?;
    hibernation::hibernate(guest)?;
    let state_mib = disk.used_mib()?;
    let machine = disk.resuming(machine);
    let resume = |name| -> Result<Guest> {
        let mut guest = hibernation::resume(cache, &machine, directory, name)?;
        sleep(drawing(plan));
        stop(&mut guest, plan)?;
        Ok(guest)
    };
    let clones = [resume("clone-1")?, resume("clone-2")?];
    compare(clones, source, state_mib, plan)
}

/// Asks two clones, which have stopped, for their draws.
fn compare(
    clones: [Guest; 2],
    source: Vec<Message>,
    state_mib: u64,
    plan: &ClonePlan,
) -> Result<PairTranscript> {
    let [mut one, mut two] = clones;
    let from = last_equal_rounds(&marks(&mut one)?, &marks(&mut two)?)?;
    let draws = [draws(&mut one, &from, plan)?, draws(&mut two, &from, plan)?];
    let [first, second] = draws;
    let clones = [transcript(&mut one, first)?, transcript(&mut two, second)?];
    one.off();
    two.off();
    Ok(PairTranscript { source, clones, state_mib })
}

/// Saves the guest, lets it draw, and restores it in the same QEMU: two futures of one machine,
/// whose identifier does not change. The end of the first future is saved too, because its draws
/// can only be chosen once the second future has shown where the two diverge.
fn roll_back(
    cache: &Cache,
    machine: &Machine,
    plan: &ClonePlan,
    directory: &Path,
) -> Result<PairTranscript> {
    let (mut guest, source) = source(cache, machine, plan, directory)?;
    guest.qmp.monitor("savevm snapshot")?;
    sleep(drawing(plan));
    stop(&mut guest, plan)?;
    let first = marks(&mut guest)?;
    guest.qmp.monitor("savevm first")?;
    guest.qmp.monitor("loadvm snapshot")?;
    sleep(drawing(plan));
    stop(&mut guest, plan)?;
    let from = last_equal_rounds(&first, &marks(&mut guest)?)?;
    let draws_of_second = draws(&mut guest, &from, plan)?;
    let second = transcript(&mut guest, draws_of_second)?;
    guest.qmp.monitor("loadvm first")?;
    let draws_of_first = draws(&mut guest, &from, plan)?;
    let first = transcript(&mut guest, draws_of_first)?;
    guest.off();
    Ok(PairTranscript { source, clones: [first, second], state_mib: 0 })
}

/// Stops the threads once each has drawn enough rounds for the comparison.
fn stop(guest: &mut Guest, plan: &ClonePlan) -> Result<()> {
    let more = if plan.watch_s == 0 { plan.count } else { 0 };
    guest.ask(&Command::Stop { more }).map(drop)
}

/// For each thread, marks by round.
type Marks = Vec<BTreeMap<u64, u64>>;

fn marks(guest: &mut Guest) -> Result<Marks> {
    let messages = guest.ask(&Command::Marks { step: STEP })?;
    let threads = protocol::all::<protocol::Marks>(&messages).enumerate();
    threads
        .map(|(index, sent)| {
            ensure!(sent.thread == index, "the marks of thread {index} are missing");
            let rounds = (0..).map(|at| sent.first + at * sent.step);
            Ok(rounds.zip(sent.marks.iter().copied()).collect())
        })
        .collect()
}

/// Returns, for each thread, a round that is equal in both clones and close to their divergence.
fn last_equal_rounds(one: &Marks, two: &Marks) -> Result<Vec<Option<u64>>> {
    ensure!(one.len() == two.len(), "the clones do not have the same number of threads");
    let from: Vec<Option<u64>> =
        one.iter().zip(two).map(|(one, two)| last_equal(one, two)).collect::<Result<_>>()?;
    ensure!(from.iter().any(Option::is_some), "no thread ran again in both clones");
    Ok(from)
}

fn draws(guest: &mut Guest, from: &[Option<u64>], plan: &ClonePlan) -> Result<Vec<Thread>> {
    let count = rounds(plan) + STEP;
    let of_thread = |(thread, from): (usize, &Option<u64>)| {
        let Some(from) = *from else { return Ok(Thread::new()) };
        let messages = guest.ask(&Command::Draws { thread, from, count })?;
        Ok(protocol::all::<Round>(&messages)
            .map(|round| (round.number, round.draws.clone()))
            .collect())
    };
    from.iter().enumerate().map(of_thread).collect()
}

/// Asks a clone for its modes and its kernel's log.
fn transcript(guest: &mut Guest, threads: Vec<Thread>) -> Result<CloneTranscript> {
    let mut messages = guest.ask(&Command::Status)?;
    messages.extend(guest.ask(&Command::Log { all: false })?);
    Ok(CloneTranscript { threads, messages })
}
