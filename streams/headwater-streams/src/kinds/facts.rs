//! The facts that the table has of a kind, and the words for them.
//!
//! A front reads facts while it is generated or while it runs. But it may not invent one, because a
//! range or a default that a front knew by itself could differ from the one that the maker checks.

use super::Dtype;

/// The facts of a kind. `cargo xtask generate` makes the fronts' functions and texts of it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Facts {
    /// The name in the table, in C and in `streams/vectors/`.
    pub name: &'static str,
    /// The numbers, as the object of a sentence. Names of parameters stand in backticks, and a
    /// front puts the name of its normal doubles in place of `{normal}`.
    pub about: &'static str,
    /// The method, for the tables of the documents.
    pub method: &'static str,
    /// The parameters, in the order of the maker's arguments.
    pub parameters: &'static [Parameter],
    /// The types of elements, the default first.
    pub types: &'static [Type],
    /// True if an element is a vector.
    pub vectors: bool,
    /// The functions that fronts have for the kind.
    pub fronts: Fronts,
}

/// The generated functions of a kind. Names differ, because each front keeps its users' habits.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Fronts {
    /// The name of Python's method, which is NumPy's or SciPy's.
    pub numpy: Option<&'static str>,
    /// The name of Java's factory. It is generated if the parameters are numbers.
    pub java: Option<&'static str>,
    /// True if C's functions under the kind's name are generated: for a range, and for a list.
    pub c: bool,
}

/// Functions that the table is written with.
impl Fronts {
    pub(super) const NONE: Fronts = Fronts { numpy: None, java: None, c: false };

    pub(super) const fn python(numpy: &'static str) -> Fronts {
        Fronts { numpy: Some(numpy), ..Fronts::NONE }
    }

    pub(super) const fn python_and_java(numpy: &'static str, java: &'static str) -> Fronts {
        Fronts { numpy: Some(numpy), java: Some(java), c: false }
    }

    pub(super) const fn all(numpy: &'static str, java: &'static str) -> Fronts {
        Fronts { numpy: Some(numpy), java: Some(java), c: true }
    }
}

/// A type of a kind's elements, and the words that elements take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Type {
    /// The type.
    pub dtype: Dtype,
    /// Words of a group, or 0 if each element owns blocks of words that no other element has.
    pub words: u8,
    /// Elements of a group, which is the smallest piece whose place in the words is known.
    pub values: u8,
}

impl Type {
    /// Returns the number of the last element that exists, unless elements are vectors, whose last
    /// one depends on their dimension. A group exists only if all of its words end before word
    /// 2^64 - 1, so that the end of every range is a `u64`.
    pub const fn last(&self) -> u64 {
        if self.words == 0 {
            return u64::MAX - 1;
        }
        (u64::MAX / self.words as u64).saturating_mul(self.values as u64) - 1
    }
}

/// A parameter of a kind.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Parameter {
    /// The name in errors and in C.
    pub name: &'static str,
    /// The name in Java, where a reader sees no formula.
    pub java: &'static str,
    /// The name in Python, which is NumPy's or SciPy's.
    pub numpy: &'static str,
    /// The form: a number or a list, and of which numbers.
    pub form: Form,
    /// The value that Python passes if the caller passes none.
    pub default: Option<f64>,
    /// The values for which the kind exists.
    pub range: Range,
}

/// The form of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Form {
    /// A real number.
    Real,
    /// A whole number from 0 to 2^64 - 1.
    Count,
    /// A whole number of a 64-bit type, with a sign or without one.
    Integer,
    /// Yes or no.
    Flag,
    /// A list of real numbers.
    Reals,
    /// A list of weights, of which a table of [`Alias`](crate::distributions::Alias) buckets is
    /// made.
    Buckets,
    /// A list of weights, of which a table of shares in what is left is made.
    Shares,
    /// A square matrix, of which a Cholesky factor is made.
    Factor,
}

impl Form {
    /// Returns the form in words, as errors have it.
    pub const fn name(self) -> &'static str {
        match self {
            Form::Real => "a real number",
            Form::Count => "a whole number from 0 to 2^64 - 1",
            Form::Integer => "a whole number",
            Form::Flag => "yes or no",
            Form::Reals => "a list of real numbers",
            Form::Buckets => "a list of weights, or a table of them",
            Form::Shares => "a list of weights, or a table of shares",
            Form::Factor => "a square matrix, or its Cholesky factor",
        }
    }
}

/// The values of a parameter for which a kind exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Range {
    /// The values in words, as [`Error::Parameter`](crate::Error::Parameter) has it. Empty if
    /// another parameter's range says it.
    pub need: &'static str,
    /// The same as a fault, for C's lists of what EINVAL means.
    pub fault: &'static str,
}

