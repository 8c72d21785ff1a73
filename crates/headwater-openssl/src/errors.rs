//! What can go wrong, as OpenSSL's error queue tells it.

use crate::abi::Item;
use crate::upcalls::{Core, Place};
use std::ffi::{CStr, c_int, c_uint};
use std::ptr::null_mut;

/// Why a call failed. The numbers are those in an error's code, so they stay.
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

/// The table that OpenSSL takes the texts from.
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
            TooStrong => c"more than 256 bits of strength are asked for",
            TooLong => c"more bytes than max_request are asked for",
            NoMemory => c"no memory",
            NotReady => c"the kernel's random generator is not seeded yet",
            Refused => {
                c"the kernel refused random bytes: getrandom(2) and /dev/urandom both failed"
            }
            SeedTooShort => c"a seed of the longest length allowed has less entropy than asked for",
            Parameter => c"a parameter is asked for in a type or size that does not hold it",
            CannotDiscard => c"the kernel refused to drop the buffered bytes",
        }
    }

    /// What made the core refuse to draw.
    pub(crate) fn of(error: headwater::Error) -> Reason {
        if error.is_not_ready() { NotReady } else { Refused }
    }

    /// Puts it into the queue and answers 0, which is how a function tells that it failed.
    #[cold]
    pub(crate) fn raise(self, core: &Core, place: Place) -> c_int {
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
