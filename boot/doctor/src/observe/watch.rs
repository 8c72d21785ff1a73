//! Looks at the processes: which threads exist, and which of them wait for the kernel's generator.
//!
//! Everything is read beneath a directory's descriptor, so that a tree in a test can stand for
//! /proc, and so that the observer survives when an initramfs moves its mounts. The file of each
//! thread stays open: a descriptor of a thread that ended never shows another thread with its
//! number.

use super::clock::Kernel;
use super::facts::{facts, is_kernel_thread, is_own_namespace, started};
use super::files::{FILE, FixedPath, numbers};
use super::place::{Thread, Wait, waits};
use super::victims::Table;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, Mode, OFlags, openat, statat};
use rustix::io::pread;
use std::ops::Range;

/// Threads that are observed. A boot that waits for its generator has some hundred.
const MOST_THREADS: usize = 8192;
/// Descriptors that stay open. Threads beyond are opened at each look.
const MOST_OPEN: usize = 700;
/// Seconds after which a thread that sleeps in one place is read at every second look.
const RESTING_S: f64 = 1.0;

/// Threads that are read at every look once their process has run.
const FEW_THREADS: usize = 8;

struct Process {
    pid: u32,
    is_kernel: bool,
    /// Links of /proc/PID/task: two more than the process has threads.
    links: u64,
    look: u64,
    /// The process's CPU time before the last look at all of its threads.
    time: Option<u64>,
    /// The time since which all of its threads sleep elsewhere; infinity if one does not, or if
    /// the process's time cannot show that.
    calm_since: f64,
    /// The latest time at which none of its threads was waiting.
    not_before: f64,
    /// Its part of the list of threads.
    threads: Range<usize>,
}

impl Process {
    fn new(pid: u32, is_kernel: bool) -> Process {
        let (calm_since, not_before) = (f64::INFINITY, 0.0);
        Process {
            pid,
            is_kernel,
            links: 0,
            look: 0,
            time: None,
            calm_since,
            not_before,
            threads: 0..0,
        }
    }
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
    /// A process that rests is looked at once in so many looks.
    resting_looks: u64,
    /// The observer's own number. It never waits, and always runs.
    own: Option<u32>,
    open: usize,
    pub(super) missed: u64,
    pub(super) saw_jitter: bool,
}

impl Watch {
    /// Returns a watch of the processes in a directory, usually /proc.
    pub(super) fn new(proc: OwnedFd, resting_looks: u64) -> Watch {
        Watch {
            newest: openat(&proc, c"loadavg", FILE, Mode::empty()).ok(),
            listed_at: [0; 12],
            count: 0,
            resting_looks,
            own: is_own_namespace(proc.as_fd()).then(std::process::id),
            proc,
            processes: Vec::with_capacity(MOST_THREADS),
            threads: Vec::with_capacity(MOST_THREADS),
            look: 0,
            open: 0,
            missed: 0,
            saw_jitter: false,
        }
    }

