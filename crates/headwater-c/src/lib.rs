//! headwater for C: the functions of `include/headwater.h`, each a few lines over the Rust crate.
//!
//! As shipped (`panic = "abort"`) it is built without the standard library, so that nothing of it, such as
//! thread-locals and the machinery of a panic, is in `libheadwater.so` or comes with `libheadwater.a`. Development
//! builds unwind, which takes the standard library.
//!
//! The comments of public items are the header's: cbindgen copies them, and `tests/header.rs` tells when the header
//! is out of date.

#![cfg_attr(panic = "abort", no_std)]

pub mod bsd;
pub mod draw;
mod edge;
pub mod freshness;
pub mod process;
pub mod rng;
#[cfg(panic = "abort")]
mod runtime;
pub mod streams;
