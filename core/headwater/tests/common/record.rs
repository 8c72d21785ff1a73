//! The record of all words that the processes of a test have drawn.
//!
//! The record lies in memory that is shared across forks, so a draw is put there without a system
//! call, by children and in signal handlers alike. One record for each process that calls [`open`],
//! and for all that it forks.

/// A packed crate has no support crate, and sorts more slowly.
#[cfg(reference)]
use headwater_testing::words::sort;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::SeqCst};

/// Words that a record holds. Untouched pages of it cost nothing.
const CAPACITY: usize = 8 << 20;

/// Words drawn so far, then the words. Null in a process without a record.
static RECORD: AtomicPtr<u64> = AtomicPtr::new(null_mut());

/// Begins an empty record, for this process and all that descend from it. The leftovers of an
/// orphan among them are left to this process, not to init.
pub(crate) fn open() {
    // SAFETY: a new mapping at an address of the kernel's choice; then a call without pointers.
    let (base, adopted) = unsafe {
        let base = libc::mmap(
            null_mut(),
            8 * (1 + CAPACITY),
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            -1,
            0,
        );
        (base, libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1))
    };
    assert!(base != libc::MAP_FAILED && adopted == 0);
    RECORD.store(base.cast(), SeqCst);
}

/// Makes room for this many words resident now. For a process whose memory is about to be limited.
pub(crate) fn touch(words: usize) {
    let base = RECORD.load(SeqCst);
    assert!(!base.is_null() && words <= CAPACITY);
    // SAFETY: in the mapping, after the counter; nothing is recorded yet.
    unsafe { base.add(1).write_bytes(0, words) };
}

/// Adds what was drawn, a multiple of 8 bytes. Async-signal-safe.
pub(crate) fn add(drawn: &[u8]) {
    let base = RECORD.load(SeqCst);
    assert!(!base.is_null() && drawn.len().is_multiple_of(8));
    let words = drawn.len() / 8;
    // SAFETY: the mapping begins with the counter, which is used as an atomic alone.
    let at = unsafe { AtomicUsize::from_ptr(base.cast()) }.fetch_add(words, SeqCst);
    assert!(at + words <= CAPACITY, "the record is full");
    // SAFETY: these words lie in the mapping and are this call's alone. If a fork comes in between,
    // both processes write the same there.
    unsafe {
        let place = base.add(1 + at).cast::<u8>();
        place.copy_from_nonoverlapping(drawn.as_ptr(), drawn.len());
    }
}

/// Waits for all descendants and looks at the record: no process failed, no word of it is zero,
/// none is there twice. Says how many words there are. The record is empty afterwards.
///
/// Words are compared rather than blocks of 16 bytes, because the shortest draws are words, and
/// pages are served in multiples of them: a block that two processes share shows as two words,
/// however it lies in what they asked for. False alarm: n words of sound generators hold a repeat
/// with probability n^2 / 2^65, which is 7e-8 for the 1.6 million of the largest record and 3e-6
/// for all records of one run of the tests together; and a zero with n / 2^64.
#[track_caller]
pub(crate) fn check() -> usize {
    wait_for_all();
    let base = RECORD.load(SeqCst);
    assert!(!base.is_null());
    // SAFETY: as in `add`; no writer is left.
    let words = unsafe {
        let count = AtomicUsize::from_ptr(base.cast()).swap(0, SeqCst);
        assert!(count <= CAPACITY);
        std::slice::from_raw_parts_mut(base.add(1), count)
    };
    sort(words);
    assert!(words.first() != Some(&0), "zeros were handed out");
    let repeats = words.windows(2).filter(|pair| pair[0] == pair[1]).count();
    assert_eq!(repeats, 0, "of {} words some were drawn twice", words.len());
    words.len()
}

#[cfg(not(reference))]
fn sort(words: &mut [u64]) {
    words.sort_unstable();
}

/// Waits until no descendant is left; each must have ended with status 0.
#[track_caller]
pub(crate) fn wait_for_all() {
    loop {
        let mut status = 0;
        // SAFETY: `status` is a valid place for one.
        match unsafe { libc::waitpid(-1, &raw mut status, 0) } {
            -1 => match std::io::Error::last_os_error().raw_os_error() {
                Some(libc::EINTR) => {}
                Some(libc::ECHILD) => return,
                error => panic!("waitpid failed: {error:?}"),
            },
            child => assert_eq!(status, 0, "process {child} ended with {status:#x}"),
        }
    }
}

/// Forks by the C library; the child runs `body` and ends.
pub(crate) fn fork(body: impl FnOnce()) {
    // SAFETY: `body` of these tests draws, records and forks; other threads' locks are not asked
    // for.
    match unsafe { libc::fork() } {
        -1 => panic!("fork: {}", std::io::Error::last_os_error()),
        0 => {
            body();
            end();
        }
        _ => {}
    }
}

/// Forks as a program without a C library would; true in the child. Async-signal-safe.
pub(crate) fn raw_fork() -> bool {
    // SAFETY: a copy of the address space and no new stack: a fork, of which the C library hears
    // nothing.
    let child = unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) };
    assert!(child >= 0, "clone failed");
    child == 0
}

/// Ends a child, without the exit handlers it has inherited.
pub(crate) fn end() -> ! {
    // SAFETY: ends the process, whatever state it is in.
    unsafe { libc::_exit(0) }
}

/// Draws `N` bytes by the free function, and records them.
pub(crate) fn draw<const N: usize>() {
    add(&headwater::array::<N>().expect("random bytes"));
}

/// Draws once of each kind, a short draw first. The page serves 1,344 of these bytes, because a
/// request above 1 KiB has a key of its own.
pub(crate) fn draw_all_kinds() {
    add(&headwater::u64().expect("a random word").to_ne_bytes());
    draw::<16>();
    draw::<40>();
    draw::<256>();
    draw::<1024>();
    draw::<4096>();
}

/// Draws as [`draw_all_kinds`] does, from a handle.
pub(crate) fn draw_all_kinds_from(rng: &mut headwater::Rng) {
    add(&rng.next_u64().to_ne_bytes());
    let mut bytes = [0; 4096];
    for len in [16, 40, 256, 1024, 4096] {
        rng.fill(&mut bytes[..len]).expect("random bytes");
        add(&bytes[..len]);
    }
}
