//! The supervisor: runs one round after the other and checks each record once the round's processes
//! have ended.

use super::plan::Plan;
use super::record::{self, Event};
use anyhow::{Context, Result, bail};
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::process::{Pid, Signal, geteuid, kill_process_group};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitCode, ExitStatus};
use std::sync::atomic::Ordering::SeqCst;
use std::thread;
use std::time::{Duration, Instant};

/// Duration of a round, unless its record is full earlier.
const ROUND: Duration = Duration::from_secs(10);
/// Time after a round's end at which it counts as hanging. The slowest round ends within a second.
const HANGS: Duration = Duration::from_secs(180);
/// Words that are zero under this mask are kept across rounds. The choice depends on the word
/// alone, so of two equal words both are kept or neither is.
const KEPT: u64 = (1 << 6) - 1;

/// Runs rounds until the time is over. `no_sections` has all of them draw under locks.
pub(crate) fn run(
    minutes: f64,
    seed: Option<u64>,
    first: u64,
    no_sections: bool,
) -> Result<ExitCode> {
    let seed = seed.unwrap_or_else(|| fastrand::u64(..));
    let memory = make_record()?; // stays open: the processes of all rounds inherit it
    let fd = memory.as_raw_fd();
    record::open(fd)?;
    describe(minutes, seed);
    let end = Instant::now() + Duration::from_secs_f64(minutes * 60.0);
    let mut kept = Vec::new();
    let (mut words, mut events) = (0, [0; Event::NAMES.len()]);
    let mut round = first;
    while Instant::now() < end {
        let mut plan = Plan::of(seed, round);
        plan.locks |= no_sections;
        let status = run_round(&plan, seed, round, fd, end)?;
        let (drawn, happened) = record::take();
        println!("round {round:>4}: {:>9} words  {plan}", drawn.len());
        if happened[Event::Tripwire as usize] > 0 {
            println!("            {} tripwires", happened[Event::Tripwire as usize]);
        }
        if let Some(fault) = fault(status, drawn) {
            println!("FAILED: {fault}\nagain with: --seed {seed} --round {round}");
            return Ok(ExitCode::FAILURE);
        }
        kept.extend(drawn.iter().filter(|&&word| word & KEPT == 0));
        words += drawn.len();
        for (sum, n) in events.iter_mut().zip(happened) {
            *sum += n;
        }
        round += 1;
    }
    kept.sort_unstable();
    let repeats = repeats(&kept);
    println!();
    for (name, n) in Event::NAMES.iter().zip(events) {
        println!("{n:>15}  {name}");
    }
    println!(
        "{words:>15}  words recorded in {} rounds: none is zero, none repeats within its round",
        round - first
    );
    println!("{:>15}  of them kept across rounds: {repeats} repeats", kept.len());
    println!("{}", status_line(&events));
    Ok(ExitCode::from(u8::from(repeats > 0)))
}

/// Returns one line that names the paths of the draws and the counters which a fault would move.
fn status_line(events: &[u64; Event::NAMES.len()]) -> String {
    let count = |event: Event| events[event as usize];
    format!(
        "status: {} processes drew in sections, {} under locks, {} without buffers; {} tripwires, \
         {} retries, {} fallbacks, {} slots lost",
        count(Event::InSections),
        count(Event::UnderLocks),
        count(Event::Unbuffered),
        count(Event::Tripwire),
        count(Event::Retry),
        count(Event::Fallback),
        count(Event::SlotLost),
    )
}

fn run_round(plan: &Plan, seed: u64, round: u64, fd: i32, end: Instant) -> Result<ExitStatus> {
    let mut first = Command::new(std::env::current_exe()?);
    if plan.locks {
        first.env("HEADWATER_NO_RSEQ", "1");
    }
    let mut first = first
        .args([&format!("--seed={seed}"), "--worker", &round.to_string(), &fd.to_string()])
        .env("HEADWATER_MODE", plan.mode)
        .env("RUST_BACKTRACE", "0") // takes locks that a forked child may find taken
        .process_group(0) // so that all it has forked can be ended with it
        .spawn()
        .context("this program cannot be started again")?;
    let over = (Instant::now() + ROUND).min(end);
    let hangs = over + HANGS;
    loop {
        if let Some(status) = first.try_wait()? {
            return Ok(status);
        }
        let now = Instant::now();
        if now > over {
            record::shared().stop.store(true, SeqCst);
        }
        if now > hangs {
            end_group(&first);
            bail!("round {round} hangs: {plan}\nagain with: --seed {seed} --round {round}");
        }
        thread::sleep(Duration::from_millis(20));
    }
}

fn end_group(first: &Child) {
    // The child was not waited for, so its number still belongs to its group.
    if let Some(group) = Pid::from_raw(first.id().cast_signed()) {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// Returns the fault of a round, if it has one.
fn fault(status: ExitStatus, drawn: &mut [u64]) -> Option<String> {
    if !status.success() {
        return Some(format!("a process failed: {:?} {:?}", status.code(), status.signal()));
    }
    drawn.sort_unstable();
    if drawn.first() == Some(&0) {
        return Some("zeros were recorded".to_owned());
    }
    match repeats(drawn) {
        0 if drawn.is_empty() => Some("nothing was recorded".to_owned()),
        0 => None,
        n => Some(format!("{n} words repeat")),
    }
}

fn repeats(sorted: &[u64]) -> usize {
    sorted.windows(2).filter(|pair| pair[0] == pair[1]).count()
}

/// Makes the record's memory. Children inherit its descriptor, across exec too.
fn make_record() -> Result<OwnedFd> {
    let fd = memfd_create("record", MemfdFlags::empty()).context("memfd_create")?;
    ftruncate(&fd, record::BYTES as u64).context("ftruncate")?;
    Ok(fd)
}

fn describe(minutes: f64, seed: u64) {
    let status = headwater::status();
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    println!("headwater-soak {}, {minutes} minutes, seed {seed}", env!("CARGO_PKG_VERSION"));
    println!(
        "Linux {}, mode {} ({}), {} cipher, {} pages, {} slots",
        kernel.trim(),
        status.mode,
        status.reason,
        status.cipher,
        status.page.name(),
        status.pools.slots
    );
    if !geteuid().is_root() {
        println!(
            "skipped: reseeds: RNDRESEEDCRNG needs CAP_SYS_ADMIN; no reseed happens during a draw"
        );
    }
    println!();
}
