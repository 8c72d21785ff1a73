//! The words of a stream, one at a time: ARS7 and Philox4x32.

use super::buffer::{Buffered, Source, WORDS};
use super::interface::StatePlace;
use super::stream_of;
use headwater_streams::Stream;
use pyo3::prelude::*;

/// Words of a stream, after which it begins again: 2^64 bytes, as in `Sequential`.
const PERIOD: u64 = 1 << 61;

/// A stream, and the first word that the buffer gets next: a multiple of the buffer's length.
struct Ahead {
    stream: Stream,
    next: u64,
}

impl Source for Ahead {
    fn fill(&mut self, out: &mut [u64; WORDS]) {
        // The range exists, because words end at 2^64 and positions at 2^61.
        let filled = self.stream.fill_u64(self.next, out);
        debug_assert!(filled.is_ok());
        self.next = (self.next + WORDS as u64) % PERIOD;
    }
}

/// Returns the source for this position, and the number of words to skip.
fn at(stream: Stream, position: u64) -> (Ahead, usize) {
    let skip = position % WORDS as u64;
    (Ahead { stream, next: position % PERIOD - skip }, skip as usize)
}

/// The state of an `ARS7` or a `Philox4x32`.
#[pyclass(module = "headwater._native", frozen)]
pub(super) struct BlockBits(StatePlace<Buffered<Ahead>>);

#[pymethods]
impl BlockBits {
    #[new]
    fn new(engine: &str, key: &[u8], stream: u64) -> PyResult<BlockBits> {
        let (source, skip) = at(stream_of(engine, key, stream)?, 0);
        Ok(BlockBits(StatePlace::new(Buffered::new(source, skip))))
    }

    /// Fills the `bitgen_t` of a bit generator's capsule. The bit generator keeps this object.
    fn install(&self, capsule: &Bound<'_, PyAny>) -> PyResult<()> {
        self.0.install(capsule)
    }

    /// Returns the key, the stream, the position in words, and the half word left over.
    fn get(&self) -> ([u8; 16], u64, u64, Option<u32>) {
        self.0.with(|state| {
            let &Ahead { stream, next } = state.words.source();
            let drawn = next.wrapping_add(state.words.drawn() as u64);
            let position = drawn.wrapping_sub(WORDS as u64) % PERIOD;
            (stream.key().to_raw(), stream.id(), position, state.half())
        })
    }

    /// Moves to another key, stream and position, in place.
    fn set(&self, key: &[u8], stream: u64, position: u64, half: Option<u32>) -> PyResult<()> {
        self.0.with(|state| {
            let engine = state.words.source().stream.key().engine();
            let (source, skip) = at(stream_of(engine.name(), key, stream)?, position);
            state.words.restart(source, skip);
            state.set_half(half);
            Ok(())
        })
    }
}
