//! The supervisor: runs one round after the other and checks each record once the round's processes
//! have ended.

use super::args::{Arguments, LAST_ROUND};
use super::group::Group;
use super::output;
use super::plan::Plan;
use super::record::{self, Event};
use super::state::{Piece, Soak, State};
use super::stop::Stop;
use anyhow::{Context, Result, bail, ensure};
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
/// Time between two looks at a round.
const LOOK: Duration = Duration::from_millis(20);

/// The end of a round.
enum Ended {
    /// By itself, with this status of its first process.
    Alone(ExitStatus),
    /// Killed, because it did not end.
    Hangs,
    /// Killed, because a signal ends the soak.
    Stopped,
}

/// Runs rounds until the time is over.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let Arguments { minutes, seed, round, no_sections, ref resume, .. } = *arguments;
    let stop = Stop::listen().context("no handler of signals can be set")?;
    let mut soak = Soak::open(resume.as_deref(), seed, round)?;
    let seed = soak.state.seed;
    let memory = make_record()?; // stays open: the processes of all rounds inherit it
    let fd = memory.as_raw_fd();
    record::open(fd)?;
    let (group, machine) = describe(minutes, &soak)?;
    soak.state.pieces.push(Piece {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        machine,
        first_round: soak.state.round,
        ..Piece::default()
    });
    let end = Instant::now() + Duration::from_secs_f64(minutes * 60.0);
    while Instant::now() < end {
        let round = soak.state.round;
        ensure!(round <= LAST_ROUND, "round {round} is above the last one, {LAST_ROUND}");
        let mut plan = Plan::of(seed, round);
        plan.locks |= no_sections;
        plan.reclaim &= group.is_some();
        let begin = Instant::now();
        let status = match run_round(&plan, (seed, round), fd, end, group.as_ref(), &stop)? {
            Ended::Alone(status) => status,
            Ended::Stopped => {
                let (repeats, kept, bits) = soak.repeats();
                if repeats > 0 {
                    output::fault(summary(&soak.state, repeats, kept, bits));
                    return Ok(ExitCode::FAILURE);
                }
                bail!(
                    "ended by a signal: round {round} does not count; those before it do, and none \
                     of their {kept} kept words repeats"
                )
            }
            Ended::Hangs => {
                output::fault(format!("FAILED: round {round} hangs: {plan}"));
                output::fault(format!("again with: --seed {seed} --round {round}"));
                return Ok(ExitCode::FAILURE);
            }
        };
        let (drawn, happened) = record::take();
        let mut report = format!("round {round:>4}: {:>9} words  {plan}", drawn.len());
        if happened[Event::Tripwire as usize] > 0 {
            report += &format!("\n            {} tripwires", happened[Event::Tripwire as usize]);
        }
        if let Some(fault) = fault(status, drawn) {
            output::fault(report);
            output::fault(format!("FAILED: {fault}\nagain with: --seed {seed} --round {round}"));
            return Ok(ExitCode::FAILURE);
        }
        // A round that was stopped for longer drew for no longer.
        let took = begin.elapsed().min(ROUND + HANGS);
        soak.add(drawn, &happened, took.as_secs_f64() / 60.0)?;
        output::line(report)?;
    }
    let (repeats, kept, bits) = soak.repeats();
    let summary = summary(&soak.state, repeats, kept, bits);
    if repeats > 0 {
        output::fault(summary);
        return Ok(ExitCode::FAILURE);
    }
    output::line(summary)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the sums over all pieces of a soak.
