//! `headwater lab clone`: a guest that draws at full speed is saved, and goes on twice.

use crate::cache::Cache;
use crate::compare::{Thread, last_alike, parse_draw, parse_marks};
use crate::judge::judge;
use crate::line::Line;
use crate::qemu::{Guest, Machine, make_disk};
use crate::setup::find_kernel;
use crate::{guest, manifest};
use anyhow::{Context, Result, bail, ensure};
use clap::ValueEnum;
use serde::Serialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// What tells the guest's kernel that it was cloned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Vmgenid {
    /// A device with a new identifier for each clone
    Auto,
    /// A device with the same identifier for all
    Fixed,
    /// No device
    None,
}

/// A pair of clones to be made.
#[derive(Clone, Debug)]
pub struct Plan {
    /// A series or a file.
    pub kernel: String,
    /// The generation identifier.
    pub vmgenid: Vmgenid,
    /// Whether there is a VMClock.
    pub vmclock: bool,
    /// Virtual CPUs.
    pub smp: usize,
    /// Restores a snapshot into the same QEMU instead of making two of it.
    pub rollback: bool,
    /// Whether the CPU has RDRAND (on arm64: RNDR).
    pub rdrand: bool,
    /// headwater's modes, a process for each.
    pub modes: Vec<String>,
    /// How much later than ready the snapshot is taken, in seconds.
    pub after_s: f64,
    /// Iterations of each thread to compare after the clones parted.
    pub count: u64,
    /// Seconds for which the clones are watched, by one thread for each mode that rests between its draws; 0: not for long.
    pub watch_s: u32,
    /// The guest's program, if it is not the one that would be found or built.
    pub guest: Option<PathBuf>,
}

impl Plan {
    /// Clones of this kernel that nothing tells of.
    pub fn new(kernel: &str) -> Plan {
        Plan {
            kernel: kernel.to_owned(),
            vmgenid: Vmgenid::None,
            vmclock: false,
            smp: 1,
            rollback: false,
            rdrand: true,
            modes: ["auto", "buffered", "hedged", "strict"].map(str::to_owned).to_vec(),
            after_s: 1.0,
            count: 400,
            watch_s: 0,
            guest: None,
        }
    }

    /// How long the clones draw, at least: long enough for the kernel to notice, short enough for the rings.
    fn drawing(&self) -> Duration {
        if self.watch_s == 0 { DRAWING } else { Duration::from_secs(u64::from(self.watch_s)) }
    }

    /// Iterations that each thread makes at most, of those that are compared.
    fn iterations(&self) -> u64 {
        if self.watch_s == 0 { self.count } else { u64::from(self.watch_s) * 1000 / PACE_MS }
    }
}

/// What came of it. As JSON: schema `headwater.lab-clone/1`.
#[derive(Clone, Debug, Serialize)]
pub struct Pair {
    pub(crate) schema: &'static str,
    /// `uname -r` of the guest.
    pub kernel: String,
    /// Its series.
    pub series: String,
    /// What was asked for.
    pub vmgenid: Vmgenid,
    /// What was asked for.
    pub vmclock: bool,
    /// Virtual CPUs.
    pub smp: usize,
    /// Whether a snapshot was restored in place.
    pub rollback: bool,
    /// Whether the CPU has a random instruction. Emulated, it is the host's generator that answers.
    pub rdrand: bool,
    /// Seconds after the resume in which the first clone drew; null: the guest did not say how fast its counter runs.
    pub watched_s: Option<f64>,
    /// Threads that drew, in all processes; each may have had one request in flight at the snapshot.
    pub threads: usize,
    /// Those that ran again in both clones.
    pub threads_compared: usize,
    /// Each witness, and headwater in each mode.
    pub rows: Vec<Row>,
    /// What each mode's process had armed before the snapshot, and afterwards.
    pub armed: Vec<Armed>,
    /// When each clone's kernel says that it reseeded because of the clone, in seconds after the resume.
    pub fork_reseeds: Vec<Option<f64>>,
    /// MiB that were saved.
    pub state_mib: u64,
    /// Seconds that the whole took here.
    pub wall_s: f64,
}

/// One witness.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// `syscall`, `vdso`, `openssl`, `rand`, `headwater`, `headwater-rng`, `headwater-large`, `headwater-openssl` (RAND_bytes
    /// with headwater's provider).
    pub witness: String,
    /// headwater's mode that was asked for; null: the witness has none.
    pub mode: Option<String>,
    /// Requests of 16 bytes that were begun after the resume, in the first clone; 0: the witness is absent.
    pub draws: usize,
    /// Those whose bytes the other clone was given too.
    pub repeated: usize,
    /// When the last such request began, in seconds after the resume.
    pub last_s: Option<f64>,
    /// Those that began after headwater's own stamp had told, in this clone, that something had happened.
    pub after_stamp: usize,
    /// Words of 8 bytes that came twice within one clone.
    pub twice_within: usize,
}

