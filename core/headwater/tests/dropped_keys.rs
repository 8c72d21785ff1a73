//! Children in shared memory beside a kernel that drops pages: no word of the keystream under keys
//! of zeros is ever served, and none is zero or served twice.
//!
//! A page that the kernel drops reads as zeros, and AES under round keys of zeros is the same
//! stream on every machine. A refill may compute words of it, if its keys are dropped in the
//! middle. Sections once filled a page where it is served; a child that nothing aborts could then
//! write such words over a page that another thread had put meanwhile, and each run here served
//! hundreds of them.
#![cfg(all(target_os = "linux", target_arch = "x86_64", not(any(miri, sanitized))))]

mod common;
mod support;

use common::isolated_as;
use headwater::testing::{Force, set, slot_page};
use headwater::{Page, Path};
use headwater_testing::words::zeros_and_repeats;
use std::cell::UnsafeCell;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::time::Duration;
use support::machine::{bind, cpus, skip};
use support::memory::mappings_with;

const TEST: &str = "a_child_beside_a_page_dropper_serves_no_known_word";

/// Bytes of a request of the child: a page holds three, so most of its draws refill.
const CHILD_BYTES: usize = 1000;
/// Bytes of a request of the thread that drops pages.
const BYTES: usize = 512;
/// Requests of a child. The known words came within its first 30,000.
const REQUESTS: usize = 20_000;

/// The ways in which the pages are dropped.
#[derive(Clone, Copy, Debug)]
enum Drop {
    /// madvise(MADV_DONTNEED), which drops at once.
    DontNeed,
    /// madvise(MADV_PAGEOUT), which is the kernel's own reclaim.
    PageOut,
}

impl Drop {
    fn advice(self) -> libc::c_int {
        match self {
            Drop::DontNeed => libc::MADV_DONTNEED,
            Drop::PageOut => libc::MADV_PAGEOUT,
        }
    }
}

/// Returns the words of the streams under round keys of zeros: of a page, and of the bytes that a
/// refill answers its own request with.
fn known_words() -> HashSet<u64> {
    use core::arch::x86_64::*;
    #[target_feature(enable = "aes,sse2")]
    fn block(counter: u64) -> [u64; 2] {
        let zero = _mm_setzero_si128();
        let mut block = _mm_set_epi64x(counter.swap_bytes().cast_signed(), 0);
        for _ in 1..14 {
            block = _mm_aesenc_si128(block, zero);
        }
        block = _mm_aesenclast_si128(block, zero);
        let mut words = [0u64; 2];
        // SAFETY: 16 bytes of ours, in an access without alignment.
        unsafe { _mm_storeu_si128(words.as_mut_ptr().cast(), block) };
        words
    }
    let counters = (0..4096 / 16).chain((1 << 20)..(1 << 20) + 64);
    // SAFETY: sections are in use, and they ask for AES.
    counters.flat_map(|counter| unsafe { block(counter) }).collect()
}

/// The words of one task, in memory that no draw allocates. The task alone writes them, and they
/// are read when it has ended.
struct Words {
    words: UnsafeCell<Vec<u64>>,
    drawn: AtomicUsize,
}

// SAFETY: one task writes, and the others read after they have seen that it ended.
unsafe impl Sync for Words {}

impl Words {
    fn new(capacity: usize) -> Words {
        Words { words: UnsafeCell::new(vec![0; capacity]), drawn: AtomicUsize::new(0) }
    }

    /// Draws one request, and adds its words. Returns false if there is no room, or no answer.
    fn draw<const N: usize>(&self) -> bool {
        // SAFETY: this task alone uses the words now.
        let words = unsafe { &mut *self.words.get() };
        let at = self.drawn.load(SeqCst);
        let mut bytes = [0u8; N];
        if at + N / 8 > words.len() || headwater::fill(&mut bytes).is_err() {
            return false;
        }
        for (to, word) in words[at..].iter_mut().zip(bytes.as_chunks().0) {
            *to = u64::from_ne_bytes(*word);
        }
        self.drawn.store(at + N / 8, SeqCst);
        true
    }

    fn all(&self) -> &[u64] {
        // SAFETY: the task has ended.
        let words = unsafe { &*self.words.get() };
        &words[..self.drawn.load(SeqCst)]
    }
}

struct Child {
    words: Words,
    ended: AtomicBool,
}

extern "C" fn child(argument: *mut libc::c_void) -> libc::c_int {
    // SAFETY: `run` passes a reference that outlives the child.
    let child = unsafe { &*argument.cast::<Child>() };
    for _ in 0..REQUESTS {
        // A trip ends the sections of the process, and with them what this child can show.
        if !child.words.draw::<CHILD_BYTES>() || headwater::status().path != Path::Sections {
            break;
        }
    }
    child.ended.store(true, SeqCst);
    // SAFETY: ends this task alone, without the C library's handlers, which are the parent's.
    unsafe { libc::_exit(0) }
}

/// Runs one child of these flags beside a thread of its CPU that drops all pages.
fn run(flags: libc::c_int, drop: Drop) {
    let known = known_words();
    bind(&cpus()[..1]);
    headwater::init().unwrap();
    let status = headwater::status();
    if status.path != Path::Sections || status.page != Page::Droppable {
        return skip(TEST, "no sections, or no droppable pages");
    }
    let page = slot_page() as u64;
    let pages = mappings_with(&["dp"]).into_iter().find(|mapping| mapping.range.contains(&page));
    let pages = pages.expect("the page lies in droppable memory").range;
    let mine =
        Child { words: Words::new(REQUESTS * CHILD_BYTES / 8), ended: AtomicBool::new(false) };
    let ours = Words::new(4_000_000);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !mine.ended.load(SeqCst) {
                std::thread::sleep(Duration::from_micros(20));
                // SAFETY: droppable memory, whose contents may go at any instant.
                unsafe {
                    let len = (pages.end - pages.start) as usize;
                    libc::madvise(pages.start as *mut libc::c_void, len, drop.advice());
                }
                if !(ours.draw::<BYTES>() && ours.draw::<BYTES>()) {
                    break;
                }
            }
        });
        let mut stack = vec![0u8; 256 << 10];
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
        while !mine.ended.load(SeqCst) {
            std::thread::sleep(Duration::from_millis(1));
        }
        // SAFETY: waits for a child of this process; the status is not read.
        unsafe { libc::waitpid(pid, std::ptr::null_mut(), 0) };
    });
    let mut words = [mine.words.all(), ours.all()].concat();
    let served = words.iter().filter(|word| known.contains(word)).count();
    let (zeros, repeats) = zeros_and_repeats(&mut words);
    let counters = headwater::status().counters;
    println!("{} words of the child and {}: {counters:?}", mine.words.all().len(), words.len());
    assert_eq!((served, zeros, repeats), (0, 0, 0), "known, zeros, repeats: {counters:?}");
}

#[test]
fn a_child_beside_a_page_dropper_serves_no_known_word() {
    let backends: [(&str, &[Force]); 3] = [
        ("best", &[]),
        ("VAES-256", &[Force::NoAvx512]),
        ("AES-NI", &[Force::NoAvx512, Force::NoVaes]),
    ];
    for (backend, forced) in backends {
        for (kind, flags) in [("vfork", libc::CLONE_VFORK), ("clone", 0)] {
            for drop in [Drop::DontNeed, Drop::PageOut] {
                let variant = format!("{backend}, {kind}, {drop:?}");
                isolated_as(TEST, &variant, &[("HEADWATER_MODE", "buffered")], || {
                    for &fact in forced {
                        set(fact, true);
                    }
                    run(flags, drop);
                });
            }
        }
    }
}
