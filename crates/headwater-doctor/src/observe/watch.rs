//! Looks at the processes: which threads exist, and which of them wait for the kernel's generator.
//!
//! Everything is read beneath a directory's descriptor, so that a tree in a test can stand for
//! /proc, and so that the observer survives when an initramfs moves its mounts. The file of each
//! thread stays open: a descriptor of a thread that ended never shows another thread with its
//! number.
//!
//! A thread that sleeps can begin to wait for the generator only after it has run. The file
//! schedstat counts how often a thread ran, and costs a third of a read of wchan, for which the
//! kernel unwinds the thread's stack. So wchan is read only of threads that ran since the last
//! look.

use super::victims::{Facts, Name, Table};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, RawDir, openat, readlinkat_raw, statat};
use rustix::io::pread;
use std::ffi::CStr;
use std::mem::MaybeUninit;

/// Threads that are observed. A boot that waits for its generator has some hundred.
const MOST_THREADS: usize = 8192;
/// Descriptors that stay open. Threads beyond are opened at each look.
const MOST_OPEN: usize = 700;

/// Functions of the kernel in which a thread waits for the generator. The jitter loop
/// (`try_to_generate_entropy`) runs between two waits.
const WAITS: [&[u8]; 4] =
    [b"wait_for_random_bytes", b"try_to_generate_entropy", b"random_read", b"_random_read"];

/// getrandom's number on the architecture that this program is built for.
const GETRANDOM: u32 = if cfg!(target_arch = "x86_64") {
    318
} else if cfg!(target_arch = "x86") {
    355
} else if cfg!(target_arch = "arm") {
    384
} else if cfg!(any(target_arch = "powerpc", target_arch = "powerpc64")) {
    359
} else if cfg!(target_arch = "s390x") {
    349
} else {
    // The numbers that all newer architectures share.
    278
};
/// read's number on the same architecture.
const READ: u32 = if cfg!(target_arch = "x86_64") {
    0
} else if cfg!(any(
    target_arch = "x86",
    target_arch = "arm",
    target_arch = "powerpc",
    target_arch = "powerpc64",
    target_arch = "s390x"
)) {
    3
} else {
    63
};

/// The numbers of poll and ppoll; newer architectures have the second only.
const POLLS: [u32; 2] = if cfg!(target_arch = "x86_64") {
    [7, 271]
} else if cfg!(target_arch = "x86") {
    [168, 309]
} else if cfg!(target_arch = "arm") {
    [168, 336]
} else if cfg!(any(target_arch = "powerpc", target_arch = "powerpc64")) {
    [167, 281]
} else if cfg!(target_arch = "s390x") {
    [168, 302]
} else {
    [73, 73]
};
/// Functions of the kernel in which a thread polls.
const POLLING: [&[u8]; 3] = [b"poll_schedule_timeout", b"do_poll", b"do_sys_poll"];
/// Descriptors of one call that are read; a program that waits for the generator polls one.
const MOST_POLLED: usize = 8;
/// Seconds after which a thread that sleeps in one place is read at every second look.
const RESTING_S: f64 = 2.0;
/// Seconds after which a thread that polls is examined again.
const POLL_AGAIN_S: f64 = 1.0;

/// PF_KTHREAD of `struct task_struct`: a thread of the kernel itself, which calls no system call.
const KERNEL_THREAD: u64 = 0x0020_0000;
/// Clock ticks a second in /proc/PID/stat, on every architecture that Debian has
/// (proc_pid_stat(5)).
const TICKS: f64 = 100.0;

struct Thread {
    pid: u32,
    tid: u32,
    /// The latest time at which the thread was not waiting.
    not_before: f64,
    file: File,
    /// The text of schedstat when wchan last was read, and what wchan said, if the thread slept.
    /// The text is the same until the thread has run.
    slept: Option<([u8; STATISTICS], Wait)>,
    /// The last time at which the descriptors that it polls were read, and whether /dev/random is
    /// among them.
    polled: Option<(f64, bool)>,
    /// The beginning of the name of its place in the kernel, and the time since which it is there.
    place: ([u8; 16], f64),
    look: u64,
}

/// The file of a thread that stays open.
enum File {
    /// Counts how often the thread ran.
    Schedstat(OwnedFd),
    /// Names the thread's place in the kernel, where the kernel counts nothing.
    Wchan(OwnedFd),
    /// Beyond the limit, wchan is opened at each look.
    Closed,
}

