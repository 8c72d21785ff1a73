//! Functions with their seeds, names and parameters: everything of a call but the ids.

use crate::constant::Constant;
use crate::function::{Function, Usage};
use headwater_arrow::{By, Column, Error, Nulls, Parts, label};
use headwater_arrow::{draw_by_row_to, draw_to, order_to, sample_to, split_to};
use headwater_streams::kinds::{Dtype, Form, Kind, Made, Value};
use headwater_streams::{Key, Seed, Stream};

/// A function that needs only ids.
pub(crate) struct Plan {
    stream: Stream,
    what: What,
}

enum What {
    Draw(Made<'static>, Dtype),
    /// Numbers of a kind with a value for each parameter, but for those that are columns.
    ByRow(Kind, Dtype, Vec<Option<Value<'static>>>),
    Sample(f64),
    Equal(u64),
    Shares(Vec<f64>),
    Order,
}

impl Plan {
    /// Makes the plan of a function and the constants after its ids, as many as it takes.
    pub(crate) fn new(function: Function, constants: &[Constant]) -> Result<Plan, String> {
        let usage = function.usage();
        let (seed, rest) = match (function, constants) {
            (Function::Permute, [n, seed, name @ ..]) => {
                let mut rest = vec![n.clone()];
                rest.extend(name.iter().cloned());
                (seed, rest)
            }
            (_, [seed, rest @ ..]) => (seed, rest.to_vec()),
            (_, []) => return Err(format!("{usage} needs a seed")),
        };
        let key = key(seed)?;
        let last_name = |place: usize| rest.get(place).map(|name| text(name, &usage)).transpose();
        let purpose = |purpose, name: Option<&str>| label::purpose(&key, purpose, name);
        let (key, what) = match function {
            Function::Draw(kind) => {
                let [name, values @ ..] = &rest[..] else {
                    return Err(format!("{usage}: no name"));
                };
                let what = draw(kind, values)?;
                (label::drawn(&key, kind, Some(text(name, &usage)?)), what)
            }
            Function::Permute => {
                let what = draw(Kind::Permutation, &rest[..1])?;
                (label::drawn(&key, Kind::Permutation, last_name(1)?), what)
            }
            Function::Sample => {
                let p = real(&rest[0], "p")?;
                if !(0.0..=1.0).contains(&p) {
                    return Err(format!("p must be a number from 0 to 1, not {p:?}"));
                }
                (purpose("sample", last_name(1)?), What::Sample(p))
            }
            Function::Split => (purpose("split", last_name(1)?), parts(&rest[0])?),
            Function::Order => (purpose("order", last_name(0)?), What::Order),
            Function::Weighted => {
                let what = draw(Kind::Exponential, &[])?;
                (purpose("weighted", last_name(0)?), what)
            }
            Function::Key => return Err(format!("{usage} has no seed")),
        };
        let stream = key.stream(0).map_err(|error| error.to_string())?;
        let plan = Plan { stream, what };
        if matches!(plan.what, What::ByRow(..)) {
            // Its values are checked row by row.
            return Ok(plan);
        }
        // Shares that do not add up are an error before the first row.
        let no_ids: &[u64] = &[];
        let mut none = headwater_arrow::Ids::from_u64(no_ids);
        let checked = none.column().and_then(|ids| plan.write(&ids, &[], &mut [], &mut |_, _| ()));
        checked.map_err(|error| error.to_string()).map(|()| plan)
    }

    /// Writes the values for a column of ids, and one for each parameter that is a column, in the
    /// order of the table. Hands the rows of blocks in which one is null to `is_null`.
    pub(crate) fn write(
        &self,
        ids: &Column<'_>,
        by: &[Column<'_>],
        out: &mut [u8],
        is_null: &mut dyn FnMut(usize, &[bool]),
    ) -> Result<(), Error> {
        let (stream, nulls) = (&self.stream, Nulls::Kept);
        match &self.what {
            What::Draw(made, dtype) => draw_to(ids, stream, (made, *dtype), nulls, out, is_null),
            What::ByRow(kind, dtype, values) => {
                let mut columns = by.iter().map(By::Column);
                let missing = Error::Malformed("a call without a column");
                let by = values.iter().map(|value| match value {
                    Some(value) => Ok(By::Value(*value)),
                    None => columns.next().ok_or_else(|| missing.clone()),
                });
                let by: Vec<By<'_>> = by.collect::<Result<_, _>>()?;
                draw_by_row_to(ids, stream, (*kind, *dtype), &by, nulls, out, is_null)
            }
            What::Sample(p) => sample_to(ids, stream, *p, nulls, out, is_null),
            What::Equal(n) => split_to(ids, stream, Parts::Equal(*n), nulls, out, is_null),
            What::Shares(list) => split_to(ids, stream, Parts::Shares(list), nulls, out, is_null),
            What::Order => order_to(ids, stream, nulls, out, is_null),
        }
    }
}

fn key(seed: &Constant) -> Result<Key, String> {
    let number = |n: i32| Seed::from(n);
    Ok(Key::from_seed(match seed {
        Constant::Text(text) => Seed::from(text.as_str()),
        Constant::Blob(bytes) => Seed::from(bytes.as_slice()),
        Constant::Flag(flag) => number(i32::from(*flag)),
        Constant::Integer { negative: false, size } => Seed::from(*size),
        Constant::Integer { size, .. } => {
            // -1 - n is the form of a negative number.
            let n = size.saturating_sub(1).to_le_bytes();
            return Ok(Key::from_seed(Seed::integer(true, &n)));
        }
        other => {
            return Err(format!(
                "seed must be an integer, a text or a BLOB, not {}",
                other.shown()
            ));
        }
    }))
}

fn text<'a>(name: &'a Constant, usage: &Usage) -> Result<&'a str, String> {
    match name {
        Constant::Text(text) => Ok(text),
        other => Err(format!("name in {usage} must be a text, not {}", other.shown())),
    }
}

fn real(value: &Constant, name: &str) -> Result<f64, String> {
    Ok(match value {
        Constant::Real(value) => *value,
        Constant::Flag(flag) => f64::from(u8::from(*flag)),
        Constant::Integer { negative, size } => *size as f64 * if *negative { -1.0 } else { 1.0 },
        Constant::Decimal(text) => text.parse().map_err(|_| format!("{name} must be a number"))?,
        other => return Err(format!("{name} must be a number, not {}", other.shown())),
    })
}

/// Returns a whole number in a range, which `range` has in words.
fn whole(value: &Constant, name: &str, (least, most, range): Bounds) -> Result<i128, String> {
    let (negative, size) = match value {
        Constant::Integer { negative, size } => (*negative, *size),
        Constant::Flag(flag) => (false, u128::from(*flag)),
        other => return Err(format!("{name} must be an integer, not {}", other.shown())),
    };
    let value = i128::try_from(size).ok().map(|size| if negative { -size } else { size });
    let value = value.filter(|value| (least..=most).contains(value));
    let sign = if negative { "-" } else { "" };
    value.ok_or_else(|| format!("{name} must be {range}, not {sign}{size}"))
}

type Bounds = (i128, i128, &'static str);
const COUNT: Bounds = (0, u64::MAX as i128, "from 0 to 2^64 - 1");
const INTEGER: Bounds = (i64::MIN as i128, 1 << 64, "from -2^63 to 2^64");

/// Reads the parts of a split: their number, or a list of shares.
///
/// The elements of a list are the one thing that DuckDB does not promise to be flat, so they could
/// be read at wrong places. But shares are from 0 and add up to 1 to 1e-9, or the kernel refuses
/// them; so a mistake is an error, and no wrong part.
fn parts(value: &Constant) -> Result<What, String> {
    match value {
        Constant::Reals(shares) => Ok(What::Shares(shares.clone())),
        Constant::Integer { .. } | Constant::Flag(_) => {
            let parts = whole(value, "parts", COUNT)?;
            Ok(What::Equal(parts as u64))
        }
        Constant::Other("ARRAY") => Err(format!(
            "parts in {} must not be an ARRAY: cast it to a list, DOUBLE[]",
            Function::Split.usage()
        )),
        other => {
            Err(format!("parts must be an integer or a list of shares, not {}", other.shown()))
        }
    }
}

/// Returns a draw of a kind with the values of its parameters, in the order of SQL.
fn draw(kind: Kind, values: &[Constant]) -> Result<What, String> {
    let mut given = values.iter();
    let mut made: Vec<(usize, Option<Value<'static>>)> = Vec::new();
    for (place, parameter) in Function::parameters(kind) {
        let name = parameter.numpy;
        let value = match (given.next(), parameter.default) {
            (Some(Constant::Column), _) => None,
            (Some(value), _) => Some(match parameter.form {
                Form::Count => Value::Count(whole(value, name, COUNT)? as u64),
                Form::Integer => {
                    // NumPy's convention, as Python has it: the upper end is left out.
                    let open = i128::from(kind == Kind::Integers && name == "high");
                    Value::Integer(whole(value, name, INTEGER)? - open)
                }
                Form::Flag => Value::Flag(whole(value, name, COUNT)? != 0),
                _ => Value::Real(real(value, name)?),
            }),
            (None, Some(default)) => Some(match parameter.form {
                Form::Count => Value::Count(default as u64),
                Form::Integer => Value::Integer(default as i128),
                Form::Flag => Value::Flag(default == 1.0),
                _ => Value::Real(default),
            }),
            (None, None) => return Err(format!("{} needs {name}", kind.name())),
        };
        made.push((place, value));
    }
    made.sort_by_key(|(place, _)| *place);
    let values: Vec<Option<Value<'static>>> = made.into_iter().map(|(_, value)| value).collect();
    let dtype = kind.types().first().map_or(Dtype::F64, |one| one.dtype);
    let Some(constant) = values.iter().copied().collect::<Option<Vec<_>>>() else {
        return Ok(What::ByRow(kind, dtype, values));
    };
    let made = kind.make(&constant).and_then(|made| made.fits(dtype).map(|()| made));
    made.map(|made| What::Draw(made, dtype)).map_err(|error| refused(&error, kind, &constant))
}

/// Returns the text of an error with the parameter's name in SQL, and its value.
fn refused(error: &headwater_streams::Error, kind: Kind, values: &[Value<'_>]) -> String {
    let headwater_streams::Error::Parameter { name, need } = error else {
        return error.to_string();
    };
    let place = kind.parameters().iter().position(|parameter| parameter.name == *name);
    let parameter = place.and_then(|place| kind.parameters().get(place));
    let value = match place.and_then(|place| values.get(place)) {
        Some(Value::Real(value)) => format!(", not {value:?}").to_lowercase(),
        Some(Value::Count(value)) => format!(", not {value}"),
        _ => String::new(),
    };
    format!("{} must be {need}{value}", parameter.map_or(*name, |parameter| parameter.numpy))
}
