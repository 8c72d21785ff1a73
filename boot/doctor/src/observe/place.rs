//! The place of a thread in the kernel: whether the thread waits for the generator.
//!
//! The file wchan says where a thread waits, so it would be enough to read it of every thread at
//! each look. But for that the kernel unwinds the thread's stack, and most threads sleep where they
//! slept before. A thread that sleeps can begin to wait for the generator only after it has run.
//! The file schedstat counts how often it ran and costs a third, so wchan is read only of threads
//! that ran since the last look. Better still, the CPU time of a process shows by one system call
//! that none of its threads ran, and then schedstat is not read either.

use super::calls::{GETRANDOM, POLLS, number};
use super::files::{FILE, FixedPath, of_thread, read_at};
use rustix::fd::{BorrowedFd, OwnedFd};
use rustix::fs::{Mode, openat, readlinkat_raw};
use rustix::io::pread;
use std::mem::MaybeUninit;

/// Functions of the kernel in which a thread waits for the generator. The jitter loop
/// (`try_to_generate_entropy`) runs between two waits.
const WAITS: [&[u8]; 4] =
    [b"wait_for_random_bytes", b"try_to_generate_entropy", b"random_read", b"_random_read"];

/// Functions of the kernel in which a thread polls.
const POLLING: [&[u8]; 3] = [b"poll_schedule_timeout", b"do_poll", b"do_sys_poll"];
/// Descriptors of one call that are read; a program that waits for the generator polls one.
const MOST_POLLED: usize = 8;
/// Seconds after which a thread that polls is examined again.
const POLL_AGAIN_S: f64 = 1.0;

/// A thread, and what the looks at it said.
pub(super) struct Thread {
    pub(super) pid: u32,
    pub(super) tid: u32,
    /// The latest time at which the thread was not waiting.
    pub(super) not_before: f64,
    /// The thread's start has been asked for, and is part of `not_before`.
    knows_start: bool,
    file: File,
    /// The thread has been looked at.
    is_known: bool,
    /// The text of schedstat when wchan last was read, and what wchan said, if the thread slept.
    /// The text is the same until the thread has run; it is empty if the kernel does not count.
    slept: Option<([u8; STATISTICS], Wait)>,
    /// The last time at which the descriptors that it polls were read, and whether /dev/random is
    /// among them.
    polled: Option<(f64, bool)>,
    /// The beginning of the name of its place in the kernel, and the time since which it is there.
    place: ([u8; 16], f64),
    pub(super) look: u64,
}

impl Thread {
    /// Returns a thread that has not been looked at.
    pub(super) fn new(pid: u32, tid: u32, not_before: f64) -> Thread {
        let place = ([0; 16], f64::INFINITY);
        Thread {
            pid,
            tid,
            not_before,
            knows_start: false,
            file: File::Closed,
            is_known: false,
            slept: None,
            polled: None,
            place,
            look: 0,
        }
    }

    /// Returns the latest time at which the thread was not waiting. A wait that the first look sees
    /// began after the thread did, and only then its start is read.
    pub(super) fn not_before_or(&mut self, start: impl FnOnce() -> f64) -> f64 {
        if !self.knows_start {
            self.knows_start = true;
            self.not_before = self.not_before.max(start());
        }
        self.not_before
    }

    /// Returns the time since which the thread sleeps in one place; infinity if it runs, or waits
    /// for the generator.
    pub(super) fn since(&self) -> f64 {
        self.place.1
    }

    /// Returns whether the thread was asleep at its last look, and not in a wait. This is still
    /// true if its process has not run since.
    pub(super) fn sleeps_elsewhere(&self) -> bool {
        matches!(self.slept, Some((_, Wait::No)))
    }

    /// Returns whether the thread holds a descriptor.
    pub(super) fn is_open(&self) -> bool {
        !matches!(self.file, File::Closed)
    }

    /// Opens the file by which the thread is watched, unless it is open or the thread may never run
    /// again: while its process has not run, no file is read. Returns whether the file was opened.
    pub(super) fn open(&mut self, proc: BorrowedFd<'_>, has_process_time: bool) -> bool {
        if self.is_open() || (has_process_time && !self.is_known) {
            return false;
        }
        self.file = open(proc, self.pid, self.tid);
        self.is_open()
    }
}

/// The file of a thread that stays open.
enum File {
    /// Counts how often the thread ran.
    Schedstat(OwnedFd),
    /// Names the thread's place in the kernel, where the kernel counts nothing.
    Wchan(OwnedFd),
    /// At the first look, and beyond the limit, wchan is opened at each look.
    Closed,
}

/// Three numbers of up to 20 digits, and what separates them.
const STATISTICS: usize = 64;
/// The text of schedstat on a kernel that does not count.
const UNCOUNTED: &[u8] = b"0 0 0";

/// The answer of a look at a thread.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Wait {
    No,
    Yes,
    /// The thread waits and runs the kernel's jitter loop meanwhile.
    InJitterLoop,
    /// The thread has ended.
    Gone,
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
pub(super) fn waits(proc: BorrowedFd<'_>, thread: &mut Thread, now: f64) -> Wait {
    thread.is_known = true;
    let mut statistics = [0; STATISTICS];
    if let File::Schedstat(file) = &thread.file {
        if pread(file, &mut statistics, 0).unwrap_or(0) == 0 {
            thread.slept = None;
            return Wait::Gone;
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
    thread.slept = sleeps.then_some((statistics, wait));
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
/// their C library wait so, among them static programs in Rust. But a program that feeds the
/// generator polls the device for writing, so it is no victim.
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

fn starts_a_wait(name: &[u8]) -> bool {
    WAITS.iter().any(|wait| name.starts_with(wait))
}
