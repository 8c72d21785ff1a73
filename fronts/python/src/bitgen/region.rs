//! The part of an array that a chunk holds.
//!
//! A chunk is a box of the whole array, so its elements are runs of consecutive ones, with gaps
//! between. A stream fills a run by one call, and the chunk's values do not depend on how the array
//! was cut.

use super::{stream_of, value_error};
use core::ops::Range;
use headwater_streams::{Error, Integer, Stream};
use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::{PyBufferError, PyValueError};
use pyo3::prelude::*;

/// Runs shorter than this are collected, and drawn by their indices: each call of a fill costs as
/// much as some elements.
const SHORT: u64 = 20;
/// Elements that are drawn by their indices at a time.
const TOGETHER: usize = 1024;

/// A box of an array of several dimensions, in C order: from each dimension a range.
struct Region {
    /// Elements of the whole array between one position of the outer dimensions and the next, and
    /// the number of positions.
    outer: Vec<(u64, u64)>,
    /// The first element, and the number of elements that follow each other in the whole array.
    first: u64,
    run: u64,
}

impl Region {
    /// Returns `None` if the array has 2^64 elements or more, or the region is outside of it.
    fn new(shape: &[u64], ranges: &[(u64, u64)]) -> Option<Region> {
        let (mut stride, mut first) = (1_u64, 0_u64);
        let mut region = Region { outer: Vec::new(), first: 0, run: 1 };
        let mut whole = true; // all dimensions so far, the last ones, are taken whole
        for (&size, &(start, stop)) in shape.iter().zip(ranges).rev() {
            let many = stop.checked_sub(start).filter(|_| stop <= size)?;
            first = first.checked_add(start.checked_mul(stride)?)?;
            if whole {
                region.run = region.run.checked_mul(many)?;
                whole = many == size;
            } else {
                region.outer.insert(0, (stride, many));
            }
            stride = stride.checked_mul(size)?;
        }
        region.first = first;
        (shape.len() == ranges.len()).then_some(region)
    }

    fn len(&self) -> u64 {
        self.outer.iter().fold(self.run, |all, &(_, many)| all.saturating_mul(many))
    }

    /// Calls `action` with the elements of each run, in order.
    fn runs(&self, mut action: impl FnMut(Range<u64>) -> Result<(), Error>) -> Result<(), Error> {
        let mut place = vec![0; self.outer.len()];
        let mut at = self.first;
        loop {
            action(at..at + self.run)?;
            // Counts up, the last dimension first.
            let mut dimension = self.outer.len();
            loop {
                let Some(next) = dimension.checked_sub(1) else { return Ok(()) };
                dimension = next;
                let (stride, many) = self.outer[dimension];
                place[dimension] += 1;
                at += stride;
                if place[dimension] < many {
                    break;
                }
                at -= stride * many;
                place[dimension] = 0;
            }
        }
    }

