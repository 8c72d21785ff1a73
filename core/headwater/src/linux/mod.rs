//! The implementation for Linux on 64-bit CPUs.
//!
//! | module | job |
//! | --- | --- |
//! | `serve`, `control`, `status` | the entries: requests, changes of the state, reports |
//! | `setup`, `process` | builds and holds the state of the process |
//! | `guards` | values that change when buffered bytes become void |
//! | `pool` | pages of bytes and the draws from them |
//! | `per_request` | keys for one request: `strict`, large requests, fallbacks |
//! | `source`, `cipher`, `cpu` | kernel's bytes, expansion of keys, features and CPU's words |
//! | `sync`, `sys` | primitives for shared data; system calls and memory |
//!
//! The contract of this directory: any function here may run in a signal handler, in a forked
//! child, or in a destructor at exit. So nothing allocates, waits for another thread, or registers
//! anything.

mod atomic;
mod cipher;
mod control;
mod cpu;
mod failpoint;
mod guards;
mod per_request;
mod pool;
mod process;
mod serve;
mod setup;
mod source;
mod status;
mod sync;
#[cfg_attr(miri, path = "sys/miri.rs")]
mod sys;
#[cfg(feature = "testing")]
pub mod testing;

pub(crate) use control::{discard, init, quiesce, self_test};
pub(crate) use guards::{copies, watch_page};
pub(crate) use pool::owned::Handle;
pub(crate) use serve::{fill, fill_fresh, u32, u64};
pub(crate) use setup::{expect_no_handles, mode_from_environment};
pub(crate) use status::{changes, status};
pub(crate) use sync::watch_words;
#[cfg(feature = "uuid")]
pub(crate) use sys::since_1970;

use setup::process;

/// Implements [`crate::internal::know_cpuid`].
pub(crate) fn know_cpuid(words: crate::cpuid::CpuidWords) {
    cpu::features::know(words);
}

/// Returns the place of `cpu_id` for other crates' sections, where this process uses sections.
pub(crate) fn rseq_of_sections() -> Option<isize> {
    let process = setup::published()?;
    process.sections.missing().is_none().then(|| process.rseq.offset())
}
