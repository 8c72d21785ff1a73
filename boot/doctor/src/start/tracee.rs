//! The kernel's side of tracing: ptrace(2), a filter of seccomp(2), and waiting.
//!
//! Everything that needs `unsafe` here is a call of the kernel with plain numbers, or with a place
//! on this stack. The words of the traced program are read and written through /proc/PID/mem,
//! which needs none.

#![allow(unsafe_code)] // rustix has neither ptrace nor filters

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

pub(super) type Registers = libc::user_regs_struct;

/// The system calls at which a traced program stops. All others run at full speed, because the
/// filter decides in the kernel.
const CALLS: [i64; 4] = [libc::SYS_getrandom, libc::SYS_open, libc::SYS_openat, libc::SYS_read];

const AUDIT_ARCH_X86_64: u32 = 0xc000_003e;
const OPTIONS: i32 = libc::PTRACE_O_TRACESYSGOOD
    | libc::PTRACE_O_TRACEFORK
    | libc::PTRACE_O_TRACEVFORK
    | libc::PTRACE_O_TRACECLONE
    | libc::PTRACE_O_TRACEEXEC
    | libc::PTRACE_O_TRACESECCOMP
    | libc::PTRACE_O_EXITKILL;

/// The next stop of a thread that continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Until {
    /// Until the next stop of the filter.
    Filter,
    /// Until the end of the system call in which it is.
    EndOfCall,
}

/// Starts a program that stops at its first instruction. Its output is dropped: the report has the
/// terminal.
pub(super) fn spawn(command: &[OsString]) -> io::Result<u32> {
    let (program, arguments) = command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null());
    let filter = filter();
    // SAFETY: between fork and exec only the three system calls of `submit` are made, each of which
    // is async-signal-safe, and the filter's memory was copied with the process.
    unsafe { command.pre_exec(move || submit(&filter)) };
    // The tracer waits by number, since a handle would wait for the first process only.
    Ok(command.spawn()?.id())
}

/// Makes this process a tracee of its parent, and installs the filter.
fn submit(filter: &[libc::sock_filter]) -> io::Result<()> {
    let program = libc::sock_fprog {
        len: u16::try_from(filter.len()).map_err(io::Error::other)?,
        filter: filter.as_ptr().cast_mut(),
    };
    // SAFETY: the numbers are those of ptrace(2) and prctl(2), and the kernel copies `program` and
    // the filter, both of which live until the call returns.
    let failed = unsafe {
        libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) != 0
            || libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
            || libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) != 0
    };
    if failed { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Returns the filter in the kernel's language: stop at `CALLS`, and at a mapping of code.
fn filter() -> Vec<libc::sock_filter> {
    const CALLS_AT: usize = 3;
    const ALLOW: usize = CALLS_AT + CALLS.len() + 3;
    const STOP: usize = ALLOW + 1;
    let step = |code: u32, jt, jf, k| libc::sock_filter { code: code as u16, jt, jf, k };
    let load = |at| step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, at);
    // A jump counts the steps between, so each distance is written as two places.
    let jump = |how: u32, k: u32, at: usize, yes: usize, no: usize| {
        step(libc::BPF_JMP | how | libc::BPF_K, (yes - at - 1) as u8, (no - at - 1) as u8, k)
    };
    // struct seccomp_data: the number at 0, the architecture at 4, the arguments from 16 on.
    let mut filter = vec![load(4), jump(libc::BPF_JEQ, AUDIT_ARCH_X86_64, 1, 2, ALLOW), load(0)];
    for call in CALLS {
        let at = filter.len();
        filter.push(jump(libc::BPF_JEQ, call as u32, at, STOP, at + 1));
    }
    let at = filter.len();
    filter.push(jump(libc::BPF_JEQ, libc::SYS_mmap as u32, at, at + 1, ALLOW));
    filter.push(load(16 + 2 * 8));
    filter.push(jump(libc::BPF_JSET, libc::PROT_EXEC as u32, at + 2, STOP, ALLOW));
    filter.push(step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW));
    filter.push(step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_TRACE));
    debug_assert_eq!(filter.len(), STOP + 1, "every jump is to an answer");
    filter
}

