//! The names of a thread, its start, its call and its unit.

use super::calls::{GETRANDOM, POLLS, READ, number};
use super::files::{FixedPath, of_thread, read_at};
use super::victims::{Facts, Name};
use rustix::fd::BorrowedFd;

/// PF_KTHREAD of `struct task_struct`: a thread of the kernel itself, which calls no system call.
const KERNEL_THREAD: u64 = 0x0020_0000;
/// Clock ticks a second in /proc/PID/stat, on every architecture that Debian has
/// (proc_pid_stat(5)).
const TICKS: f64 = 100.0;

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
