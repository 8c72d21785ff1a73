//! Random items of sequences.
//!
//! Items are chosen by their places: a draw writes indices, and the sequence's own way to select
//! does the rest, because we know nothing of its items.

use super::args::{Shape, not_a, outside, unsigned, zeros};
use super::categorical::Table;
use super::distribution;
use super::indices::Indices;
use super::memory::Memory;
use super::output::{Place, Wanted, refused};
use super::parameters::Parameter;
use super::permutation::kinds_for;
use headwater_streams::kinds::{Elements, Kind, Value, draw};
use headwater_streams::{Error, Stream};
use pyo3::exceptions::PyValueError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyList;

/// A population: `range(n)`, an array of NumPy, or another sequence.
enum From<'a, 'py> {
    Range,
    Array(Bound<'py, PyAny>),
    Sequence(&'a Bound<'py, PyAny>),
}

/// Reads the argument `a`, and its number of items.
fn population<'a, 'py>(a: &'a Bound<'py, PyAny>) -> PyResult<(From<'a, 'py>, u64)> {
    if is_numpys(a)? {
        let len = a.len()? as u64;
        return Ok((From::Array(a.clone()), len));
    }
    // An object with labels (pandas, xarray) would select by label, so its values are taken, by
    // place.
    if a.hasattr("__array__")? && a.hasattr("__len__")? {
        let values = a.py().import("numpy")?.call_method1("asarray", (a,))?;
        if is_numpys(&values)? {
            let len = values.len()? as u64;
            return Ok((From::Array(values), len));
        }
    }
    // SAFETY: `a` is a Python object. Dictionaries and sets are no sequences.
    if unsafe { ffi::PySequence_Check(a.as_ptr()) } == 1 {
        return Ok((From::Sequence(a), a.len()? as u64));
    }
    match a.hasattr("__index__")? {
        true => Ok((From::Range, unsigned(a, "a")?)),
        false => Err(not_a(a, "a", "an integer or a sequence")),
    }
}

/// Returns true for an array of NumPy with items, which an array of indices can select from.
fn is_numpys(a: &Bound<'_, PyAny>) -> PyResult<bool> {
    let modules = a.py().import("sys")?.getattr("modules")?;
    match modules.call_method1("get", ("numpy",))?.getattr_opt("ndarray")? {
        Some(class) => Ok(a.is_instance(&class)? && a.getattr("ndim")?.extract::<usize>()? > 0),
        None => Ok(false),
    }
}

/// Selects items of `a`: elements `start` and following of the stream's integers below the number
/// of items or, without replacement, of its permutation.
pub(crate) fn choice<'py>(
    stream: &Stream,
    a: &Bound<'py, PyAny>,
    size: Option<Shape>,
    replace: bool,
    p: Option<&Parameter<'_>>,
    start: u64,
) -> PyResult<Bound<'py, PyAny>> {
    let (from, n) = population(a)?;
    let wanted = size.as_ref().map_or(Ok(1), |size| size.len(8))?;
    if let Some(p) = p {
        if !replace {
            return Err(PyValueError::new_err(
                "p needs replace=True: a permutation has no weights",
            ));
        }
        let table = weighted(p, n)?;
        let write = |memory| picked(&table, stream, Elements::From(start), memory);
        return select(a, from, n, size, write);
    }
    if !replace {
        if start.checked_add(wanted as u64).is_none_or(|end| end > n) {
            return Err(PyValueError::new_err(format!(
                "size must be at most {} without replacement, not {wanted}",
                n.saturating_sub(start)
            )));
        }
        let order = stream.permutation(n);
        return select(a, from, n, size, |memory| {
            // SAFETY: the place's elements are indices of 64 bits, which take any bits, and this is
            // the only reference to them.
            order.fill(start, unsafe { memory.elements::<u64>() })
        });
    }
    let range = below(a, n, wanted)?;
    select(a, from, n, size, |memory| uniform(&range, stream, Elements::From(start), memory))
}

