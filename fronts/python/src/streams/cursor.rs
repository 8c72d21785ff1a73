//! `Cursor`: a place in a stream that every draw moves, the native half of `headwater.Generator`.
//!
//! A stream has no place: all of its arrays are views of the same words. So two draws of one stream
//! may be the same numbers in two forms, which is wanted where a program asks by index, and is an
//! error where it draws again and again, as NumPy's generators are used. The cursor removes it by a
//! rule for places. The cursor is a number of words, W. A draw of n elements of a kind whose groups
//! are `words` words and `values` elements begins at the first group that begins at W or later, so
//! it shares no word with any draw before it, and W becomes the end of its last group. An element
//! that owns blocks has no words of draw 0. So it counts as one word: element numbers of two draws
//! differ then, and with them all blocks.
//!
//! One exception keeps pieces equal to the whole: a draw of the same kind and type as the draw
//! before it continues at the next element, in the middle of a group if need be. Therefore two
//! calls for 3 and 4 normals return the 7 normals of one call. For the same reason a draw that
//! passes the end of the stream takes what is before it, and only the rest from the next stream.

use super::args::Size;
use super::distribution::{Argument, Owned, refused};
use super::dtype::{Dtype, dtype};
use super::integers;
use super::key::{self, Key};
use super::lists::{List, each, numbers};
use super::memory::{self, View};
use super::output::{Place, Wanted, run};
use super::parameters::Parameter;
use super::stream::Stream;
use super::taken::Taken;
use headwater_streams::kinds::{Elements, Form, Kind, Made, Out, Value, draw};
use headwater_streams::{Error, Key as NativeKey};
use pyo3::exceptions::{PyBufferError, PyMemoryError, PyOverflowError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyFloat, PyInt, PyList, PyTuple};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Words of a stream, after which the cursor enters the key's next stream. Element 2^62 of every
/// type exists, so no draw that begins before the end fails.
const END: u64 = 1 << 60;
/// Streams of a key.
const STREAMS: u64 = 1 << 48;

/// Where the next draw begins.
#[derive(Clone, Copy, PartialEq)]
struct State {
    stream: headwater_streams::Stream,
    /// The first word that no draw has used.
    word: u64,
    /// The kind and the type of the last draw, and the element after its last one.
    last: Option<(Kind, Dtype, u64)>,
}

/// Numbers of a kind's parameters, the rest zeros.
type Numbers = [u64; 4];
/// The kind that the last draw made. A loop of small draws would otherwise spend its time on
/// tables, since some kinds compute 64 chances when they are made.
struct Kept {
    kind: Kind,
    /// The bits of its parameters.
    bits: Numbers,
    made: Arc<Made<'static>>,
    ahead: Option<Ahead>,
}

/// Elements that single draws will ask for. A draw of one number takes as long as one of many, for
/// it looks at the CPU, makes a block of the cipher and runs a loop of vector code; so the second
/// in a row draws these, and the next ones only take them.
struct Ahead {
    stream: headwater_streams::Stream,
    /// The number of the first one.
    start: u64,
    /// Their bits.
    values: [u64; AHEAD],
}

/// Numbers that are drawn ahead.
const AHEAD: usize = 16;

