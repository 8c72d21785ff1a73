//! headwater as a provider of OpenSSL 3.
//!
//! One generator, `HEADWATER` (properties `provider=headwater`), that OpenSSL uses in either of two places:
//!
//! | in the section that `random` of the configuration names | effect |
//! | --- | --- |
//! | `random = HEADWATER` | RAND_bytes and RAND_priv_bytes, and whatever in libcrypto and libssl calls them, draw from headwater |
//! | `seed = HEADWATER` | OpenSSL's own generator stays, and takes its seeds from here |
//!
//! OpenSSL 3.5 also knows `random_provider = headwater`, which passes its own layers by. `docs/openssl.md` tells what
//! to put where; `headwater run --openssl -- COMMAND` does it for one command.
//!
//! # What holds across this edge
//!
//! * Nothing of libcrypto is linked: all that is needed comes as function pointers. So the same file serves OpenSSL
//!   3.0 to 3.5 and later, and programs that have an OpenSSL of their own built in, as Node has.
//! * No function panics or unwinds, and none keeps a lock: a context is a state and nothing more, the bytes come
//!   from the process's pools, which guard themselves against forks, clones and reseeds.
//! * An error is 0 and an entry in OpenSSL's error queue. No byte of the output is then random: it is zero.
//! * The module stays in memory once loaded (`-z nodelete`).
//!
//! `abi` holds OpenSSL's side, declared by hand and compared with its headers by a test; `rand` the generator.

mod abi;
mod errors;
mod params;
mod provider;
mod rand;
mod seed;
#[cfg(test)]
mod tests;
mod upcalls;
