//! xoshiro256++, a generator with a state.

use super::buffer::{Buffered, Source, WORDS};
use super::interface::StatePlace;
use super::key_of;
use headwater_streams::generators::Xoshiro256pp;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The state before the words of the buffer, and the state after them.
struct Around {
    before: Xoshiro256pp,
    after: Xoshiro256pp,
}

impl Around {
    fn at(state: Xoshiro256pp) -> Around {
        Around { before: state.clone(), after: state }
    }
}

impl Source for Around {
    fn fill(&mut self, out: &mut [u64; WORDS]) {
        self.before = self.after.clone();
        self.after.fill_u64(out);
    }
}

/// Returns the state after the words that have been drawn.
fn now(words: &Buffered<Around>) -> Xoshiro256pp {
    if words.drawn() >= WORDS {
        return words.source().after.clone();
    }
    let mut state = words.source().before.clone();
    for _ in 0..words.drawn() {
        state.next_u64();
    }
    state
}

/// The state of a `Xoshiro256pp`.
#[pyclass(module = "headwater._native", frozen)]
pub(super) struct XoshiroBits(StatePlace<Buffered<Around>>);

/// Returns the generator with this state.
fn from_words(words: [u64; 4]) -> PyResult<Xoshiro256pp> {
    Xoshiro256pp::from_state(words).ok_or_else(|| {
        PyValueError::new_err("state must have a word that is not 0: xoshiro never leaves zero")
    })
}

#[pymethods]
impl XoshiroBits {
    #[new]
    fn new(words: [u64; 4]) -> PyResult<XoshiroBits> {
        Ok(XoshiroBits(StatePlace::new(Buffered::new(Around::at(from_words(words)?), 0))))
    }

    /// Returns the words of the state that a seed's or a key's stream begins with.
    #[staticmethod]
    fn of_key(engine: &str, key: &[u8], stream: u64) -> PyResult<[u64; 4]> {
        Ok(Xoshiro256pp::from_key(&key_of(engine, key)?).stream(stream).state())
    }

    /// Fills the `bitgen_t` of a bit generator's capsule. The bit generator keeps this object.
    fn install(&self, capsule: &Bound<'_, PyAny>) -> PyResult<()> {
        self.0.install(capsule)
    }

    /// Returns the words of the state, and the half word left over.
    fn get(&self) -> ([u64; 4], Option<u32>) {
        self.0.with(|state| (now(&state.words).state(), state.half()))
    }

    /// Moves to another state, in place.
    fn set(&self, words: [u64; 4], half: Option<u32>) -> PyResult<()> {
        let there = from_words(words)?;
        self.0.with(|state| {
            state.words.restart(Around::at(there), 0);
            state.set_half(half);
        });
        Ok(())
    }

    /// Skips words, or goes back.
    fn advance(&self, words: u128, back: bool) {
        self.move_by(|there| match back {
            true => there.rewind(words),
            false => there.advance(words),
        });
    }

    /// Skips `jumps` times 2^128 words.
    fn jump(&self, jumps: u64) {
        self.move_by(|there| *there = there.stream(jumps));
    }
}

impl XoshiroBits {
    /// Changes the state in place, and forgets the half word.
    fn move_by(&self, change: impl FnOnce(&mut Xoshiro256pp)) {
        self.0.with(|state| {
            let mut there = now(&state.words);
            change(&mut there);
            state.words.restart(Around::at(there), 0);
            state.set_half(None);
        });
    }
}