    /// Fills `out` with the region's elements.
    fn fill<T>(
        &self,
        out: &mut [T],
        fill: impl Fn(u64, &mut [T]) -> Result<(), Error>,
        at: impl Fn(&[u64], &mut [T]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if out.is_empty() {
            return Ok(());
        }
        let mut done = 0;
        if self.run >= SHORT || self.outer.is_empty() {
            return self.runs(|run| {
                let here = &mut out[done..][..self.run as usize];
                done += here.len();
                fill(run.start, here)
            });
        }
        let mut indices = Vec::with_capacity(TOGETHER);
        self.runs(|run| {
            if indices.len() + self.run as usize > TOGETHER {
                at(&indices, &mut out[done..][..indices.len()])?;
                done += indices.len();
                indices.clear();
            }
            indices.extend(run);
            Ok(())
        })?;
        at(&indices, &mut out[done..])
    }
}

/// Fills the array `out` with a region of the stream's array of `shape`.
///
/// `kind` names the numbers and their dtype. `bounds` are both ends of the range; of a permutation,
/// 0 and the number of elements. `ranges` holds the first element and the end in each dimension.
#[pyfunction]
#[pyo3(signature = (source, kind, out, shape, ranges, bounds=None))]
pub(super) fn fill_region(
    source: (String, Vec<u8>, u64),
    kind: &str,
    out: &Bound<'_, PyAny>,
    shape: Vec<u64>,
    ranges: Vec<(u64, u64)>,
    bounds: Option<(i128, i128)>,
) -> PyResult<()> {
    let (engine, key, id) = source;
    let stream = stream_of(&engine, &key, id)?;
    let region = Region::new(&shape, &ranges).ok_or_else(|| {
        PyValueError::new_err(format!("ranges {ranges:?} are no region of an array of {shape:?}"))
    })?;
    let job = Job { stream, region, out };
    match (kind, bounds) {
        ("uniform_float64", None) => job.numbers(Stream::fill_f64, Stream::f64_at),
        ("uniform_float32", None) => job.numbers(Stream::fill_f32, Stream::f32_at),
        ("normal_float64", None) => job.numbers(Stream::fill_normal_f64, Stream::normal_f64_at),
        ("normal_float32", None) => job.numbers(Stream::fill_normal_f32, Stream::normal_f32_at),
        ("exponential_float64", None) => {
            job.numbers(Stream::fill_exponential_f64, Stream::exponential_f64_at)
        }
        ("range_int8", Some(bounds)) => job.range::<i8>(bounds),
        ("range_uint8", Some(bounds)) => job.range::<u8>(bounds),
        ("range_int16", Some(bounds)) => job.range::<i16>(bounds),
        ("range_uint16", Some(bounds)) => job.range::<u16>(bounds),
        ("range_int32", Some(bounds)) => job.range::<i32>(bounds),
        ("range_uint32", Some(bounds)) => job.range::<u32>(bounds),
        ("range_int64", Some(bounds)) => job.range::<i64>(bounds),
        ("range_uint64", Some(bounds)) => job.range::<u64>(bounds),
        ("permutation", Some((0, n))) => {
            let n = u64::try_from(n).map_err(|_| PyValueError::new_err("n is negative"))?;
            let order = stream.permutation(n);
            job.numbers(
                |_, start, out| order.fill(start, out),
                |_, indices, out| {
                    let values = indices.iter().map(|&index| order.at(index).unwrap_or(u64::MAX));
                    out.iter_mut().zip(values).for_each(|(out, value)| *out = value);
                    Ok(())
                },
            )
        }
        _ => Err(PyValueError::new_err(format!("kind '{kind}' is unknown, or its bounds are"))),
    }
}

struct Job<'a, 'py> {
    stream: Stream,
    region: Region,
    out: &'a Bound<'py, PyAny>,
}

impl Job<'_, '_> {
    fn numbers<T: Element + Send>(
        self,
        fill: impl Fn(&Stream, u64, &mut [T]) -> Result<(), Error> + Sync,
        at: impl Fn(&Stream, &[u64], &mut [T]) -> Result<(), Error> + Sync,
    ) -> PyResult<()> {
        let py = self.out.py();
        let buffer = PyBuffer::<T>::get(self.out)?;
        if buffer.readonly() || !buffer.is_c_contiguous() {
            return Err(PyBufferError::new_err("out must be writable and C-contiguous"));
        }
        if buffer.item_count() as u64 != self.region.len() {
            return Err(PyValueError::new_err("out and ranges differ in their number of elements"));
        }
        let (data, len) = (buffer.buf_ptr().cast::<T>(), buffer.item_count());
        let out = if len == 0 {
            &mut [] // whose pointer may be null
        } else {
            // SAFETY: the buffer is writable and contiguous, as was checked above, aligned and of
            // this type, as PyO3 has checked, and held until this function returns. Nothing else
            // refers to it, because the array is new: `headwater.dask` has just made it, and no
            // other thread knows it.
            unsafe { core::slice::from_raw_parts_mut(data, len) }
        };
        let (stream, region) = (self.stream, &self.region);
        let fill = |start, out: &mut [T]| fill(&stream, start, out);
        let at = |indices: &[u64], out: &mut [T]| at(&stream, indices, out);
        // Other threads of the program run during the fill.
        py.detach(|| region.fill(out, fill, at)).map_err(|error| value_error(&error))
    }

    fn range<T: Element + Send + Sync + Integer + TryFrom<i128>>(
        self,
        (low, high): (i128, i128),
    ) -> PyResult<()> {
        let end = |end: i128| {
            T::try_from(end).map_err(|_| PyValueError::new_err(format!("{end} is out of range")))
        };
        let (low, high) = (end(low)?, end(high)?);
        self.numbers(
            |stream, start, out| stream.fill_range(low..=high, start, out),
            |stream, indices, out| stream.range_at(low..=high, indices, out),
        )
    }
}
