//! Children of every kind.

use super::draws::{DEPTH, Drawer, draw_and_record, sum_up};
use super::record::{self, Event};
use std::sync::atomic::Ordering::{Relaxed, SeqCst};

/// The longest chain of forks. It is below the number of banks, because all forks of a chain may interrupt one frame.
pub(crate) const DEEPEST: u32 = 6;
/// The largest number of processes at a time.
const MOST: u32 = 64;

/// Forks as a program without a C library would. Returns true in the child, and false in the parent and if the round has
/// its largest number of processes. Async-signal-safe.
pub(crate) fn raw_fork(event: Event) -> bool {
    let shared = record::shared();
    if DEPTH.load(SeqCst) >= DEEPEST || record::is_over() {
        return false;
    }
    if shared.alive.fetch_add(1, Relaxed) >= MOST {
        shared.alive.fetch_sub(1, Relaxed);
        return false;
    }
    // SAFETY: the child has a copy of the address space and the same stack, as after a fork that bypasses the C library.
    // It allocates nothing and takes no lock that another thread may hold.
    let child = unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) };
    match child {
        0 => {
            DEPTH.fetch_add(1, SeqCst);
            true
        }
        1.. => {
            record::count(event);
            false
        }
        _ => {
            shared.alive.fetch_sub(1, Relaxed);
            false
        }
    }
}

/// Ends a child without the exit handlers that it inherited.
pub(crate) fn end() -> ! {
    sum_up();
    // SAFETY: ends the process, whatever state it is in.
    unsafe { libc::_exit(0) }
}

/// Makes a child that draws with the handle it inherited, and forks further.
pub(crate) fn fork(drawer: &mut Drawer, jumps: bool) {
    drawer.disturbed();
    if raw_fork(Event::Fork) {
        for batch in 0..drawer.choice.u32(1..20) {
            if batch == 1 && drawer.choice.bool() {
                fork(drawer, jumps);
            }
            drawer.disturbed();
            drawer.batch(jumps);
        }
        end();
    }
}

/// The stack of a child that shares its parent's memory.
pub(crate) type Stack = [u128; 8192];

/// Makes a child in this process's memory, as vfork and posix_spawn do. The child draws like one more thread.
pub(crate) fn spawn_in_shared_memory(stack: &mut Stack) {
    extern "C" fn child(_: *mut libc::c_void) -> libc::c_int {
        (0..20).for_each(|_| draw_and_record::<40>());
        0
    }
    // SAFETY: the child has an aligned stack of 128 KiB to itself and ends before this call returns (CLONE_VFORK). It
    // takes no lock of the C library, and receives no signal because timers belong to the parent.
    let pid = unsafe {
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
        libc::clone(child, (&raw mut *stack).add(1).cast(), flags, std::ptr::null_mut())
    };
    if pid > 0 {
        record::count(Event::ChildInSharedMemory);
    }
}
