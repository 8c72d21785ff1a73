//! Numbers whose parameters are columns: each row has its own.

mod at_once;

use crate::draw::{format_of, last, past_end};
use crate::format::Type;
use crate::memory::Memory;
use crate::rows::{self, BLOCK, Block, Made, Nulls, SHORT, Validity, are_ids, blocks};
use crate::{Column, Error, Output, Shown};
use headwater_streams::Stream;
use headwater_streams::kinds::{Dtype, Elements, Form, Kind, Out, Parameter, Value};

/// The most parameters of a kind whose parameters are numbers.
const MOST: usize = 4;

/// A parameter of a kind.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum By<'a> {
    /// One value for all rows.
    Value(Value<'a>),
    /// A value for each row.
    Column(&'a Column<'a>),
}

/// Returns numbers of a kind as [`draw`](crate::draw) does, with parameters that may differ from
/// row to row. So a row's number does not depend on the rows around it, and equals the one that
/// [`draw`](crate::draw) makes of the row's values.
///
/// A row with a null parameter is null, or an error, as for its id, and its other parameters may be
/// anything. Rows with equal parameters that follow each other are drawn at once, so a sorted
/// column is several times as fast.
///
/// # Errors
///
/// The errors of [`draw`](crate::draw). [`Error::Rows`] for columns of different lengths;
/// [`Error::Parameter`] for a parameter that is a list, a column of other values than its parameter
/// has, or one value that the kind does not take beside a column, which the first row shows;
/// [`Error::InRow`] for such a value of a column; [`Error::NoType`] for kinds of vectors and for
/// complex numbers.
pub fn draw_by_row(
    ids: &Column<'_>,
    stream: &Stream,
    (kind, dtype): (Kind, Dtype),
    by: &[By<'_>],
    nulls: Nulls,
) -> Result<Output, Error> {
    let all = Rows::new(ids, stream, (kind, dtype), by, nulls)?;
    let (format, _) = format_of(dtype)?;
    let width = dtype.size();
    let bytes = ids.len().checked_mul(width).ok_or(Error::Memory { bytes: usize::MAX })?;
    let mut data = Memory::new(bytes)?;
    let mut validity = Validity::new(ids.len(), all.may_be_null(ids))?;
    let mut values = all.constants();
    blocks(ids, last(kind, dtype), nulls, |block| {
        let out = data.cleared(block.start * width, block.ids().len() * width).ok_or(SHORT)?;
        let mut room = [false; BLOCK];
        let (null, _) = all.write(block, &mut values, &mut room, out)?;
        validity.write(block.start, null)
    })?;
    Output::new(Made { len: ids.len(), format, data, validity: validity.finish() }, None)
}

/// Writes the column of [`draw_by_row`] to the caller's memory, and hands the rows of blocks in
/// which one is null to `is_null`, by the number of the first. The values of null rows are 0.
///
/// # Errors
///
/// The errors of [`draw_by_row`], and [`Error::Rows`] unless `out` has a value for each row.
pub fn draw_by_row_to(
    ids: &Column<'_>,
    stream: &Stream,
    (kind, dtype): (Kind, Dtype),
    by: &[By<'_>],
    nulls: Nulls,
    out: &mut [u8],
    is_null: &mut dyn FnMut(usize, &[bool]),
) -> Result<(), Error> {
    let all = Rows::new(ids, stream, (kind, dtype), by, nulls)?;
    let width = dtype.size();
    if Some(out.len()) != ids.len().checked_mul(width) {
        return Err(Error::Rows { first: ids.len(), other: out.len() / width.max(1) });
    }
    let mut values = all.constants();
    blocks(ids, last(kind, dtype), nulls, |block| {
        let (start, rows) = (block.start, block.ids().len());
        let out = out.get_mut(start * width..(start + rows) * width).ok_or(SHORT)?;
        let mut room = [false; BLOCK];
        let (null, has_null) = all.write(block, &mut values, &mut room, out)?;
        if has_null {
            is_null(start, null);
        }
        Ok(())
    })
}

/// Returns an error unless a column has values of a parameter.
fn fits(column: &Column<'_>, kind: Kind, parameter: &Parameter) -> Result<(), Error> {
    let form = match kind {
        // Rows of permutations of other lengths would be no permutation.
        Kind::Permutation => Form::Flag,
        _ => parameter.form,
    };
    let kind = column.dictionary.as_ref().map_or(column.rows.kind, |values| values.kind);
    // A boolean is 0 or 1, as it is in SQL and in NumPy.
    let is_whole = matches!(
        kind,
        Type::Integer { .. } | Type::Decimal { scale: 0, .. } | Type::Bool | Type::Null
    );
    let (fits, need) = match form {
        Form::Real if matches!(kind, Type::Decimal { .. } | Type::Other) => {
            (is_whole, "a column of numbers: cast it to float64")
        }
        Form::Real => (is_whole || matches!(kind, Type::Float { .. }), "a column of numbers"),
        Form::Count => (is_whole, "a column of integers"),
        _ => (false, "one value for all rows"),
    };
    if fits { Ok(()) } else { Err(Error::Parameter { name: name_of(parameter), need }) }
}

/// Returns the name of a parameter in errors: NumPy's, and in C the name that C has.
fn name_of(parameter: &Parameter) -> &'static str {
    if cfg!(feature = "std") { parameter.numpy } else { parameter.name }
}

/// Everything of a call but its rows.
struct Rows<'a> {
    stream: &'a Stream,
    kind: Kind,
    dtype: Dtype,
    by: &'a [By<'a>],
    parameters: &'static [Parameter],
    nulls: Nulls,
}

