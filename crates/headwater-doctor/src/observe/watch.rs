//! Looks at the processes: which threads exist, and which of them wait for the kernel's generator.
//!
//! Everything is read beneath a directory's descriptor, so that a tree in a test can stand for
//! /proc, and so that the observer survives when an initramfs moves its mounts. The file of each
//! thread stays open: a descriptor of a thread that ended never shows another thread with its
//! number.

use super::facts::{facts, is_kernel_thread, started};
use super::files::{FILE, FixedPath, numbers};
use super::place::{File, Thread, Wait, open, waits};
use super::victims::Table;
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, Mode, OFlags, openat, statat};
use rustix::io::pread;

/// Threads that are observed. A boot that waits for its generator has some hundred.
const MOST_THREADS: usize = 8192;
/// Descriptors that stay open. Threads beyond are opened at each look.
const MOST_OPEN: usize = 700;
/// Seconds after which a thread that sleeps in one place is read at every second look.
const RESTING_S: f64 = 2.0;

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
            let is_resting = now - thread.since() > RESTING_S;
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
            closed += usize::from(!is_there && thread.is_open());
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
                    let mut thread = Thread::new(pid, tid, file, not_before);
                    thread.look = self.look;
                    self.threads.insert(at, thread);
                }
            }
        });
    }
}
