//! `Permutation`: a random order of `range(n)` as a sequence.
//!
//! It may be longer than memory, so values are computed when they are asked for. It may also be
//! longer than any sequence of Python (2^63 - 1), so slices and indices are worked out here in
//! wider integers.

use super::args::{Shape, Start, integer, not_a, outside};
use super::dtype::Dtype;
use super::indices::Indices;
use super::memory::Memory;
use super::output::{Place, Wanted};
use super::stream::Stream;
use headwater_streams::Error;
use pyo3::exceptions::{PyIndexError, PyOverflowError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PySlice, PyTuple};
use std::hash::{Hash, Hasher};

/// Values that an iterator computes at a time.
const AHEAD: usize = 1024;

/// A random order of `range(n)`: a sequence whose values are computed when they are asked for.
///
/// `p[i]` is a value, `p[a:b]` an array of values, and `p.index(value)` the place of a value.
/// Values are int64, or uint64 if `n` is above 2^63.
// `reversed` and others ask for the slots of a sequence.
#[pyclass(frozen, eq, hash, sequence, module = "headwater")]
#[derive(Clone, Copy)]
pub(crate) struct Permutation {
    stream: headwater_streams::Stream,
    order: headwater_streams::Permutation,
}

impl PartialEq for Permutation {
    fn eq(&self, other: &Permutation) -> bool {
        (self.stream, self.order.n()) == (other.stream, other.order.n())
    }
}

impl Hash for Permutation {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.stream, self.order.n()).hash(state);
    }
}

/// Returns the types that hold every number below `n`, the default first. Signed numbers are the
/// default, because several functions of NumPy take no others as indices.
pub(crate) fn kinds_for(n: u64) -> &'static [Dtype] {
    if n <= 1 << 63 { &[Dtype::I64, Dtype::U64] } else { &[Dtype::U64] }
}

impl Permutation {
    pub(crate) fn new(stream: headwater_streams::Stream, n: u64) -> Permutation {
        Permutation { stream, order: stream.permutation(n) }
    }

    /// Returns the values from `start` on, all of which exist.
    pub(crate) fn values<'py>(
        &self,
        py: Python<'py>,
        start: u64,
        shape: Shape,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let wanted = Wanted { shape: Some(shape), dtype: None, out };
        Place::find(wanted, kinds_for(self.order.n()).iter().copied())?.write(py, |memory| {
            // SAFETY: the place's types are int64 and uint64, so the elements have 64 bits and take
            // any, and `write` hands the memory to this function alone.
            self.order.fill(start, unsafe { memory.elements::<u64>() })
        })
    }

    /// Returns the values at these indices.
    pub(crate) fn listed<'py>(
        &self,
        py: Python<'py>,
        indices: &Indices,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let n = self.order.n();
        if let Some(index) = indices.list.iter().find(|&&index| index >= n) {
            return Err(PyIndexError::new_err(format!(
                "indices must be below n = {n}, not {index}"
            )));
        }
        let write = |memory: Memory| -> Result<(), Error> {
            // SAFETY: as in `values`, elements of 64 bits, in memory that this function alone has.
            let out = unsafe { memory.elements::<u64>() };
            for (out, &index) in out.iter_mut().zip(&indices.list) {
                *out = self.order.at(index).unwrap_or_default();
            }
            Ok(())
        };
        let wanted = Wanted { shape: indices.shape.clone(), dtype: None, out };
        Place::find(wanted, kinds_for(n).iter().copied())?.write(py, write)
    }

    /// Returns the place of a value, or nothing if no element has the value.
    fn place_of(&self, value: &Bound<'_, PyAny>) -> Option<u64> {
        let value = integer(value, "value").ok()?.extract().ok()?;
        self.order.position(value)
    }

    fn slice<'py>(&self, slice: &Bound<'py, PySlice>) -> PyResult<Bound<'py, PyAny>> {
        let (py, n) = (slice.py(), i128::from(self.order.n()));
        let end = |name: &str| -> PyResult<Option<i128>> {
            let end = slice.getattr(name)?;
            if end.is_none() { Ok(None) } else { saturated(&end, name).map(Some) }
        };
        // Python's rule for slices, for sequences longer than its own.
        let step = end("step")?.unwrap_or(1);
        if step == 0 {
            return Err(PyValueError::new_err("step must not be 0"));
        }
        let (least, most) = if step > 0 { (0, n) } else { (-1, n - 1) };
        let within = |end: Option<i128>, default: i128| match end {
            Some(end) if end < 0 => (end + n).clamp(least, most),
            Some(end) => end.clamp(least, most),
            None => default,
        };
        let (first, last) = if step > 0 { (least, most) } else { (most, least) };
        let (start, stop) = (within(end("start")?, first), within(end("stop")?, last));
        let distance = if step > 0 { stop - start } else { start - stop };
        let count = if distance <= 0 { 0 } else { (distance - 1) / step.abs() + 1 };
        let shape = Shape::new(vec![count as usize]);
        if step == 1 || count == 0 {
            return self.values(py, start.max(0) as u64, shape, None);
        }
        let wanted = Wanted { shape: Some(shape), dtype: None, out: None };
        Place::find(wanted, kinds_for(self.order.n()).iter().copied())?.write(py, |memory| {
            // SAFETY: as in `values`, elements of 64 bits, in memory that this function alone has.
            let out = unsafe { memory.elements::<u64>() };
            for (i, out) in (0..).zip(out) {
                *out = self.order.at((start + i * step) as u64).unwrap_or_default();
            }
            Ok(())
        })
    }
}