impl<'a> Rows<'a> {
    /// Checks everything of a call but the values of its rows.
    fn new(
        ids: &Column<'_>,
        stream: &'a Stream,
        (kind, dtype): (Kind, Dtype),
        by: &'a [By<'a>],
        nulls: Nulls,
    ) -> Result<Rows<'a>, Error> {
        are_ids(ids)?;
        let (_, parts) = format_of(dtype)?;
        let parameters = kind.parameters();
        if parts.is_some() || kind.facts().vectors {
            return Err(Error::NoType("more than one number"));
        }
        if parameters.len() != by.len() || by.len() > MOST {
            return Err(Error::Parameter { name: "by", need: "a value for each parameter" });
        }
        for (by, parameter) in by.iter().zip(parameters) {
            match by {
                By::Value(_) => {}
                By::Column(column) if column.len() != ids.len() => {
                    return Err(Error::Rows { first: ids.len(), other: column.len() });
                }
                By::Column(column) => fits(column, kind, parameter)?,
            }
        }
        if !kind.types().iter().any(|one| one.dtype == dtype) {
            return Err(Error::Stream(headwater_streams::Error::ElementType { kind, dtype }));
        }
        let all = Rows { stream, kind, dtype, by, parameters, nulls };
        if by.iter().all(|by| matches!(by, By::Value(_))) {
            // As a draw without columns does it, also for no rows.
            let values = all.constants();
            let mut done = Ok(());
            let values = values.get(..by.len()).unwrap_or_default();
            kind.with(values, &mut |made| done = made.fits(dtype))?;
            done?;
        }
        Ok(all)
    }

    /// Returns false if no row can be null.
    fn may_be_null(&self, ids: &Column<'_>) -> bool {
        let is_any = |by: &By<'_>| matches!(by, By::Column(column) if column.may_be_null());
        ids.may_be_null() || self.by.iter().any(is_any)
    }

    /// Returns the values of parameters that are no columns, and any numbers for the others.
    fn constants(&self) -> [Value<'a>; MOST] {
        let mut values = [Value::Real(0.0); MOST];
        for (by, value) in self.by.iter().zip(&mut values) {
            if let By::Value(one) = by {
                *value = *one;
            }
        }
        values
    }

    /// Writes the numbers of a block, with 0 in rows that are null. Returns which rows are, in the
    /// room for them, and whether one is.
    fn write<'n>(
        &self,
        block: &Block<'_>,
        values: &mut [Value<'a>; MOST],
        room: &'n mut [bool; BLOCK],
        out: &mut [u8],
    ) -> Result<(&'n [bool], bool), Error> {
        let ids = block.ids();
        let values = values.get_mut(..self.by.len()).unwrap_or_default();
        let null = room.get_mut(..ids.len()).ok_or(SHORT)?;
        copy(block.null(), null);
        if !self.fill_at_once(block, null, values, out)? {
            copy(block.null(), null);
            self.fill(block.start, ids, null, values, out)?;
        }
        let has_null = null.iter().fold(false, |any, null| any | null);
        if has_null {
            let rows = out.chunks_exact_mut(self.dtype.size()).zip(&*null);
            rows.filter(|(_, null)| **null).for_each(|(row, _)| row.fill(0));
        }
        Ok((null, has_null))
    }

    /// Reads the parameters of a row. Returns false if one is null.
    fn read(&self, row: usize, values: &mut [Value<'_>]) -> Result<bool, Error> {
        let mut wrong = None;
        for ((by, parameter), value) in self.by.iter().zip(self.parameters).zip(values) {
            let By::Column(column) = by else { continue };
            let Some((flat, place)) = column.value(row)? else {
                let need = "a number, and not null: leave such rows out, or let nulls be null";
                return match self.nulls {
                    Nulls::Kept => Ok(false),
                    Nulls::Refused => {
                        let value = Shown::default();
                        Err(Error::InRow { row, name: name_of(parameter), need, value })
                    }
                };
            };
            *value = match (parameter.form, flat.real(place)) {
                (Form::Count, _) => {
                    let need = "a whole number from 0 to 2^64 - 1";
                    let (name, count) = (name_of(parameter), flat.integer(place));
                    let fits = u64::try_from(count);
                    if fits.is_err() {
                        // Another parameter may be null, and then the row is.
                        let value = Shown::whole(count);
                        wrong.get_or_insert(Error::InRow { row, name, need, value });
                    }
                    Value::Count(fits.unwrap_or(0))
                }
                (_, Some(real)) => Value::Real(real),
                (_, None) => Value::Real(flat.integer(place) as f64),
            };
        }
        wrong.map_or(Ok(true), Err)
    }

    /// Writes the numbers of a block, and marks the rows whose parameters are null.
    fn fill<'v>(
        &self,
        start: usize,
        ids: &[u64],
        null: &mut [bool],
        values: &mut [Value<'v>],
        out: &mut [u8],
    ) -> Result<(), Error> {
        let mut next = [Value::Real(0.0); MOST];
        let next = next.get_mut(..values.len()).ok_or(SHORT)?;
        copy(values, next);
        // Rows from `begin` on have the parameters in `values`.
        let mut begin = ids.len();
        for (place, null) in null.iter_mut().enumerate() {
            if !*null {
                *null = !self.read(start + place, next)?;
            }
            let goes_on = begin < place && !*null && is_same(values, next);
            if !goes_on && begin < place {
                self.draw(start, ids, begin..place, values, out)?;
            }
            if *null {
                begin = ids.len();
            } else if !goes_on {
                begin = place;
                copy(next, values);
            }
        }
        if begin < ids.len() {
            self.draw(start, ids, begin..ids.len(), values, out)
        } else {
            Ok(())
        }
    }

    /// Writes the numbers of rows with the same parameters.
    fn draw(
        &self,
        start: usize,
        ids: &[u64],
        rows: core::ops::Range<usize>,
        values: &[Value<'_>],
        out: &mut [u8],
    ) -> Result<(), Error> {
        let width = self.dtype.size();
        let out = out.get_mut(rows.start * width..rows.end * width).ok_or(rows::SHORT)?;
        let ids = ids.get(rows.clone()).ok_or(rows::SHORT)?;
        let mut done = Ok(());
        let made = self.kind.with(values, &mut |made| {
            done = made.fits(self.dtype).and_then(|()| {
                made.draw(self.stream, Elements::At(ids), Out::bytes(self.dtype, out)?)
            });
        });
        made.and(done).map_err(|error| match error {
            headwater_streams::Error::Parameter { name, need } => {
                let mut known = self.parameters.iter().zip(self.by).zip(values);
                let found = known.find(|((parameter, _), _)| parameter.name == name);
                let Some(((parameter, by), value)) = found else {
                    return Error::Parameter { name, need };
                };
                let name = name_of(parameter);
                let value = match (by, value) {
                    // No row is to blame.
                    (By::Value(_), _) => return Error::Parameter { name, need },
                    (_, Value::Real(real)) => Shown::real(*real),
                    (_, Value::Count(count)) => Shown::whole(i128::from(*count)),
                    _ => Shown::default(),
                };
                Error::InRow { row: start + rows.start, name, need, value }
            }
            error => past_end(error, start + rows.start, ids, |_| false),
        })
    }
}

/// Returns true if two lists of numbers have the same bits: 0 and -0 are equal, but not the same
/// parameter.
fn is_same(a: &[Value<'_>], b: &[Value<'_>]) -> bool {
    a.iter().zip(b).all(|(a, b)| match (a, b) {
        (Value::Real(a), Value::Real(b)) => a.to_bits() == b.to_bits(),
        (Value::Count(a), Value::Count(b)) => a == b,
        // Other forms are constants, which are the same in all rows.
        _ => true,
    })
}

/// Copies as many values as both lists have. Its callers have lists of one length, but
/// `copy_from_slice` panics for others, and code for C must not reach a panic.
fn copy<T: Copy>(from: &[T], to: &mut [T]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
}
