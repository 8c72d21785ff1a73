//! Errors, in the form of OpenSSL's error queue.

use crate::abi::Item;
use crate::upcalls::{CodePlace, Core};
use core::ffi::{CStr, c_int, c_uint};
use core::ptr::null_mut;

/// A reason of failure. The numbers are part of OpenSSL's error codes and must not change; number 1
/// ("not instantiated") is not used since generators recover by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    NotInstantiated = 1,
    TooStrong = 2,
    TooLong = 3,
    NoMemory = 4,
    NotReady = 5,
    Refused = 6,
    SeedTooShort = 7,
    Parameter = 8,
    CannotDiscard = 9,
}

use Reason::{
    CannotDiscard, NoMemory, NotInstantiated, NotReady, Parameter, Refused, SeedTooShort, TooLong,
    TooStrong,
};

/// The table from which OpenSSL reads the texts.
pub(crate) static REASONS: [Item; 10] = [
    item(NotInstantiated),
    item(TooStrong),
    item(TooLong),
    item(NoMemory),
    item(NotReady),
    item(Refused),
    item(SeedTooShort),
    item(Parameter),
    item(CannotDiscard),
    Item { id: 0, ptr: null_mut() },
];

const fn item(reason: Reason) -> Item {
    Item { id: reason as c_uint, ptr: reason.text().as_ptr().cast_mut().cast() }
}

impl Reason {
    const fn text(self) -> &'static CStr {
        match self {
            NotInstantiated => c"the generator is not instantiated",
            TooStrong => c"more than 256 bits of strength requested",
            TooLong => c"more bytes than max_request requested",
            NoMemory => c"out of memory",
            NotReady => c"the kernel's random generator is not seeded yet",
            Refused => {
                c"the kernel refused random bytes: getrandom(2) and /dev/urandom both failed"
            }
            SeedTooShort => c"the longest allowed seed has less entropy than requested",
            Parameter => c"a parameter does not fit the requested type or size",
            CannotDiscard => c"the kernel refused to drop the buffered bytes",
        }
    }

    /// Returns the reason of an error of the core.
    pub(crate) fn of(error: headwater::Error) -> Reason {
        if error.is_not_ready() { NotReady } else { Refused }
    }

    /// Adds the reason to OpenSSL's queue and returns 0, the failure value of provider functions.
    #[cold]
    pub(crate) fn raise(self, core: &Core, place: CodePlace) -> c_int {
        core.raise(self as c_uint, c"", place);
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_has_its_text_under_its_number() {
        let listed: Vec<_> = REASONS.iter().map(|item| item.id).collect();
        assert_eq!(listed, [1, 2, 3, 4, 5, 6, 7, 8, 9, 0]);
        assert!(REASONS[..9].iter().all(|item| !item.ptr.is_null()));
    }

    #[test]
    fn errors_of_the_core_keep_their_kind() {
        assert_eq!(Reason::of(headwater::Error::NOT_READY), NotReady);
        assert_eq!(Reason::of(headwater::Error::UNEXPECTED), Refused);
    }
}
