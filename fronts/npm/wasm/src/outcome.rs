//! The number that a call returns, of which JavaScript makes an exception.

use headwater_streams::Error;

/// The number of a success.
const DONE: u32 = 0;

/// The reason why a call did nothing, as the number in `exceptions.js`.
#[derive(Clone, Copy)]
#[repr(u32)]
pub(crate) enum Refused {
    /// A parameter; its name and its range are in the first four words.
    Parameter = 1,
    /// Elements past the last one.
    Range = 2,
    /// An array of a type that the kind lacks.
    Type = 3,
    /// An array that does not hold whole vectors.
    Room = 4,
    /// A list of another length than the other parameters need, or a range without numbers.
    Shape = 5,
    /// Arguments that the JavaScript around the library never makes.
    Call = 6,
}

/// A refusal, and the texts about it.
pub(crate) struct Refusal {
    refused: Refused,
    texts: [&'static str; 2],
}

impl From<Refused> for Refusal {
    fn from(refused: Refused) -> Refusal {
        Refusal { refused, texts: ["", ""] }
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Refusal {
        match error {
            Error::Parameter { name, need } => {
                Refusal { refused: Refused::Parameter, texts: [name, need] }
            }
            Error::RangeTooLong { .. } | Error::PastEnd { .. } => Refused::Range.into(),
            Error::ElementType { .. } => Refused::Type.into(),
            Error::Room { .. } | Error::Lengths { .. } => Refused::Room.into(),
            Error::ZeroBound | Error::EmptyRange => Refused::Shape.into(),
            _ => Refused::Call.into(),
        }
    }
}

/// Returns a result as its number, and writes the texts of a refusal to the first words: address
/// and length of each.
pub(crate) fn number(result: Result<(), Refusal>, words: &mut [u64]) -> u32 {
    let Err(Refusal { refused, texts }) = result else { return DONE };
    for (place, text) in words.chunks_exact_mut(2).zip(texts) {
        place.copy_from_slice(&[text.as_ptr().addr() as u64, text.len() as u64]);
    }
    refused as u32
}
