//! The rounds: one after the other, each in processes of its own, each looked through when they are gone.

use crate::plan::Plan;
use crate::record::{self, Event};
use anyhow::{Context, Result, bail};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitCode, ExitStatus};
use std::sync::atomic::Ordering::SeqCst;
use std::thread;
use std::time::{Duration, Instant};

/// A round, unless its record is full before.
const ROUND: Duration = Duration::from_secs(10);
/// So long after its end a round hangs: no measure of speed, the slowest ends within a second.
const HANGS: Duration = Duration::from_secs(180);
/// Words that end in so many zero bits are kept across rounds: a repeat is then either kept twice or not at all.
const KEPT: u64 = (1 << 6) - 1;

/// Runs rounds until the time is over. `no_sections` has all of them draw under locks.
pub(crate) fn run(
    minutes: f64,
    seed: Option<u64>,
    first: u64,
    no_sections: bool,
) -> Result<ExitCode> {
    let seed = seed.unwrap_or_else(|| fastrand::u64(..));
    let fd = make_record()?;
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
        "{words:>15}  words recorded in {} rounds: none zero, none twice in its round",
        round - first
    );
    println!("{:>15}  of them kept across rounds: {repeats} twice", kept.len());
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
    // SAFETY: the group of a child that has not been waited for.
    unsafe { libc::kill(-first.id().cast_signed(), libc::SIGKILL) };
}

/// What is wrong with a round, if anything is.
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
        n => Some(format!("{n} words were drawn twice")),
    }
}

fn repeats(sorted: &[u64]) -> usize {
    sorted.windows(2).filter(|pair| pair[0] == pair[1]).count()
}

/// Memory that children inherit by its descriptor, across exec too.
fn make_record() -> Result<i32> {
    // SAFETY: a name, and a length for a file of our own.
    let (fd, sized) = unsafe {
        let fd = libc::memfd_create(c"record".as_ptr(), 0);
        (fd, libc::ftruncate(fd, record::BYTES as libc::off_t))
    };
    anyhow::ensure!(fd >= 0 && sized == 0, "memfd: {}", std::io::Error::last_os_error());
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
    // SAFETY: asks for a number.
    if unsafe { libc::geteuid() } != 0 {
        println!(
            "skipped: reseeds: RNDRESEEDCRNG needs CAP_SYS_ADMIN, so a reseed under a draw is not tried"
        );
    }
    println!();
}
