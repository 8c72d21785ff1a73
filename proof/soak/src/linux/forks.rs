//! Children of every kind.

use super::draws::{DEPTH, Drawer, draw_and_record, sum_up};
use super::record::{self, Event};
use rustix::thread::{CpuSet, sched_setaffinity};
use std::sync::atomic::{
    AtomicU32,
    Ordering::{Relaxed, SeqCst},
};

/// The longest chain of forks. It is below the number of banks, because all forks of a chain may
/// interrupt one frame.
pub(crate) const DEEPEST: u32 = 6;
/// The largest number of processes at a time.
const MOST: u32 = 64;

/// Forks as a program without a C library would. Returns true in the child, and false in the parent
/// and if the round has its largest number of processes. Async-signal-safe.
pub(crate) fn raw_fork(event: Event) -> bool {
    let shared = record::shared();
    if DEPTH.load(SeqCst) >= DEEPEST || record::is_over() {
        return false;
    }
    if shared.alive.fetch_add(1, Relaxed) >= MOST {
        shared.alive.fetch_sub(1, Relaxed);
        return false;
    }
    // SAFETY: the child has a copy of the address space and the same stack, as after a fork that
    // bypasses the C library. It allocates nothing and takes no lock that another thread may hold.
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

/// Makes a child in a time namespace of its own, whose clock is a day ahead. All later children of
/// this thread go there too.
pub(crate) fn fork_a_day_ahead(drawer: &mut Drawer, jumps: bool) {
    // SAFETY: the first call changes the namespace of this thread's children alone; the name ends
    // with a zero, and the length is that of the text.
    unsafe {
        if libc::unshare(libc::CLONE_NEWTIME) == 0 {
            let file = libc::open(c"/proc/thread-self/timens_offsets".as_ptr(), libc::O_WRONLY);
            let offsets = b"monotonic 86400 0\nboottime 86400 0\n";
            // Refused once a child lives there: the clock of the first one stays.
            libc::write(file, offsets.as_ptr().cast(), offsets.len());
            libc::close(file);
            record::count(Event::TimeNamespace);
        }
    }
    fork(drawer, jumps);
}

/// The stack of a child that shares its parent's memory.
pub(crate) type Stack = [u128; 8192];

/// Makes a child in this process's memory, as vfork and posix_spawn do. The child draws like one
/// more thread.
pub(crate) fn spawn_in_shared_memory(stack: &mut Stack) {
    extern "C" fn child(_: *mut libc::c_void) -> libc::c_int {
        (0..20).for_each(|_| draw_and_record::<40>());
        0
    }
    // SAFETY: the child has an aligned stack of 128 KiB to itself and ends before this call returns
    // (CLONE_VFORK). It takes no lock of the C library, and receives no signal because timers
    // belong to the parent.
    let pid = unsafe {
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
        libc::clone(child, (&raw mut *stack).add(1).cast(), flags, std::ptr::null_mut())
    };
    if pid > 0 {
        record::count(Event::ChildInSharedMemory);
    }
}

/// Draws beside a child that shares this thread's memory and thread pointer, until the child has
/// ended.
///
/// The kernel does not know the child's rseq area, so it restarts nothing for the child, and the
/// child reads its parent's CPU there. The child moves from CPU to CPU to make the two differ.
pub(crate) fn draw_beside_a_clone(drawer: &mut Drawer, jumps: bool, stack: &mut Stack) {
    extern "C" fn child(_: *mut libc::c_void) -> libc::c_int {
        for cpu in 0..20 {
            move_to(cpu % 4);
            (0..20).for_each(|_| draw_and_record::<40>());
            (0..100).for_each(|_| draw_and_record::<8>());
        }
        0
    }
    let depth = DEPTH.load(SeqCst);
    // The kernel stores 0 here when the child no longer uses the memory, its stack included.
    let running = AtomicU32::new(1);
    // SAFETY: an aligned stack of 128 KiB that no other child uses: this function returns after the
    // child has ended, or in a copy of the process where the child does not exist. The child takes
    // no lock of the C library, and timers are its parent's. No TLS is passed, and no place for its
    // number.
    let pid = unsafe {
        let flags = libc::CLONE_VM | libc::CLONE_CHILD_CLEARTID | libc::SIGCHLD;
        let none = std::ptr::null_mut::<libc::c_void>();
        let (top, cleared) = ((&raw mut *stack).add(1).cast(), running.as_ptr());
        libc::clone(child, top, flags, none, none, none, cleared)
    };
    if pid > 0 {
        record::count(Event::RawClone);
        while running.load(SeqCst) != 0 && DEPTH.load(SeqCst) == depth {
            drawer.batch(jumps);
        }
    }
}

/// Moves this thread to a CPU. If the kernel refuses, because the process may not use it, the
/// thread stays.
pub(crate) fn move_to(cpu: usize) {
    let mut set = CpuSet::new();
    set.set(cpu);
    let _ = sched_setaffinity(None, &set);
}
