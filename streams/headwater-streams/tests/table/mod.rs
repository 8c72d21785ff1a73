//! Cases of `streams/vectors/` drawn through the table of kinds, so that a new kind's vectors are
//! compared by no more than being there.

#![allow(dead_code)] // each test that includes this file uses a part of it

use headwater_streams::Stream;
use headwater_streams::kinds::{Dtype, Elements, Form, Kind, Made, Out, Parameter, Value};
use std::num::NonZero;

/// Returns the values of a kind's parameters, given as reals in the order of the table, with the
/// trials by themselves.
pub(crate) fn values(kind: Kind, trials: Option<u64>, reals: &[f64]) -> Vec<Value<'_>> {
    let mut left = reals;
    let lists = kind.parameters().iter().filter(|parameter| is_list(parameter.form)).count();
    let mut next = |form: Form| match form {
        Form::Count if trials.is_some() => Value::Count(trials.unwrap()),
        // A mean of d numbers is followed by a square matrix of d^2.
        Form::Reals if lists == 2 => {
            let mean = (1..).find(|d| d * d + d >= left.len()).unwrap();
            Value::Reals(left.split_off(..mean).unwrap())
        }
        // A list before a number of trials or items has the rest but that number.
        Form::Reals if trials.is_none() && is_list_first(kind) => {
            Value::Reals(left.split_off(..left.len() - 1).unwrap())
        }
        _ if is_list(form) => Value::Reals(left.split_off(0..).unwrap()),
        _ => match (form, *left.split_off_first().unwrap()) {
            (Form::Count, x) => Value::Count(x as u64),
            (Form::Flag, x) => Value::Flag(x == 1.0),
            (_, x) => Value::Real(x),
        },
    };
    let values = kind.parameters().iter().map(|parameter| next(parameter.form)).collect();
    assert!(left.is_empty(), "{kind:?} has not so many parameters: {reals:?}");
    values
}

fn is_list_first(kind: Kind) -> bool {
    matches!(kind.parameters(), [first, Parameter { form: Form::Count, .. }] if is_list(first.form))
}

fn is_list(form: Form) -> bool {
    matches!(form, Form::Reals | Form::Buckets | Form::Shares | Form::Factor)
}

/// Returns elements as texts: counts as digits, and floats by the digits of their bits.
pub(crate) fn texts(
    made: &Made<'_>,
    stream: &Stream,
    dtype: Dtype,
    elements: Elements<'_>,
    many: usize,
) -> Vec<String> {
    let many = many * made.dimension().map_or(1, NonZero::get);
    macro_rules! drawn {
        ($type:ty, $write:expr) => {{
            let mut out = vec![<$type>::default(); many];
            made.draw(stream, elements, Out::new(&mut out)).unwrap();
            out.into_iter().map($write).collect()
        }};
    }
    match dtype {
        Dtype::F64 => drawn!(f64, |x| format!("{:016x}", x.to_bits())),
        Dtype::F32 => drawn!(f32, |x| format!("{:08x}", x.to_bits())),
        Dtype::U64 => drawn!(u64, |x| x.to_string()),
        Dtype::U32 => drawn!(u32, |x| x.to_string()),
        other => panic!("no test writes {other:?}"),
    }
}
