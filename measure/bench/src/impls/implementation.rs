//! The interface of an implementation, and what several of them share.

#[cfg(target_os = "linux")]
use crate::draw::work::{Drawn, Refused};
use crate::draw::work::{Generator, Worker};

/// Why an implementation cannot be measured here, as one clause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Absent(pub(crate) String);

/// The result of `open`: a generator for the calling thread.
pub(crate) type Opened = Result<Box<dyn Worker>, Absent>;

/// One generator that can be measured.
pub(crate) struct Implementation {
    /// The name in `--impls` and in reports: the function, not the library.
    pub(crate) name: &'static str,
    /// Returns the version of the library that the function comes from, if it is known.
    pub(crate) version: &'static (dyn Fn() -> Option<String> + Sync),
    /// True if it obeys headwater's modes.
    pub(crate) has_modes: bool,
    pub(crate) open: &'static (dyn Fn() -> Opened + Sync),
}

/// Returns a generator that has given its first bytes, because many generators prepare for their
/// first bytes.
pub(super) fn ready(mut generator: impl Generator + 'static) -> Opened {
    match generator.fill(&mut [0; 16]) {
        Ok(()) => Ok(Box::new(generator)),
        Err(_) => Err(Absent("it returns no random bytes".to_owned())),
    }
}

/// Fills `buf` by a call that may write less than it was asked for, and answers the negative errno
/// if it failed: the manner of getrandom(2) and of its vDSO form.
#[cfg(target_os = "linux")]
#[inline(always)]
pub(super) fn fill_all(buf: &mut [u8], mut call: impl FnMut(&mut [u8]) -> isize) -> Drawn {
    let mut rest = buf;
    while !rest.is_empty() {
        match call(rest) {
            written if written > 0 => {
                let written = usize::try_from(written).map_err(|_| Refused)?;
                rest = rest.get_mut(written..).ok_or(Refused)?;
            }
            error if error == -(libc::EINTR as isize) => {} // a signal came first: ask again
            _ => return Err(Refused),
        }
    }
    Ok(())
}

/// Returns the answer of a C function in the form that `fill_all` reads. The C function counts
/// bytes and keeps its error in errno.
#[cfg(target_os = "linux")]
#[inline(always)]
pub(super) fn errno_of_failure(written: isize) -> isize {
    if written >= 0 {
        return written;
    }
    -(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO) as isize)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

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

    #[test]
    fn fill_all_refuses_errors_and_nonsense() {
        let mut buf = [0; 8];
        assert!(fill_all(&mut buf, |_| -(libc::ENOSYS as isize)).is_err());
        assert!(fill_all(&mut buf, |_| 9).is_err());
        assert!(fill_all(&mut buf, |_| 0).is_err());
    }
}
