//! `headwater doctor observe`: who waits for the kernel's generator at boot, seen while it happens.
//!
//! A log shows which service was slow, but not what it waited for. So the observer starts before
//! any program can wait, looks ten times a second at every thread until the generator is ready,
//! reads the tracepoints of getrandom where the kernel has them, and writes one record. To see
//! whether the generator is ready, we need not ask it for a byte: a request of length 0 is enough,
//! because the kernel checks readiness before it looks at the length.

mod calls;
mod clock;
mod facts;
mod files;
mod place;
mod process_time;
mod record;
mod sources;
#[cfg(test)]
mod tests;
mod tracepoints;
mod victims;
mod watch;

pub(crate) use record::records;
pub use record::{KEPT, Method, RUN, Record, RecordOutcome, SCHEMA, Victim};
pub use victims::Ending;

use crate::Error;
use clock::{Kernel, Live};
use files::read_at;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags, fstat, openat, stat};
use sources::Sources;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use tracepoints::Tracepoints;
use victims::Table;
use watch::Watch;

/// Seconds between two looks.
const INTERVAL_S: f64 = 0.1;
/// Entropy's sources are read at every fifth look, because they only explain the end of a stall.
const SOURCES_EVERY: u64 = 5;
/// A process that rests is looked at once in so many looks. A wait of a thread that rested has
/// bounds of the same length.
const RESTING_LOOKS: u64 = 2;
/// The same if tracepoints show the waits in getrandom, so that looks find only reads of
/// /dev/random and waits that began before the observer.
const RESTING_LOOKS_TRACED: u64 = 10;
/// The observation ends after so many seconds.
const LIMIT_S: f64 = 600.0;

/// Observe which processes wait for the kernel's random generator at this boot, until it is ready
#[derive(clap::Args, Clone, Debug, Default)]
#[group(skip)]
#[command(after_help = "\
Start it before any program can wait: by the unit headwater-observer.service, by a hook of the initramfs,
or in front of the first program (--exec). It draws no random byte, and stops after 10 minutes.

The record (schema headwater.observe/1) is /run/headwater/boots/BOOT.json, and /var/lib/headwater/boots
keeps the last 20. 'headwater doctor' reads both.

Exit status: 0 ready; 1 not ready in time; 2 wrong usage; 3 the record could not be written, or the
kernel cannot be asked.")]
pub struct ObserveArgs {
    /// Stop after so many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = LIMIT_S, value_parser = limit)]
    pub limit: f64,

    /// Write this boot's record there
    #[arg(long, value_name = "DIR", default_value = RUN)]
    pub run: PathBuf,

    /// Keep the last 20 records there, if the directory can be written
    #[arg(long, value_name = "DIR", default_value = KEPT)]
    pub keep: PathBuf,

    /// Look into /proc only, and leave the kernel's tracepoints off
    #[arg(long)]
    pub no_tracepoints: bool,

    /// Only copy this boot's record from --run to --keep, once disks are mounted, and remove what a
    /// killed observer left in tracefs
    #[arg(long, conflicts_with_all = ["limit", "exec", "no_tracepoints"])]
    pub save: bool,

    /// Start the observer as another process, and become this program: the system's init
    #[arg(long, value_name = "PROGRAM", num_args = 1.., allow_hyphen_values = true)]
    pub exec: Vec<std::ffi::OsString>,
}

fn limit(typed: &str) -> Result<f64, String> {
    let seconds: f64 = typed.parse().map_err(|_| "a number of seconds".to_owned())?;
    if (0.0..=86_400.0).contains(&seconds) {
        Ok(seconds)
    } else {
        Err("a number of seconds, at most a day".to_owned())
    }
}

