//! `Stream`: arrays of any part of a stream.

use super::args::{Shape, Size, Start, Threads, unsigned};
use super::choice;
use super::dlpack::Tensor;
use super::dtype::Dtype;
use super::elements::Elements as At;
use super::indices::Indices;
use super::integers;
use super::key::{self, Key};
use super::memory::{Memory, Out, View};
use super::output::{Place, Wanted, run};
use super::parameters::Parameter;
use super::permutation::Permutation;
use super::{shared, shuffle};
use headwater_streams::kinds::{Elements, Kind, Value, draw};
use pyo3::exceptions::PyMemoryError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

/// One of a key's 2^48 streams: a function from an element's number to its value.
///
/// A stream has no position, so a call with the same arguments returns the same values. `start` is
/// the number of the first element, in C order if the array has several dimensions, and `threads`
/// the number of threads (0: one per CPU), which changes no value. Without `shape` and `out` the
/// result is one number. Two arrays that must be independent need two streams.
#[pyclass(frozen, eq, hash, module = "headwater")]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Stream(pub(crate) headwater_streams::Stream);

impl Stream {
    fn made<'py>(
        &self,
        py: Python<'py>,
        (kind, values): (Kind, &[Value<'_>]),
        place: Place<'_, 'py>,
        (start, threads): (Start, Threads),
    ) -> PyResult<Bound<'py, PyAny>> {
        shared::note(py, &self.0, kind)?;
        let elements = Elements::Shared { start: start.0, threads: threads.0 };
        place.draw(py, |out| draw(kind, values, &self.0, elements, out))
    }

    /// Returns elements of a kind without parameters.
    fn plain<'py>(
        &self,
        py: Python<'py>,
        kind: Kind,
        wanted: Wanted<'_, 'py>,
        range: (Start, Threads),
    ) -> PyResult<Bound<'py, PyAny>> {
        self.made(py, (kind, &[]), Place::of(wanted, kind)?, range)
    }
}

#[pymethods]
impl Stream {
    #[new]
    #[pyo3(signature = (key, id, /))]
    fn new(key: &Bound<'_, PyAny>, id: &Bound<'_, PyAny>) -> PyResult<Stream> {
        Key(key::key(key)?).stream(id)
    }

    /// Returns the key of the stream.
    #[getter]
    fn key(&self) -> Key {
        Key(self.0.key())
    }

    /// Returns the number of the stream.
    #[getter]
    fn id(&self) -> u64 {
        self.0.id()
    }

    /// Returns stream 0 of a child of this stream's key, for an array that must be independent of
    /// this stream's: `stream.child("noise")`. Streams of different numbers have different
    /// children.
    #[pyo3(signature = (label, /))]
    fn child(&self, label: &Bound<'_, PyAny>) -> PyResult<Stream> {
        key::labelled(label, |label| Stream(self.0.child(label)))
    }

