//! Parameters of a kind, read from Python's arguments as the table says.
//!
//! The table has the kinds, their parameters and the ranges, so there is one reader for all of them
//! here. It adds what the table cannot know: Python's name of an argument, for the error.

use super::args::no_memory;
use super::categorical::{Categorical, Table, table};
use super::parameters::Parameter;
use headwater_streams::Error;
use headwater_streams::kinds::{Form, Kind, Value};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// An argument for a parameter.
pub(crate) enum Argument<'a, 'py> {
    Parameter(&'a Parameter<'py>),
    Flag(bool),
}

impl<'a, 'py> From<&'a Parameter<'py>> for Argument<'a, 'py> {
    fn from(parameter: &'a Parameter<'py>) -> Self {
        Argument::Parameter(parameter)
    }
}

impl From<&bool> for Argument<'_, '_> {
    fn from(&flag: &bool) -> Self {
        Argument::Flag(flag)
    }
}

/// A parameter's value, with its list if it is one.
///
/// Numbers have variants of their own, and not one that holds a `Value`: such a variant would be
/// copied in pieces that straddle what has just been written, which took 60 ns a call.
pub(crate) enum Owned {
    Flag(bool),
    Real(f64),
    Count(u64),
    List(Vec<f64>),
    Table(Table),
}

impl Owned {
    /// Reads an argument for each of the kind's parameters, in the order of the table.
    pub(crate) fn read<const N: usize>(
        kind: Kind,
        arguments: &[Argument<'_, '_>; N],
    ) -> PyResult<[Owned; N]> {
        let mut all = [const { Owned::Flag(false) }; N];
        let mut dimension = 0;
        for ((owned, argument), parameter) in all.iter_mut().zip(arguments).zip(kind.parameters()) {
            let name = parameter.numpy;
            *owned = match (argument, parameter.form) {
                (Argument::Flag(flag), _) => Owned::Flag(*flag),
                (Argument::Parameter(given), Form::Count) => Owned::Count(given.count(name)?),
                (Argument::Parameter(given), Form::Reals | Form::Shares) => {
                    Owned::List(given.list(name)?)
                }
                (Argument::Parameter(given), Form::Factor) => {
                    let matrix = given.square(name, dimension)?;
                    given.is_symmetric(&matrix, dimension, name)?;
                    Owned::List(matrix)
                }
                (Argument::Parameter(given), Form::Buckets) => {
                    Owned::Table(weighted(name, given, |_| Ok(()))?)
                }
                (Argument::Parameter(given), _) => Owned::Real(given.real(name)?),
            };
            // A square matrix has a row for each number of the list before it.
            dimension = if let Owned::List(list) = owned { list.len() } else { 0 };
        }
        Ok(all)
    }

    pub(crate) fn value(&self) -> Value<'_> {
        match self {
            Owned::Flag(flag) => Value::Flag(*flag),
            Owned::Real(value) => Value::Real(*value),
            Owned::Count(value) => Value::Count(*value),
            Owned::List(list) => Value::Reals(list),
            Owned::Table(table) => Value::Buckets(table.table()),
        }
    }
}

/// Returns the table of a weighted choice for the argument of this name: weights, or the table of
/// some. The number of outcomes must pass a test.
pub(crate) fn weighted(
    name: &str,
    weights: &Parameter<'_>,
    test: impl FnOnce(usize) -> PyResult<()>,
) -> PyResult<Table> {
    if let Parameter::Given(given) = weights
        && let Ok(made) = given.cast::<Categorical>()
    {
        let table = made.get().table();
        test(table.table().len())?;
        return Ok(table.clone());
    }
    let weights = weights.list(name)?;
    test(weights.len())?;
    table(name, &weights)
}

/// Turns an error of a kind into a ValueError with Python's name of the parameter, and its value if
/// that is a number.
pub(crate) fn refused(error: Error, kind: Kind, values: &[Value<'_>]) -> PyErr {
    if let Error::Memory { bytes } = error {
        return no_memory(bytes);
    }
    let Error::Parameter { name, need } = error else {
        return PyValueError::new_err(error.to_string());
    };
    let named = |parameter: &headwater_streams::kinds::Parameter| parameter.name == name;
    let place = kind.parameters().iter().position(named);
    let python = place.map_or(name, |place| kind.parameters()[place].numpy);
    let value = match place.and_then(|place| values.get(place)) {
        // Python writes `nan` where Rust writes `NaN`.
        Some(Value::Real(value)) => format!(", not {value:?}").to_lowercase(),
        Some(Value::Count(value)) => format!(", not {value}"),
        _ => String::new(),
    };
    PyValueError::new_err(format!("{python} must be {need}{value}"))
}
