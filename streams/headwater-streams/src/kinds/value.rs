//! Parameters as values: numbers and lists, in the order of the table.

use super::{Form, Kind};
use crate::Error;
use crate::distributions::{Alias, Categorical, Multinomial, MultivariateNormal};

/// The value of a parameter.
///
/// Weights and covariances have two forms: as a user has them, and as a table or a factor that was
/// made of them once. They are different variants, because both are lists of doubles: a list of
/// weights that is taken for a table would make wrong numbers, and no error.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Value<'a> {
    /// A real number.
    Real(f64),
    /// A whole number from 0.
    Count(u64),
    /// A whole number, with a sign or without one.
    Integer(i128),
    /// Yes or no.
    Flag(bool),
    /// Real numbers: a list, or a square matrix row by row.
    Reals(&'a [f64]),
    /// A table that [`Categorical::build`] made of weights.
    Buckets(&'a [Alias]),
    /// A table that [`Multinomial::build`] made of weights.
    Shares(&'a [f64]),
    /// A factor that [`MultivariateNormal::cholesky`] made of a covariance.
    Factor(&'a [f64]),
}

/// Memory for a table, in the type that the kind's table has.
#[derive(Debug)]
#[non_exhaustive]
pub enum Room<'a> {
    /// Buckets, as many as weights.
    Buckets(&'a mut [Alias]),
    /// Numbers: as many as weights, or as a covariance has.
    Reals(&'a mut [f64]),
}

/// A list that is borrowed, or was made of a value.
#[derive(Debug)]
pub(super) enum List<'a, T> {
    Held(&'a [T]),
    #[cfg(feature = "std")]
    Made(Vec<T>),
}

impl<T> AsRef<[T]> for List<'_, T> {
    fn as_ref(&self) -> &[T] {
        match self {
            List::Held(list) => list,
            #[cfg(feature = "std")]
            List::Made(list) => list,
        }
    }
}

/// Returns a list of so many defaults, or an error where memory ends: the length is a caller's.
#[cfg(feature = "std")]
pub(crate) fn room<T: Clone + Default>(len: usize) -> Result<Vec<T>, Error> {
    let mut list = Vec::new();
    let no_memory = |_| Error::Memory { bytes: len.saturating_mul(size_of::<T>()) };
    list.try_reserve_exact(len).map_err(no_memory)?;
    list.resize(len, T::default());
    Ok(list)
}

/// The values that a kind is made of.
#[derive(Clone, Copy)]
pub(super) struct Values<'v, 'a> {
    pub(super) kind: Kind,
    pub(super) values: &'v [Value<'a>],
}

impl<'a> Values<'_, 'a> {
    fn get(&self, place: usize) -> Option<Value<'a>> {
        self.values.get(place).copied()
    }

    fn wrong(&self, place: usize) -> Error {
        Error::Value { kind: self.kind, place }
    }

    pub(super) fn real(&self, place: usize) -> Result<f64, Error> {
        match self.get(place) {
            Some(Value::Real(value)) => Ok(value),
            _ => Err(self.wrong(place)),
        }
    }

    pub(super) fn count(&self, place: usize) -> Result<u64, Error> {
        match self.get(place) {
            Some(Value::Count(value)) => Ok(value),
            _ => Err(self.wrong(place)),
        }
    }

    pub(super) fn integer(&self, place: usize) -> Result<i128, Error> {
        match self.get(place) {
            Some(Value::Integer(value)) => Ok(value),
            Some(Value::Count(value)) => Ok(value.into()),
            _ => Err(self.wrong(place)),
        }
    }

    pub(super) fn flag(&self, place: usize) -> Result<bool, Error> {
        match self.get(place) {
            Some(Value::Flag(value)) => Ok(value),
            _ => Err(self.wrong(place)),
        }
    }

    pub(super) fn reals(&self, place: usize) -> Result<&'a [f64], Error> {
        match self.get(place) {
            Some(Value::Reals(list)) => Ok(list),
            _ => Err(self.wrong(place)),
        }
    }

    /// Returns a table of buckets, made of weights if that is what the value is.
    pub(super) fn buckets(&self, place: usize) -> Result<List<'a, Alias>, Error> {
        match self.get(place) {
            Some(Value::Buckets(table)) => Ok(List::Held(table)),
            #[cfg(feature = "std")]
            Some(Value::Reals(weights)) => {
                let mut table = room(weights.len())?;
                Categorical::build(weights, &mut table)?;
                Ok(List::Made(table))
            }
            _ => Err(self.wrong(place)),
        }
    }

    /// Returns a table of shares, made of weights if that is what the value is.
    pub(super) fn shares(&self, place: usize) -> Result<List<'a, f64>, Error> {
        match self.get(place) {
            Some(Value::Shares(table)) => Ok(List::Held(table)),
            #[cfg(feature = "std")]
            Some(Value::Reals(weights)) => {
                let mut table = room(weights.len())?;
                Multinomial::build(0, weights, &mut table)?;
                Ok(List::Made(table))
            }
            _ => Err(self.wrong(place)),
        }
    }

    /// Returns a factor, made of a covariance of so many rows if that is what the value is.
    pub(super) fn factor(&self, place: usize, rows: usize) -> Result<List<'a, f64>, Error> {
        let _ = rows; // only a covariance has to be divided into rows
        match self.get(place) {
            Some(Value::Factor(factor)) => Ok(List::Held(factor)),
            #[cfg(feature = "std")]
            Some(Value::Reals(covariance)) => {
                let mut factor = room(covariance.len())?;
                MultivariateNormal::cholesky(covariance, rows, &mut factor)?;
                Ok(List::Made(factor))
            }
            _ => Err(self.wrong(place)),
        }
    }
}

impl Kind {
    /// Makes the table or the factor of the kind's values in `room`, for callers that must not
    /// allocate, or draw often. Returns the place of the value that it replaces, and the value;
    /// `None` for kinds that need neither.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if the weights or the covariance make none, [`Error::Value`] if the
    /// values or the room are of another form, and [`Error::Lengths`] if the room has another
    /// length than the list.
    pub fn prepare<'a>(
        self,
        values: &[Value<'_>],
        room: Room<'a>,
    ) -> Result<Option<(usize, Value<'a>)>, Error> {
        let values = Values { kind: self, values };
        let form = |parameter: &super::Parameter| {
            matches!(parameter.form, Form::Buckets | Form::Shares | Form::Factor)
        };
        let Some(place) = self.parameters().iter().position(form) else { return Ok(None) };
        let list = values.reals(place)?;
        let value = match (self.parameters().get(place).map(|p| p.form), room) {
            (Some(Form::Buckets), Room::Buckets(room)) => {
                Categorical::build(list, room)?;
                Value::Buckets(room)
            }
            (Some(Form::Shares), Room::Reals(room)) => {
                Multinomial::build(0, list, room)?;
                Value::Shares(room)
            }
            (Some(Form::Factor), Room::Reals(room)) => {
                // A factor has as many rows as its normal vector has means, the value before it.
                let rows = values.reals(place.wrapping_sub(1))?.len();
                MultivariateNormal::cholesky(list, rows, room)?;
                Value::Factor(room)
            }
            _ => return Err(values.wrong(place)),
        };
        Ok(Some((place, value)))
    }
}