impl State {
    /// Moves past `n` elements of a kind, and returns where they are.
    ///
    /// A draw that would pass the end takes the elements before it, and the others from the next
    /// stream. If it began there as a whole, two draws of 2 and 5 elements at the end would not be
    /// one of 7.
    fn take(
        &mut self,
        (kind, dtype): (Kind, Dtype),
        n: usize,
        dimension: usize,
    ) -> PyResult<Taken> {
        let (n, dimension) = (n as u64, dimension as u64);
        let found = kind.types().iter().find(|one| one.dtype == dtype);
        let (words, values) = match found {
            Some(one) if one.words > 0 => (one.words.into(), one.values.into()),
            // Elements that own blocks: one word each.
            _ => (1, 1),
        };
        // The number of an element that is a vector counts vectors.
        let all = END / words * values / dimension;
        if n > all {
            return Err(PyMemoryError::new_err(format!("a stream has no {n} elements")));
        }
        let first = match self.last {
            Some((before, of, next)) if (before, of) == (kind, dtype) => next,
            _ => self.word.div_ceil(words) * values,
        };
        let first = first.div_ceil(dimension);
        let (stream, left) = (self.stream, all.saturating_sub(first));
        let fits = first <= all && n <= left;
        if !fits {
            self.enter((stream.id() + 1) % STREAMS)?;
        }
        let end = if fits { first + n } else { n - left } * dimension;
        self.word = end.div_ceil(values) * words;
        self.last = Some((kind, dtype, end));
        Ok(match left {
            _ if fits => Taken { stream, first, rest: None },
            0 => Taken { stream: self.stream, first: 0, rest: None },
            _ => Taken { stream, first, rest: Some((left as usize, self.stream)) },
        })
    }

    /// Goes to the beginning of another stream of the key.
    fn enter(&mut self, id: u64) -> PyResult<()> {
        let stream = self.stream.key().stream(id);
        let stream = stream.map_err(|error| PyValueError::new_err(error.to_string()))?;
        *self = State { stream, word: 0, last: None };
        Ok(())
    }
}

/// A place in a stream that every draw moves.
#[pyclass(frozen, module = "headwater._native")]
pub(crate) struct Cursor(Mutex<State>, Mutex<Option<Kept>>);

impl Cursor {
    /// Returns the state. No code panics while it has it, and a state is always a whole one.
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Moves past `n` elements, and has `draw` draw them. A draw that fails, because there is no
    /// memory for its array, has used no word, so the cursor goes back; but not if another thread
    /// has moved it meanwhile.
    fn taken<R>(
        &self,
        of: (Kind, Dtype),
        n: usize,
        dimension: usize,
        draw: impl FnOnce(Taken) -> PyResult<R>,
    ) -> PyResult<R> {
        let (before, after, taken) = {
            let mut state = self.state();
            let before = *state;
            let taken = state.take(of, n, dimension)?;
            (before, *state, taken)
        };
        draw(taken).inspect_err(|_| {
            let mut state = self.state();
            if *state == after {
                *state = before;
            }
        })
    }

    /// Returns the kind made of one number for each parameter: as it was kept, or made and kept.
    fn made(&self, kind: Kind, given: &Bound<'_, PyTuple>) -> PyResult<Arc<Made<'static>>> {
        let (mut values, mut bits) = ([Value::Flag(false); 4], Numbers::default());
        let parameters = kind.parameters();
        if given.len() != parameters.len() {
            return Err(PyTypeError::new_err("a kind takes one value for each parameter"));
        }
        let places = values.iter_mut().zip(&mut bits);
        for ((value, bits), (given, parameter)) in places.zip(given.iter().zip(parameters)) {
            let given = Parameter::Given(given);
            (*value, *bits) = match parameter.form {
                Form::Count => {
                    let count = given.count(parameter.numpy)?;
                    (Value::Count(count), count)
                }
                _ => {
                    let real = given.real(parameter.numpy)?;
                    (Value::Real(real), real.to_bits())
                }
            };
        }
        let mut kept = self.kept();
        if let Some(kept) = &*kept
            && (kept.kind, kept.bits) == (kind, bits)
        {
            return Ok(kept.made.clone());
        }
        let values = &values[..parameters.len()];
        let made = kind.make(values).map_err(|error| refused(error, kind, values))?;
        let made = Arc::new(made);
        *kept = Some(Kept { kind, bits, made: made.clone(), ahead: None });
        Ok(made)
    }

    fn kept(&self) -> MutexGuard<'_, Option<Kept>> {
        self.1.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the next number of the kind that is kept, if the draw is one of it, otherwise None.
    fn one<'py>(
        &self,
        py: Python<'py>,
        kind: Kind,
        given: &Bound<'py, PyTuple>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let mut kept = self.kept();
        let dtype = kind.types()[0].dtype;
        let Some(kept) = kept.as_mut().filter(|kept| kept.is(kind, given)) else {
            return Ok(None);
        };
        let bits = match dtype {
            Dtype::F64 | Dtype::I64 => self.taken((kind, dtype), 1, 1, |one| {
                kept.next(&one.stream, one.first).map_err(|error| refused(error, kind, &[]))
            })?,
            _ => return Ok(None),
        };
        Ok(Some(match dtype {
            Dtype::F64 => PyFloat::new(py, f64::from_bits(bits)).into_any(),
            _ => (bits as i64).into_pyobject(py)?.into_any(),
        }))
    }

