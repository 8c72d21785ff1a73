//! Parameters that each element has for itself.

use super::cursor::is_number;
use super::indices::Indices;
use super::memory::{Memory, Numbers, View};
use super::parameters::Parameter;
use headwater_streams::kinds::{self, Elements, Form, Kind, Value, draw, draw_each};
use headwater_streams::{Error, Stream};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use std::ops::Range;

/// Elements whose parameters are copied together. The allocator would take the memory of a whole
/// array's copy from the kernel in each call and return it, and new pages take longer than most
/// numbers.
const BLOCK: usize = 4096;
/// The largest count for which a float is exact, as is each smaller one.
const EXACT: u64 = 1 << 53;

/// The values of a parameter: one for each element, or one for all.
pub(super) enum List<'a> {
    Doubles(Numbers<'a>),
    Reals(Vec<f64>),
    /// Counts that doubles have.
    Integers(Numbers<'a>),
    Counts(Vec<u64>),
    Real(f64),
    Count(u64),
}

/// Opens the buffer of an array of numbers of 8 bytes.
pub(super) fn numbers(value: &Bound<'_, PyAny>) -> Option<View> {
    let view = View::is_offered(value).then(|| View::readable(value).ok()).flatten()?;
    view.numbers().is_some().then_some(view)
}

impl<'a> List<'a> {
    /// Reads what a caller passed for a parameter. `view` is its buffer, if it is an array of
    /// numbers of 8 bytes.
    pub(super) fn read(
        value: Bound<'_, PyAny>,
        view: Option<&'a View>,
        parameter: &kinds::Parameter,
    ) -> PyResult<List<'a>> {
        let name = parameter.numpy;
        let is_number = is_number(&value)?;
        Ok(match parameter.form {
            Form::Count if is_number => List::Count(Parameter::Given(value).count(name)?),
            Form::Count => match view.and_then(View::numbers) {
                Some(list) if !list.are_doubles() && list.are_counts() => List::Integers(list),
                _ => List::Counts(Indices::read(&value, name)?.list),
            },
            Form::Real if is_number => List::Real(Parameter::Given(value).real(name)?),
            Form::Real => match view.and_then(View::numbers) {
                Some(list) if list.are_doubles() => List::Doubles(list),
                _ => List::Reals(Parameter::Given(value).list(name)?),
            },
            _ => return Err(PyTypeError::new_err("a list cannot differ between elements")),
        })
    }

    /// Returns the number of values, or None for one that all elements have.
    pub(super) fn len(&self) -> Option<usize> {
        match self {
            List::Doubles(list) | List::Integers(list) => Some(list.len()),
            List::Reals(list) => Some(list.len()),
            List::Counts(list) => Some(list.len()),
            List::Real(_) | List::Count(_) => None,
        }
    }

    /// Writes the values of elements `first` and following as floats. Returns false if one is a
    /// count that no float has.
    fn copy(&self, first: usize, to: &mut [f64]) -> bool {
        match self {
            List::Doubles(list) | List::Integers(list) => return list.copy(first, to),
            List::Reals(list) => to.copy_from_slice(&list[first..first + to.len()]),
            List::Real(real) => to.fill(*real),
            List::Count(count) => {
                to.fill(*count as f64);
                return *count <= EXACT;
            }
            List::Counts(list) => {
                let list = &list[first..first + to.len()];
                to.iter_mut().zip(list).for_each(|(to, &count)| *to = count as f64);
                return list.iter().fold(true, |all, &count| all & (count <= EXACT));
            }
        }
        true
    }

    /// Returns the value of element `i`, of which `real` is the copy.
    fn value(&self, i: usize, real: f64) -> Value<'static> {
        match self {
            List::Counts(list) => Value::Count(list[i]),
            List::Count(count) => Value::Count(*count),
            List::Integers(_) => Value::Count(real as u64),
            _ => Value::Real(real),
        }
    }
}

/// Writes elements whose parameters differ: in a loop over all, where the kind has one, or else
/// one after another. The places of the lists and of the memory are `places`, the first of which
/// gets element `start` of the stream.
pub(super) fn each(
    kind: Kind,
    (stream, start): (&Stream, u64),
    lists: &[List<'_>],
    memory: Memory,
    places: Range<usize>,
) -> Result<(), Error> {
    let mut room = vec![vec![0.0; places.len().min(BLOCK)]; lists.len()];
    for first in places.clone().step_by(BLOCK) {
        let many = (places.end - first).min(BLOCK);
        let start = start + (first - places.start) as u64;
        let mut are_exact = true;
        for (list, room) in lists.iter().zip(&mut room) {
            are_exact &= list.copy(first, &mut room[..many]);
        }
        let reals: Vec<&[f64]> = room.iter().map(|list| &list[..many]).collect();
        let part = memory.part(first, many);
        if are_exact {
            // SAFETY: the memory is that of `out`, which `run` hands to this function alone, and no
            // place of an earlier block is in use, nor is this one after the call.
            let mut out = unsafe { part.out() };
            if let Some(done) = draw_each(kind, &reals, stream, Elements::From(start), &mut out) {
                done?;
                continue;
            }
        }
        one_by_one(kind, stream, (start, first), lists, &reals, part)?;
    }
    Ok(())
}

/// Writes places `first` and following, from element `start` on. Neighbours with the same
/// parameters are drawn together.
fn one_by_one(
    kind: Kind,
    stream: &Stream,
    (start, first): (u64, usize),
    lists: &[List<'_>],
    reals: &[&[f64]],
    memory: Memory,
) -> Result<(), Error> {
    let n = reals.first().map_or(0, |list| list.len());
    let values = |i: usize| {
        let mut values = [Value::Flag(false); 4];
        for ((value, list), reals) in values.iter_mut().zip(lists).zip(reals) {
            *value = list.value(first + i, reals[i]);
        }
        values
    };
    let are_same = |i: usize, j: usize| {
        lists.iter().zip(reals).all(|(list, reals)| match list {
            List::Counts(list) => list[first + i] == list[first + j],
            _ => reals[i].to_bits() == reals[j].to_bits(),
        })
    };
    let mut i = 0;
    while i < n {
        let end = (i + 1..n).find(|&end| !are_same(i, end)).unwrap_or(n);
        // SAFETY: the memory is that of `out`, which `run` hands to this function alone, and the
        // part before this one is no longer in use.
        let out = unsafe { memory.part(i, end - i).out() };
        let at = Elements::From(start + i as u64);
        draw(kind, &values(i)[..lists.len()], stream, at, out)?;
        i = end;
    }
    Ok(())
}
