//! headwater for C: the functions of `include/headwater.h`, each a few lines over the Rust crate.
//!
//! The shipped build (`panic = "abort"`) leaves the standard library out, so that neither
//! `libheadwater.so` nor `libheadwater.a` has thread-locals or panic machinery. Development builds
//! unwind, which needs the standard library.
//!
//! cbindgen copies the comments of public items into the header. `tests/header.rs` fails if the
//! header is out of date.

#![cfg_attr(panic = "abort", no_std)]

pub mod arrow;
pub mod bsd;
pub mod draw;
mod edge;
pub mod freshness;
pub mod process;
pub mod rng;
#[cfg(panic = "abort")]
mod runtime;
pub mod streams;
pub mod uniform;