    /// Returns numbers of a kind that was made.
    fn of_made<'py>(
        &self,
        py: Python<'py>,
        made: &Made<'_>,
        (size, dtype, out): (Option<Size>, Option<&Bound<'py, PyAny>>, Option<&Bound<'py, PyAny>>),
    ) -> PyResult<Bound<'py, PyAny>> {
        let place = super::methods::place(made, size.map(|size| size.0), dtype, out)?;
        let (kind, dtype) = (made.kind(), place.dtype());
        made.fits(dtype).map_err(|error| refused(error, kind, &[]))?;
        let dimension = made.dimension().map_or(1, std::num::NonZero::get);
        let all = place.shape().map_or(Ok(1), |shape| shape.len(dtype.size()))?;
        self.taken((kind, dtype), all / dimension, dimension, |taken| {
            let border = taken.border().map(|border| border * dimension);
            place.draw_in_two(py, border, |place, out| {
                let (stream, elements) = taken.at(place);
                made.draw(stream, elements, out)
            })
        })
    }

    /// Returns the numbers of a kind whose parameters are lists, which no draw keeps.
    fn drawn<'py, const N: usize>(
        &self,
        py: Python<'py>,
        kind: Kind,
        given: &[Parameter<'py>; N],
        to: (Option<Size>, Option<&Bound<'py, PyAny>>, Option<&Bound<'py, PyAny>>),
    ) -> PyResult<Bound<'py, PyAny>> {
        let owned = Owned::read(kind, &given.each_ref().map(Argument::from))?;
        let values: [Value<'_>; N] = owned.each_ref().map(Owned::value);
        let (mut to, mut result) = (Some(to), None);
        let mut draw = |made: &Made<'_>| {
            result = to.take().map(|to| self.of_made(py, made, to));
        };
        kind.with(&values, &mut draw).map_err(|error| refused(error, kind, &values))?;
        result.unwrap_or_else(|| unreachable!("`with` lends the kind once, or returns an error"))
    }
}

impl Kept {
    /// Returns true if a draw with these parameters is one of the kind, which is of numbers.
    fn is(&self, kind: Kind, given: &Bound<'_, PyTuple>) -> bool {
        let parameters = kind.parameters();
        let is_equal = |(value, parameter, bits): (Bound<'_, PyAny>, Form, u64)| match parameter {
            Form::Real => match value.cast_exact::<PyFloat>() {
                Ok(float) => float.value().to_bits() == bits,
                Err(_) => small(&value).is_some_and(|whole| f64::from(whole).to_bits() == bits),
            },
            Form::Count => small(&value).is_some_and(|count| u64::from(count) == bits),
            _ => false,
        };
        kind == self.kind
            && given.len() == parameters.len()
            && self.made.dimension().is_none()
            && given
                .iter()
                .zip(parameters)
                .zip(self.bits)
                .all(|((value, parameter), bits)| is_equal((value, parameter.form, bits)))
    }