/// Three numbers of up to 20 digits, and what separates them.
const STATISTICS: usize = 64;
/// The text of schedstat on a kernel that does not count.
const UNCOUNTED: &[u8] = b"0 0 0";

struct Process {
    pid: u32,
    is_kernel: bool,
    /// Links of /proc/PID/task: two more than the process has threads.
    links: u64,
    look: u64,
}

/// The processes and threads that the last look saw.
pub(super) struct Watch {
    proc: OwnedFd,
    processes: Vec<Process>,
    threads: Vec<Thread>,
    look: u64,
    /// The file /proc/loadavg, which ends in the number of the newest thread.
    newest: Option<OwnedFd>,
    /// The number at the last list of all threads.
    listed_at: [u8; 12],
    /// Looks at threads.
    count: u64,
    open: usize,
    pub(super) missed: u64,
    pub(super) saw_jitter: bool,
}

/// A path such as `312/task/312/wchan`, without an allocation.
struct FixedPath {
    bytes: [u8; 64],
    length: usize,
}

impl FixedPath {
    fn new() -> FixedPath {
        FixedPath { bytes: [0; 64], length: 0 }
    }

    fn text(mut self, text: &str) -> FixedPath {
        for byte in text.bytes() {
            // The last byte stays zero, which ends the path.
            if self.length + 1 < self.bytes.len()
                && let Some(slot) = self.bytes.get_mut(self.length)
            {
                *slot = byte;
                self.length += 1;
            }
        }
        self
    }

    fn number(self, number: u32) -> FixedPath {
        let mut digits = [0; 10];
        let mut at = digits.len();
        let mut rest = number;
        loop {
            at -= 1;
            if let Some(slot) = digits.get_mut(at) {
                *slot = b'0' + (rest % 10) as u8;
            }
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        let text = std::str::from_utf8(digits.get(at..).unwrap_or_default());
        self.text(text.unwrap_or_default())
    }

    fn get(&self) -> &CStr {
        CStr::from_bytes_until_nul(&self.bytes).unwrap_or_default()
    }
}

fn of_thread(pid: u32, tid: u32, file: &str) -> FixedPath {
    FixedPath::new().number(pid).text("/task/").number(tid).text("/").text(file)
}

const FILE: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NOFOLLOW);

/// Reads the beginning of a file; empty if it cannot be read.
pub(super) fn read_at<'a>(dir: BorrowedFd<'_>, path: &CStr, into: &'a mut [u8]) -> &'a [u8] {
    let Ok(file) = openat(dir, path, FILE, Mode::empty()) else { return &[] };
    let length = pread(&file, &mut *into, 0).unwrap_or(0);
    into.get(..length).unwrap_or_default()
}

/// Returns the numbers in a directory of /proc.
fn numbers(directory: &OwnedFd, mut each: impl FnMut(u32)) {
    let mut space = [MaybeUninit::<u8>::uninit(); 4096];
    let _ = rustix::fs::seek(directory, rustix::fs::SeekFrom::Start(0));
    let mut entries = RawDir::new(directory, &mut space);
    while let Some(Ok(entry)) = entries.next() {
        let number = entry.file_name().to_str().ok().and_then(|name| name.parse::<u32>().ok());
        if let Some(number) = number {
            each(number);
        }
    }
}

fn starts_a_wait(name: &[u8]) -> bool {
    WAITS.iter().any(|wait| name.starts_with(wait))
}

impl Watch {
    /// Returns a watch of the processes in a directory, usually /proc.
    pub(super) fn new(proc: OwnedFd) -> Watch {
        Watch {
            newest: openat(&proc, c"loadavg", FILE, Mode::empty()).ok(),
            listed_at: [0; 12],
            count: 0,
            proc,
            processes: Vec::with_capacity(MOST_THREADS),
            threads: Vec::with_capacity(MOST_THREADS),
            look: 0,
            open: 0,
            missed: 0,
            saw_jitter: false,
        }
    }

