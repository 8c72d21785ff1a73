//! Arguments that must be one value for all rows: seeds, names and parameters.

use crate::abi::id;
use crate::vector::{Data, Nulls, Text, Vector};

/// A value of SQL.
#[derive(Clone, Debug)]
pub(crate) enum Constant {
    /// A whole number of up to 128 bits and a sign.
    Integer {
        negative: bool,
        size: u128,
    },
    Real(f64),
    /// A DECIMAL as DuckDB writes it.
    Decimal(String),
    Flag(bool),
    Text(String),
    Blob(Vec<u8>),
    Reals(Vec<f64>),
    /// A value of another type, by the type's name.
    Other(&'static str),
    /// Values that differ from row to row, and are not part of a plan.
    Column,
}

impl Constant {
    /// Returns true if a function of either has the same values. Real numbers are compared by their
    /// bits: 0 and -0 are equal, but a plan of one of them would add the wrong zero.
    pub(crate) fn is_same(&self, other: &Constant) -> bool {
        let bits = |a: &f64, b: &f64| a.to_bits() == b.to_bits();
        match (self, other) {
            (
                Constant::Integer { negative: a, size: b },
                Constant::Integer { negative: c, size: d },
            ) => a == c && b == d,
            (Constant::Real(a), Constant::Real(b)) => bits(a, b),
            (Constant::Decimal(a), Constant::Decimal(b)) => a == b,
            (Constant::Text(a), Constant::Text(b)) => a == b,
            (Constant::Flag(a), Constant::Flag(b)) => a == b,
            (Constant::Blob(a), Constant::Blob(b)) => a == b,
            (Constant::Reals(a), Constant::Reals(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| bits(a, b))
            }
            (Constant::Column, Constant::Column) => true,
            // No function takes other values, so there is no plan of them.
            _ => false,
        }
    }
}

/// Returns true if all pieces of `width` values are equal: if each is equal to the one before. As
/// one comparison of two slices, because that is a call of the C library's fastest function, and
/// the usual answer is yes, so that all must be read anyway.
fn repeats<T: PartialEq>(values: &[T], width: usize) -> bool {
    values.len() <= width || values[width..] == values[..values.len() - width]
}

fn is_same(data: &Data<'_>) -> bool {
    match data {
        Data::I8(values) => repeats(values, 1),
        Data::U8(values) => repeats(values, 1),
        Data::I16(values) => repeats(values, 1),
        Data::U16(values) => repeats(values, 1),
        Data::I32(values) => repeats(values, 1),
        Data::U32(values) => repeats(values, 1),
        Data::I64(values) => repeats(values, 1),
        Data::U64(values) => repeats(values, 1),
        // By their bits, because NaN is not equal to itself.
        Data::F32(values) => values.iter().all(|x| x.to_bits() == values[0].to_bits()),
        Data::F64(values) => values.iter().all(|x| x.to_bits() == values[0].to_bits()),
        Data::Wide(values) | Data::List(values) => repeats(values.as_flattened(), 2),
        Data::Text(values) => {
            let same = |x: &Text<'_>| x.bytes() == values[0].bytes();
            repeats(Text::words(values), 2) || values.iter().all(same)
        }
        Data::Other => true,
    }
}

/// Returns the value that all rows have, or `None` if two differ or one is null.
///
/// There is a row: DuckDB calls no function for an empty chunk, and if it did, nothing would be
/// computed.
pub(crate) fn of(vector: &Vector<'_>, rows: usize) -> Option<Constant> {
    if vector.id() == id::SQLNULL {
        return None;
    }
    if vector.nulls().any(rows) {
        return None;
    }
    let data = vector.data();
    is_same(&data).then(|| first(vector, &data)).flatten()
}

fn integer(value: i128) -> Constant {
    Constant::Integer { negative: value < 0, size: value.unsigned_abs() }
}

/// Returns the words of 128 bits, the lower first, as a number.
pub(crate) fn wide(words: [u64; 2]) -> u128 {
    u128::from(words[1]) << 64 | u128::from(words[0])
}

/// Returns a whole number that a column has in a row, as it is stored.
pub(crate) fn stored(data: &Data<'_>, row: usize) -> Option<i128> {
    Some(match data {
        Data::I8(values) => (*values.get(row)?).into(),
        Data::U8(values) => (*values.get(row)?).into(),
        Data::I16(values) => (*values.get(row)?).into(),
        Data::U16(values) => (*values.get(row)?).into(),
        Data::I32(values) => (*values.get(row)?).into(),
        Data::U32(values) => (*values.get(row)?).into(),
        Data::I64(values) => (*values.get(row)?).into(),
        Data::U64(values) => (*values.get(row)?).into(),
        Data::Wide(values) => wide(*values.get(row)?) as i128,
        _ => return None,
    })
}

/// Returns a DECIMAL with these digits in a form that Rust parses, correctly rounded.
pub(crate) fn written(digits: i128, scale: u8) -> String {
    format!("{digits}e-{scale}")
}

/// Returns the float next to a DECIMAL.
fn decimal(digits: i128, scale: u8) -> Option<f64> {
    const EXACT: i128 = 1 << 53;
    // Powers of ten up to 22 are floats, so a quotient of two exact numbers is rounded once, as a
    // text is. The text takes twenty times as long.
    if (-EXACT..=EXACT).contains(&digits) && scale <= 22 {
        return Some(digits as f64 / 10_f64.powi(scale.into()));
    }
    written(digits, scale).parse().ok()
}

fn first(vector: &Vector<'_>, data: &Data<'_>) -> Option<Constant> {
    Some(match vector.id() {
        id::BOOLEAN => Constant::Flag(stored(data, 0)? != 0),
        id::TINYINT
        | id::SMALLINT
        | id::INTEGER
        | id::BIGINT
        | id::UTINYINT
        | id::USMALLINT
        | id::UINTEGER
        | id::UBIGINT
        | id::HUGEINT => integer(stored(data, 0)?),
        id::UHUGEINT => {
            Constant::Integer { negative: false, size: stored(data, 0)?.cast_unsigned() }
        }
        id::DECIMAL => match vector.scale() {
            0 => integer(stored(data, 0)?),
            scale => Constant::Decimal(written(stored(data, 0)?, scale)),
        },
        id::FLOAT | id::DOUBLE => match data {
            Data::F32(values) => Constant::Real((*values.first()?).into()),
            Data::F64(values) => Constant::Real(*values.first()?),
            _ => return None,
        },
        id::VARCHAR => {
            let Data::Text(values) = data else { return None };
            Constant::Text(String::from_utf8(values.first()?.bytes().to_vec()).ok()?)
        }
        id::ENUM => Constant::Text(vector.word(stored(data, 0)?.try_into().ok()?)?),
        id::BLOB => {
            let Data::Text(values) = data else { return None };
            Constant::Blob(values.first()?.bytes().to_vec())
        }
        id::LIST => reals(vector, data)
            .map_or(Constant::Other("a list of other things than numbers"), Constant::Reals),
        other => Constant::Other(name_of(other)),
    })
}

/// Returns the numbers of a list, or `None` if it has other things.
fn reals(vector: &Vector<'_>, data: &Data<'_>) -> Option<Vec<f64>> {
    let Data::List(lists) = data else { return None };
    let [start, len] = *lists.first()?;
    let elements = Numbers::new(&vector.elements()?);
    (start..start.checked_add(len)?).map(|row| elements.get(row as usize)).collect()
}

/// A column of numbers, whose type was asked for once: each question is a call of DuckDB's.
pub(crate) struct Numbers<'a> {
    data: Data<'a>,
    kind: u32,
    scale: u8,
    nulls: Nulls<'a>,
}