    /// Returns the bits of element `first`.
    fn next(&mut self, stream: &headwater_streams::Stream, first: u64) -> Result<u64, Error> {
        if let Some(ahead) = &self.ahead
            && ahead.stream == *stream
            && let Some(place) = first.checked_sub(ahead.start)
            && let Some(&bits) = ahead.values.get(usize::try_from(place).unwrap_or(AHEAD))
        {
            return Ok(bits);
        }
        // A cursor goes up to word 2^60, so there are as many elements.
        let at = Elements::From(first);
        let values = match self.kind.types()[0].dtype {
            Dtype::F64 => {
                let mut reals = [0.0; AHEAD];
                self.made.draw(stream, at, Out::new(&mut reals))?;
                reals.map(f64::to_bits)
            }
            _ => {
                let mut counts = [0_i64; AHEAD];
                self.made.draw(stream, at, Out::new(&mut counts))?;
                counts.map(|count| count as u64)
            }
        };
        self.ahead = Some(Ahead { stream: *stream, start: first, values });
        Ok(values[0])
    }
}

/// Returns an `int` of up to 32 bits.
///
/// It raises no exception for others: a new one may run the garbage collector, and with it any code
/// of Python, which may draw from this generator while its kept kind is locked.
fn small(value: &Bound<'_, PyAny>) -> Option<u32> {
    if !value.is_exact_instance_of::<PyInt>() {
        return None;
    }
    let mut overflow = 0;
    // SAFETY: an `int`, and a place for the flag; the thread is attached, as `value` shows.
    let whole = unsafe { ffi::PyLong_AsLongLongAndOverflow(value.as_ptr(), &mut overflow) };
    u32::try_from(whole).ok().filter(|_| overflow == 0)
}

/// Returns the kind with this number.
fn kind_of(number: u8) -> PyResult<Kind> {
    Kind::by_number(number).ok_or_else(|| PyValueError::new_err(format!("no kind is {number}")))
}

/// Returns the numbers of the kinds by their names.
pub(crate) fn kinds(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let all = PyDict::new(py);
    Kind::ALL.into_iter().try_for_each(|kind| all.set_item(kind.name(), kind as u8))?;
    Ok(all)
}

/// Returns true for a value that is one number for all elements.
pub(super) fn is_number(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    if value.is_exact_instance_of::<PyFloat>() || value.is_exact_instance_of::<PyInt>() {
        return Ok(true);
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        return Ok(false);
    }
    match value.getattr_opt(pyo3::intern!(value.py(), "ndim"))? {
        Some(number) => Ok(number.extract::<usize>().is_ok_and(|ndim| ndim == 0)),
        None => Ok(true),
    }
}

#[pymethods]
impl Cursor {
    #[new]
    #[pyo3(signature = (stream, word=0))]
    fn new(stream: &Bound<'_, Stream>, word: u64) -> PyResult<Cursor> {
        if word > END {
            return Err(PyValueError::new_err(format!("word must be at most {END}, not {word}")));
        }
        let state = State { stream: stream.get().0, word, last: None };
        Ok(Cursor(Mutex::new(state), Mutex::new(None)))
    }

    /// Returns the key, the stream's number, the first word that no draw has used, and the kind,
    /// the type and the end of the last draw if it may be continued.
    fn get(&self) -> (Key, u64, u64, Option<(u8, u8, u64)>) {
        let state = *self.state();
        let last = state.last.map(|(kind, dtype, next)| (kind as u8, dtype as u8, next));
        (Key(state.stream.key()), state.stream.id(), state.word, last)
    }