/// Selects the items that `choice` has at these indices.
pub(crate) fn choice_at<'py>(
    stream: &Stream,
    a: &Bound<'py, PyAny>,
    indices: &Indices,
    p: Option<&Parameter<'_>>,
) -> PyResult<Bound<'py, PyAny>> {
    let (from, n) = population(a)?;
    if let Some(p) = p {
        let table = weighted(p, n)?;
        let write = |memory| picked(&table, stream, Elements::At(&indices.list), memory);
        return select(a, from, n, indices.shape.clone(), write);
    }
    let range = below(a, n, indices.list.len())?;
    let write = |memory| uniform(&range, stream, Elements::At(&indices.list), memory);
    select(a, from, n, indices.shape.clone(), write)
}

/// Writes the places of items by the table of their weights.
fn picked(
    table: &Table,
    stream: &Stream,
    elements: Elements<'_>,
    memory: Memory,
) -> Result<(), Error> {
    let values = [Value::Buckets(table.table())];
    // SAFETY: the memory is that of a call's place, which `write` hands to this function alone.
    draw(Kind::Categorical, &values, stream, elements, unsafe { memory.out() })
}

/// Writes places of items, each as likely as any other.
fn uniform(
    range: &[Value<'_>; 2],
    stream: &Stream,
    elements: Elements<'_>,
    memory: Memory,
) -> Result<(), Error> {
    // SAFETY: as in `picked`, the memory is that of a call's place, which this function alone has.
    draw(Kind::Integers, range, stream, elements, unsafe { memory.out() })
}

/// Returns the weighted choice of `n` items.
fn weighted(p: &Parameter<'_>, n: u64) -> PyResult<Table> {
    distribution::weighted("p", p, |weights| match weights as u64 == n {
        true => Ok(()),
        false => Err(PyValueError::new_err(format!(
            "p must have a weight for each of the {n} items of a, not {weights}"
        ))),
    })
}

/// Returns the range of the integers below `n`.
fn below(a: &Bound<'_, PyAny>, n: u64, wanted: usize) -> PyResult<[Value<'static>; 2]> {
    if n == 0 && wanted > 0 {
        return match a.len() {
            Ok(_) => Err(PyValueError::new_err("a must not be empty")),
            Err(_) => Err(outside(a, "a", "greater than 0")),
        };
    }
    Ok([Value::Integer(0), Value::Integer(i128::from(n.max(1)) - 1)])
}

/// Has `write` write indices, and returns the items there.
fn select<'py>(
    a: &Bound<'py, PyAny>,
    from: From<'_, 'py>,
    n: u64,
    size: Option<Shape>,
    write: impl FnOnce(Memory) -> Result<(), Error> + Send,
) -> PyResult<Bound<'py, PyAny>> {
    let py = a.py();
    let kinds = kinds_for(n);
    let (sequence, shape) = match (from, size) {
        (From::Sequence(sequence), Some(shape)) => (sequence, shape),
        (from, size) => {
            let wanted = Wanted { shape: size, dtype: None, out: None };
            let picked = Place::find(wanted, kinds.iter().copied())?.write(py, write)?;
            return match from {
                From::Range => Ok(picked),
                From::Array(items) => items.get_item(picked),
                From::Sequence(items) => items.get_item(picked),
            };
        }
    };
    let mut list: Vec<u64> = zeros(shape.len(8)?)?;
    // SAFETY: the list holds so many elements of 64 bits, and lives until the call is over.
    let memory = unsafe { Memory::new(list.as_mut_ptr().cast(), list.len(), kinds[0]) };
    write(memory).map_err(refused)?;
    let mut items = list.into_iter().map(|index| sequence.get_item(index));
    nested(py, shape.dimensions(), &mut items)
}

/// Returns the items as lists in lists.
pub(crate) fn nested<'py>(
    py: Python<'py>,
    shape: &[usize],
    items: &mut dyn Iterator<Item = PyResult<Bound<'py, PyAny>>>,
) -> PyResult<Bound<'py, PyAny>> {
    let Some((&length, rest)) = shape.split_first() else {
        return items.next().unwrap_or_else(|| Ok(py.None().into_bound(py)));
    };
    let list = PyList::empty(py);
    for _ in 0..length {
        list.append(nested(py, rest, items)?)?;
    }
    Ok(list.into_any())
}
