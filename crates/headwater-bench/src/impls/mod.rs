//! The generators that can be measured, one file for each library that they come from.
//!
//! The rules of an implementation: `open` either gives a generator that works, with state of its own for
//! the calling thread, or says in one clause why this host has none; `fill` is the best call that the
//! library offers for the length; everything that can be done once is done in `open`.

use crate::Error;
use crate::work::{Generator, Worker};

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
#[cfg(target_os = "linux")]
#[expect(unsafe_code)]
mod kernel;
#[expect(unsafe_code)]
mod library;
mod locked;
#[expect(unsafe_code)]
mod nss;
#[expect(unsafe_code)]
mod openssl;
#[expect(unsafe_code)]
mod openssl_headwater;
#[cfg(feature = "peers")]
mod peers;
mod pseudo;
#[cfg(feature = "peers")]
mod runtimes;
#[expect(unsafe_code)]
mod sodium;
pub(crate) mod streams;
mod urandom;
#[cfg(target_os = "linux")]
#[expect(unsafe_code)]
mod vdso;
mod versions;

pub(crate) use c_library::version as libc_version;
pub(crate) use headwater::SHARED as HEADWATER;
pub(crate) use locked::serve;
/// headwater without restartable sequences has this name.
pub(crate) const LOCKED: &str = locked::FILL.name;
#[cfg(target_os = "linux")]
pub(crate) use kernel::{IMPLEMENTATION as SYSCALL, Syscall};
#[cfg(target_os = "linux")]
pub(crate) use vdso::{IMPLEMENTATION as VDSO, State as VdsoState};

/// Why an implementation cannot be measured here, as one clause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Absent(pub(crate) String);

/// What `open` gives: a generator for the calling thread.
pub(crate) type Opened = Result<Box<dyn Worker>, Absent>;

/// One generator that can be measured.
pub(crate) struct Implementation {
    /// The name in `--impls` and in reports: the function, not the library.
    pub(crate) name: &'static str,
    /// The version of the library that it comes from, if that can be told.
    pub(crate) version: &'static (dyn Fn() -> Option<String> + Sync),
    /// Whether it obeys headwater's modes.
    pub(crate) has_modes: bool,
    pub(crate) open: &'static (dyn Fn() -> Opened + Sync),
}

/// A generator that has given its first bytes, which many prepare for.
fn ready(mut generator: impl Generator + 'static) -> Opened {
    match generator.fill(&mut [0; 16]) {
        Ok(()) => Ok(Box::new(generator)),
        Err(_) => Err(Absent("it gives no random bytes".to_owned())),
    }
}

/// What is known before the host is looked at, in the order of the tables.
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
    #[cfg(feature = "peers")]
    &peers::RAND,
    #[cfg(feature = "peers")]
    &peers::RAND_HELD,
    #[cfg(feature = "peers")]
    &peers::AWS_LC,
    #[cfg(all(feature = "peers", target_os = "linux"))]
    &peers::VDSO_RNG,
    #[cfg(feature = "peers")]
    &peers::FASTRAND,
];

/// Those that need a runtime or minutes of building, which are measured if named, or by [`Args::all`](crate::Args::all).
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

/// Measured only if named: beside a function of the same library that is as fast, or that serves more uses; and
/// what is not for secrets.
const ON_REQUEST: [&str; 3] =
    [openssl::RAND_PRIV_BYTES.name, gnutls::NONCE.name, pseudo::BYTES.name];

/// Hardly any host has it, so that nobody needs to be told that this one has not.
const ABSENT_IN_SILENCE: [&str; 2] = [headwater_c::FILL.name, openssl_headwater::RAND_BYTES.name];

/// Every implementation that `--impls` may name on this host.
fn every() -> impl Iterator<Item = &'static Implementation> {
    let streams = streams::ALL.iter().chain(streams::MORE);
    ALL.iter()
        .chain(MORE)
        .chain(streams)
        .chain(versions::installed())
        .copied()
        .chain(versions::named())
}

/// What is measured if nothing is named, whether this host has it or not.
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

/// The names that `--impls` knows on this host.
pub(crate) fn names() -> Vec<&'static str> {
    every().map(|implementation| implementation.name).collect()
}

/// The implementation of this name, if this build or this host has it.
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

/// What `--lib` has named in this process, as it was given.
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

/// Fills `buf` by a call that may write less than it was asked for, and answers the negative errno if it
/// failed: the manner of getrandom(2) and of its vDSO form.
#[cfg(target_os = "linux")]
#[inline(always)]
fn fill_all(buf: &mut [u8], mut call: impl FnMut(&mut [u8]) -> isize) -> crate::work::Drawn {
    let mut rest = buf;
    while !rest.is_empty() {
        match call(rest) {
            written if written > 0 => {
                let written = usize::try_from(written).map_err(|_| crate::work::Refused)?;
                rest = rest.get_mut(written..).ok_or(crate::work::Refused)?;
            }
            error if error == -(libc::EINTR as isize) => {} // a signal before the first byte: ask again
            _ => return Err(crate::work::Refused),
        }
    }
    Ok(())
}

/// The answer of a C function that counts bytes and keeps its error in errno, as `fill_all` reads it.
#[cfg(target_os = "linux")]
#[inline(always)]
fn errno_of_failure(written: isize) -> isize {
    if written >= 0 {
        return written;
    }
    -(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO) as isize)
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

    #[cfg(target_os = "linux")]
    #[test]
    fn fill_all_goes_on_after_short_and_interrupted_calls() {
        let mut answers = [3, -(libc::EINTR as isize), 5].into_iter();
        let mut buf = [0; 8];
        let outcome = fill_all(&mut buf, |rest| {
            let answer = answers.next().unwrap();
            for byte in rest.iter_mut().take(usize::try_from(answer).unwrap_or(0)) {
                *byte += 1;
            }
            answer
        });
        assert!(outcome.is_ok());
        assert_eq!(buf, [1; 8]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn fill_all_refuses_errors_and_nonsense() {
        let mut buf = [0; 8];
        assert!(fill_all(&mut buf, |_| -(libc::ENOSYS as isize)).is_err());
        assert!(fill_all(&mut buf, |_| 9).is_err());
        assert!(fill_all(&mut buf, |_| 0).is_err());
    }
}