    /// Goes to a place that `get` returned.
    fn set(
        &self,
        key: &Bound<'_, PyAny>,
        id: u64,
        word: u64,
        last: Option<(u8, u8, u64)>,
    ) -> PyResult<()> {
        let stream = key::key(key)?.stream(id);
        let stream = stream.map_err(|error| PyValueError::new_err(error.to_string()))?;
        let last = match last {
            None => None,
            Some((kind, dtype, next)) => {
                let dtype = Dtype::by_number(dtype);
                let dtype =
                    dtype.ok_or_else(|| PyValueError::new_err("no type has this number"))?;
                Some((kind_of(kind)?, dtype, next))
            }
        };
        if word > END || last.is_some_and(|(.., next)| next > 8 * END) {
            return Err(PyValueError::new_err(format!("word must be at most {END}, not {word}")));
        }
        *self.state() = State { stream, word, last };
        Ok(())
    }

    /// Moves by words, back if the number is negative.
    fn advance(&self, words: i128) -> PyResult<()> {
        let mut state = self.state();
        let to = i128::from(state.word).saturating_add(words);
        let outside = || {
            let word = state.word;
            PyValueError::new_err(format!(
                "delta must lead to a word from 0 to {END}: from word {word}, {words} does not"
            ))
        };
        let word = u64::try_from(to).ok().filter(|&to| to <= END).ok_or_else(outside)?;
        (state.word, state.last) = (word, None);
        Ok(())
    }

    /// Takes one block, and returns its bytes: the key of another generator.
    fn block<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.taken_key()?.to_raw()))
    }

    /// Takes one block, and returns stream 0 of the key that is made of it, for methods that need
    /// a stream of their own, such as a shuffle.
    fn own(&self) -> PyResult<Stream> {
        let stream = self.taken_key()?.stream(0);
        stream.map(Stream).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// Takes whole words for `n` bytes, and returns the bytes.
    fn bytes<'py>(&self, py: Python<'py>, n: usize) -> PyResult<Bound<'py, PyAny>> {
        self.taken((Kind::Words, Dtype::U64), n.div_ceil(8), 1, |taken| {
            let of = |stream, first: u64, n: usize| {
                let named = PyDict::new(py);
                named.set_item("start", first * 8)?;
                Bound::new(py, Stream(stream))?.call_method("bytes", (n,), Some(&named))
            };
            match taken.rest {
                None => of(taken.stream, taken.first, n),
                Some((words, next)) => {
                    of(taken.stream, taken.first, words * 8)?.add(of(next, 0, n - words * 8)?)
                }
            }
        })
    }

    /// Returns numbers of the kind with this number. Returns None if a parameter is an array, or if
    /// anything is refused: then NumPy's method answers, or raises its own error.
    #[pyo3(signature = (kind, size, dtype, out, *given))]
    fn draw<'py>(
        &self,
        py: Python<'py>,
        kind: u8,
        size: Option<&Bound<'py, PyAny>>,
        dtype: Option<&Bound<'py, PyAny>>,
        out: Option<&Bound<'py, PyAny>>,
        given: &Bound<'py, PyTuple>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let is_refusal = |error: &PyErr| {
            error.is_instance_of::<PyTypeError>(py)
                || error.is_instance_of::<PyValueError>(py)
                || error.is_instance_of::<PyOverflowError>(py)
                || error.is_instance_of::<PyBufferError>(py)
        };
        match self.tried(py, kind_of(kind)?, (size, dtype, out), given) {
            Err(error) if is_refusal(&error) => Ok(None),
            done => done,
        }
    }

    /// Returns integers as `Stream.integers` does.
    #[pyo3(signature = (low, high, size, dtype, endpoint))]
    fn integers<'py>(
        &self,
        py: Python<'py>,
        low: &Bound<'py, PyAny>,
        high: Option<&Bound<'py, PyAny>>,
        size: Option<Size>,
        dtype: Option<&Bound<'py, PyAny>>,
        endpoint: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let wanted = Wanted { shape: size.map(|size| size.0), dtype, out: None };
        let place = Place::of(wanted, Kind::Integers)?;
        let range = integers::range(low, high, endpoint, place.dtype())?;
        let dtype = place.dtype();
        let n = place.shape().map_or(Ok(1), |shape| shape.len(dtype.size()))?;
        self.taken((Kind::Integers, dtype), n, 1, |taken| {
            place.draw_in_two(py, taken.border(), |place, out| {
                let (stream, elements) = taken.at(place);
                draw(Kind::Integers, &range, stream, elements, out)
            })
        })
    }

    /// Fills `out`, whose element i has element i of each list of `given` as its parameters.
    #[pyo3(signature = (kind, out, *given))]
    fn each(
        &self,
        py: Python<'_>,
        kind: u8,
        out: &Bound<'_, PyAny>,
        given: &Bound<'_, PyTuple>,
    ) -> PyResult<()> {
        let kind = kind_of(kind)?;
        let held = memory::Out::open(out, "out")?;
        let dtype = dtype(&out.getattr("dtype")?)?;
        let n = held.shape().len(dtype.size())?;
        let views: Vec<Option<View>> = given.iter().map(|value| numbers(&value)).collect();
        let mut lists = Vec::new();
        for ((value, view), parameter) in given.iter().zip(&views).zip(kind.parameters()) {
            let list = List::read(value, view.as_ref(), parameter)?;
            if list.len().is_some_and(|len| len != n) {
                return Err(PyValueError::new_err(
                    "a parameter must have a value for each element",
                ));
            }
            lists.push(list);
        }
        self.taken((kind, dtype), n, 1, |taken| {
            let border = taken.border().unwrap_or(n);
            run(py, held.memory(), |memory| {
                each(kind, (&taken.stream, taken.first), &lists, memory, 0..border)?;
                match taken.rest {
                    None => Ok(()),
                    Some((_, next)) => each(kind, (&next, 0), &lists, memory, border..n),
                }
            })
        })
    }
}

