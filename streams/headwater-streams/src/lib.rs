//! Reproducible random streams: the same array for any partition of the work, at memory speed.
//!
//! **Not for secrets.** A reader who sees some of these numbers may compute the others, so nothing
//! here implements `CryptoRng`. Bytes that must not be guessed come from the crate `headwater`.
//!
//! A [`Key`] is made from a seed, and has children by name and 2^48 [streams](Stream) by number. A
//! stream is a function from an element's number to its value, so any thread or machine can fill
//! any part of an array, in any order, and parts make the whole:
//!
//! ```
//! use headwater_streams::Key;
//!
//! let stream = Key::from_seed(42).child("noise").stream(0)?;
//! let mut array = vec![0_u64; 1 << 20];
//! stream.fill_u64(0, &mut array)?; // by one thread,
//! let mut again = vec![0_u64; 1 << 20];
//! stream.par(4).fill_u64(0, &mut again)?; // by four,
//! assert_eq!(array, again);
//! let mut some = [0; 3];
//! stream.u64_at(&[999_999, 5, 5], &mut some)?; // or here and there
//! assert_eq!(some, [array[999_999], array[5], array[5]]);
//! # Ok::<(), headwater_streams::Error>(())
//! ```
//!
//! STREAMS.md in the repository specifies the values to the bit, and proves that streams do not
//! meet. The CPU chooses how values are computed (VAES, AVX-512, AVX2, AES-NI, Armv8's AES, or none
//! of these), and never which.
//!
//! A child process that continues its parent's stream gets its parent's numbers: that is what
//! reproducible means. Streams ask the operating system for nothing but threads, and only in
//! [`Stream::par`]. Filling neither allocates nor locks, so a signal handler may fill.

#![cfg_attr(not(feature = "std"), no_std)]
#![deny(unsafe_code)]

mod at;
mod bytes;
mod counter;
mod engine;
mod error;
mod features;
#[cfg(feature = "serde")]
mod form;
pub mod generators;
mod key;
pub mod kinds;
mod numbers;
#[cfg(feature = "std")]
mod par;
#[cfg(feature = "process")]
mod process;
#[cfg(feature = "std")]
mod ranks;
#[cfg(feature = "rayon")]
pub mod rayon;
mod seed;
mod sequential;
mod stream;
#[cfg(feature = "rand_core")]
mod traits;
mod words;

pub use engine::Engine;
pub use error::Error;
pub use key::Key;
pub use numbers::{Integer, Permutation, distributions};
#[cfg(feature = "std")]
pub use par::Par;
#[cfg(feature = "process")]
pub use process::{random_pseudo_bytes, random_pseudo_u64};
#[cfg(feature = "std")]
pub use ranks::{Launcher, Rank, RankError};
pub use seed::{Label, Seed};
pub use sequential::Sequential;
pub use stream::Stream;

/// The README's example compiles and runs.
#[cfg(all(doctest, feature = "std"))]
#[doc = include_str!("../README.md")]
struct Readme;
