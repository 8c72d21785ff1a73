//! The record of a round: all words that its processes drew, and the number of each event, in one
//! shared mapping.
//!
//! Adding a word needs neither a system call nor a lock, so children and signal handlers can do it.

use std::ptr::null_mut;
use std::slice;
use std::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};

/// Number of words that end a round. So many random words contain a repeat with probability n^2 /
/// 2^65 = 4e-7, the rate of false alarms of one round.
pub(crate) const CAPACITY: usize = 4 << 20;
const HEADER: usize = 4096;
pub(crate) const BYTES: usize = HEADER + 8 * CAPACITY;

/// A counted event.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// A whole word of a batch. Not all are recorded, but all are searched for zeros.
    Drawn,
    Thread,
    Fork,
    ForkInHandler,
    #[cfg_attr(not(feature = "hooks"), expect(dead_code))]
    ForkInDraw,
    ChildInSharedMemory,
    RawClone,
    Program,
    Signal,
    Jump,
    Reseed,
    Drop,
    PageOut,
    ModeChange,
    Quiesce,
    Move,
    Handle,
    Stop,
    Reclaim,
    TimeNamespace,
    Refusal,
    RefusedDraw,
    // Counters of the statuses of processes that ended regularly.
    Refill,
    Retry,
    Discarded,
    Busy,
    Fallback,
    Tripwire,
    SlotLost,
    InSections,
    UnderLocks,
    Unbuffered,
}

impl Event {
    pub(crate) const NAMES: [&str; 32] = [
        "words drawn in batches",
        "threads",
        "forks",
        "forks in handlers",
        "forks in draws, by hooks",
        "children in shared memory, parent waiting",
        "children in shared memory, parent drawing",
        "programs",
        "signals",
        "jumps",
        "reseeds",
        "drops",
        "page-outs",
        "mode changes",
        "quiesces",
        "moves",
        "handles",
        "storms of stops",
        "reclaims",
        "time namespaces made",
        "processes that lost getrandom",
        "draws refused",
        "refills",
        "retries",
        "bytes discarded",
        "busy",
        "fallbacks",
        "tripwires",
        "slots lost",
        "processes drew in sections",
        "processes drew under locks",
        "processes drew without buffers",
    ];
}

/// The mapping's first page. A new mapping holds zeros, which are its initial state.
#[repr(C)]
pub(crate) struct Shared {
    used: AtomicUsize,
    /// Number of words at the end that stay unwritten because a draw did not fit.
    refused: AtomicUsize,
    pub(crate) stop: AtomicBool,
    /// Number of living processes.
    pub(crate) alive: AtomicU32,
    events: [AtomicU64; Event::NAMES.len()],
}

const _: () = assert!(size_of::<Shared>() <= HEADER);

static SHARED: AtomicPtr<Shared> = AtomicPtr::new(null_mut());

/// Maps the record of `fd` for this process and all processes that it forks.
pub(crate) fn open(fd: i32) -> anyhow::Result<()> {
    // SAFETY: a new mapping at an address of the kernel's choice.
    let at = unsafe {
        let rights = libc::PROT_READ | libc::PROT_WRITE;
        libc::mmap(null_mut(), BYTES, rights, libc::MAP_SHARED, fd, 0)
    };
    anyhow::ensure!(at != libc::MAP_FAILED, "mmap: {}", std::io::Error::last_os_error());
    SHARED.store(at.cast(), SeqCst);
    Ok(())
}

/// Returns the header of the record that [`open`] mapped.
pub(crate) fn shared() -> &'static Shared {
    // SAFETY: `open` was called first in every process; the mapping stays, and is used through
    // atomics.
    unsafe { &*SHARED.load(Relaxed) }
}

pub(crate) fn count(event: Event) {
    count_many(event, 1);
}

pub(crate) fn count_many(event: Event, n: u64) {
    shared().events[event as usize].fetch_add(n, Relaxed);
}

/// Returns true once the round is over.
pub(crate) fn is_over() -> bool {
    shared().stop.load(Relaxed)
}

fn words() -> *mut u64 {
    SHARED.load(Relaxed).wrapping_byte_add(HEADER).cast()
}

/// Adds the whole words of `drawn`. Async-signal-safe. A full record ends the round.
pub(crate) fn add(drawn: &[u8]) {
    let (drawn, _) = drawn.as_chunks::<8>();
    let shared = shared();
    let at = shared.used.fetch_add(drawn.len(), SeqCst);
    if at + drawn.len() > CAPACITY {
        shared.refused.fetch_max(CAPACITY.saturating_sub(at), SeqCst);
        shared.stop.store(true, SeqCst);
        return;
    }
    for (i, word) in drawn.iter().enumerate() {
        // SAFETY: these places lie in the mapping, and the fetch_add above gave them to this call
        // alone.
        unsafe { words().add(at + i).write(u64::from_ne_bytes(*word)) };
    }
}

/// Returns the words and the counts, and empties the record. All writers must have ended.
pub(crate) fn take() -> (&'static mut [u64], [u64; Event::NAMES.len()]) {
    let shared = shared();
    let room = CAPACITY - shared.refused.swap(0, SeqCst);
    let used = shared.used.swap(0, SeqCst).min(room);
    shared.stop.store(false, SeqCst);
    shared.alive.store(0, SeqCst);
    let events = std::array::from_fn(|i| shared.events[i].swap(0, SeqCst));
    // SAFETY: `add` wrote these words, and all its callers have ended.
    (unsafe { slice::from_raw_parts_mut(words(), used) }, events)
}
