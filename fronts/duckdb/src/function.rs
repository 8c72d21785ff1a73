//! The table of functions: their names, arguments and types.

use crate::abi::id;
use core::fmt;
use headwater_arrow::label;
use headwater_streams::kinds::{Dtype, Form, Kind, Parameter};

/// A function of SQL.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Function {
    /// Numbers of a kind.
    Draw(Kind),
    Permute,
    Sample,
    Split,
    Order,
    Weighted,
    Key,
}

impl Function {
    /// Returns all functions: one for each kind whose parameters are numbers and whose elements
    /// are a number of 64 bits, and those of samples and keys.
    pub(crate) fn all() -> impl Iterator<Item = Function> {
        let others = [
            Function::Permute,
            Function::Sample,
            Function::Split,
            Function::Order,
            Function::Weighted,
            Function::Key,
        ];
        let plain = |kind: &Kind| {
            let is_number =
                |form| matches!(form, Form::Real | Form::Count | Form::Integer | Form::Flag);
            let numbers = kind.parameters().iter().all(|parameter| is_number(parameter.form));
            numbers && !kind.facts().vectors && number(*kind).is_some()
        };
        Kind::ALL.into_iter().filter(plain).map(Function::Draw).chain(others)
    }

    /// Returns the name in SQL.
    pub(crate) fn name(self) -> String {
        let name = match self {
            Function::Draw(kind) => label::name_of(kind),
            Function::Permute => "permute",
            Function::Sample => "sample",
            Function::Split => "split",
            Function::Order => "order",
            Function::Weighted => "weighted_order",
            Function::Key => "key",
        };
        format!("hw_{name}")
    }

    /// Returns the parameters of a kind in the order of SQL, those with a default last, each with
    /// its place in the table.
    pub(crate) fn parameters(kind: Kind) -> impl Iterator<Item = (usize, &'static Parameter)> {
        let with = move |has_default| {
            let all = kind.parameters().iter().enumerate();
            all.filter(move |(_, parameter)| parameter.default.is_some() == has_default)
        };
        with(false).chain(with(true))
    }

    /// Returns the names of the arguments, and how many of the last ones may be left out.
    pub(crate) fn arguments(self) -> (Vec<&'static str>, usize) {
        match self {
            Function::Draw(kind) => {
                let own = Function::parameters(kind).map(|(_, parameter)| parameter.numpy);
                let optional = kind.parameters().iter().filter(|own| own.default.is_some()).count();
                (["id", "seed", "name"].into_iter().chain(own).collect(), optional)
            }
            Function::Permute => (vec!["i", "n", "seed", "name"], 1),
            Function::Sample => (vec!["id", "seed", "p", "name"], 1),
            Function::Split => (vec!["id", "seed", "parts", "name"], 1),
            Function::Order => (vec!["id", "seed", "name"], 1),
            Function::Weighted => (vec!["id", "seed", "weight", "name"], 1),
            Function::Key => (vec!["value", "..."], 0),
        }
    }

    /// Returns the parameter of the argument at a place, if its values may differ from row to row:
    /// its own place in the table, and its form.
    pub(crate) fn by_row(self, argument: usize) -> Option<(usize, Form)> {
        let Function::Draw(kind) = self else { return None };
        let (place, parameter) = Function::parameters(kind).nth(argument.checked_sub(3)?)?;
        let differs =
            kind != Kind::Permutation && matches!(parameter.form, Form::Real | Form::Count);
        differs.then_some((place, parameter.form))
    }

    /// Returns the number of the type of results.
    pub(crate) fn result(self) -> u32 {
        match self {
            Function::Draw(kind) => number(kind).unwrap_or(id::DOUBLE),
            Function::Permute | Function::Order => id::UBIGINT,
            Function::Sample => id::BOOLEAN,
            Function::Split => id::UTINYINT,
            Function::Weighted => id::DOUBLE,
            Function::Key => id::BIGINT,
        }
    }

    /// Returns the bytes of a result.
    pub(crate) fn width(self) -> usize {
        match self.result() {
            id::BOOLEAN | id::UTINYINT => 1,
            _ => 8,
        }
    }

    /// Returns how the function is called, for errors.
    pub(crate) fn usage(self) -> Usage {
        Usage(self)
    }
}

/// Returns the type of a kind's numbers, if SQL has the kind.
fn number(kind: Kind) -> Option<u32> {
    match kind.types().first()?.dtype {
        Dtype::F64 => Some(id::DOUBLE),
        Dtype::I64 => Some(id::BIGINT),
        Dtype::U64 => Some(id::UBIGINT),
        _ => None,
    }
}

/// A function with the names of its arguments.
pub(crate) struct Usage(Function);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", self.0.name(), self.0.arguments().0.join(", "))
    }
}
