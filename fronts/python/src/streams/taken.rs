//! The elements that a cursor's draw takes, if need be from two streams.

use headwater_streams::Stream;
use headwater_streams::kinds::Elements;

/// The elements of a draw: those that follow each other in one stream, and those at the beginning
/// of the next one if the first stream ends within the draw.
#[derive(Clone, Copy)]
pub(super) struct Taken {
    pub(super) stream: Stream,
    pub(super) first: u64,
    /// The number of elements of `stream`, and the stream that has the others.
    pub(super) rest: Option<(usize, Stream)>,
}

impl Taken {
    /// Returns the stream of the elements from place `place` of the draw on, and the number of the
    /// first one. The place is that of a piece's beginning.
    pub(super) fn at(&self, place: usize) -> (&Stream, Elements<'static>) {
        match &self.rest {
            Some((_, next)) if place > 0 => (next, Elements::From(0)),
            _ => (&self.stream, Elements::From(self.first)),
        }
    }

    /// Returns the number of elements before the end of the first stream, if it ends within.
    pub(super) fn border(&self) -> Option<usize> {
        self.rest.map(|(border, _)| border)
    }
}
