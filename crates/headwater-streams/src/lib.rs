//! Reproducible random streams: the same array for any partition of the work, at memory speed.
//!
//! **Not for secrets.** Whoever sees some of these numbers may compute the others; bytes that must not be guessed
//! come from the crate `headwater`. Nothing here implements `CryptoRng`.

#![deny(unsafe_code)]

mod at;
mod bytes;
mod counter;
mod cpu;
mod engine;
mod error;
pub mod generators;
mod key;
mod numbers;
mod par;
#[cfg(feature = "process")]
mod process;
mod ranks;
mod seed;
mod sequential;
mod stream;
mod words;

pub use engine::Engine;
pub use error::Error;
pub use key::Key;
pub use numbers::{Integer, Permutation};
pub use par::Par;
#[cfg(feature = "process")]
pub use process::{random_pseudo_bytes, random_pseudo_u64};
pub use ranks::{Launcher, Rank, RankError};
pub use seed::{Label, Seed};
pub use sequential::Sequential;
pub use stream::Stream;