    /// Returns uniform numbers in [0, 1): float64, or float32, float16 or bfloat16 by `dtype` or
    /// `out`.
    #[pyo3(
        signature = (shape=None, dtype=None, out=None, *, start=Start(0), threads=Threads(1)),
        text_signature = "($self, shape=None, dtype='float64', out=None, *, start=0, threads=1)"
    )]
    fn random<'py>(
        &self,
        py: Python<'py>,
        shape: Option<Shape>,
        dtype: Option<&Bound<'py, PyAny>>,
        out: Option<&Bound<'py, PyAny>>,
        start: Start,
        threads: Threads,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.plain(py, Kind::Uniform, Wanted { shape, dtype, out }, (start, threads))
    }

    /// Returns normal numbers, mean 0 and standard deviation 1: float64, or float32, float16 or
    /// bfloat16.
    #[pyo3(
        signature = (shape=None, dtype=None, out=None, *, start=Start(0), threads=Threads(1)),
        text_signature = "($self, shape=None, dtype='float64', out=None, *, start=0, threads=1)"
    )]
    fn standard_normal<'py>(
        &self,
        py: Python<'py>,
        shape: Option<Shape>,
        dtype: Option<&Bound<'py, PyAny>>,
        out: Option<&Bound<'py, PyAny>>,
        start: Start,
        threads: Threads,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.plain(py, Kind::Normal, Wanted { shape, dtype, out }, (start, threads))
    }

    /// Returns complex normal numbers, the squared sizes of which have mean 1: complex128, or
    /// complex64.
    #[pyo3(
        signature = (shape=None, dtype=None, out=None, *, start=Start(0), threads=Threads(1)),
        text_signature = "($self, shape=None, dtype='complex128', out=None, *, start=0, threads=1)"
    )]
    fn complex_normal<'py>(
        &self,
        py: Python<'py>,
        shape: Option<Shape>,
        dtype: Option<&Bound<'py, PyAny>>,
        out: Option<&Bound<'py, PyAny>>,
        start: Start,
        threads: Threads,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.plain(py, Kind::ComplexNormal, Wanted { shape, dtype, out }, (start, threads))
    }

    /// Returns exponential numbers, mean 1: float64.
    #[pyo3(
        signature = (shape=None, dtype=None, out=None, *, start=Start(0), threads=Threads(1)),
        text_signature = "($self, shape=None, dtype='float64', out=None, *, start=0, threads=1)"
    )]
    fn standard_exponential<'py>(
        &self,
        py: Python<'py>,
        shape: Option<Shape>,
        dtype: Option<&Bound<'py, PyAny>>,
        out: Option<&Bound<'py, PyAny>>,
        start: Start,
        threads: Threads,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.plain(py, Kind::Exponential, Wanted { shape, dtype, out }, (start, threads))
    }

    /// Returns integers from `low` (included) to `high` (excluded, or included with `endpoint`),
    /// each exactly as likely as any other. `low` alone is the end of a range from 0 on.
    #[pyo3(
        signature = (
            low, high=None, shape=None, dtype=None, endpoint=false, *,
            out=None, start=Start(0), threads=Threads(1)
        ),
        text_signature = "($self, low, high=None, shape=None, dtype='int64', endpoint=False, *, out=None, start=0, threads=1)"
    )]
    #[expect(clippy::too_many_arguments)] // the names of NumPy's generators, and two of ours
    fn integers<'py>(
        &self,
        py: Python<'py>,
        low: &Bound<'py, PyAny>,
        high: Option<&Bound<'py, PyAny>>,
        shape: Option<Shape>,
        dtype: Option<&Bound<'py, PyAny>>,
        endpoint: bool,
        out: Option<&Bound<'py, PyAny>>,
        start: Start,
        threads: Threads,
    ) -> PyResult<Bound<'py, PyAny>> {
        let place = Place::of(Wanted { shape, dtype, out }, Kind::Integers)?;
        let range = integers::range(low, high, endpoint, place.dtype())?;
        self.made(py, (Kind::Integers, &range), place, (start, threads))
    }

    /// Returns the stream's 64-bit words: uint64.
    #[pyo3(
        signature = (shape=None, out=None, *, start=Start(0), threads=Threads(1)),
        text_signature = "($self, shape=None, out=None, *, start=0, threads=1)"
    )]
    fn uint64<'py>(
        &self,
        py: Python<'py>,
        shape: Option<Shape>,
        out: Option<&Bound<'py, PyAny>>,
        start: Start,
        threads: Threads,
    ) -> PyResult<Bound<'py, PyAny>> {
        let wanted = Wanted { shape, dtype: None, out };
        let place = Place::find(wanted, [Dtype::U64].into_iter())?;
        self.made(py, (Kind::Words, &[]), place, (start, threads))
    }

    /// Returns the stream's 32-bit words: uint32. Word 2e is the lower half of 64-bit word e.
    #[pyo3(
        signature = (shape=None, out=None, *, start=Start(0), threads=Threads(1)),
        text_signature = "($self, shape=None, out=None, *, start=0, threads=1)"
    )]
    fn uint32<'py>(
        &self,
        py: Python<'py>,
        shape: Option<Shape>,
        out: Option<&Bound<'py, PyAny>>,
        start: Start,
        threads: Threads,
    ) -> PyResult<Bound<'py, PyAny>> {
        let wanted = Wanted { shape, dtype: None, out };
        let place = Place::find(wanted, [Dtype::U32].into_iter())?;
        self.made(py, (Kind::Words, &[]), place, (start, threads))
    }

    /// Returns `n` bytes of the stream, from byte `start` on.
    #[pyo3(
        signature = (n, *, start=Start(0), threads=Threads(1)),
        text_signature = "($self, n, *, start=0, threads=1)"
    )]
    fn bytes<'py>(
        &self,
        py: Python<'py>,
        n: &Bound<'py, PyAny>,
        start: Start,
        threads: Threads,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let n = unsigned(n, "n")?;
        let n = ffi::Py_ssize_t::try_from(n)
            .map_err(|_| PyMemoryError::new_err(format!("n exceeds the address space: {n}")))?;
        // SAFETY: Python lets the maker of a bytes object write to it until it is shared. This call
        // has made it, has not shared it, and writes to all of it or drops it.
        let (bytes, memory) = unsafe {
            let bytes = ffi::PyBytes_FromStringAndSize(std::ptr::null(), n);
            let bytes = Bound::from_owned_ptr_or_err(py, bytes)?.cast_into_unchecked::<PyBytes>();
            let start = ffi::PyBytes_AsString(bytes.as_ptr()).cast();
            (bytes, Memory::new(start, n as usize, Dtype::U8))
        };
        let elements = Elements::Shared { start: start.0, threads: threads.0 };
        // SAFETY: the bytes are those above, which are not shared yet, so nothing else refers to
        // them.
        run(py, memory, |m| draw(Kind::Words, &[], &self.0, elements, unsafe { m.out() }))?;
        Ok(bytes)
    }

    /// Fills a writable buffer of any type with the stream's bytes from byte `start` on, and
    /// returns the buffer.
    #[pyo3(
        signature = (buffer, *, start=Start(0), threads=Threads(1)),
        text_signature = "($self, buffer, *, start=0, threads=1)"
    )]
    fn fill<'py>(
        &self,
        py: Python<'py>,
        buffer: &Bound<'py, PyAny>,
        start: Start,
        threads: Threads,
    ) -> PyResult<Bound<'py, PyAny>> {
        let elements = Elements::Shared { start: start.0, threads: threads.0 };
        let write = |memory: Memory| {
            // SAFETY: the memory is that of the buffer or the tensor below, to which this call
            // makes no other reference.
            draw(Kind::Words, &[], &self.0, elements, unsafe { memory.out() })
        };
        if !View::is_offered(buffer) && Tensor::is_offered(buffer)? {
            run(py, Out::open(buffer, "buffer")?.memory().as_bytes(), write)?;
            return Ok(buffer.clone());
        }
        let view = View::writable(buffer, "buffer")?;
        shuffle::no_objects(&view, "buffer")?;
        // SAFETY: `writable` asked for it, so the view grants so many bytes in C order, to be
        // written to, until it is dropped at the end; bytes need no alignment.
        let memory = unsafe { Memory::new(view.start(), view.bytes(), Dtype::U8) };
        run(py, memory, write)?;
        Ok(buffer.clone())
    }

    /// Returns the elements with these numbers, as an object with the stream's methods:
    /// `stream.at([5, 3]).random()`.
    #[pyo3(signature = (indices, /))]
    fn at(&self, indices: &Bound<'_, PyAny>) -> PyResult<At> {
        Ok(At::new(self.0, Indices::read(indices, "indices")?))
    }

    /// Returns a random order of `range(n)` as a sequence that computes its values when they are
    /// asked for. It takes 300 bytes, whatever `n`.
    #[pyo3(signature = (n, /))]
    fn permutation(&self, n: &Bound<'_, PyAny>) -> PyResult<Permutation> {
        Ok(Permutation::new(self.0, unsigned(n, "n")?))
    }

    /// Returns `k` different numbers of `range(n)` in random order: the beginning of
    /// `permutation(n)`.
    #[pyo3(signature = (n, k, /, *, out=None))]
    fn sample<'py>(
        &self,
        py: Python<'py>,
        n: &Bound<'py, PyAny>,
        k: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (n, number) = (unsigned(n, "n")?, unsigned(k, "k")?);
        if number > n {
            return Err(super::args::outside(k, "k", &format!("from 0 to n = {n}")));
        }
        Permutation::new(self.0, n).values(py, 0, Shape::new(vec![number as usize]), out)
    }

    /// Shuffles a list, another mutable sequence or a writable buffer in place: its items, or its
    /// rows if it has several dimensions.
    #[pyo3(signature = (x, /))]
    fn shuffle(&self, x: &Bound<'_, PyAny>) -> PyResult<()> {
        shuffle::shuffle(&self.0, x)
    }

    /// Returns random items of a sequence, or of `range(a)` if `a` is an integer: one item, or
    /// an array (of an array or an integer) or a list (of another sequence) of this size. Items
    /// repeat unless `replace` is false. `p` has the weights of the items, which need not add up
    /// to 1.
    #[pyo3(
        signature = (a, size=None, *, replace=true, p=None, start=Start(0)),
        text_signature = "($self, a, size=None, *, replace=True, p=None, start=0)"
    )]
    fn choice<'py>(
        &self,
        a: &Bound<'py, PyAny>,
        size: Option<Size>,
        replace: bool,
        p: Option<Parameter<'py>>,
        start: Start,
    ) -> PyResult<Bound<'py, PyAny>> {
        let size = size.map(|size| size.0);
        choice::choice(&self.0, a, size, replace, p.as_ref(), start.0)
    }

    pub(crate) fn __repr__(&self) -> String {
        format!("{}.stream({})", self.key().__repr__(), self.0.id())
    }

    fn __copy__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __deepcopy__<'py>(slf: Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        slf
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let arguments = (slf.get().key(), slf.get().id()).into_pyobject(slf.py())?;
        Ok((slf.get_type().into_any(), arguments))
    }
}