/// Returns an end of a slice, of which only the place relative to 2^64 elements matters.
fn saturated(end: &Bound<'_, PyAny>, name: &str) -> PyResult<i128> {
    let end = integer(end, name)?;
    let limit = 1_i128 << 65;
    match end.extract::<i128>() {
        Ok(end) => Ok(end.clamp(-limit, limit)),
        Err(_) => Ok(if end.lt(0)? { -limit } else { limit }),
    }
}

#[pymethods]
impl Permutation {
    /// Returns the number of elements.
    #[getter]
    fn n(&self) -> u64 {
        self.order.n()
    }

    /// Returns the stream of the permutation.
    #[getter]
    fn stream(&self) -> Stream {
        Stream(self.stream)
    }

    /// Returns the place of `value`: `p[p.index(value)] == value`.
    #[pyo3(signature = (value, /))]
    fn index(&self, value: &Bound<'_, PyAny>) -> PyResult<u64> {
        match self.place_of(value) {
            Some(place) => Ok(place),
            None => Err(outside(value, "value", &format!("an integer below n = {}", self.n()))),
        }
    }

    /// Returns the number of elements with this value: 1 or 0.
    #[pyo3(signature = (value, /))]
    fn count(&self, value: &Bound<'_, PyAny>) -> usize {
        usize::from(self.place_of(value).is_some())
    }

    /// Returns the values at these indices, in the shape of the indices.
    #[pyo3(signature = (indices, /, *, out=None))]
    fn at<'py>(
        &self,
        py: Python<'py>,
        indices: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.listed(py, &Indices::read(indices, "indices")?, out)
    }

    /// Fills an array with the values from index `start` on, and returns the array.
    #[pyo3(signature = (out, *, start=Start(0)), text_signature = "($self, out, *, start=0)")]
    fn fill<'py>(
        &self,
        py: Python<'py>,
        out: &Bound<'py, PyAny>,
        start: Start,
    ) -> PyResult<Bound<'py, PyAny>> {
        let wanted = Wanted { shape: None, dtype: None, out: Some(out) };
        Place::find(wanted, kinds_for(self.order.n()).iter().copied())?.write(py, |memory| {
            // SAFETY: as in `values`, elements of 64 bits, in memory that this function alone has.
            self.order.fill(start.0, unsafe { memory.elements::<u64>() })
        })
    }

    fn __len__(&self) -> PyResult<usize> {
        isize::try_from(self.order.n()).map(|n| n as usize).map_err(|_| {
            PyOverflowError::new_err("len() is at most 2^63 - 1 in Python: use the attribute n")
        })
    }

    fn __getitem__<'py>(&self, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        if let Ok(slice) = key.cast::<PySlice>() {
            return self.slice(slice);
        }
        if !key.hasattr(pyo3::intern!(key.py(), "__index__"))? {
            return Err(not_a(key, "the index", "an integer or a slice"));
        }
        let n = i128::from(self.order.n());
        let index = saturated(key, "the index")?;
        let from_start = if index < 0 { index + n } else { index };
        let value = u64::try_from(from_start).ok().and_then(|index| self.order.at(index));
        match value {
            Some(value) => Ok(PyInt::new(key.py(), value).into_any()),
            None => {
                Err(PyIndexError::new_err(format!("the index must be below n = {n}, not {index}")))
            }
        }
    }

    fn __contains__(&self, value: &Bound<'_, PyAny>) -> bool {
        self.place_of(value).is_some()
    }

    fn __iter__(&self) -> Values {
        Values { order: self.order, next: 0, made: Vec::new(), used: 0 }
    }

    /// Returns all values as an array of NumPy, which `numpy.asarray` asks for.
    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if copy == Some(false) {
            return Err(PyValueError::new_err("copy must not be False: the values are computed"));
        }
        let values = self.slice(&PySlice::full(py))?;
        match dtype {
            Some(dtype) => values.call_method1("astype", (dtype,)),
            None => Ok(values),
        }
    }

    fn __repr__(&self) -> String {
        format!("{}.permutation({})", self.stream().__repr__(), self.order.n())
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
        let py = slf.py();
        let stream = Bound::new(py, slf.get().stream())?;
        let make = stream.getattr("permutation")?;
        Ok((make, (slf.get().n(),).into_pyobject(py)?))
    }
}

/// The values of a permutation one after the other.
#[pyclass(module = "headwater")]
struct Values {
    order: headwater_streams::Permutation,
    next: u64,
    made: Vec<u64>,
    used: usize,
}

#[pymethods]
impl Values {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__(&mut self) -> Option<u64> {
        if self.used == self.made.len() {
            let left = self.order.n() - self.next;
            self.made.resize(left.min(AHEAD as u64) as usize, 0);
            // The range exists, so this cannot fail.
            self.order.fill(self.next, &mut self.made).ok()?;
            self.next += self.made.len() as u64;
            self.used = 0;
        }
        let value = self.made.get(self.used).copied();
        self.used += usize::from(value.is_some());
        value
    }
}
