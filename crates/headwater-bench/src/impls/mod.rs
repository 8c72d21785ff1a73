//! The generators that can be measured, one file for each library that they come from.
//!
//! The rules of an implementation: `open` either gives a generator that works, with state of its own for
//! the calling thread, or says in one clause why this host has none; `fill` is the best call that the
//! library offers for the length; everything that can be done once is done in `open`.

use crate::work::Worker;

// The only code of this crate that calls C.
#[expect(unsafe_code)]
mod c_library;
mod headwater;
#[cfg(target_os = "linux")]
#[expect(unsafe_code)]
mod kernel;
#[expect(unsafe_code)]
mod openssl;
#[cfg(feature = "peers")]
mod peers;
#[cfg(feature = "peers")]
mod runtimes;
mod urandom;
#[cfg(target_os = "linux")]
#[expect(unsafe_code)]
mod vdso;

pub(crate) use c_library::version as libc_version;
pub(crate) use headwater::SHARED as HEADWATER;
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
    pub(crate) version: fn() -> Option<String>,
    /// Whether it obeys headwater's modes.
    pub(crate) has_modes: bool,
    pub(crate) open: fn() -> Opened,
}

/// Every implementation in this build that is measured unasked, in the order of the tables.
pub(crate) const ALL: &[&Implementation] = &[
    &headwater::SHARED,
    &headwater::OWNED,
    #[cfg(target_os = "linux")]
    &kernel::IMPLEMENTATION,
    #[cfg(target_os = "linux")]
    &vdso::IMPLEMENTATION,
    &c_library::GETENTROPY,
    &c_library::ARC4RANDOM,
    &urandom::IMPLEMENTATION,
    &openssl::IMPLEMENTATION,
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

/// Those that need a runtime, which are measured if named, or by [`Args::all`](crate::Args::all).
#[cfg(feature = "peers")]
pub(crate) const MORE: &[&Implementation] = &[
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

/// The names that `--impls` knows in this build.
pub(crate) fn names() -> Vec<&'static str> {
    ALL.iter().chain(MORE).map(|implementation| implementation.name).collect()
}

/// The implementation of this name, if this build has it.
pub(crate) fn find(name: &str) -> Option<&'static Implementation> {
    ALL.iter().chain(MORE).copied().find(|implementation| implementation.name == name)
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
