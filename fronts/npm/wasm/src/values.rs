//! The parameters of a kind, as JavaScript writes them: words in the order of the table of kinds.
//!
//! A real number is the bits of a double, and a whole one its two's complement. Lists come last, so
//! their length is what is left; a mean is as long as the square that follows it has rows.

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
    /// The words in front of the last list.
    pub(crate) before: usize,
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
    let mut values =
        Values { all: [Value::Flag(false); MOST], len: parameters.len(), before: words.len() };
    for (i, parameter) in parameters.iter().enumerate() {
        let is_last = i + 1 == parameters.len();
        values.all[i] = match parameter.form {
            Form::Real => Value::Real(f64::from_bits(first(&mut left)?)),
            Form::Count => Value::Count(first(&mut left)?),
            Form::Flag => Value::Flag(first(&mut left)? == 1),
            Form::Integer => {
                // Two words, because either 64-bit type has numbers that the other one lacks.
                let (low, high) = (first(&mut left)?, first(&mut left)?);
                Value::Integer((u128::from(low) | u128::from(high) << 64) as i128)
            }
            Form::Reals if !is_last => {
                let rows = (0..).find(|d: &usize| d * d + d >= left.len());
                let (mean, square) = left.split_at(rows.ok_or(Refused::Shape)?);
                if square.len() != mean.len() * mean.len() {
                    return Err(Refused::Shape);
                }
                left = square;
                Value::Reals(reals(mean))
            }
            form => {
                values.before = words.len() - left.len();
                list(form, core::mem::take(&mut left))
            }
        };
    }
    if left.is_empty() { Ok(values) } else { Err(Refused::Call) }
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
