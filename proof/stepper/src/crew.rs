//! Threads of a forked child, each on a CPU of its own, that do what their tracer says.

use crate::tracee::{self, Tracee, other};
use std::fs;
use std::io::{self, BufRead, BufReader, PipeReader, PipeWriter, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::Duration;

/// Seconds after which an alarm ends a child that hangs, for example on a lock that a thread of its
/// parent held at the fork.
const TOO_LONG: libc::c_uint = 120;

/// The traced threads of a child process.
pub struct Crew {
    /// In the order of the CPUs that were asked for. They are dropped before their process is.
    pub threads: Vec<Tracee>,
    _process: Process,
}

/// A child of ours, ended with this value.
struct Process(libc::pid_t);

/// A traced thread's side of the conversation.
pub struct CrewPlace<'a> {
    /// Which thread of the crew it is.
    pub index: usize,
    pipe: &'a PipeWriter,
    joined: bool,
}

impl Crew {
    /// Forks a child that has one thread on each of `cpus`. Each runs `body`, which prepares its
    /// data and then calls [`CrewPlace::told`] for each command.
    ///
    /// The child has a copy of this thread alone: data that another thread is changing stays half
    /// changed. Only the calling thread may use the returned crew.
    ///
    /// # Errors
    ///
    /// Returns the error of `body` before its first command, or the reason why the child cannot be
    /// traced.
    pub fn fork(
        cpus: &[usize],
        body: impl Fn(&mut CrewPlace) -> Result<(), String> + Sync,
    ) -> io::Result<Crew> {
        let (reader, writer) = io::pipe()?;
        // SAFETY: the child continues with the state of this thread, and leaves by `_exit`. The
        // parts of the C library that it needs work after a fork. If a lock of another thread makes
        // it hang, an alarm ends it.
        match unsafe { libc::fork() } {
            -1 => Err(io::Error::last_os_error()),
            0 => child(cpus, body, &writer),
            process => {
                drop(writer);
                let process = Process(process);
                let threads = announced(reader, cpus.len())?.into_iter();
                let threads = threads.map(|thread| Tracee::adopt(process.0, thread));
                Ok(Crew { threads: threads.collect::<io::Result<_>>()?, _process: process })
            }
        }
    }
}

/// Returns the ids of the threads, in their order, once each thread has announced its id.
fn announced(pipe: PipeReader, count: usize) -> io::Result<Vec<libc::pid_t>> {
    let mut ids = vec![0; count];
    let mut lines = BufReader::new(pipe).lines();
    for _ in 0..count {
        let Some(line) = lines.next().transpose()? else {
            return Err(other("the child ended early".to_owned()));
        };
        let Some((index, id)) = announcement(&line, count) else {
            // A reason may have several lines, and another thread announces itself meanwhile.
            let more =
                lines.map_while(Result::ok).filter(|line| announcement(line, count).is_none());
            return Err(other(more.fold(line, |reason, more| reason + "\n" + &more)));
        };
        ids[index] = id;
    }
    Ok(ids)
}

/// Returns a thread's number and id, if the line announces them.
fn announcement(line: &str, count: usize) -> Option<(usize, libc::pid_t)> {
    let (index, id) = line.split_once(' ')?;
    let index = index.parse().ok().filter(|&index: &usize| index < count)?;
    Some((index, id.parse().ok()?))
}

/// Runs the child's part: a thread on each CPU calls `body`.
fn child(
    cpus: &[usize],
    body: impl Fn(&mut CrewPlace) -> Result<(), String> + Sync,
    pipe: &PipeWriter,
) -> ! {
    // SAFETY: they set how this process ends.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        libc::alarm(TOO_LONG);
    }
    let run = |index: usize| {
        crate::cpus::pin(cpus[index]);
        let mut place = CrewPlace { index, pipe, joined: false };
        let outcome = catch_unwind(AssertUnwindSafe(|| body(&mut place)));
        if let Err(reason) = outcome.unwrap_or_else(|_| Err("the child panicked".to_owned())) {
            place.say(&reason);
        }
    };
    thread::scope(|scope| {
        for index in 0..cpus.len() {
            let run = &run;
            scope.spawn(move || {
                run(index);
                exit();
            });
        }
    });
    exit()
}

fn exit() -> ! {
    // SAFETY: ends the process without the exit handlers, which are the parent's.
    unsafe { libc::_exit(0) }
}

impl CrewPlace<'_> {
    /// Stops until the tracer sends a number. The first call, after all preparation, makes the
    /// thread a traced one.
    #[inline]
    pub fn told(&mut self) -> u64 {
        if !self.joined {
            self.join();
        }
        let number;
        // SAFETY: a breakpoint, at which the tracer sets the register; nothing else is touched.
        unsafe { std::arch::asm!("int3", inout("rdi") 0_u64 => number, options(nostack)) };
        number
    }

    #[cold]
    fn join(&mut self) {
        if let Err(error) = tracee::trace_me() {
            self.say(&format!("ptrace(2) is refused: {error}"));
            exit();
        }
        // SAFETY: takes nothing, returns a number.
        self.say(&format!("{} {}", self.index, unsafe { libc::gettid() }));
        self.joined = true;
    }

    /// Sends a line by one write, which other threads' writes do not break up.
    fn say(&self, line: &str) {
        let mut pipe = self.pipe;
        let _ = pipe.write_all(format!("{line}\n").as_bytes());
    }
}

impl Tracee {
    /// Sets, while the thread is at its stop, the number that [`CrewPlace::told`] will return.
    pub fn answer(&self, number: u64) -> io::Result<()> {
        let mut registers = self.registers()?;
        registers.rdi = number;
        self.set_registers(registers)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        tracee::end(self.0);
        // The kernel reports the end of a process only after that of all its threads. If one thread
        // could not be traced, those traced already have no other waiter, so each is waited for
        // here.
        let tasks = format!("/proc/{}/task", self.0);
        while tracee::has_ended(self.0).is_ok_and(|ended| !ended) {
            for task in fs::read_dir(&tasks).into_iter().flatten().flatten() {
                let id = task.file_name().to_str().and_then(|name| name.parse().ok());
                let _ = id.filter(|&id| id != self.0).map(tracee::has_ended);
            }
            thread::sleep(Duration::from_millis(1));
        }
    }
}