impl Range {
    const fn new(need: &'static str, fault: &'static str) -> Range {
        Range { need, fault }
    }

    pub(super) const ANY: Range = Range::new("", "");
    pub(super) const FINITE: Range = Range::new("a finite number", "is not finite");
    pub(super) const POSITIVE: Range =
        Range::new("a finite number above 0", "is not finite or not above 0");
    pub(super) const FROM_0: Range =
        Range::new("a finite number from 0", "is not finite or below 0");
    pub(super) const PROBABILITY: Range = Range::new("a number from 0 to 1", "is not from 0 to 1");
    pub(super) const CHANCE: Range =
        Range::new("a number above 0 and at most 1", "is not above 0 or above 1");
    pub(super) const RATE: Range = Range::new("a number from 0 to 2^63", "is not from 0 to 2^63");
    pub(super) const ANGLE: Range = Range::new("a number from -pi to pi", "is not from -pi to pi");
    pub(super) const BELOW_HIGH: Range = Range::new("a number below high", "is not below `high`");
    pub(super) const UP_TO_HIGH: Range =
        Range::new("a finite number up to high", "is not finite or above `high`");
    pub(super) const AT_A_DISTANCE: Range =
        Range::new("a finite number at a finite distance", "is not finite, or `high - low` is not");
    pub(super) const UP_TO_MODE: Range =
        Range::new("a finite number up to mode", "is not finite or above `mode`");
    pub(super) const UP_TO_RIGHT: Range =
        Range::new("a finite number up to right", "is not finite or above `right`");
    pub(super) const ABOVE_LEFT: Range = Range::new(
        "a finite number above left, at a finite distance",
        "is not finite or not above `left`, or `right - left` is not finite",
    );
    pub(super) const ABOVE_1: Range =
        Range::new("a finite number above 1", "is not finite or not above 1");
    pub(super) const BELOW_1: Range =
        Range::new("a number from 0 to below 1", "is not from 0 to below 1");
    pub(super) const SUCCESSES: Range = Range::new(
        "a finite number above 0, with counts below 2^63",
        "is not finite, not above 0, or makes counts of 2^63 and more",
    );
    pub(super) const POPULATION: Range =
        Range::new("part of a population of at most 2^53", "is part of a population above 2^53");
    pub(super) const SAMPLE: Range =
        Range::new("at most the population", "is above the population");
    pub(super) const COLORS: Range = Range::new(
        "whole numbers from 0, in all at most 2^53",
        "are not whole numbers from 0, in all at most 2^53",
    );
    pub(super) const DIMENSION: Range = Range::new("from 1 to 1111", "is not from 1 to 1111");
    pub(super) const WEIGHTS: Range = Range::new(
        "finite numbers from 0, one of them above 0",
        "are not finite numbers from 0, one of them above 0",
    );
    pub(super) const SUM: Range = Range::new(
        "numbers from 0 with a finite sum above 0",
        "are not numbers from 0 with a finite sum above 0",
    );
    pub(super) const SHAPES: Range = Range::new(
        "a list of numbers above 0, at most 2^900",
        "are not numbers above 0 and at most 2^900",
    );
    pub(super) const REALS: Range = Range::new("a list of finite numbers", "are not finite");
    pub(super) const SEMIDEFINITE: Range =
        Range::new("positive semidefinite", "is not positive semidefinite");
}

/// Functions that the table is written with.
impl Parameter {
    pub(super) const fn new(name: &'static str, form: Form, range: Range) -> Parameter {
        Parameter { name, java: name, numpy: name, form, default: None, range }
    }

    pub(super) const fn real(name: &'static str, range: Range) -> Parameter {
        Parameter::new(name, Form::Real, range)
    }

    /// Returns the parameter with NumPy's name.
    pub(super) const fn numpy(self, numpy: &'static str) -> Parameter {
        Parameter { numpy, ..self }
    }

    /// Returns the parameter with a name for Java.
    pub(super) const fn java(self, java: &'static str) -> Parameter {
        Parameter { java, ..self }
    }

    /// Returns the parameter with a default for Python.
    pub(super) const fn or(self, default: f64) -> Parameter {
        Parameter { default: Some(default), ..self }
    }
}

/// A list of types, whose groups have so many words and values.
macro_rules! types {
    ($($dtype:ident: $words:literal / $values:literal),* $(,)?) => {
        &[$(Type { dtype: Dtype::$dtype, words: $words, values: $values }),*]
    };
}

pub(super) use types;
