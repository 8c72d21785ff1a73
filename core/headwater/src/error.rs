//! One small error for everything that can go wrong while drawing random bytes.

use core::fmt;
use core::num::NonZeroI32;

/// The reason why no random bytes were returned.
///
/// The type is `Copy` and one word long, because a caller can do only two things with an error:
/// wait and ask again ([`is_not_ready`](Error::is_not_ready)), or report it. After any error the
/// buffer is all zeros.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Error(NonZeroI32);

/// A positive value is an errno; the codes of our own are negative.
const UNEXPECTED: i32 = -1;
const UNSUPPORTED: i32 = -2;
const SELF_TEST: i32 = -3;

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
const EAGAIN: i32 = libc::EAGAIN;
#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
const EAGAIN: i32 = 11;

impl Error {
    /// The kernel's generator has not been seeded yet (early boot), and the call was a `try_` one.
    pub const NOT_READY: Error = Error::code(EAGAIN);
    /// The kernel answered something its documentation rules out, such as more bytes than asked
    /// for.
    pub const UNEXPECTED: Error = Error::code(UNEXPECTED);
    /// This system has no source of random bytes that headwater knows.
    pub const UNSUPPORTED: Error = Error::code(UNSUPPORTED);

    /// A self-test ([`self_test`](crate::self_test)) found a wrong answer.
    pub const SELF_TEST: Error = Error::code(SELF_TEST);

    const fn code(code: i32) -> Error {
        match NonZeroI32::new(code) {
            Some(code) => Error(code),
            None => Error(NonZeroI32::MIN),
        }
    }

    /// Returns the error with this errno; 0, which is not an errno, becomes [`Error::UNEXPECTED`].
    #[cfg_attr(not(all(target_os = "linux", target_pointer_width = "64")), allow(dead_code))]
    pub(crate) const fn from_errno(errno: i32) -> Error {
        if errno > 0 { Error::code(errno) } else { Error::UNEXPECTED }
    }

    /// Returns whether the kernel's generator is not seeded yet, so that waiting helps. Only the
    /// `try_` functions and a non-blocking set-up return this.
    pub const fn is_not_ready(self) -> bool {
        self.0.get() == EAGAIN
    }

    /// Returns the errno of the system call that failed, if one did.
    pub const fn errno(self) -> Option<i32> {
        if self.0.get() > 0 { Some(self.0.get()) } else { None }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.errno() {
            Some(errno) => write!(f, "Error {{ errno: {errno} }}"),
            None => write!(f, "Error {{ code: {} }}", self.0),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_not_ready() {
            return f.write_str(
                "the kernel's random generator is not seeded yet; wait, or use a blocking call",
            );
        }
        match self.0.get() {
            UNEXPECTED => {
                f.write_str("the kernel answered a request for random bytes nonsensically")
            }
            UNSUPPORTED => f.write_str("no source of random bytes is known on this system"),
            SELF_TEST => f.write_str(
                "the self-test failed: this CPU computes the cipher wrongly, or its random \
                 instruction repeats a word; end the process, and start it with HEADWATER_MODE=kernel",
            ),
            errno => {
                f.write_str(
                    "the kernel refused random bytes: getrandom(2) and /dev/urandom both failed ",
                )?;
                match name(errno) {
                    Some(name) => write!(f, "({name})"),
                    None => write!(f, "(errno {errno})"),
                }
            }
        }
    }
}

/// Returns the name of an errno with which getrandom(2) and /dev/urandom are known to fail: refused
/// by a sandbox, missing in a container, out of descriptors or memory.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
fn name(errno: i32) -> Option<&'static str> {
    Some(match errno {
        libc::EACCES => "EACCES",
        libc::EFAULT => "EFAULT",
        libc::EINVAL => "EINVAL",
        libc::EIO => "EIO",
        libc::EMFILE => "EMFILE",
        libc::ENFILE => "ENFILE",
        libc::ENODEV => "ENODEV",
        libc::ENOENT => "ENOENT",
        libc::ENOMEM => "ENOMEM",
        libc::ENOSYS => "ENOSYS",
        libc::ENXIO => "ENXIO",
        libc::EPERM => "EPERM",
        _ => return None,
    })
}

/// Returns `None`, because errno numbers are not the same on every system.
#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
fn name(_: i32) -> Option<&'static str> {
    None
}

impl core::error::Error for Error {}

#[cfg(feature = "std")]
#[cfg_attr(docsrs, doc(cfg(feature = "std")))]
impl From<Error> for std::io::Error {
    fn from(error: Error) -> Self {
        match error.errno() {
            Some(errno) if !error.is_not_ready() => std::io::Error::from_raw_os_error(errno),
            Some(_) => std::io::Error::new(std::io::ErrorKind::WouldBlock, error),
            None => std::io::Error::other(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_word_with_a_niche() {
        assert_eq!(size_of::<Option<Error>>(), size_of::<i32>());
    }

    #[test]
    #[cfg(all(target_os = "linux", target_pointer_width = "64"))]
    fn tells_not_ready_from_refused() {
        assert!(Error::NOT_READY.is_not_ready());
        let refused = Error::from_errno(1);
        assert!(!refused.is_not_ready());
        assert_eq!(refused.errno(), Some(1));
        assert_eq!(Error::UNEXPECTED.errno(), None);
        assert_eq!(Error::from_errno(0), Error::UNEXPECTED);
        assert_eq!(
            refused.to_string(),
            "the kernel refused random bytes: getrandom(2) and /dev/urandom both failed (EPERM)"
        );
        assert!(Error::from_errno(133).to_string().ends_with("(errno 133)"));
    }
}