fn summary(state: &State, repeats: usize, kept: usize, bits: u32) -> String {
    let mut lines = vec![String::new()];
    let events = Event::NAMES.map(|name| state.events.get(name).copied().unwrap_or(0));
    lines.extend(Event::NAMES.iter().zip(events).map(|(name, n)| format!("{n:>15}  {name}")));
    lines.push(format!(
        "{:>15}  words recorded in {} rounds: none is zero, none repeats within its round",
        state.words, state.rounds
    ));
    let share = 1u64 << bits;
    lines.push(format!("{kept:>15}  of them kept across rounds, 1 in {share}: {repeats} repeats"));
    if state.pieces.len() > 1 {
        lines.push(format!("{:>15.1}  minutes in {} pieces", state.minutes, state.pieces.len()));
    }
    lines.push(status_line(&events));
    lines.join("\n")
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

fn run_round(
    plan: &Plan,
    (seed, round): (u64, u64),
    fd: i32,
    end: Instant,
    group: Option<&Group>,
    stop: &Stop,
) -> Result<Ended> {
    let mut first = Command::new(std::env::current_exe()?);
    if plan.locks {
        first.env("HEADWATER_NO_RSEQ", "1");
    }
    let mut first = first
        .args([&format!("--seed={seed}"), "--worker", &round.to_string(), &fd.to_string()])
        .arg(std::process::id().to_string())
        .env("HEADWATER_MODE", plan.mode)
        .env("RUST_BACKTRACE", "0") // takes locks that a forked child may find taken
        .process_group(0) // so that all it has forked can be ended with it
        .spawn()
        .context("this program cannot be started again")?;
    if plan.reclaim
        && let Some(group) = group
    {
        group.take(first.id()).inspect_err(|_| signal_group(&first, Signal::KILL))?;
    }
    let over = (Instant::now() + ROUND).min(end);
    // Looks are counted and not seconds, because a whole soak may be stopped for an hour, so that
    // another test has the machine. This loop is stopped with it, but a clock would continue and
    // call the round hanging.
    let mut late = 0;
    loop {
        if let Some(status) = first.try_wait()? {
            return Ok(Ended::Alone(status));
        }
        if stop.came() {
            end_round(&mut first)?;
            return Ok(Ended::Stopped);
        }
        let now = Instant::now();
        if now > over {
            record::shared().stop.store(true, SeqCst);
            late += 1;
        }
        if LOOK * late > HANGS {
            end_round(&mut first)?;
            return Ok(Ended::Hangs);
        }
        if plan.stops {
            if now < over {
                storm(&first);
            }
            // Again and again: a child that is forked within a storm can be left stopped, because
            // it takes the signal that stops its group, and is not in the group yet when the next
            // one comes.
            signal_group(&first, Signal::CONT);
        }
        if plan.reclaim && now < over && group.is_some_and(Group::reclaim) {
            record::count(Event::Reclaim);
        }
        thread::sleep(LOOK);
    }
}

/// Stops and continues all processes of the round, ten times, for up to a millisecond each.
fn storm(first: &Child) {
    for _ in 0..10 {
        signal_group(first, Signal::STOP);
        thread::sleep(Duration::from_micros(fastrand::u64(..1000)));
        signal_group(first, Signal::CONT);
        thread::sleep(Duration::from_micros(fastrand::u64(..1000)));
    }
    record::count(Event::Stop);
}

/// Kills all processes of the round.
fn end_round(first: &mut Child) -> Result<()> {
    signal_group(first, Signal::KILL);
    first.wait()?;
    Ok(())
}

fn signal_group(first: &Child, signal: Signal) {
    // The child was not waited for, so its number still belongs to its group.
    if let Some(group) = Pid::from_raw(first.id().cast_signed()) {
        let _ = kill_process_group(group, signal);
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

pub(crate) fn repeats(sorted: &[u64]) -> usize {
    sorted.windows(2).filter(|pair| pair[0] == pair[1]).count()
}

/// Makes the record's memory. Children inherit its descriptor, across exec too.
fn make_record() -> Result<OwnedFd> {
    let fd = memfd_create("record", MemfdFlags::empty()).context("memfd_create")?;
    ftruncate(&fd, record::BYTES as u64).context("ftruncate")?;
    Ok(fd)
}

/// Prints what runs where, and what cannot. Returns a control group, and the machine in a line.
fn describe(minutes: f64, soak: &Soak) -> Result<(Option<Group>, String)> {
    let status = headwater::status();
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let machine = format!(
        "Linux {}, mode {} ({}), {} cipher, {} pages, {} slots",
        kernel.trim(),
        status.mode,
        status.reason,
        status.cipher,
        status.page.name(),
        status.pools.slots
    );
    let State { seed, pieces, rounds, minutes: before, .. } = &soak.state;
    let version = env!("CARGO_PKG_VERSION");
    output::line(format!("headwater-soak {version}, {minutes} minutes, seed {seed}\n{machine}"))?;
    if !pieces.is_empty() {
        let pieces = pieces.len();
        output::line(format!("after {pieces} pieces of {before:.1} minutes with {rounds} rounds"))?;
    }
    if !geteuid().is_root() {
        output::line(
            "skipped: reseeds: RNDRESEEDCRNG needs CAP_SYS_ADMIN; no reseed happens during a draw\n\
             skipped: time namespaces: they need CAP_SYS_ADMIN; no clock steps for a child",
        )?;
    }
    let group = Group::new();
    if let Err(why) = &group {
        let meaning = "the kernel takes no page that advice does not name";
        output::line(format!("skipped: reclaim: {why:#}; {meaning}"))?;
    }
    output::line("")?;
    Ok((group.ok(), machine))
}