/// Observes this boot, writes the record, and reports each victim in a line. Returns the exit
/// status.
///
/// # Errors
///
/// Returns an error if the kernel cannot be asked, or the record cannot be written.
pub fn observe(args: &ObserveArgs) -> Result<u8, Error> {
    if !args.exec.is_empty() {
        return Err(start_and_become(args));
    }
    // Events that a killed observer left on slow every system call.
    tracepoints::remove_left();
    if args.save {
        return save(args).map(|()| 0);
    }
    let proc = clock::open_proc().map_err(Error::Kernel)?;
    let sys = files::directory(c"/sys").ok();
    let of_init = proc.try_clone().ok();
    let mut kernel = Live::new().map_err(Error::Kernel)?.with_times(proc.as_fd()).with_signals();
    let choose = |proc: BorrowedFd<'_>| tracepoints::choose(!args.no_tracepoints, proc);
    let record = observe_in(proc, sys, &mut kernel, args.limit, choose);
    if let Some(proc) = of_init {
        enter_root_of_init(proc.as_fd());
    }
    let written =
        record.save(&args.run).map_err(|reason| Error::Write { file: args.run.clone(), reason });
    // Early in a boot the disk is not mounted or read-only; `--save` runs later.
    let _ = record.keep(&args.keep);
    report(&record);
    written?;
    Ok(u8::from(record.outcome == RecordOutcome::TimedOut))
}

/// Changes to the root directory of the first process. An observer of the initramfs still has the
/// initramfs as its root when the system has another one, and would write its record there.
fn enter_root_of_init(proc: BorrowedFd<'_>) {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Ok(root) = openat(proc, c"1/root", flags, Mode::empty()) else { return };
    let is_same = match (fstat(&root), stat(c"/")) {
        (Ok(one), Ok(other)) => (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino),
        _ => true,
    };
    if !is_same && rustix::process::fchdir(&root).is_ok() {
        // Without the capability, the record is written where the observer is.
        let _ = rustix::process::chroot(c".");
    }
}

/// Copies the record of this boot to the kept ones.
fn save(args: &ObserveArgs) -> Result<(), Error> {
    let root = crate::Root::live();
    let boot_id = root.text("/proc/sys/kernel/random/boot_id").ok();
    let file = args.run.join(format!("{}.json", boot_id.as_deref().unwrap_or("unknown")));
    let fail = |file: &Path, reason| Error::Write { file: file.to_owned(), reason };
    let text = match std::fs::read_to_string(&file) {
        Ok(text) => text,
        // A boot without an observer has nothing to keep.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(reason) => return Err(fail(&file, reason)),
    };
    let invalid = || fail(&file, std::io::Error::other("not a record of headwater doctor observe"));
    let record = Record::parse(&text).ok_or_else(invalid)?;
    record.keep(&args.keep).map_err(|reason| fail(&args.keep, reason))
}

/// Starts the observer as another process and becomes the given program. Returns only if that
/// fails. If only the observer cannot be started, that is reported, but it must not keep the
/// machine from booting.
fn start_and_become(args: &ObserveArgs) -> Error {
    let own = std::env::current_exe().ok();
    let own = own.or_else(|| std::env::args_os().next().map(PathBuf::from));
    if let Some(own) = own {
        let mut observer = Command::new(own);
        // systemd spares processes whose name begins so when it leaves the initramfs
        // (systemd.io/ROOT_STORAGE_DAEMONS).
        observer.arg0("@headwater").args(["doctor", "observe", "--limit"]);
        observer.arg(args.limit.to_string()).arg("--run").arg(&args.run);
        observer.arg("--keep").arg(&args.keep);
        if args.no_tracepoints {
            observer.arg("--no-tracepoints");
        }
        if let Err(error) = observer.spawn() {
            let _ = writeln!(std::io::stderr(), "headwater: the observer did not start: {error}");
        }
    }
    let (program, rest) = match args.exec.split_first() {
        Some((program, rest)) => (program.clone(), rest),
        None => ("/sbin/init".into(), &[][..]),
    };
    let reason = Command::new(&program).args(rest).exec();
    Error::Exec { program: PathBuf::from(program), reason }
}