    /// Looks at every thread once. `before` is the time of the last look.
    pub(super) fn look(&mut self, now: f64, before: Option<f64>, table: &mut Table) {
        if self.has_new_threads() {
            self.look += 1;
            self.find_processes(before);
            self.forget_the_ended();
        }
        let mut saw_jitter = false;
        self.count += 1;
        for thread in &mut self.threads {
            // A thread that sleeps in one place for seconds is read at every second look, which
            // halves the cost and keeps the bounds of its next wait within 0.2 s.
            let is_resting = now - thread.place.1 > RESTING_S;
            if is_resting && (u64::from(thread.tid) + self.count).is_multiple_of(2) {
                continue;
            }
            let wait = waits(self.proc.as_fd(), thread, now);
            saw_jitter |= wait == Wait::InJitterLoop;
            if wait == Wait::No {
                thread.not_before = now;
                continue;
            }
            let ids = (thread.pid, thread.tid);
            table.waits(ids, now, thread.not_before, || facts(self.proc.as_fd(), ids));
        }
        self.saw_jitter |= saw_jitter;
        table.close_unseen(now);
    }

    /// Returns whether a thread may have started since the last list. In a stall nothing starts for
    /// most of the time, and the list is the larger part of a look's cost. The number can be the
    /// same again only after all numbers were used.
    fn has_new_threads(&mut self) -> bool {
        let Some(file) = &self.newest else { return true };
        let mut space = [0; 64];
        let length = pread(file, &mut space, 0).unwrap_or(0);
        let text = space.get(..length).unwrap_or_default().trim_ascii_end();
        let mut newest = [0; 12];
        let number = text.rsplit(|byte| *byte == b' ').next().unwrap_or_default();
        for (to, from) in newest.iter_mut().zip(number) {
            *to = *from;
        }
        let is_new = number.is_empty() || newest != self.listed_at;
        self.listed_at = newest;
        is_new
    }

    /// Drops the threads and processes that the last list did not show.
    fn forget_the_ended(&mut self) {
        let look = self.look;
        let mut closed = 0;
        self.threads.retain(|thread| {
            let is_there = thread.look == look;
            closed += usize::from(!is_there && !matches!(thread.file, File::Closed));
            is_there
        });
        self.open = self.open.saturating_sub(closed);
        self.processes.retain(|process| process.look == look);
    }

    fn find_processes(&mut self, before: Option<f64>) {
        // A descriptor of its own, because the position of a shared one could be moved.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let Ok(list) = openat(&self.proc, c".", flags, Mode::empty()) else { return };
        numbers(&list, |pid| {
            let at = self.processes.binary_search_by_key(&pid, |it| it.pid);
            let at = match at {
                Ok(at) => at,
                Err(at) => {
                    if self.processes.len() == self.processes.capacity() {
                        self.missed += 1;
                        return;
                    }
                    let is_kernel = is_kernel_thread(self.proc.as_fd(), pid);
                    self.processes.insert(at, Process { pid, is_kernel, links: 0, look: 0 });
                    at
                }
            };
            let Some(process) = self.processes.get_mut(at) else { return };
            process.look = self.look;
            if process.is_kernel {
                return;
            }
            let tasks = FixedPath::new().number(pid).text("/task");
            let links = statat(&self.proc, tasks.get(), AtFlags::empty());
            #[allow(clippy::unnecessary_cast)] // u32 on some architectures
            let links = links.map_or(0, |stat| stat.st_nlink as u64);
            // Some file systems do not count directories; there the threads are always listed.
            let is_same = links > 2 && links == process.links;
            process.links = links;
            if is_same {
                let from = self.threads.partition_point(|thread| thread.pid < pid);
                let threads = self.threads.get_mut(from..).unwrap_or_default();
                for thread in threads.iter_mut().take_while(|thread| thread.pid == pid) {
                    thread.look = self.look;
                }
                return;
            }
            self.find_threads(pid, before);
        });
    }

