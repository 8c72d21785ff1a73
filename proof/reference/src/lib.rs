//! The oracle of headwater's tests: every deterministic step of the generators, written for the
//! reader.
//!
//! Each function follows its standard line by line, a byte or a word at a time, without
//! dependencies, unsafe code or tricks. The functions leak keys through the cache and are slow.
//! Tests compare the fast code with them; no program may use them for secrets.
//!
//! * [`secure`]: ciphers, key derivation and the mask of hedged mode.
//! * [`streams`]: reproducible streams as STREAMS.md specifies them.
//! * [`statistics`]: ranks and linear complexities over GF(2).
//! * [`vectors`]: the files of `streams/vectors/`.

#![forbid(unsafe_code)]

pub mod secure;
pub mod statistics;
pub mod streams;
pub mod vectors;

pub use secure::{aes256_ctr, aes256_encrypt, chacha20, derived_key, derived_key_chacha20, hedge};
