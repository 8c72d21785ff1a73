//! The system calls of a child, seen by ptrace, and answered otherwise where a test wants it.

use super::children::{Ending, fork};
use libc::pid_t;
use std::ptr::null_mut;

/// One call at its entry.
pub(crate) struct Entry {
    pub(crate) number: libc::c_long,
    pub(crate) args: [u64; 6],
    /// The file that openat opens.
    pub(crate) path: String,
}

/// The change that a test makes to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meddle {
    /// It is not made, and answers this: a length, or an errno below 0.
    Answer(i64),
    /// It is made with this third argument: getrandom's is its flags, read's its length.
    Third(u64),
    /// The second argument: getrandom's length.
    Second(u64),
}

/// True if calls can be answered otherwise on this CPU; elsewhere they can only be observed.
pub(crate) const CAN_MEDDLE: bool = cfg!(target_arch = "x86_64");

const MARK: libc::c_long = libc::SYS_getppid;

fn mark() {
    // SAFETY: takes nothing and changes nothing.
    unsafe { libc::syscall(MARK) };
}

/// Runs `body` in a forked child, after `prepare`, and shows each of its calls to `see`; None if
/// tracing is refused.
pub(crate) fn traced(
    prepare: impl FnOnce(),
    body: impl FnOnce(),
    mut see: impl FnMut(Entry) -> Option<Meddle>,
) -> Option<()> {
    let child = fork(|| {
        prepare();
        // SAFETY: asks to be traced by the parent, then stops until the parent lets it continue.
        unsafe {
            if libc::ptrace(libc::PTRACE_TRACEME, 0, 0_usize, 0_usize) != 0 {
                return 77;
            }
            libc::raise(libc::SIGSTOP);
        }
        mark();
        body();
        mark();
        0
    });
    let mut marks = 0;
    let mut meddled = None;
    let mut first_stop = true;
    loop {
        let mut status = 0;
        // SAFETY: `status` is an int that waitpid writes.
        assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
        if !libc::WIFSTOPPED(status) {
            return match Ending::of(status) {
                Ending::Exited(0) => Some(()),
                Ending::Exited(77) => None,
                other => panic!("the traced child ended by {other:?}"),
            };
        }
        if first_stop {
            first_stop = false;
            // Without TRACESYSGOOD the kernel does not say that a stop is a system call's. With
            // EXITKILL a test that panics leaves no child.
            let options = libc::PTRACE_O_TRACESYSGOOD | libc::PTRACE_O_EXITKILL;
            // SAFETY: the child is stopped, and the options are a number.
            unsafe { libc::ptrace(libc::PTRACE_SETOPTIONS, child, 0_usize, options as usize) };
        }
        let info = syscall_info(child);
        match info.op {
            libc::PTRACE_SYSCALL_INFO_ENTRY => {
                // SAFETY: of the union, `op` says that this is the part that is there.
                let entry = unsafe { info.u.entry };
                if entry.nr == MARK as u64 {
                    marks += 1;
                } else if marks == 1 {
                    let number = entry.nr as libc::c_long;
                    let opens = number == libc::SYS_openat;
                    let path = if opens { string_at(child, entry.args[1]) } else { String::new() };
                    meddled = see(Entry { number, args: entry.args, path });
                    if let Some(meddle) = meddled {
                        change_entry(child, meddle);
                    }
                }
            }
            libc::PTRACE_SYSCALL_INFO_EXIT => {
                if let Some(meddle) = meddled.take() {
                    change_exit(child, meddle);
                }
            }
            _ => {}
        }
        // SAFETY: the child is stopped.
        unsafe { libc::ptrace(libc::PTRACE_SYSCALL, child, 0_usize, 0_usize) };
    }
}

fn syscall_info(child: pid_t) -> libc::ptrace_syscall_info {
    // SAFETY: the child is stopped; zeros are a valid structure, which is as large as the size
    // passed.
    unsafe {
        let mut info: libc::ptrace_syscall_info = std::mem::zeroed();
        let size = size_of_val(&info);
        libc::ptrace(libc::PTRACE_GET_SYSCALL_INFO, child, size, &raw mut info);
        info
    }
}

/// Returns the C string at this address of the child.
fn string_at(child: pid_t, at: u64) -> String {
    let mut bytes = Vec::new();
    while !bytes.contains(&0) {
        let next = at as usize + bytes.len();
        // SAFETY: reads a word of the stopped child; the C library returns it.
        let word = unsafe { libc::ptrace(libc::PTRACE_PEEKDATA, child, next, null_mut::<u8>()) };
        bytes.extend(word.to_ne_bytes());
    }
    let len = bytes.iter().position(|&byte| byte == 0).unwrap();
    String::from_utf8_lossy(&bytes[..len]).into_owned()
}

#[cfg(target_arch = "x86_64")]
mod registers {
    use super::Meddle;
    use libc::{pid_t, user_regs_struct};
    use std::cell::Cell;

    thread_local! {
        /// The register that was changed at the entry, as it was: a call leaves it alone, so the
        /// child may rely on it afterwards.
        static SAVED: Cell<u64> = const { Cell::new(0) };
    }

    fn change(child: pid_t, change: impl FnOnce(&mut user_regs_struct)) {
        // SAFETY: the child is stopped; zeros are a valid structure, which the kernel writes and
        // reads.
        unsafe {
            let mut registers: user_regs_struct = std::mem::zeroed();
            let null = 0_usize;
            assert_eq!(libc::ptrace(libc::PTRACE_GETREGS, child, null, &raw mut registers), 0);
            change(&mut registers);
            assert_eq!(libc::ptrace(libc::PTRACE_SETREGS, child, null, &raw const registers), 0);
        }
    }

    pub(super) fn change_entry(child: pid_t, meddle: Meddle) {
        change(child, |registers| match meddle {
            // No call has this number.
            Meddle::Answer(_) => registers.orig_rax = u64::MAX,
            Meddle::Second(value) => SAVED.set(std::mem::replace(&mut registers.rsi, value)),
            Meddle::Third(value) => SAVED.set(std::mem::replace(&mut registers.rdx, value)),
        });
    }

    pub(super) fn change_exit(child: pid_t, meddle: Meddle) {
        change(child, |registers| match meddle {
            Meddle::Answer(answer) => registers.rax = answer as u64,
            Meddle::Second(_) => registers.rsi = SAVED.get(),
            Meddle::Third(_) => registers.rdx = SAVED.get(),
        });
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod registers {
    use super::Meddle;

    pub(super) fn change_entry(_: libc::pid_t, _: Meddle) {
        unreachable!("no test meddles where CAN_MEDDLE is false");
    }

    pub(super) use change_entry as change_exit;
}

use registers::{change_entry, change_exit};
