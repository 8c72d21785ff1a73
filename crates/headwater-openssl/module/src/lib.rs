//! The module that OpenSSL loads: the crate `headwater-openssl`, linked as a shared object.
//!
//! The shipped build (`panic = "abort"`) leaves the standard library out, so that OpenSSL loads neither
//! libgcc_s nor start-up code with the module. Development builds unwind, which needs it.

#![cfg_attr(panic = "abort", no_std)]

// Nothing is called from here. Without the line rustc drops the crate, and `OSSL_provider_init` with it.
use provider as _;

#[cfg(panic = "abort")]
mod runtime;
