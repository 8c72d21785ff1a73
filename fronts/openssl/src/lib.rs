//! headwater as a provider of OpenSSL 3 and 4.
//!
//! The provider has one generator, `HEADWATER` (properties `provider=headwater`). OpenSSL uses it
//! in one of two places:
//!
//! | in the section that `random` names | effect |
//! | --- | --- |
//! | `random = HEADWATER` | RAND_bytes, RAND_priv_bytes and their callers draw from headwater |
//! | `seed = HEADWATER` | OpenSSL's own generator stays, and takes its seeds from here |
//!
//! Since 3.5 OpenSSL also reads `random_provider = headwater`, which bypasses OpenSSL's own layers.
//! `docs/openssl.md` explains the configuration, and `headwater run --openssl -- COMMAND` makes it
//! for one command.
//!
//! # Rules of this edge
//!
//! * The module links nothing of libcrypto: OpenSSL passes every function as a pointer. One file
//!   serves OpenSSL 3.0 to 4.0, and programs with a built-in OpenSSL, such as Node.
//! * No function panics, unwinds or holds a lock. A context is only a state; the bytes come from
//!   the process's pools, which detect forks, clones and reseeds themselves.
//! * An error is the return value 0 and an entry in OpenSSL's error queue, with the output zeroed.
//! * The module stays in memory once loaded (`-z nodelete`).
//!
//! `abi` declares OpenSSL's side by hand, and a test compares it with the headers. `rand` is the
//! generator. The package in `module/` links the shared object.

// The standard library's unwinding needs libgcc_s, which the module must not load: each process
// with OpenSSL would pay for it.
#![cfg_attr(not(test), no_std)]

mod abi;
mod errors;
mod params;
mod provider;
mod rand;
mod seed;
mod stats;
#[cfg(test)]
mod tests;
mod upcalls;
