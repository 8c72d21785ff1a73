//! A traced program and its children, from the first instruction to the end.
//!
//! Time is counted per thread, without the time that tracing took from it: a new thread begins with
//! the cost of the one that made it. The cost of others must not be subtracted, because they run at
//! the same time. A thread that waits for another, which was held, does wait longer, so a time of a
//! program with several threads is an upper bound.

mod calls;
mod functions;

use super::draws::{Draw, Source, Stack};
use super::image::{Breakpoints, Images};
use super::tracee::{self, Until};
use super::watch::Watch;
use std::collections::HashMap;
use std::io;
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Draws that are kept; the others are counted.
const KEPT: usize = 64;

/// All that was seen of a program.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    /// The first draws, in the order of their ends.
    pub(super) draws: Vec<Draw>,
    /// Calls of getrandom that returned bytes.
    pub(super) getrandom: u64,
    /// Calls of getrandom through the vDSO, which are no system calls.
    pub(super) vdso: u64,
    /// Openings of /dev/urandom, /dev/random or /dev/hwrng.
    pub(super) opens: u64,
    /// Reads of them.
    pub(super) reads: u64,
    /// Own time in functions of jitterentropy.
    pub(super) jitter: Duration,
    /// The file with these functions.
    pub(super) jitter_in: Option<String>,
    /// Files with AWS-LC inside and no name of a function of jitterentropy.
    pub(super) nameless_aws_lc: Vec<String>,
    /// With such a file: the longest own time of a thread between two stops, up to the first draws.
    pub(super) longest_gap: Duration,
    /// Files with RDRAND or RDSEED that has no function's name, and how many.
    pub(super) instructions: Vec<(String, usize)>,
    /// Stops of all threads.
    pub(super) stops: u64,
    /// Own time of the first program, until it ended or was ended.
    pub(super) lasted: Duration,
    /// The status of the first program as waitpid(2) has it; `None` if the limit ended it.
    pub(super) status: Option<i32>,
}

/// A thread.
#[derive(Clone, Debug)]
struct Thread {
    process: i32,
    /// The time for which tracing held it.
    held: Duration,
    /// Its last stop, in own time.
    last: Duration,
    call: Option<Call>,
    /// The functions in which it is.
    stack: Stack,
}

/// The next state of a thread that stopped.
enum Next {
    Run(Until, i32),
    Hold,
}

/// A system call that has begun.
#[derive(Clone, Debug)]
struct Call {
    began: Duration,
    source: Option<Source>,
    /// The third argument of getrandom.
    flags: Option<u32>,
    caller: Option<String>,
    /// A mapping of code: the descriptor, the offset and the length.
    mapping: Option<(i32, u64, u64)>,
}

/// A tracer.
pub(super) struct Follow<'a> {
    began: Instant,
    /// The present stop, as the clock has it: all that follows takes the tracer's time.
    stopped: Instant,
    watch: &'a Watch,
    per_stop: Duration,
    root: i32,
    threads: HashMap<i32, Thread>,
    /// Threads that stopped before the report that they were made.
    early: Vec<i32>,
    processes: HashMap<i32, Breakpoints>,
    images: Images,
    seen: Seen,
}

