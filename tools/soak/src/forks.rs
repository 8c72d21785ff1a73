//! Children of every kind.

use crate::draws::{DEPTH, Drawer, draw_and_record, sum_up};
use crate::record::{self, Event};
use std::sync::atomic::Ordering::{Relaxed, SeqCst};

/// So many forks may lie between the first process and the last: below the number of banks, for all may come on
/// top of one interrupted frame.
pub(crate) const DEEPEST: u32 = 6;
/// Processes that may be there at once.
const MOST: u32 = 64;

/// Forks as a program without a C library would; true in the child. False too if there are enough. Async-signal-safe.
pub(crate) fn raw_fork(event: Event) -> bool {
    let shared = record::shared();
    if DEPTH.load(SeqCst) >= DEEPEST || record::is_over() {
        return false;
    }
    if shared.alive.fetch_add(1, Relaxed) >= MOST {
        shared.alive.fetch_sub(1, Relaxed);
        return false;
    }
    // SAFETY: a copy of the address space and no new stack: a fork, of which the C library hears nothing. The child
    // allocates nothing and takes no lock that another thread may have held.
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

/// Ends a child, without the exit handlers it has inherited.
pub(crate) fn end() -> ! {
    sum_up();
    // SAFETY: ends the process, whatever state it is in.
    unsafe { libc::_exit(0) }
}

/// A child that draws with the handle it has inherited, and forks further.
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

/// A stack for a child that shares its parent's memory.
pub(crate) type Stack = [u128; 8192];

/// A child in this process's memory, as vfork and posix_spawn make it. It draws as one more thread does.
pub(crate) fn spawn_in_shared_memory(stack: &mut Stack) {
    extern "C" fn child(_: *mut libc::c_void) -> libc::c_int {
        (0..20).for_each(|_| draw_and_record::<40>());
        0
    }
    // SAFETY: an aligned stack of 128 KiB of this child's own, which ends before this call returns; it takes no lock of
    // the C library. No signal comes to it: timers are the parent's.
    let pid = unsafe {
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
        libc::clone(child, (&raw mut *stack).add(1).cast(), flags, std::ptr::null_mut())
    };
    if pid > 0 {
        record::count(Event::ChildInSharedMemory);
    }
}
