//! The parameters of a kind, as JavaScript writes them: words in the order of the table of kinds.
//!
//! A real number is the bits of a double, and a whole one its two's complement. A kind has one
//! list, whose length is what the others leave, or a mean, as long as the square after it has rows.

use crate::memory::{buckets, reals};
use crate::outcome::Refused;
use headwater_streams::kinds::{Form, Kind, Value};

/// The most parameters of a kind.
const MOST: usize = 4;
const _: () = {
    let mut i = 0;
    while i < Kind::ALL.len() {
        assert!(Kind::ALL[i].parameters().len() <= MOST);
        i += 1;
    }
};

/// The values of a kind's parameters.
pub(crate) struct Values<'a> {
    all: [Value<'a>; MOST],
    len: usize,
}

impl<'a> Values<'a> {
    /// Returns the values in the order of the table.
    pub(crate) fn get(&self) -> &[Value<'a>] {
        &self.all[..self.len]
    }

    /// Puts a table in the place of the list that it was made of.
    pub(crate) fn replace(&mut self, place: usize, value: Value<'a>) {
        self.all[place] = value;
    }
}

/// Reads parameters. `list` makes a value of the last list.
pub(crate) fn read<'a>(
    kind: Kind,
    words: &'a [u64],
    list: impl Fn(Form, &'a [u64]) -> Value<'a>,
) -> Result<Values<'a>, Refused> {
    let parameters = kind.parameters();
    let mut left = words;
    let mut values = Values { all: [Value::Flag(false); MOST], len: parameters.len() };
    for (i, parameter) in parameters.iter().enumerate() {
        let behind = &parameters[i + 1..];
        values.all[i] = match parameter.form {
            Form::Real => Value::Real(f64::from_bits(first(&mut left)?)),
            Form::Count => Value::Count(first(&mut left)?),
            Form::Flag => Value::Flag(first(&mut left)? == 1),
            Form::Integer => {
                let (low, high) = (first(&mut left)?, first(&mut left)?);
                Value::Integer((u128::from(low) | u128::from(high) << 64) as i128)
            }
            Form::Reals if behind.first().is_some_and(|next| next.form == Form::Factor) => {
                let rows = (0..).find(|d: &usize| d * d + d >= left.len());
                let (mean, square) = left.split_at(rows.ok_or(Refused::Shape)?);
                if square.len() != mean.len() * mean.len() {
                    return Err(Refused::Shape);
                }
                left = square;
                Value::Reals(reals(mean))
            }
            form => {
                let words_behind = behind.iter().map(|one| width(one.form)).sum();
                let len = left.len().checked_sub(words_behind).ok_or(Refused::Call)?;
                let (own, rest) = left.split_at(len);
                left = rest;
                list(form, own)
            }
        };
    }
    if left.is_empty() { Ok(values) } else { Err(Refused::Call) }
}

/// Returns the words of a parameter that is not a list.
fn width(form: Form) -> usize {
    match form {
        // Either 64-bit type has integers that the other one lacks.
        Form::Integer => 2,
        _ => 1,
    }
}

fn first(words: &mut &[u64]) -> Result<u64, Refused> {
    words.split_off_first().copied().ok_or(Refused::Call)
}

/// Returns the value of a list as a user has it.
pub(crate) fn given(_: Form, list: &[u64]) -> Value<'_> {
    Value::Reals(reals(list))
}

/// Returns the value of a list that `prepare` has made.
pub(crate) fn made(form: Form, list: &[u64]) -> Value<'_> {
    match form {
        Form::Buckets => Value::Buckets(buckets(list)),
        Form::Shares => Value::Shares(reals(list)),
        Form::Factor => Value::Factor(reals(list)),
        _ => Value::Reals(reals(list)),
    }
}