    fn find_threads(&mut self, pid: u32, before: Option<f64>) {
        let tasks = FixedPath::new().number(pid).text("/task");
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let Ok(list) = openat(&self.proc, tasks.get(), flags, Mode::empty()) else { return };
        numbers(&list, |tid| {
            let at = self.threads.binary_search_by_key(&(pid, tid), |it| (it.pid, it.tid));
            match at {
                Ok(at) => {
                    if let Some(thread) = self.threads.get_mut(at) {
                        thread.look = self.look;
                    }
                }
                Err(_) if self.threads.len() == self.threads.capacity() => self.missed += 1,
                Err(at) => {
                    let file = match self.open < MOST_OPEN {
                        true => open(self.proc.as_fd(), pid, tid),
                        false => File::Closed,
                    };
                    self.open += usize::from(!matches!(file, File::Closed));
                    // A thread that was not there at the last look began after it.
                    let began = started(self.proc.as_fd(), pid, tid);
                    let not_before = began.max(before.unwrap_or(0.0));
                    let look = self.look;
                    let (polled, place, slept) = (None, ([0; 16], f64::INFINITY), None);
                    let thread = Thread { pid, tid, not_before, file, slept, polled, place, look };
                    self.threads.insert(at, thread);
                }
            }
        });
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Wait {
    No,
    Yes,
    /// The thread waits and runs the kernel's jitter loop meanwhile.
    InJitterLoop,
}

/// Opens the file by which a thread is watched.
fn open(proc: BorrowedFd<'_>, pid: u32, tid: u32) -> File {
    let file = |name: &str| openat(proc, of_thread(pid, tid, name).get(), FILE, Mode::empty());
    if let Ok(schedstat) = file("schedstat") {
        let mut space = [0; STATISTICS];
        let length = pread(&schedstat, &mut space, 0).unwrap_or(0);
        let text = space.get(..length).unwrap_or_default().trim_ascii_end();
        if !text.is_empty() && text != UNCOUNTED {
            return File::Schedstat(schedstat);
        }
    }
    file("wchan").map_or(File::Closed, File::Wchan)
}

/// Returns whether a thread waits for the generator. A thread that has not run since the last look
/// is where it was.
fn waits(proc: BorrowedFd<'_>, thread: &mut Thread, now: f64) -> Wait {
    let mut statistics = [0; STATISTICS];
    if let File::Schedstat(file) = &thread.file {
        // The thread has ended if this fails.
        if pread(file, &mut statistics, 0).unwrap_or(0) == 0 {
            return Wait::No;
        }
        if let Some((text, wait)) = thread.slept
            && text == statistics
        {
            return wait;
        }
    }
    let (wait, sleeps) = examine(proc, thread, now);
    // The count was read before the place: a thread that runs in between has another count at the
    // next look.
    let counts = matches!(thread.file, File::Schedstat(_));
    thread.slept = (sleeps && counts).then_some((statistics, wait));
    wait
}

/// Reads a thread's place in the kernel. Returns whether the thread waits for the generator, and
/// whether it sleeps.
fn examine(proc: BorrowedFd<'_>, thread: &mut Thread, now: f64) -> (Wait, bool) {
    let mut space = [0; 64];
    let name = match &thread.file {
        File::Wchan(file) => {
            let length = pread(file, &mut space, 0).unwrap_or(0);
            space.get(..length).unwrap_or_default()
        }
        _ => {
            let path = of_thread(thread.pid, thread.tid, "wchan");
            read_at(proc, path.get(), &mut space)
        }
    };
    place(proc, thread, now, name)
}

/// Returns the same by the name of the thread's place in the kernel.
fn place(proc: BorrowedFd<'_>, thread: &mut Thread, now: f64, name: &[u8]) -> (Wait, bool) {
    let mut place = [0; 16];
    for (to, from) in place.iter_mut().zip(name) {
        *to = *from;
    }
    let is_waiting = starts_a_wait(name);
    // A thread that runs or waits for the generator is read at every look.
    if is_waiting || name.trim_ascii() == b"0" {
        thread.place = (place, f64::INFINITY);
    } else if thread.place.0 != place {
        thread.place = (place, now);
    }
    if is_waiting {
        return (Wait::Yes, true);
    }
    if POLLING.iter().any(|poll| name.starts_with(poll)) {
        let known = thread.polled.filter(|(at, _)| now - at < POLL_AGAIN_S);
        let polls = known.map_or_else(|| polls_random(proc, thread), |(_, polls)| polls);
        if known.is_none() {
            thread.polled = Some((now, polls));
        }
        if polls {
            thread.place.1 = f64::INFINITY;
        }
        return (if polls { Wait::Yes } else { Wait::No }, true);
    }
    thread.polled = None;
    // "0" is a thread that runs, or one whose place the kernel hides.
    if name.trim_ascii() != b"0" {
        return (Wait::No, !name.is_empty());
    }
    let mut space = [0; 160];
    let path = of_thread(thread.pid, thread.tid, "syscall");
    let call = read_at(proc, path.get(), &mut space);
    // The kernel shows a number only of a thread that sleeps.
    if number(call) == Some(GETRANDOM) {
        return (Wait::Yes, true);
    }
    if !call.starts_with(b"running") {
        return (Wait::No, number(call).is_some());
    }
    // In the jitter loop the thread is runnable; its stack can be read while another thread runs
    // on its CPU.
    let mut space = [0; 1024];
    let path = of_thread(thread.pid, thread.tid, "stack");
    let stack = read_at(proc, path.get(), &mut space);
    let in_function = |line: &[u8]| {
        let name = line.split(|byte| *byte == b']').nth(1).unwrap_or_default();
        starts_a_wait(name.trim_ascii())
    };
    let is_in_loop = stack.split(|byte| *byte == b'\n').any(in_function);
    (if is_in_loop { Wait::InJitterLoop } else { Wait::No }, false)
}

/// Returns whether a thread polls /dev/random for bytes. Programs that cannot find getrandom in
/// their C library wait so, among them static programs in Rust. A program that feeds the generator
/// polls the device for writing, and is not a victim.
fn polls_random(proc: BorrowedFd<'_>, thread: &Thread) -> bool {
    let mut space = [0; 160];
    let path = of_thread(thread.pid, thread.tid, "syscall");
    let call = read_at(proc, path.get(), &mut space);
    if !number(call).is_some_and(|number| POLLS.contains(&number)) {
        return false;
    }
    // The first two arguments: the address of the list, and its length.
    let Ok(call) = std::str::from_utf8(call) else { return false };
    let mut arguments = call
        .split(' ')
        .skip(1)
        .map(|word| u64::from_str_radix(word.trim().trim_start_matches("0x"), 16));
    let (Some(Ok(address)), Some(Ok(count))) = (arguments.next(), arguments.next()) else {
        return false;
    };
    let path = FixedPath::new().number(thread.pid).text("/mem");
    let Ok(memory) = openat(proc, path.get(), FILE, Mode::empty()) else { return false };
    let mut space = [0; 8 * MOST_POLLED];
    let length = pread(&memory, &mut space, address).unwrap_or(0);
    let list = space.get(..length).unwrap_or_default();
    let count = usize::try_from(count).unwrap_or(0);
    let mut polled = list.as_chunks::<8>().0.iter().take(count).map(|entry| {
        let [a, b, c, d, low, high, ..] = *entry;
        // `struct pollfd`: a descriptor, and the events that are waited for.
        (u32::from_ne_bytes([a, b, c, d]), u16::from_ne_bytes([low, high]))
    });
    polled.any(|(descriptor, events)| {
        events & rustix::event::PollFlags::IN.bits() != 0
            && is_random_device(proc, thread.pid, descriptor)
    })
}

fn is_random_device(proc: BorrowedFd<'_>, pid: u32, descriptor: u32) -> bool {
    let path = FixedPath::new().number(pid).text("/fd/").number(descriptor);
    let mut space = [MaybeUninit::<u8>::uninit(); 32];
    let link = readlinkat_raw(proc, path.get(), &mut space);
    link.is_ok_and(|(link, _)| *link == *b"/dev/random")
}

/// Returns the number of the system call in a line of /proc/PID/syscall.
fn number(line: &[u8]) -> Option<u32> {
    std::str::from_utf8(line).ok()?.split(' ').next()?.trim().parse().ok()
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

fn is_kernel_thread(proc: BorrowedFd<'_>, pid: u32) -> bool {
    let mut space = [0; 512];
    let path = FixedPath::new().number(pid).text("/stat");
    let stat = read_at(proc, path.get(), &mut space);
    // Field 9 of the line is the seventh after the name.
    integer(fields(stat).nth(6)).is_some_and(|flags| flags & KERNEL_THREAD != 0)
}

/// Returns the time at which a thread started, in seconds since the kernel's start; 0 if unknown.
fn started(proc: BorrowedFd<'_>, pid: u32, tid: u32) -> f64 {
    let mut space = [0; 512];
    let path = of_thread(pid, tid, "stat");
    let stat = read_at(proc, path.get(), &mut space);
    integer(fields(stat).nth(19)).map_or(0.0, |ticks| ticks as f64 / TICKS)
}

/// Reads the names of a thread that waits, and its call.
fn facts(proc: BorrowedFd<'_>, (pid, tid): (u32, u32)) -> Facts {
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

/// Opens a directory.
pub(super) fn directory(path: &CStr) -> rustix::io::Result<OwnedFd> {
    openat(CWD, path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}
