//! The module that OpenSSL loads: the crate `headwater-openssl`, linked as a shared object.
//!
//! The shipped build (`panic = "abort"`) leaves the standard library out, so that OpenSSL loads
//! neither libgcc_s nor start-up code with the module. Development builds unwind, which needs the
//! standard library.

#![cfg_attr(panic = "abort", no_std)]

// Only OpenSSL calls the provider. Without this line rustc drops the crate, and with it
// `OSSL_provider_init`.
use provider as _;

#[cfg(panic = "abort")]
#[path = "../../../c/src/runtime.rs"]
mod runtime;
