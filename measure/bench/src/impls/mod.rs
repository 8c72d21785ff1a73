//! The generators that can be measured, one file for each library that they come from.
//!
//! The rules of an implementation: `open` either returns a working generator, with state of its own
//! for the calling thread, or the reason why this host has none, in one clause. `fill` is the best
//! call that the library offers for the length. Work that can be done once is done in `open`.

use crate::error::Error;
use crate::impls::implementation::Implementation;

// The only code of this crate that calls C, or an instruction by itself.
#[expect(unsafe_code)]
mod c_library;
mod child;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[expect(unsafe_code)]
mod cpu;
#[expect(unsafe_code)]
mod gnutls;
mod headwater;
#[expect(unsafe_code)]
mod headwater_c;
pub(crate) mod implementation;
#[cfg(target_os = "linux")]
#[expect(unsafe_code)]
mod kernel;
#[expect(unsafe_code)]
mod library;
mod locked;
pub(crate) mod names;
#[expect(unsafe_code)]
mod nss;
#[expect(unsafe_code)]
mod openssl;
#[expect(unsafe_code)]
mod openssl_headwater;
#[cfg(feature = "peers")]
mod peers;
mod pseudo;
#[cfg(feature = "rand")]
mod rand;
pub(crate) mod rfc;
#[cfg(feature = "peers")]
mod runtimes;
#[expect(unsafe_code)]
mod sodium;
pub(crate) mod streams;
mod urandom;
pub(crate) mod variant;
#[cfg(target_os = "linux")]
#[expect(unsafe_code)]
mod vdso;
mod versions;

pub(crate) use c_library::version as libc_version;
pub(crate) use headwater::SHARED as HEADWATER;
/// headwater without restartable sequences has this name.
pub(crate) const LOCKED: &str = locked::FILL.name;
#[cfg(target_os = "linux")]
pub(crate) use kernel::{IMPLEMENTATION as SYSCALL, Syscall};
#[cfg(target_os = "linux")]
pub(crate) use vdso::{IMPLEMENTATION as VDSO, State as VdsoState};

/// The implementations that are known before the host is examined, in the order of the tables.
const ALL: &[&Implementation] = &[
    &headwater::SHARED,
    &headwater::OWNED,
    &locked::FILL,
    &headwater_c::FILL,
    &pseudo::BYTES,
    #[cfg(target_os = "linux")]
    &kernel::IMPLEMENTATION,
    #[cfg(target_os = "linux")]
    &vdso::IMPLEMENTATION,
    #[cfg(target_os = "linux")]
    &c_library::GETRANDOM,
    &c_library::GETENTROPY,
    &c_library::ARC4RANDOM,
    &urandom::KEPT,
    &urandom::REOPENED,
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    &cpu::IMPLEMENTATION,
    &openssl::RAND_BYTES,
    &openssl::RAND_PRIV_BYTES,
    &openssl_headwater::RAND_BYTES,
    &openssl::BORING,
    &sodium::RANDOMBYTES_BUF,
    &gnutls::RANDOM,
    &gnutls::NONCE,
    &nss::GENERATE_RANDOM,
    #[cfg(feature = "rand")]
    &rand::THREAD,
    #[cfg(feature = "rand")]
    &rand::HELD,
    #[cfg(feature = "peers")]
    &peers::AWS_LC,
    #[cfg(all(feature = "peers", target_os = "linux"))]
    &peers::VDSO_RNG,
    #[cfg(feature = "peers")]
    &peers::FASTRAND,
];

/// Implementations that need a runtime or minutes of building. They are measured by name, or by
/// [`Args::all`](crate::Args::all).
#[cfg(feature = "peers")]
pub(crate) const MORE: &[&Implementation] = &[
    #[cfg(feature = "peers-all")]
    &peers::BORING,
    &runtimes::GO_READ,
    &runtimes::JAVA_BYTES,
    &runtimes::JAVA_UUID,
    &runtimes::NODE_BYTES,
    &runtimes::NODE_FILL,
    &runtimes::NODE_UUID,
    &runtimes::PYTHON_BYTES,
    &runtimes::PYTHON_UUID,
];
#[cfg(not(feature = "peers"))]
pub(crate) const MORE: &[&Implementation] = &[];

/// Measured only if named: beside a function of the same library that is as fast, or that serves
/// more uses; and what is not for secrets.
const ON_REQUEST: [&str; 3] =
    [openssl::RAND_PRIV_BYTES.name, gnutls::NONCE.name, pseudo::BYTES.name];

/// Hardly any host has these, so a report does not mention their absence.
const ABSENT_IN_SILENCE: [&str; 2] = [headwater_c::FILL.name, openssl_headwater::RAND_BYTES.name];

/// Returns every implementation that `--impls` may name on this host.
fn every() -> impl Iterator<Item = &'static Implementation> {
    let streams = streams::ALL.iter().chain(streams::MORE);
    ALL.iter()
        .chain(MORE)
        .chain(streams)
        .chain(versions::installed())
        .copied()
        .chain(versions::named())
}

/// Returns the implementations that are measured by default, whether this host has them or not.
pub(crate) fn usual() -> Vec<&'static Implementation> {
    every()
        .filter(|implementation| !is_on_request(implementation))
        .filter(|implementation| {
            !streams::ALL
                .iter()
                .chain(streams::MORE)
                .any(|stream| stream.name == implementation.name)
        })
        .filter(|implementation| !MORE.iter().any(|more| more.name == implementation.name))
        .filter(|implementation| {
            !ABSENT_IN_SILENCE.contains(&implementation.name) || (implementation.open)().is_ok()
        })
        .collect()
}

fn is_on_request(implementation: &Implementation) -> bool {
    let function = implementation.name.split('@').next();
    function.is_some_and(|function| ON_REQUEST.contains(&function))
}

/// Returns the names that `--impls` knows on this host.
pub(crate) fn names() -> Vec<&'static str> {
    every().map(|implementation| implementation.name).collect()
}

/// Returns the implementation of this name, if this build or this host has the implementation.
pub(crate) fn find(name: &str) -> Option<&'static Implementation> {
    let streams = streams::ALL.iter().chain(streams::MORE);
    let known = ALL
        .iter()
        .chain(MORE)
        .chain(streams)
        .copied()
        .find(|implementation| implementation.name == name);
    // Only names with an @ are those of libraries that have to be opened to be known.
    known.or_else(|| {
        every().filter(|_| name.contains('@')).find(|implementation| implementation.name == name)
    })
}

/// Returns the arguments of `--lib` in this process, unchanged.
pub(crate) fn added() -> Vec<String> {
    versions::arguments()
}

/// Opens what `--lib NAME=PATH` names, and lists what is measured of it.
pub(crate) fn add(arguments: &[String]) -> Result<Vec<&'static Implementation>, Error> {
    let mut added = Vec::new();
    for argument in arguments {
        added.extend(versions::add(argument)?);
    }
    added.retain(|implementation| !is_on_request(implementation));
    Ok(added)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinct() {
        let mut names = names();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