/// Observes the processes in `proc` until the generator is ready, the limit is over, or a signal
/// asks the observer to end. `choose` is called if the generator is not ready.
fn observe_in(
    proc: OwnedFd,
    sys: Option<OwnedFd>,
    kernel: &mut impl Kernel,
    limit: f64,
    choose: impl FnOnce(BorrowedFd<'_>) -> Result<Tracepoints, String>,
) -> Record {
    let mut space = [0; 256];
    let random = |name: &std::ffi::CStr, space: &mut [u8]| {
        let text = read_at(proc.as_fd(), name, space);
        let text = String::from_utf8_lossy(text).trim().to_owned();
        Some(text).filter(|text| !text.is_empty())
    };
    let began = kernel.now();
    let mut record = Record {
        schema: SCHEMA.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        boot_id: random(c"sys/kernel/random/boot_id", &mut space),
        kernel: random(c"sys/kernel/osrelease", &mut space),
        began,
        ended: began,
        outcome: RecordOutcome::ReadyAtStart,
        ready: None,
        ready_by: None,
        method: Method::Looks,
        no_tracepoints: None,
        looks: 0,
        cpu_seconds: 0.0,
        missed: 0,
        victims: Vec::new(),
    };
    if kernel.is_ready() {
        record.ended = kernel.now();
        record.cpu_seconds = kernel.cpu();
        return record;
    }
    let cpu = kernel.cpu();
    // Before the first look: what begins to wait in between is seen by both.
    let mut traced = choose(proc.as_fd())
        .inspect(|_| record.method = Method::Tracepoints)
        .map_err(|reason| record.no_tracepoints = Some(reason))
        .ok();
    let mut table = Table::new();
    let mut sources = Sources::new(proc.try_clone().ok(), sys);
    let resting_looks = if traced.is_some() { RESTING_LOOKS_TRACED } else { RESTING_LOOKS };
    let mut watch = Watch::new(proc, resting_looks);
    let mut before = None;
    let mut next = kernel.now();
    let deadline = began + limit;
    loop {
        let now = kernel.now();
        watch.look(kernel, now, before, &mut table);
        if record.looks.is_multiple_of(SOURCES_EVERY) {
            sources.look(now);
        }
        record.looks += 1;
        before = Some(now);
        // A look that came late does not make the next ones come sooner.
        next = (next + INTERVAL_S).max(now);
        kernel.wait(next.min(deadline));
        let is_ready = kernel.is_ready();
        let now = kernel.now();
        if let Some(traced) = &mut traced {
            traced.read(now, watch.proc(), &mut table);
        }
        if is_ready {
            record.outcome = RecordOutcome::Ready;
            record.ready = Some((now * 1000.0).round() / 1000.0);
            table.finish(now, Some(now));
            record.ready_by = sources.cause(now, watch.saw_jitter);
            break;
        }
        if now >= deadline || kernel.is_stopped() {
            record.outcome = RecordOutcome::TimedOut;
            watch.look(kernel, now, before, &mut table);
            table.finish(now, None);
            break;
        }
    }
    // The removal of the instance is part of the cost.
    drop(traced);
    record.ended = kernel.now();
    record.cpu_seconds = kernel.cpu() - cpu;
    record.take(&table);
    record.missed += watch.missed;
    record
}

/// Writes the record's lines: to stderr if it is the journal, else to the kernel's log, which is
/// there in an initramfs too.
fn report(record: &Record) {
    let lines = record.lines();
    let mut log = None;
    if std::env::var_os("JOURNAL_STREAM").is_none() {
        log = std::fs::OpenOptions::new().write(true).open("/dev/kmsg").ok();
    }
    for line in lines {
        let written = log.as_mut().is_some_and(|log| {
            // A record of the kernel's log has less than 1 KiB.
            let line: String = line.chars().take(700).collect();
            log.write_all(format!("<5>headwater: {line}\n").as_bytes()).is_ok()
        });
        if !written {
            let _ = writeln!(std::io::stderr(), "headwater: {line}");
        }
    }
}