impl<'a> Numbers<'a> {
    pub(crate) fn new(vector: &Vector<'a>) -> Numbers<'a> {
        let (kind, scale) = (vector.id(), vector.scale());
        Numbers { data: vector.data(), kind, scale, nulls: vector.nulls() }
    }

    /// Returns the number in a row, and `None` for a null or another type.
    pub(crate) fn get(&self, row: usize) -> Option<f64> {
        if self.nulls.has(row) {
            return None;
        }
        match (self.kind, self.data) {
            (id::FLOAT, Data::F32(values)) => values.get(row).map(|x| (*x).into()),
            (id::DOUBLE, Data::F64(values)) => values.get(row).copied(),
            (id::DECIMAL, data) if self.scale > 0 => decimal(stored(&data, row)?, self.scale),
            (id::UHUGEINT, data) => stored(&data, row).map(|value| value.cast_unsigned() as f64),
            (kind, data) if is_integer(kind) => stored(&data, row).map(|value| value as f64),
            _ => None,
        }
    }

    /// Returns the number in a row, where a boolean is 0 or 1.
    pub(crate) fn or_flag(&self, row: usize) -> Option<f64> {
        match self.kind {
            id::BOOLEAN if !self.nulls.has(row) => stored(&self.data, row).map(|flag| flag as f64),
            _ => self.get(row),
        }
    }
}

/// Returns true for the types of whole numbers, and for DECIMAL.
fn is_integer(kind: u32) -> bool {
    (id::TINYINT..=id::UBIGINT).contains(&kind)
        || matches!(kind, id::HUGEINT | id::UHUGEINT | id::DECIMAL)
}

/// Returns DuckDB's name of a type.
pub(crate) fn name_of(kind: u32) -> &'static str {
    match kind {
        id::BOOLEAN => "BOOLEAN",
        id::FLOAT => "FLOAT",
        id::DOUBLE => "DOUBLE",
        id::DECIMAL => "DECIMAL",
        id::VARCHAR => "VARCHAR",
        id::BLOB => "BLOB",
        id::DATE => "DATE",
        id::TIME | id::TIME_TZ => "TIME",
        id::INTERVAL => "INTERVAL",
        id::UUID => "UUID",
        id::LIST => "LIST",
        id::STRUCT => "STRUCT",
        id::MAP => "MAP",
        id::UNION => "UNION",
        id::BIT => "BIT",
        id::ARRAY => "ARRAY",
        id::TIMESTAMP | id::TIMESTAMP_S | id::TIMESTAMP_MS | id::TIMESTAMP_NS => "TIMESTAMP",
        id::TIMESTAMP_TZ | id::TIMESTAMP_TZ_NS => "TIMESTAMP WITH TIME ZONE",
        _ => "a value of this type",
    }
}

impl Constant {
    /// Returns the value as an error message has it after "not".
    pub(crate) fn shown(&self) -> String {
        match self {
            Constant::Integer { negative, size } => {
                format!("{}{size}", if *negative { "-" } else { "" })
            }
            Constant::Real(value) => format!("the DOUBLE {value:?}").to_lowercase(),
            Constant::Decimal(text) => {
                format!("the DECIMAL {}", text.parse::<f64>().unwrap_or(f64::NAN))
            }
            Constant::Flag(flag) => format!("{flag}"),
            Constant::Text(text) => format!("the text {text:?}"),
            Constant::Blob(_) => "a BLOB".into(),
            Constant::Reals(_) => "a list".into(),
            Constant::Other(name) => (*name).into(),
            Constant::Column => "a column".into(),
        }
    }
}
