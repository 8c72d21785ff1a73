//! Drawing random bytes in restartable sequences (rseq), as a model that a checker runs through
//! every schedule.
//!
//! The protocol: each CPU has a line of counts and a page of words, and only sections that run on
//! that CPU touch them. The kernel aborts a section whose thread it preempts, migrates or
//! interrupts by a signal, so the section needs no lock. `take` serves a word from the page,
//! `make` makes a stream of new words and puts it there. Each instruction that touches memory is
//! one step here, and the kernel may act between any two of them.
//!
//! The model is simpler than a machine in one point: memory is sequentially consistent. For two
//! threads on one CPU that is exact on x86-64, as a context switch drains the store buffer. For
//! threads on two CPUs, which meet in one line only where the protocol is already lost, it is a
//! simplification. The marker of a cloned machine is the word that moves at a reseed, as both are
//! compared at the same place. Bytes that the kernel itself hands out, where no page can serve, are
//! taken as fresh and are not followed.
//!
//! `cargo test -p headwater-model --release` runs all configurations, and the mutants of the
//! protocol.

mod alive;
mod config;
mod kernel;
mod make;
mod memory;
mod reduce;
mod search;
mod state;
mod step;
mod take;

pub use config::{Budget, Config, Moves, Op, Script, Without};
pub use search::{Outcome, Trace, search};
pub use state::Bad;
