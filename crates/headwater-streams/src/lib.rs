//! Reproducible random streams: the same array for any partition of the work, at memory speed.
//!
//! **Not for secrets.** Whoever sees some of these numbers may compute the others; bytes that must not be guessed
//! come from the crate `headwater`. Nothing here implements `CryptoRng`.

#![deny(unsafe_code)]

pub mod sequential;