/// An argument that may be left out.
type Given<'a, 'py> = Option<&'a Bound<'py, PyAny>>;

impl Cursor {
    fn tried<'py>(
        &self,
        py: Python<'py>,
        kind: Kind,
        (size, dtype, out): (Given<'_, 'py>, Given<'_, 'py>, Given<'_, 'py>),
        given: &Bound<'py, PyTuple>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        if size.is_none()
            && dtype.is_none()
            && out.is_none()
            && let Some(number) = self.one(py, kind, given)?
        {
            return Ok(Some(number));
        }
        let to = (size.map(|size| size.extract::<Size>()).transpose()?, dtype, out);
        let parameters = kind.parameters();
        let mut are_numbers = true;
        for (value, parameter) in given.iter().zip(parameters) {
            let one = matches!(parameter.form, Form::Real | Form::Count);
            if one && !is_number(&value)? {
                return Ok(None);
            }
            are_numbers &= one;
        }
        if are_numbers {
            return self.of_made(py, &*self.made(kind, given)?, to).map(Some);
        }
        let at = |i: usize| given.get_item(i).map(Parameter::Given);
        match given.len() {
            1 => self.drawn(py, kind, &[at(0)?], to),
            2 => self.drawn(py, kind, &[at(0)?, at(1)?], to),
            many => Err(PyTypeError::new_err(format!("no kind takes {many} lists"))),
        }
        .map(Some)
    }

    fn taken_key(&self) -> PyResult<NativeKey> {
        let mut state = self.state();
        // Two words from a multiple of two on are a block.
        let even = state.word.next_multiple_of(2);
        (state.word, state.last) = (even, None);
        // The number of words before the end is even as well, so the two are in one stream.
        let Taken { stream, first, .. } = state.take((Kind::Words, Dtype::U64), 2, 1)?;
        state.last = None;
        let mut words = [0; 2];
        let filled = stream.fill_u64(first, &mut words);
        filled.map_err(|error| PyValueError::new_err(error.to_string()))?;
        let [low, high] = words;
        let raw = u128::from(low) | u128::from(high) << 64;
        Ok(NativeKey::from_raw(stream.key().engine(), raw.to_le_bytes()))
    }
}