    /// Returns the directory of processes.
    pub(super) fn proc(&self) -> BorrowedFd<'_> {
        self.proc.as_fd()
    }

    /// Looks at every thread once. `before` is the time of the last look.
    pub(super) fn look(
        &mut self,
        kernel: &impl Kernel,
        now: f64,
        before: Option<f64>,
        table: &mut Table,
    ) {
        if self.has_new_threads() {
            self.look += 1;
            self.find_processes(before);
            self.forget_the_ended();
            self.divide_threads();
        }
        self.count += 1;
        for process in &mut self.processes {
            let turn = u64::from(process.pid) + self.count;
            let has_rested = now - process.calm_since > RESTING_S;
            if has_rested && !turn.is_multiple_of(self.resting_looks) {
                continue;
            }
            let own = self.threads.get_mut(process.threads.clone()).unwrap_or_default();
            if own.is_empty() {
                continue;
            }
            // Read before the threads: what runs in between changes the time of the next look.
            let time = kernel.time_of(process.pid);
            let has_run = time.is_none() || time != process.time;
            if !has_run && process.calm_since.is_finite() {
                process.not_before = now;
                continue;
            }
            // If the kernel cannot show by the process's time that many threads have not run, those
            // that sleep in one place for seconds are read at every second look, which halves the
            // cost.
            let is_off_turn =
                !turn.is_multiple_of(2) && (time.is_none() || own.len() > FEW_THREADS);
            let mut is_complete = true;
            let mut is_calm = true;
            for thread in own {
                thread.not_before = thread.not_before.max(process.not_before);
                if !has_run && thread.sleeps_elsewhere() {
                    thread.not_before = now;
                    continue;
                }
                if is_off_turn && now - thread.since() > RESTING_S {
                    is_complete = false;
                    continue;
                }
                if self.open < MOST_OPEN {
                    self.open += usize::from(thread.open(self.proc.as_fd(), time.is_some()));
                }
                let wait = waits(self.proc.as_fd(), thread, now);
                is_calm &= thread.sleeps_elsewhere();
                let ids = (thread.pid, thread.tid);
                match wait {
                    Wait::No => thread.not_before = now,
                    Wait::Gone => table.is_gone(ids, now),
                    Wait::Yes | Wait::InJitterLoop => {
                        self.saw_jitter |= wait == Wait::InJitterLoop;
                        let start = || started(self.proc.as_fd(), ids.0, ids.1);
                        let facts = || facts(self.proc.as_fd(), ids);
                        table.waits(ids, now, thread.not_before_or(start), facts);
                    }
                }
            }
            // A thread that was not read may have run.
            process.time = time.filter(|_| is_complete);
            process.calm_since =
                if is_calm && process.time.is_some() { now } else { f64::INFINITY };
        }
        table.close_unseen(now);
    }

    /// Returns whether a thread may have started since the last list. The list is the larger part
    /// of a look's cost, and in a stall nothing starts for most of the time, so a cheap question
    /// before it pays. It cannot miss a thread, because the number is the same again only after all
    /// numbers were used.
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
            closed += usize::from(!is_there && thread.is_open());
            is_there
        });
        self.open = self.open.saturating_sub(closed);
        self.processes.retain(|process| process.look == look);
    }

    /// Notes which part of the list of threads is whose. Both lists are in order of numbers.
    fn divide_threads(&mut self) {
        let mut from = 0;
        for process in &mut self.processes {
            let rest = self.threads.get(from..).unwrap_or_default();
            from += rest.partition_point(|thread| thread.pid < process.pid);
            let rest = self.threads.get(from..).unwrap_or_default();
            let to = from + rest.partition_point(|thread| thread.pid == process.pid);
            process.threads = from..to;
            from = to;
        }
    }

    fn find_processes(&mut self, before: Option<f64>) {
        // A descriptor of its own, because the position of a shared one could be moved.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let Ok(list) = openat(&self.proc, c".", flags, Mode::empty()) else { return };
        numbers(&list, |pid| {
            if Some(pid) == self.own {
                return;
            }
            let at = self.processes.binary_search_by_key(&pid, |process| process.pid);
            let at = match at {
                Ok(at) => at,
                Err(at) => {
                    if self.processes.len() == self.processes.capacity() {
                        self.missed += 1;
                        return;
                    }
                    let is_kernel = is_kernel_thread(self.proc.as_fd(), pid);
                    self.processes.insert(at, Process::new(pid, is_kernel));
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
            if self.find_threads(pid, before)
                && let Some(process) = self.processes.get_mut(at)
            {
                process.calm_since = f64::INFINITY;
            }
        });
    }

    /// Lists the threads of a process. Returns whether one is new.
    fn find_threads(&mut self, pid: u32, before: Option<f64>) -> bool {
        let tasks = FixedPath::new().number(pid).text("/task");
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let Ok(list) = openat(&self.proc, tasks.get(), flags, Mode::empty()) else { return false };
        let mut is_any_new = false;
        numbers(&list, |tid| {
            let at =
                self.threads.binary_search_by_key(&(pid, tid), |thread| (thread.pid, thread.tid));
            match at {
                Ok(at) => {
                    if let Some(thread) = self.threads.get_mut(at) {
                        thread.look = self.look;
                    }
                }
                Err(_) if self.threads.len() == self.threads.capacity() => self.missed += 1,
                Err(at) => {
                    // A thread that was not there at the last look began after it.
                    let mut thread = Thread::new(pid, tid, before.unwrap_or(0.0));
                    thread.look = self.look;
                    self.threads.insert(at, thread);
                    is_any_new = true;
                }
            }
        });
        is_any_new
    }
}
