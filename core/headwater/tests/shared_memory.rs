//! Children in shared memory beside drawing threads, in numbers: no word twice, and no zero.
//!
//! A child in shared memory (vfork, or clone without a thread pointer of its own) reads its
//! parent's rseq area, and the kernel restarts nothing for it. Without RDPID in a section,
//! thousands of words repeated in this test. `HEADWATER_TEST_EPISODES` sets the number of
//! children; 2,000 of them draw 10^9 words.
#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]

mod common;

use common::isolated_as;
use headwater_testing::words::zeros_and_repeats;
use std::cell::UnsafeCell;
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::SeqCst};

/// Words that a child draws.
const WORDS: usize = 500_000;
/// Threads that draw beside it.
const THREADS: usize = 3;

/// The words of one drawing task. Each is written by its task alone, and read when all have ended.
struct Words {
    words: UnsafeCell<Vec<u64>>,
    drawn: AtomicUsize,
}

// SAFETY: one task writes, and the others read after it has ended (`drawn`, and the thread's join).
unsafe impl Sync for Words {}

impl Words {
    fn new(capacity: usize) -> Words {
        Words { words: UnsafeCell::new(vec![0; capacity]), drawn: AtomicUsize::new(0) }
    }

    /// Draws until the room is full or `stop` is set: words, and blocks of 16 and 32 bytes. If it
    /// `moves`, the task goes from CPU to CPU, which its rseq area does not follow if it is its
    /// parent's.
    fn fill(&self, stop: &AtomicBool, moves: bool) {
        // SAFETY: the caller is the only task that uses these words now.
        let words = unsafe { &mut *self.words.get() };
        let mut drawn = 0;
        let mut bytes = [0u8; 32];
        while drawn + 7 <= words.len() && !stop.load(SeqCst) {
            if moves && drawn % 7_000 == 0 {
                move_to(drawn / 7_000);
            }
            words[drawn] = headwater::u64().unwrap_or(0);
            let mut block = [0u8; 16];
            if headwater::fill(black_box(&mut block)).is_err() {
                block.fill(0);
            }
            if headwater::fill(black_box(&mut bytes)).is_err() {
                bytes.fill(0);
            }
            let all = block.as_chunks().0.iter().chain(bytes.as_chunks().0);
            for (to, word) in words[drawn + 1..].iter_mut().zip(all) {
                *to = u64::from_ne_bytes(*word);
            }
            drawn += 7;
        }
        self.drawn.store(drawn, SeqCst);
    }
}

/// Moves this task to the CPU of this number, counted round. Allocates nothing.
fn move_to(number: usize) {
    // SAFETY: a set of CPUs is any bits; the calls read and write these sets alone. A CPU that this
    // process may not use is refused, and the task stays where it is.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        let cpus = libc::sysconf(libc::_SC_NPROCESSORS_ONLN).max(1) as usize;
        libc::CPU_SET(number % cpus, &mut set);
        libc::sched_setaffinity(0, size_of_val(&set), &set);
    }
}

struct Child {
    words: Words,
    never: AtomicBool,
    ended: AtomicU32,
}

extern "C" fn child(argument: *mut libc::c_void) -> libc::c_int {
    // SAFETY: `episode` passes a reference that outlives the child.
    let child = unsafe { &*argument.cast::<Child>() };
    child.words.fill(&child.never, true);
    child.ended.store(1, SeqCst);
    // SAFETY: ends this task alone, without the C library's handlers, which are the parent's.
    unsafe { libc::_exit(0) }
}

/// Runs one child of these flags beside drawing threads, and checks the words of all of them.
/// Returns how many words the child drew.
fn episode(flags: libc::c_int, stack: &mut [u8]) -> usize {
    let mine =
        Child { words: Words::new(WORDS), never: AtomicBool::new(false), ended: AtomicU32::new(0) };
    let stop = AtomicBool::new(false);
    let threads: Vec<Words> = (0..THREADS).map(|_| Words::new(4 * WORDS)).collect();
    std::thread::scope(|scope| {
        for words in &threads {
            scope.spawn(|| words.fill(&stop, false));
        }
        // SAFETY: the child runs `child` on a stack of its own and never returns to this frame.
        let pid = unsafe {
            libc::clone(
                child,
                stack.as_mut_ptr_range().end.cast(),
                libc::CLONE_VM | flags | libc::SIGCHLD,
                (&raw const mine).cast_mut().cast(),
            )
        };
        assert!(pid > 0);
        // With CLONE_VFORK the child has ended. Else this thread, whose rseq area the child shares,
        // draws too.
        while mine.ended.load(SeqCst) == 0 {
            black_box(headwater::u64().unwrap());
        }
        // SAFETY: waits for a child of this process; the status is not read.
        unsafe { libc::waitpid(pid, std::ptr::null_mut(), 0) };
        stop.store(true, SeqCst);
    });
    let drawn = mine.words.drawn.load(SeqCst);
    let mut all = Vec::new();
    for words in threads.iter().chain([&mine.words]) {
        // SAFETY: all tasks have ended.
        let words_of_it = unsafe { &*words.words.get() };
        all.extend_from_slice(&words_of_it[..words.drawn.load(SeqCst)]);
    }
    let (zeros, twice) = zeros_and_repeats(&mut all);
    let counters = headwater::status().counters;
    assert_eq!((zeros, twice), (0, 0), "of {} words: zeros, repeats; {counters:?}", all.len());
    drawn
}

#[test]
fn children_in_shared_memory_repeat_nothing() {
    let episodes = std::env::var("HEADWATER_TEST_EPISODES").ok().and_then(|n| n.parse().ok());
    for (variant, flags) in [("vfork", libc::CLONE_VFORK), ("clone", 0)] {
        isolated_as("children_in_shared_memory_repeat_nothing", variant, &[], || {
            headwater::init().unwrap();
            let mut stack = vec![0u8; 256 << 10];
            let mut words = 0;
            let episodes = episodes.unwrap_or(8);
            for done in 1..=episodes {
                words += episode(flags, &mut stack);
                // A run that is killed at the limit for hangs shows by these lines whether it
                // still advanced.
                if done % 10 == 0 {
                    println!("{variant}: {done} of {episodes} children");
                }
            }
            let status = headwater::status();
            println!(
                "{variant}: {words} words of children, {:?}, {:?}",
                status.path, status.counters
            );
        });
    }
}
