//! The names of a thread, its start, its call and its unit.

use super::calls::{GETRANDOM, POLLS, READ, number};
use super::files::{FixedPath, of_thread, read_at};
use super::victims::{Facts, Name};
use rustix::fd::BorrowedFd;
use rustix::fs::readlinkat_raw;
use std::mem::MaybeUninit;

/// PF_KTHREAD of `struct task_struct`: a thread of the kernel itself, which calls no system call.
const KERNEL_THREAD: u64 = 0x0020_0000;
/// Clock ticks a second in /proc/PID/stat, on every architecture that Debian has
/// (proc_pid_stat(5)).
const TICKS: f64 = 100.0;

/// The first namespace of process numbers, `PROC_PID_INIT_INO` of linux/proc_ns.h.
const FIRST_NAMESPACE: &[u8] = b"pid:[4026531836]";

/// The source that knows best how a thread is named.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    /// The thread still waits, so it cannot have become another program.
    InProc,
    /// The wait has ended, and the thread may be another program, or gone.
    InTheTrace,
}

/// Returns the fields of a line of /proc/PID/stat after the name, which may contain anything.
fn fields(stat: &[u8]) -> impl Iterator<Item = &[u8]> {
    let end = stat.iter().rposition(|byte| *byte == b')').map_or(stat.len(), |at| at + 1);
    let rest = stat.get(end..).unwrap_or_default();
    rest.split(|byte| *byte == b' ').filter(|field| !field.is_empty())
}

fn integer(field: Option<&[u8]>) -> Option<u64> {
    std::str::from_utf8(field?.trim_ascii()).ok()?.parse().ok()
}

pub(super) fn is_kernel_thread(proc: BorrowedFd<'_>, pid: u32) -> bool {
    let mut space = [0; 512];
    let path = FixedPath::new().number(pid).text("/stat");
    let stat = read_at(proc, path.get(), &mut space);
    // Field 9 of the line is the seventh after the name.
    integer(fields(stat).nth(6)).is_some_and(|flags| flags & KERNEL_THREAD != 0)
}

/// Returns the time at which a thread started, in seconds since the kernel's start; 0 if unknown.
pub(super) fn started(proc: BorrowedFd<'_>, pid: u32, tid: u32) -> f64 {
    let mut space = [0; 512];
    let path = of_thread(pid, tid, "stat");
    let stat = read_at(proc, path.get(), &mut space);
    integer(fields(stat).nth(19)).map_or(0.0, |ticks| ticks as f64 / TICKS)
}

/// Reads the names of a thread that waits, and its call.
pub(super) fn facts(proc: BorrowedFd<'_>, (pid, tid): (u32, u32)) -> Facts {
    let mut space = [0; 1024];
    let path = FixedPath::new().number(pid).text("/comm");
    let process = Name::new(read_at(proc, path.get(), &mut space).trim_ascii_end());
    let path = of_thread(pid, tid, "comm");
    let thread = Name::new(read_at(proc, path.get(), &mut space).trim_ascii_end());
    let path = of_thread(pid, tid, "syscall");
    let call = match number(read_at(proc, path.get(), &mut space)) {
        Some(GETRANDOM) => "getrandom",
        Some(READ) => "/dev/random",
        Some(call) if POLLS.contains(&call) => "poll of /dev/random",
        // A thread in the jitter loop runs, and the kernel does not show its call.
        _ => "random",
    };
    let path = FixedPath::new().number(pid).text("/cgroup");
    let unit = unit(read_at(proc, path.get(), &mut space));
    Facts { unit: Name::new(unit), process, thread, call }
}

/// Returns the numbers and the facts of a thread that the trace shows in getrandom, by the thread's
/// number and the name in the trace.
pub(super) fn of_traced(
    proc: BorrowedFd<'_>,
    tid: u32,
    comm: &[u8],
    known: Known,
) -> ((u32, u32), Facts) {
    let pid = process_of(proc, tid).unwrap_or(tid);
    let mut facts = Facts { call: "getrandom", ..facts(proc, (pid, tid)) };
    let is_older = known == Known::InTheTrace && facts.thread.bytes() != comm;
    if !comm.is_empty() && (is_older || facts.thread.bytes().is_empty()) {
        facts.thread = Name::new(comm);
        if pid == tid || facts.process.bytes().is_empty() {
            facts.process = facts.thread;
        }
    }
    ((pid, tid), facts)
}

/// Returns the number of the process of a thread. The directory of a thread can be opened, though
/// a list of /proc does not show it.
fn process_of(proc: BorrowedFd<'_>, tid: u32) -> Option<u32> {
    let mut space = [0; 512];
    let path = FixedPath::new().number(tid).text("/status");
    let text = read_at(proc, path.get(), &mut space);
    let line = text.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(b"Tgid:"));
    integer(line).and_then(|number| u32::try_from(number).ok())
}

/// Returns whether the numbers of processes are those that the kernel itself uses.
pub(super) fn is_of_the_first_namespace(proc: BorrowedFd<'_>) -> bool {
    let mut space = [MaybeUninit::<u8>::uninit(); 32];
    let link = readlinkat_raw(proc, c"self/ns/pid", &mut space);
    link.is_ok_and(|(link, _)| *link == *FIRST_NAMESPACE) && is_own_namespace(proc)
}

/// Returns whether a /proc shows processes by the numbers that this process's system calls take.
pub(super) fn is_own_namespace(proc: BorrowedFd<'_>) -> bool {
    let mut space = [MaybeUninit::<u8>::uninit(); 32];
    let link = readlinkat_raw(proc, c"self", &mut space);
    link.is_ok_and(|(link, _)| integer(Some(&*link)) == Some(u64::from(std::process::id())))
}

/// Returns the systemd unit in the text of /proc/PID/cgroup: the last part of the path that names
/// one, in the unified hierarchy or in systemd's own.
fn unit(text: &[u8]) -> &[u8] {
    for line in text.split(|byte| *byte == b'\n') {
        let mut parts = line.splitn(3, |byte| *byte == b':');
        let (_, names, path) = (parts.next(), parts.next(), parts.next().unwrap_or_default());
        if !matches!(names, Some(b"" | b"name=systemd")) {
            continue;
        }
        let is_unit = |part: &&[u8]| {
            [&b".service"[..], b".scope", b".mount", b".socket", b".swap"]
                .iter()
                .any(|kind| part.ends_with(kind))
        };
        if let Some(unit) = path.rsplit(|byte| *byte == b'/').find(is_unit) {
            return unit;
        }
    }
    &[]
}
