//! The errors of columns in C: an errno and a sentence.

use super::HEADWATER_ARROW_MESSAGE;
use crate::streams::numbers::errno;
use core::ffi::{c_char, c_int};
use headwater_arrow::{Error, Part, Shown};
use libc::{EFAULT, EINVAL, ENOMEM, ERANGE};

/// The reason why a call makes no column.
pub(super) enum Fault {
    Arrow(Error),
    Errno(c_int),
    Text(&'static str),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Fault {
        Fault::Arrow(error)
    }
}

impl From<headwater_streams::Error> for Fault {
    fn from(error: headwater_streams::Error) -> Fault {
        Fault::Arrow(Error::Stream(error))
    }
}

impl Fault {
    pub(super) fn errno(&self) -> c_int {
        match self {
            Fault::Arrow(Error::Negative { .. } | Error::TooLarge { .. }) => ERANGE,
            Fault::Arrow(Error::Memory { .. }) => ENOMEM,
            Fault::Arrow(Error::Stream(error)) => errno(error),
            Fault::Arrow(_) | Fault::Text(_) => EINVAL,
            Fault::Errno(errno) => *errno,
        }
    }

    fn spell(&self, write: &mut dyn FnMut(Part<'_>)) {
        match self {
            Fault::Arrow(Error::Stream(headwater_streams::Error::Parameter { name, need })) => {
                [*name, " must be ", *need].into_iter().for_each(|text| write(Part::Text(text)));
            }
            Fault::Arrow(Error::Stream(_)) => {
                write(Part::Text("the kind has no such type, parameters or elements"));
            }
            Fault::Arrow(error) => error.spell(write),
            Fault::Text(text) => write(Part::Text(text)),
            Fault::Errno(EFAULT) => write(Part::Text("a pointer is NULL")),
            Fault::Errno(_) => write(Part::Text("a text is not UTF-8, or the engine is unknown")),
        }
    }
}

/// Writes the sentence, cut off where the room ends.
///
/// # Safety
///
/// `message` is NULL or valid for writes of HEADWATER_ARROW_MESSAGE bytes.
pub(super) unsafe fn tell(fault: &Fault, message: *mut c_char) {
    if message.is_null() {
        return;
    }
    let mut at = 0;
    let mut write = |letters: &[u8]| {
        for &letter in letters.iter().take(HEADWATER_ARROW_MESSAGE - 1 - at) {
            // SAFETY: not null, and `at` stays below the room less one, because `take` ends there.
            unsafe { message.add(at).write(letter as c_char) };
            at += 1;
        }
        // SAFETY: `at` is below the room.
        unsafe { message.add(at).write(0) };
    };
    write(b"");
    fault.spell(&mut |part| match part {
        Part::Text(text) => write(text.as_bytes()),
        Part::Number(number) => write(Shown::whole(number).as_str().as_bytes()),
        Part::Stream(_) => {}
    });
}