/// Sets the options of a program that has just stopped for the first time: stop at each new
/// process, thread and program, and kill everything if this process ends.
pub(super) fn set_options(thread: i32) -> io::Result<()> {
    // SAFETY: no address is passed, only the options as a number.
    done(unsafe { libc::ptrace(libc::PTRACE_SETOPTIONS, thread, 0, OPTIONS) })
}

/// Lets a stopped thread run, with a signal or 0. A thread that was killed meanwhile is no error:
/// its end is reported by the next wait.
pub(super) fn resume(thread: i32, until: Until, signal: i32) -> io::Result<()> {
    let request = match until {
        Until::Filter => libc::PTRACE_CONT,
        Until::EndOfCall => libc::PTRACE_SYSCALL,
    };
    // SAFETY: no address is passed, only the signal as a number.
    match done(unsafe { libc::ptrace(request, thread, 0, signal) }) {
        Err(error) if error.raw_os_error() == Some(libc::ESRCH) => Ok(()),
        result => result,
    }
}

/// Returns the number that came with a stop: the new thread of a clone.
pub(super) fn message(thread: i32) -> io::Result<i32> {
    let mut message: libc::c_ulong = 0;
    // SAFETY: the kernel writes one `c_ulong` to the fourth argument, and that is what it is.
    done(unsafe { libc::ptrace(libc::PTRACE_GETEVENTMSG, thread, 0, &raw mut message) })?;
    i32::try_from(message).map_err(io::Error::other)
}

/// Returns the registers of a stopped thread.
pub(super) fn registers(thread: i32) -> io::Result<Registers> {
    let mut registers = std::mem::MaybeUninit::<Registers>::zeroed();
    // SAFETY: the kernel writes one `user_regs_struct`, the type of the place.
    done(unsafe { libc::ptrace(libc::PTRACE_GETREGS, thread, 0, registers.as_mut_ptr()) })?;
    // SAFETY: all fields are integers, which zeros fill as well as the kernel's words do.
    Ok(unsafe { registers.assume_init() })
}

/// Sets the registers of a stopped thread.
pub(super) fn set_registers(thread: i32, registers: &Registers) -> io::Result<()> {
    // SAFETY: the kernel reads one `user_regs_struct`, the type of the place.
    done(unsafe { libc::ptrace(libc::PTRACE_SETREGS, thread, 0, &raw const *registers) })
}

fn done(result: libc::c_long) -> io::Result<()> {
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Waits for the next thread that stops or ends, and returns it with its status. The error is
/// `ECHILD` when no tracee is left. Children of other threads of this process are theirs.
pub(super) fn next() -> io::Result<(i32, i32)> {
    loop {
        let mut status = 0;
        let flags = libc::__WALL | libc::__WNOTHREAD;
        // SAFETY: the kernel writes one int to `status`.
        match unsafe { libc::waitpid(-1, &raw mut status, flags) } {
            -1 => {
                let error = io::Error::last_os_error();
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
            thread => return Ok((thread, status)),
        }
    }
}

/// Ends a process at once.
pub(super) fn kill(process: i32) {
    // SAFETY: two numbers; a process that is gone already is an error that changes nothing.
    unsafe { libc::kill(process, libc::SIGKILL) };
}

/// The calls of [`practice`].
pub(super) const PRACTICE: u32 = 1000;

/// Starts a process of this program that makes `PRACTICE` calls at which the filter stops, and
/// ends. Their cost is that of a stop.
pub(super) fn practice() -> io::Result<i32> {
    let filter = filter();
    // SAFETY: the child makes system calls and nothing else: no allocation, no lock, no return into
    // the parent's code, so the locks of other threads that it was copied with do not matter.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            if submit(&filter).is_ok() {
                // SAFETY: `raise` takes a number, and a read of no descriptor writes nothing.
                unsafe {
                    libc::raise(libc::SIGSTOP);
                    for _ in 0..PRACTICE {
                        libc::syscall(libc::SYS_read, -1, 0, 0);
                    }
                }
            }
            // SAFETY: it runs no destructor or handler of the parent's.
            unsafe { libc::_exit(0) }
        }
        child => Ok(child),
    }
}
