//! Items for headwater's other crates. They are no part of the interface and may change in any
//! release, because those crates are released together with this one.
//!
//! They cannot be private: two crates in one process would then decide the same question by
//! different facts. But among the public functions a user would find them by completion and rely on
//! them, so they have a module of their own, whose name says whose they are.

pub use crate::cpuid::CpuidWords;

use crate::linux;

/// Returns the offset of the rseq area's `cpu_id` from the thread pointer, if this process may draw
/// in restartable sequences. Returns None before the first draw.
///
/// headwater-streams asks, so that both crates decide by the same facts.
#[must_use]
pub fn rseq_of_sections() -> Option<isize> {
    linux::rseq_of_sections()
}

/// Spares set-up the instruction CPUID, which leaves a virtual machine: 16 us a leaf under two
/// hypervisors. Zeros, and other CPUs than x86-64, change nothing.
pub fn know_cpuid(words: CpuidWords) {
    linux::know_cpuid(words);
}

/// Spares set-up the memory for the first handles ([`crate::Rng`]), which a later one then maps.
///
/// The preload library makes no handle, and every process on the machine would pay for the memory.
pub fn expect_no_handles() {
    linux::expect_no_handles();
}

/// Returns whether [`copies`](crate::copies) sees copies of this process, and of this machine; some
/// of the machine only after `headwater clones repair`. [`copies_word`] shows none of the second.
#[must_use]
pub fn copies_seen() -> (bool, bool) {
    linux::copies::seen()
}

/// Returns the address of a word that is 1 until a process may have been copied; readable for ever.
/// For callers that cannot call: 1 says that [`copies`](crate::copies) did not move because of this
/// process, and nothing of its machine.
#[must_use]
pub fn copies_word() -> *const u64 {
    linux::copies::word()
}

/// Returns the address of the number that [`copies`](crate::copies) returns; readable for ever. It
/// moves before [`copies_word`] is 1 again, so a thread that reads the word and then this count
/// knows of a copy that another thread has found.
#[must_use]
pub fn copies_count() -> *const u64 {
    linux::copies::count()
}

/// Notes for [`copies`](crate::copies) that this process is about to fork. A front calls it from a
/// handler of pthread_atfork, and [`after_fork`] in the parent, and `copies` in the child.
pub fn before_fork() {
    linux::copies::before_fork();
}

/// Notes for [`copies`](crate::copies) that the fork is made, in the parent.
pub fn after_fork() {
    linux::copies::after_fork();
}

/// Checks a stamp that a caller in another language keeps as a number, 0 for a new one, and brings
/// the number up to date.
pub fn check_stamp(stamp: &mut u64) -> crate::Freshness {
    crate::stamp::check(stamp)
}

/// The page that `headwater clones watch` writes, and that
/// [`generation`](crate::generation) reads.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
pub mod watch_page {
    pub use crate::linux::watch_page::{
        BY_KERNEL, BY_VMCLOCK, BY_VSOCK, BY_WALL_CLOCK, LEN, Layout, MAGIC, PATH, VERSION,
    };
    pub use crate::linux::watch_words::WatchWords;
}

/// The cargo features that this crate was built with, for the version text of programs. Cargo
/// unites the features that a program's crates ask for, so no crate above this one knows them.
pub const FEATURES: &[(&str, bool)] = &[
    ("rand_core", cfg!(feature = "rand_core")),
    ("std", cfg!(feature = "std")),
    ("testing", cfg!(feature = "testing")),
    ("uuid", cfg!(feature = "uuid")),
];
