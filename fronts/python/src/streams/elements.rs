//! `Elements`: the elements of a stream at given indices.

use super::choice;
use super::dtype::Dtype;
use super::indices::Indices;
use super::integers;
use super::output::{Place, Wanted, refused};
use super::parameters::Parameter;
use super::permutation::Permutation;
use super::stream::Stream;
use headwater_streams::kinds::{self, Kind, Value, draw};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};

/// The elements of a stream with given numbers, in the order and the shape of the numbers.
///
/// `stream.at(indices).random()` returns the numbers that `stream.random` has at these places, and
/// so do the other methods. An integer has one number, and a sequence or an array has an array.
#[pyclass(frozen, eq, module = "headwater")]
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Elements {
    stream: headwater_streams::Stream,
    indices: Indices,
}

impl Elements {
    pub(crate) fn new(stream: headwater_streams::Stream, indices: Indices) -> Elements {
        Elements { stream, indices }
    }

    pub(crate) fn parts(&self) -> (&headwater_streams::Stream, &Indices) {
        (&self.stream, &self.indices)
    }

    fn wanted<'a, 'py>(
        &self,
        dtype: Option<&'a Bound<'py, PyAny>>,
        out: Option<&'a Bound<'py, PyAny>>,
    ) -> Wanted<'a, 'py> {
        Wanted { shape: self.indices.shape.clone(), dtype, out }
    }

    fn made<'py>(
        &self,
        py: Python<'py>,
        (kind, values): (Kind, &[Value<'_>]),
        place: Place<'_, 'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let elements = kinds::Elements::At(&self.indices.list);
        place.draw(py, |out| draw(kind, values, &self.stream, elements, out))
    }

    /// Returns elements of a kind without parameters.
    fn plain<'py>(
        &self,
        py: Python<'py>,
        kind: Kind,
        dtype: Option<&Bound<'py, PyAny>>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.made(py, (kind, &[]), Place::of(self.wanted(dtype, out), kind)?)
    }
}

#[pymethods]
impl Elements {
    /// Returns the stream of the elements.
    #[getter]
    fn stream(&self) -> Stream {
        Stream(self.stream)
    }

    /// Returns the parts of a pickle: the stream's `at`, and the indices in their shape.
    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyAny>,))> {
        let (py, this) = (slf.py(), slf.get());
        let at = Bound::new(py, Stream(this.stream))?.getattr("at")?;
        let numbers = PyList::new(py, &this.indices.list)?.into_any();
        let indices = match &this.indices.shape {
            None => numbers.get_item(0)?,
            Some(shape) if shape.dimensions().len() == 1 => numbers,
            // Indices of several dimensions came from an array or a tensor, so NumPy may be absent
            // where they are read again only if it is a tensor's: then this raises its ImportError.
            Some(shape) => {
                let numpy = py.import("numpy")?;
                let array = numpy.call_method1("array", (numbers, "uint64"))?;
                array.call_method1("reshape", (shape.to_tuple(py)?,))?
            }
        };
        Ok((at, (indices,)))
    }

    /// Returns the numbers of the elements, as one list.
    #[getter]
    fn indices<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, &self.indices.list)
    }

    /// Returns the shape of the results, which is the shape of the indices.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        match &self.indices.shape {
            Some(shape) => shape.to_tuple(py),
            None => Ok(PyTuple::empty(py)),
        }
    }

    /// Returns these elements of `Stream.random`.
    #[pyo3(
        signature = (dtype=None, out=None),
        text_signature = "($self, dtype='float64', out=None)"
    )]
    fn random<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<&Bound<'py, PyAny>>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.plain(py, Kind::Uniform, dtype, out)
    }

    /// Returns these elements of `Stream.standard_normal`.
    #[pyo3(
        signature = (dtype=None, out=None),
        text_signature = "($self, dtype='float64', out=None)"
    )]
    fn standard_normal<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<&Bound<'py, PyAny>>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.plain(py, Kind::Normal, dtype, out)
    }

    /// Returns these elements of `Stream.complex_normal`.
    #[pyo3(
        signature = (dtype=None, out=None),
        text_signature = "($self, dtype='complex128', out=None)"
    )]
    fn complex_normal<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<&Bound<'py, PyAny>>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.plain(py, Kind::ComplexNormal, dtype, out)
    }

    /// Returns these elements of `Stream.standard_exponential`.
    #[pyo3(
        signature = (dtype=None, out=None),
        text_signature = "($self, dtype='float64', out=None)"
    )]
    fn standard_exponential<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<&Bound<'py, PyAny>>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.plain(py, Kind::Exponential, dtype, out)
    }

    /// Returns these elements of `Stream.integers`.
    #[pyo3(
        signature = (low, high=None, dtype=None, endpoint=false, *, out=None),
        text_signature = "($self, low, high=None, dtype='int64', endpoint=False, *, out=None)"
    )]
    fn integers<'py>(
        &self,
        py: Python<'py>,
        low: &Bound<'py, PyAny>,
        high: Option<&Bound<'py, PyAny>>,
        dtype: Option<&Bound<'py, PyAny>>,
        endpoint: bool,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let place = Place::of(self.wanted(dtype, out), Kind::Integers)?;
        let range = integers::range(low, high, endpoint, place.dtype())?;
        self.made(py, (Kind::Integers, &range), place)
    }

    /// Returns these elements of `Stream.uint64`.
    #[pyo3(signature = (out=None))]
    fn uint64<'py>(
        &self,
        py: Python<'py>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let place = Place::find(self.wanted(None, out), [Dtype::U64].into_iter())?;
        self.made(py, (Kind::Words, &[]), place)
    }

    /// Returns these elements of `Stream.uint32`.
    #[pyo3(signature = (out=None))]
    fn uint32<'py>(
        &self,
        py: Python<'py>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let place = Place::find(self.wanted(None, out), [Dtype::U32].into_iter())?;
        self.made(py, (Kind::Words, &[]), place)
    }

    /// Returns these bytes of the stream, in the order of the indices.
    fn bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        PyBytes::new_with(py, self.indices.list.len(), |out| {
            self.stream.u8_at(&self.indices.list, out).map_err(refused)
        })
    }

    /// Returns the values of `Stream.permutation(n)` at the indices.
    #[pyo3(signature = (n, /, *, out=None))]
    fn permutation<'py>(
        &self,
        py: Python<'py>,
        n: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Permutation::new(self.stream, super::args::unsigned(n, "n")?).listed(py, &self.indices, out)
    }

    /// Returns the items that `Stream.choice` has at the indices, with replacement.
    #[pyo3(signature = (a, /, *, p=None))]
    fn choice<'py>(
        &self,
        a: &Bound<'py, PyAny>,
        p: Option<Parameter<'py>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        choice::choice_at(&self.stream, a, &self.indices, p.as_ref())
    }

    fn __len__(&self) -> usize {
        self.indices.list.len()
    }

    fn __repr__(&self) -> String {
        let list = &self.indices.list;
        let shown: Vec<_> = list.iter().take(6).map(u64::to_string).collect();
        let indices = match (&self.indices.shape, list.len()) {
            (None, _) => shown.join(""),
            (_, 0..=6) => format!("[{}]", shown.join(", ")),
            _ => format!("[{}, ...]", shown.join(", ")),
        };
        format!("{}.at({indices})", Stream(self.stream).__repr__())
    }
}
