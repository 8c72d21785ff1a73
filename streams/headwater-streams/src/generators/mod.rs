//! Generators with a state: small, quick to draw one word at a time from, and where NumPy's numbers
//! come from. **Not for secrets.**
//!
//! | generator | state | streams | for |
//! | --- | --- | --- | --- |
//! | [`Xoshiro256pp`] | 256 bits | jumps of 2^128 and 2^192 words: disjoint by proof | one stream a thread, CPU or node |
//! | [`Xoshiro256ppX8`] | 8 times that | the same, eight at a time | the same at memory speed |
//! | [`Pcg64Dxsm`], [`Sfc64`] | 256 bits | by [`SeedSequence`], as NumPy | the words of NumPy |
//! | [`Xorshift128p`] | 128 bits | jumps of 2^64 words | comparison; its defects are on its page |
//!
//! A generator with a state cannot make an array that is the same for any partition of the work,
//! but [`Stream`](crate::Stream) can.
//!
//! All of them hand out words of 64 bits. A draw that needs part of a word discards the rest, and
//! bytes are little-endian on every machine. No generator here detects a fork, because a child that
//! continues with a copy has to repeat its parent's numbers, or it would not be reproducible. A
//! program whose children must not repeat them takes
//! [`random_pseudo_bytes`](crate::random_pseudo_bytes).

mod gf2;
mod lanes;
#[cfg(feature = "std")]
mod pcg64dxsm;
pub(crate) mod rng;
#[cfg(feature = "std")]
mod seed_sequence;
#[cfg(feature = "std")]
mod sfc64;
mod xorshift128p;
pub(crate) mod xoshiro256pp;

pub use lanes::Xoshiro256ppX8;
#[cfg(feature = "std")]
pub use pcg64dxsm::Pcg64Dxsm;
#[cfg(feature = "std")]
pub use seed_sequence::SeedSequence;
#[cfg(feature = "std")]
pub use sfc64::Sfc64;
pub use xorshift128p::Xorshift128p;
pub use xoshiro256pp::Xoshiro256pp;