/// What is armed in the process of a mode.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Armed {
    /// The mode that was asked for.
    pub asked: String,
    /// Before the snapshot.
    pub before: String,
    /// In the clones.
    pub after: Vec<String>,
    /// Why.
    pub reason: String,
    /// Its detectors: key and value.
    pub guards: BTreeMap<String, String>,
}

/// Names of the witnesses that take headwater's mode with them.
pub(crate) fn has_mode(witness: &str) -> bool {
    witness.starts_with("headwater")
}

/// Makes the pair.
///
/// # Errors
///
/// If a guest cannot be started, saved or resumed, or does not say what is asked of it.
pub fn clone(cache: &Cache, plan: &Plan) -> Result<Pair> {
    ensure!(!plan.modes.is_empty(), "a clone needs a mode to draw in");
    let begun = Instant::now();
    let kernel = find_kernel(cache, &plan.kernel)?;
    let program = guest::find(cache, plan.guest.as_deref(), &kernel.architecture)?;
    let archive = guest::archive(cache, &program, &kernel)?;
    let folder = cache.run("clone")?;
    let machine = machine(cache, &kernel, &archive, plan, &folder)?;
    let made = if plan.rollback {
        roll_back(cache, &machine, plan, &folder)
    } else {
        start_twice(cache, &machine, plan, &folder)
    };
    // The saved state is of no use to anybody, and large.
    for name in ["state", "disk.qcow2"] {
        let _ = fs::remove_file(folder.join(name));
    }
    let made = made.with_context(|| format!("kernel {}", kernel.release))?;
    let mut pair = judge(plan, &kernel, &made)?;
    pair.wall_s = begun.elapsed().as_secs_f64();
    Ok(pair)
}

