//! A fork in a signal handler at every instruction of every section that a draw or a refill runs.
//!
//! Steps cannot reach these places, because each trap aborts the section (`stepped.rs`). So a
//! breakpoint is written over one instruction at a time: the section runs up to it, the kernel
//! aborts the section to deliver the signal, and the handler forks. Parent and child continue with
//! the interrupted draw and with further ones, into one record, where no word is zero and none
//! repeats.
#![cfg(all(target_os = "linux", target_arch = "x86_64", not(any(loom, miri, sanitized))))]

mod common;

use common::{isolated, record};
use headwater::Path;
use headwater_stepper::{Breakpoint, Section};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering::SeqCst};

/// The breakpoint that is set; null while none is.
static BREAKPOINT: AtomicPtr<Breakpoint> = AtomicPtr::new(null_mut());
/// This process was forked by the handler.
static IS_CHILD: AtomicBool = AtomicBool::new(false);
/// The breakpoint was hit.
static IS_HIT: AtomicBool = AtomicBool::new(false);

/// Draws by each kind of section: a word, one block, several blocks.
fn draw() {
    record::add(&headwater::u64().unwrap().to_ne_bytes());
    add::<16>();
    add::<40>();
}

fn add<const N: usize>() {
    record::add(&headwater::array::<N>().unwrap());
}

/// Forks at the breakpoint's first hit. The child draws first if `CHILD_FIRST` is set.
extern "C" fn fork_here(_: libc::c_int) {
    // SAFETY: `at_each_instruction` keeps the breakpoint alive while this pointer is set.
    if let Some(breakpoint) = unsafe { BREAKPOINT.load(SeqCst).as_ref() } {
        breakpoint.clear();
    }
    if IS_HIT.swap(true, SeqCst) {
        return;
    }
    // SAFETY: no stack and no flags but the signal: a fork without the C library's handlers.
    match unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) } {
        0 => {
            IS_CHILD.store(true, SeqCst);
            draw();
        }
        child => {
            assert!(child > 0);
            draw();
        }
    }
}

/// Runs `draws` with a breakpoint at `at`. True if it was hit.
fn with_fork_at(at: u64, draws: fn()) -> Option<bool> {
    IS_HIT.store(false, SeqCst);
    // SAFETY: the first byte of an instruction of a section, which only this thread runs.
    let mut breakpoint = unsafe { Breakpoint::set(at) }?;
    BREAKPOINT.store(&raw mut breakpoint, SeqCst);
    draws();
    BREAKPOINT.store(null_mut(), SeqCst);
    drop(breakpoint);
    draw();
    if IS_CHILD.load(SeqCst) {
        // SAFETY: ends the child.
        unsafe { libc::_exit(0) };
    }
    Some(IS_HIT.load(SeqCst))
}

#[test]
fn a_fork_at_every_instruction_of_a_section() {
    let test = "a_fork_at_every_instruction_of_a_section";
    isolated(test, || {
        headwater::init().unwrap();
        let status = headwater::status();
        if status.path != Path::Sections {
            println!("skipped: {test}: {}", status.path.why().unwrap_or(status.reason));
            return;
        }
        // SAFETY: an action of zeros has no flags and an empty mask; the handler has the matching
        // type.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = fork_here as extern "C" fn(libc::c_int) as *const () as usize;
            assert_eq!(libc::sigaction(libc::SIGTRAP, &raw const action, null_mut()), 0);
        }
        record::open();
        // Enough for every length class and for a refill.
        let draws = || {
            (0..2).for_each(|_| draw());
            (0..8).for_each(|_| add::<1000>());
        };
        let (mut places, mut hits) = (0, 0);
        for section in Section::all() {
            for instruction in section.instructions() {
                let Some(hit) = with_fork_at(instruction.ip(), draws) else {
                    println!("skipped: {test}: code cannot be written here");
                    return;
                };
                places += 1;
                hits += usize::from(hit);
            }
            record::check();
        }
        println!("{} sections, {places} instructions, {hits} forks", Section::all().len());
        // Three kinds of draws and one put, of 20 instructions at the least.
        assert!(hits > 80, "{hits} forks at {places} instructions");
    });
}