impl Follow<'_> {
    /// Follows a program that [`tracee::spawn`] started until it and its children end, or for
    /// `limit`, after which all are killed.
    pub(super) fn run(root: i32, per_stop: Duration, limit: Duration) -> io::Result<Seen> {
        let watch = Watch::new(limit);
        watch.enter(root);
        let (running, ended) = mpsc::channel::<()>();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                // The receiver moves in, so that dropping the sender ends the thread.
                let ended = ended;
                watch.run(&ended);
            });
            let seen = Follow::until_the_end(root, per_stop, &watch);
            drop(running);
            seen
        })
    }

    fn until_the_end(root: i32, per_stop: Duration, watch: &Watch) -> io::Result<Seen> {
        let began = Instant::now();
        let mut follow = Follow {
            began,
            stopped: began,
            per_stop,
            root,
            watch,
            threads: HashMap::new(),
            early: Vec::new(),
            processes: HashMap::new(),
            images: Images::default(),
            seen: Seen::default(),
        };
        loop {
            match tracee::next() {
                Ok((thread, status)) => follow.change(thread, status)?,
                Err(error) if error.raw_os_error() == Some(libc::ECHILD) => break,
                Err(error) => return Err(error),
            }
        }
        if watch.is_over() {
            follow.seen.status = None;
        }
        follow.seen.nameless_aws_lc = follow.images.nameless_aws_lc();
        follow.seen.instructions = follow.images.instructions();
        Ok(follow.seen)
    }

    /// Returns the own time of the thread that stopped: the clock's without its cost.
    fn own(&self, thread: i32) -> Duration {
        let held = self.threads.get(&thread).map_or(Duration::ZERO, |thread| thread.held);
        self.stopped.saturating_duration_since(self.began).saturating_sub(held)
    }

    fn change(&mut self, id: i32, status: i32) -> io::Result<()> {
        self.stopped = Instant::now();
        if !libc::WIFSTOPPED(status) {
            if id == self.root {
                self.seen.lasted = self.own(id).max(self.seen.lasted);
                self.seen.status = Some(status);
            }
            self.threads.remove(&id);
            self.watch.leave(id);
            return Ok(());
        }
        self.seen.stops += 1;
        let next = match self.stop(id, status) {
            // It was killed in the middle; its end is the next change.
            Err(error) if matches!(error.raw_os_error(), Some(libc::ESRCH | libc::EIO)) => {
                Next::Run(Until::Filter, 0)
            }
            result => result?,
        };
        let own = self.own(id);
        // The clock begins at the end of the first stop, whose time is not in it.
        let held = self.stopped.max(self.began).elapsed();
        self.watch.held(self.stopped.elapsed());
        if let Some(thread) = self.threads.get_mut(&id) {
            thread.held += held + self.per_stop;
            thread.last = own;
        }
        match next {
            Next::Run(until, signal) => tracee::resume(id, until, signal),
            Next::Hold => Ok(()),
        }
    }

    /// Looks at a stop, and returns how the thread continues.
    fn stop(&mut self, id: i32, status: i32) -> io::Result<Next> {
        let signal = libc::WSTOPSIG(status);
        let is_new = !self.threads.contains_key(&id);
        if is_new && id == self.root {
            // The exec of the program, before the options were set.
            tracee::set_options(id)?;
            self.threads.insert(id, Thread::new(id));
            self.program(id)?;
            self.began = Instant::now();
            return Ok(Next::Run(Until::Filter, 0));
        }
        match status >> 16 {
            libc::PTRACE_EVENT_SECCOMP => return self.call(id).map(|until| Next::Run(until, 0)),
            libc::PTRACE_EVENT_EXEC => {
                // A thread that execs takes the number of its process.
                let former = tracee::message(id)?;
                if let Some(thread) = self.threads.remove(&former) {
                    self.threads.insert(id, Thread { process: id, ..thread });
                }
                if let Some(thread) = self.threads.get_mut(&id) {
                    (thread.call, thread.stack) = (None, Stack::default());
                }
                self.program(id)?;
            }
            libc::PTRACE_EVENT_CLONE | libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK => {
                let child = tracee::message(id)?;
                self.born(id, child)?;
            }
            0 if signal == libc::SIGTRAP | 0x80 => self.end_of_call(id)?,
            0 if signal == libc::SIGTRAP => {
                let signal = if self.breakpoint(id)? { 0 } else { libc::SIGTRAP };
                return Ok(Next::Run(Until::Filter, signal));
            }
            0 if signal == libc::SIGSTOP && (is_new || self.early.contains(&id)) => {
                // The stop with which a new thread begins. If its parent's report comes later, it
                // waits for that: its breakpoints are known only then, and one that is not known
                // would kill it.
                if is_new {
                    self.early.push(id);
                    self.threads.insert(id, Thread::new(process_of(id)));
                    return Ok(Next::Hold);
                }
                self.early.retain(|early| *early != id);
            }
            0 => return Ok(Next::Run(Until::Filter, signal)),
            _ => {}
        }
        Ok(Next::Run(Until::Filter, 0))
    }

    /// Enters a new thread or process, which has its parent's cost and breakpoints.
    fn born(&mut self, parent: i32, child: i32) -> io::Result<()> {
        let Some(maker) = self.threads.get(&parent).cloned() else { return Ok(()) };
        let process = process_of(child);
        self.watch.enter(process);
        let is_process = process != maker.process;
        if let Some(breakpoints) = self.processes.get(&maker.process).filter(|_| is_process) {
            // A child that is gone already needs none.
            if let Ok(breakpoints) = breakpoints.in_child(process) {
                self.processes.insert(process, breakpoints);
            }
            self.images.child(maker.process, process);
        }
        let stack = if is_process { maker.stack.clone() } else { Stack::default() };
        let thread = Thread { process, call: None, stack, ..maker };
        if self.threads.insert(child, thread).is_none() {
            self.early.push(child);
            return Ok(());
        }
        self.early.retain(|early| *early != child);
        tracee::resume(child, Until::Filter, 0)
    }

    /// Finds the functions of a program that has just been loaded.
    fn program(&mut self, process: i32) -> io::Result<()> {
        let mut breakpoints = Breakpoints::of(process)?;
        for (base, function) in self.images.of_program(process)? {
            breakpoints.set(base + function.offset, function)?;
        }
        self.processes.insert(process, breakpoints);
        Ok(())
    }

    fn keep(&mut self, draw: Draw) {
        if self.seen.draws.len() < KEPT {
            self.seen.draws.push(draw);
        }
    }
}

impl Thread {
    fn new(process: i32) -> Thread {
        let zero = Duration::ZERO;
        Thread { process, held: zero, last: zero, call: None, stack: Stack::default() }
    }
}

/// Returns the process of a thread; a thread that is gone counts as its own.
fn process_of(thread: i32) -> i32 {
    let status = std::fs::read_to_string(format!("/proc/{thread}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("Tgid:"));
    line.and_then(|number| number.trim().parse().ok()).unwrap_or(thread)
}