fn machine(
    cache: &Cache,
    kernel: &manifest::Kernel,
    archive: &Path,
    plan: &Plan,
    folder: &Path,
) -> Result<Machine> {
    let mut machine = Machine::new(kernel, archive);
    if kernel.architecture == "aarch64" {
        // `max` has RNDR and all that the crates ask for; cortex-a57 has AES and no RNDR.
        machine.cpu = if plan.rdrand { "max,pauth-impdef=on" } else { "cortex-a57" }.into();
    } else {
        // What the cheapest cloud machine has: AES, and nothing of AVX.
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
    if plan.rollback {
        let disk = folder.join("disk.qcow2");
        make_disk(cache, &disk)?;
        let disk = disk.display().to_string().replace(',', ",,");
        machine.device("-drive");
        machine.devices.push(format!("if=none,id=disk,format=qcow2,file={disk}"));
    }
    machine.append = format!("hw.modes={} hw.limit=60", plan.modes.join(","));
    if plan.watch_s > 0 {
        machine.append += &format!(" hw.threads=1 hw.pace={PACE_MS}");
    }
    Ok(machine)
}

/// What the guests said.
pub(crate) struct Made {
    /// Up to the snapshot.
    pub(crate) source: Vec<Line>,
    pub(crate) clones: [Told; 2],
    pub(crate) state_mib: u64,
}

/// What one clone said.
pub(crate) struct Told {
    pub(crate) threads: Vec<Thread>,
    pub(crate) lines: Vec<Line>,
}

const PATIENCE: Duration = Duration::from_secs(180);
const DRAWING: Duration = Duration::from_millis(300);
/// How long a watched thread rests between two rounds: a ring holds thirteen minutes of them.
const PACE_MS: u64 = 50;
/// A kernel that is up for two minutes reseeds every 60 s.
const RESEED_S: u64 = 75;
/// Iterations between the marks that are told first.
const STEP: u64 = 64;

/// Boots the source, up to where it draws at full speed; what it said.
fn source(
    cache: &Cache,
    machine: &Machine,
    plan: &Plan,
    folder: &Path,
) -> Result<(Guest, Vec<Line>)> {
    let mut retries = 0;
    loop {
        let mut guest = Guest::start(cache, machine, folder, "source", None)?;
        let lines = match guest.until("ready", PATIENCE) {
            Err(error) if guest.panicked() && retries < 1 => {
                eprintln!("headwater lab: {error:#}; once more");
                retries += 1;
                continue;
            }
            lines => lines,
        };
        let mut lines = lines?;
        sleep(Duration::from_secs_f64(plan.after_s));
        lines.extend(guest.ask("status")?);
        // Where nothing tells the kernel, its own clock must not end the repeats before they are seen.
        if plan.vmgenid != Vmgenid::Auto || plan.rollback {
            guest.ask(&format!("reseeded {RESEED_S}"))?;
        }
        return Ok((guest, lines));
    }
}

fn start_twice(cache: &Cache, machine: &Machine, plan: &Plan, folder: &Path) -> Result<Made> {
    let (mut guest, source) = source(cache, machine, plan, folder)?;
    let state = folder.join("state");
    guest.qmp.ask("stop", json!({}))?;
    guest.qmp.ask("migrate", json!({ "uri": format!("file:{}", state.display()) }))?;
    let saved = guest.qmp.wait_for("query-migrate", &["completed", "failed"], PATIENCE)?;
    if saved != "completed" {
        let why = guest.qmp.ask("query-migrate", json!({}))?;
        bail!(
            "QEMU could not save the guest to {}: {}; its state takes about 100 MiB of disk",
            state.display(),
            why["error-desc"].as_str().unwrap_or("no reason given")
        );
    }
    drop(guest);
    let state_mib = fs::metadata(&state)?.len() >> 20;
    let mut clones = [
        Guest::start(cache, machine, folder, "clone-1", Some(&state))?,
        Guest::start(cache, machine, folder, "clone-2", Some(&state))?,
    ];
    for guest in &mut clones {
        let status =
            guest.qmp.wait_for("query-status", &["paused", "postmigrate", "running"], PATIENCE)?;
        ensure!(status != "running", "a clone runs before it was told to");
    }
    for guest in &mut clones {
        guest.qmp.ask("cont", json!({}))?;
    }
    sleep(plan.drawing());
    for guest in &mut clones {
        stop(guest, plan)?;
    }
    let [mut one, mut two] = clones;
    let (marks, others) = (marks(&mut one)?, marks(&mut two)?);
    let from = parted_at(&marks, &others)?;
    let told =
        [draws(&mut one, &from, plan.iterations())?, draws(&mut two, &from, plan.iterations())?];
    let clones = [tell(&mut one, told[0].clone())?, tell(&mut two, told[1].clone())?];
    one.off();
    two.off();
    Ok(Made { source, clones, state_mib })
}

/// Saves the guest, lets it draw, and restores it in the same QEMU: two futures of one machine, whose identifier does
/// not change. The end of the first future is saved too, for what it drew is only asked for when it is known where the
/// second one parted from it.
fn roll_back(cache: &Cache, machine: &Machine, plan: &Plan, folder: &Path) -> Result<Made> {
    let (mut guest, source) = source(cache, machine, plan, folder)?;
    guest.qmp.monitor("savevm snapshot")?;
    sleep(plan.drawing());
    stop(&mut guest, plan)?;
    let first = marks(&mut guest)?;
    guest.qmp.monitor("savevm first")?;
    guest.qmp.monitor("loadvm snapshot")?;
    sleep(plan.drawing());
    stop(&mut guest, plan)?;
    let from = parted_at(&first, &marks(&mut guest)?)?;
    let draws_of_second = draws(&mut guest, &from, plan.iterations())?;
    let second = tell(&mut guest, draws_of_second)?;
    guest.qmp.monitor("loadvm first")?;
    let draws_of_first = draws(&mut guest, &from, plan.iterations())?;
    let first = tell(&mut guest, draws_of_first)?;
    guest.off();
    Ok(Made { source, clones: [first, second], state_mib: 0 })
}

/// Stops the threads when each has drawn for long enough to be compared.
fn stop(guest: &mut Guest, plan: &Plan) -> Result<()> {
    let more = if plan.watch_s == 0 { plan.count } else { 0 };
    guest.ask(&format!("stop {more}")).map(drop)
}

type Marks = Vec<BTreeMap<u64, u64>>;

fn marks(guest: &mut Guest) -> Result<Marks> {
    let lines = guest.ask(&format!("marks {STEP}"))?;
    lines.iter().filter(|line| line.word == "marks").map(parse_marks).collect()
}

/// For each thread, an iteration that both clones have alike, not far before they parted.
fn parted_at(one: &Marks, two: &Marks) -> Result<Vec<Option<u64>>> {
    ensure!(one.len() == two.len(), "the clones do not have as many threads");
    let from: Vec<Option<u64>> =
        one.iter().zip(two).map(|(one, two)| last_alike(one, two)).collect::<Result<_>>()?;
    ensure!(from.iter().any(Option::is_some), "no thread ran again in both clones");
    Ok(from)
}

fn draws(guest: &mut Guest, from: &[Option<u64>], count: u64) -> Result<Vec<Thread>> {
    let mut threads = Vec::new();
    for (worker, from) in from.iter().enumerate() {
        let mut thread = Thread::new();
        if let Some(from) = from {
            for line in guest.ask(&format!("draws {worker} {from} {}", count + STEP))? {
                if line.word == "draw" {
                    let (iteration, draws) = parse_draw(&line)?;
                    thread.insert(iteration, draws);
                }
            }
        }
        threads.push(thread);
    }
    Ok(threads)
}

/// What a clone says besides: its modes, and its kernel's log.
fn tell(guest: &mut Guest, threads: Vec<Thread>) -> Result<Told> {
    let mut lines = guest.ask("status")?;
    lines.extend(guest.ask("kmsg")?);
    Ok(Told { threads, lines })
}
