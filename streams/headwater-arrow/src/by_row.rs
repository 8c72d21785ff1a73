//! Numbers whose parameters are columns: each row has its own.

use crate::draw::{format_of, last};
use crate::format::Type;
use crate::memory::Memory;
use crate::rows::{self, BLOCK, Block, Made, Nulls, SHORT, Validity, are_ids, blocks};
use crate::{Column, Error, Output};
use headwater_streams::Stream;
use headwater_streams::kinds::{Dtype, Elements, Form, Kind, Out, Parameter, Value, draw_each};

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
/// A row with a null parameter is null, or an error, as for its id. Rows with equal parameters that
/// follow each other are drawn at once, so a sorted column is several times as fast.
///
/// # Errors
///
/// The errors of [`draw`](crate::draw). [`Error::Rows`] for columns of different lengths;
/// [`Error::Parameter`] for a parameter that is a list, or a column of other values than its
/// parameter has; [`Error::InRow`] for a value that the kind does not take; [`Error::NoType`] for
/// kinds of vectors and for complex numbers.
pub fn draw_by_row(
    ids: &Column<'_>,
    stream: &Stream,
    (kind, dtype): (Kind, Dtype),
    by: &[By<'_>],
    nulls: Nulls,
) -> Result<Output, Error> {
    are_ids(ids)?;
    let (format, parts) = format_of(dtype)?;
    let parameters = kind.parameters();
    let mut values = [Value::Real(0.0); MOST];
    if parts.is_some() || kind.facts().vectors {
        return Err(Error::NoType("more than one number"));
    }
    if parameters.len() != by.len() || by.len() > MOST {
        return Err(Error::Parameter { name: "by", need: "a value for each parameter" });
    }
    for ((by, parameter), value) in by.iter().zip(parameters).zip(&mut values) {
        match by {
            By::Value(one) => *value = *one,
            By::Column(column) if column.len() != ids.len() => {
                return Err(Error::Rows { first: ids.len(), other: column.len() });
            }
            By::Column(column) => fits(column, kind, parameter)?,
        }
    }
    let values = values.get_mut(..by.len()).unwrap_or_default();
    let width = dtype.size();
    let bytes = ids.len().checked_mul(width).ok_or(Error::Memory { bytes: usize::MAX })?;
    let columns = || {
        by.iter().filter_map(|by| match by {
            By::Column(column) => Some(*column),
            By::Value(_) => None,
        })
    };
    let may_be_null = ids.may_be_null() || columns().any(Column::may_be_null);
    let mut data = Memory::new(bytes)?;
    let mut validity = Validity::new(ids.len(), may_be_null)?;
    let all = Rows { stream, kind, dtype, by, parameters, nulls };
    blocks(ids, last(kind, dtype), nulls, |block| {
        let ids = block.ids();
        let out = data.cleared(block.start * width, ids.len() * width).ok_or(SHORT)?;
        let mut null = [false; BLOCK];
        let null = null.get_mut(..ids.len()).ok_or(SHORT)?;
        null.copy_from_slice(block.null());
        if !all.fill_at_once(block, null, values, out)? {
            null.copy_from_slice(block.null());
            all.fill(block.start, ids, null, values, out)?;
        }
        for (out, null) in out.chunks_exact_mut(width).zip(&*null) {
            if *null {
                out.fill(0);
            }
        }
        validity.write(block.start, null)
    })?;
    Output::new(Made { len: ids.len(), format, data, validity: validity.finish() }, None)
}

/// Returns an error unless a column has values of a parameter.
fn fits(column: &Column<'_>, kind: Kind, parameter: &Parameter) -> Result<(), Error> {
    let form = match kind {
        // Rows of permutations of other lengths would be no permutation.
        Kind::Permutation => Form::Flag,
        _ => parameter.form,
    };
    let kind = column.dictionary.as_ref().map_or(column.rows.kind, |values| values.kind);
    let is_whole =
        matches!(kind, Type::Integer { .. } | Type::Decimal { scale: 0, .. } | Type::Null);
    let (fits, need) = match form {
        Form::Real => (is_whole || matches!(kind, Type::Float { .. }), "a column of numbers"),
        Form::Count => (is_whole, "a column of integers"),
        _ => (false, "one value for all rows"),
    };
    let name = parameter.numpy;
    if fits { Ok(()) } else { Err(Error::Parameter { name, need }) }
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

impl Rows<'_> {
    /// Reads the parameters of a row. Returns false if one is null.
    fn read(&self, row: usize, values: &mut [Value<'_>]) -> Result<bool, Error> {
        for ((by, parameter), value) in self.by.iter().zip(self.parameters).zip(values) {
            let By::Column(column) = by else { continue };
            let Some((flat, place)) = column.value(row)? else {
                let need = "a number, and not null: leave such rows out, or let nulls be null";
                return match self.nulls {
                    Nulls::Kept => Ok(false),
                    Nulls::Refused => Err(Error::InRow { row, name: parameter.numpy, need }),
                };
            };
            *value = match (parameter.form, flat.real(place)) {
                (Form::Count, _) => {
                    let need = "a whole number from 0 to 2^64 - 1";
                    let count = u64::try_from(flat.integer(place));
                    let wrong = Error::InRow { row, name: parameter.numpy, need };
                    Value::Count(count.map_err(|_| wrong)?)
                }
                (_, Some(real)) => Value::Real(real),
                (_, None) => Value::Real(flat.integer(place) as f64),
            };
        }
        Ok(true)
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
        next.copy_from_slice(values);
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
                values.copy_from_slice(next);
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
                let parameter = self.parameters.iter().find(|parameter| parameter.name == name);
                let name = parameter.map_or(name, |parameter| parameter.numpy);
                Error::InRow { row: start + rows.start, name, need }
            }
            error => Error::Stream(error),
        })
    }
}

/// Returns true for kinds that are x times a scale, which comes last, plus a place, if one comes
/// before the scale. The kind makes x of place 0 and scale 1.
fn is_stretched(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::ScaledNormal
            | Kind::ScaledExponential
            | Kind::Laplace
            | Kind::Gumbel
            | Kind::Logistic
            | Kind::Cauchy
            | Kind::Rayleigh
    )
}

impl Rows<'_> {
    /// Writes a block as loops over all of its rows, where the kind has one: several times as fast
    /// as rows with parameters of their own, with the same bits. Returns false, after which
    /// anything may be in `out` and `null`, if it has none or if a row's parameter is refused: only
    /// the other way names the row.
    fn fill_at_once(
        &self,
        block: &Block<'_>,
        null: &mut [bool],
        values: &[Value<'_>],
        out: &mut [u8],
    ) -> Result<bool, Error> {
        let is_f64 = self.dtype == Dtype::F64;
        let stretched = is_stretched(self.kind) && is_f64;
        let is_run = matches!(block.elements(), Elements::From(_));
        let is_real = |(parameter, value): (&Parameter, &Value<'_>)| {
            parameter.form == Form::Real && matches!(value, Value::Real(_))
        };
        if !(stretched || is_run) || !self.parameters.iter().zip(values).all(is_real) {
            return Ok(false);
        }
        let mut lists = [[0.0; BLOCK]; MOST];
        if !self.read_lists(block.start, &mut lists, null.len()) {
            self.read_rows(block.start, &mut lists, null, values)?;
        }
        let [a, b, c, d] = &lists;
        let lists = [a, b, c, d].map(|list| list.get(..null.len()).unwrap_or_default());
        let lists = lists.get(..values.len()).ok_or(SHORT)?;
        if stretched {
            return self.stretch(block, lists, out);
        }
        let Elements::From(first) = block.elements() else { return Ok(false) };
        let mut out = Out::bytes(self.dtype, out)?;
        let done = draw_each(self.kind, lists, self.stream, first, &mut out);
        Ok(matches!(done, Some(Ok(()))))
    }

    /// Reads the parameters of a block column by column. Returns false if one has nulls or other
    /// numbers than floats of 8 bytes.
    fn read_lists(&self, start: usize, lists: &mut [[f64; BLOCK]; MOST], len: usize) -> bool {
        lists.iter_mut().zip(self.by).all(|(list, by)| {
            let Some(list) = list.get_mut(..len) else { return false };
            match by {
                By::Value(Value::Real(real)) => list.fill(*real),
                By::Column(column) if column.dictionary.is_none() && !column.may_be_null() => {
                    let Some(reals) = column.rows.reals(start, len) else { return false };
                    list.copy_from_slice(reals);
                }
                _ => return false,
            }
            true
        })
    }

    /// Reads the parameters of a block row by row, and marks the rows in which one is null.
    fn read_rows(
        &self,
        start: usize,
        lists: &mut [[f64; BLOCK]; MOST],
        null: &mut [bool],
        values: &[Value<'_>],
    ) -> Result<(), Error> {
        let mut next = [Value::Real(0.0); MOST];
        let next = next.get_mut(..values.len()).ok_or(SHORT)?;
        next.copy_from_slice(values);
        for (place, null) in null.iter_mut().enumerate() {
            if !*null {
                *null = !self.read(start + place, next)?;
            }
            // A null row has the parameters of the row before, so that it ends no loop; at the
            // start of a block they may be refused, and then the block goes the other way.
            for (list, value) in lists.iter_mut().zip(&*next) {
                if let (Some(item), Value::Real(real)) = (list.get_mut(place), value) {
                    *item = *real;
                }
            }
        }
        Ok(())
    }

    /// Writes numbers times a scale, plus a place.
    fn stretch(&self, block: &Block<'_>, lists: &[&[f64]], out: &mut [u8]) -> Result<bool, Error> {
        let is_scale = |scale: &f64| scale.is_finite() && !scale.is_sign_negative();
        let (places, scales) = match *lists {
            [scales] => (None, scales),
            [places, scales] => (Some(places), scales),
            _ => return Ok(false),
        };
        let fits = scales.iter().all(is_scale)
            && places.is_none_or(|places| places.iter().all(|place| place.is_finite()));
        if !fits {
            return Ok(false);
        }
        let unit = [Value::Real(0.0), Value::Real(1.0)];
        let unit = unit.get(2 - lists.len()..).ok_or(SHORT)?;
        let mut done = Ok(());
        self.kind.with(unit, &mut |made| {
            done = Out::bytes(self.dtype, out)
                .and_then(|out| made.draw(self.stream, block.elements(), out));
        })?;
        done?;
        let numbers = out.as_chunks_mut::<8>().0;
        for (i, (number, scale)) in numbers.iter_mut().zip(scales).enumerate() {
            let stretched = f64::from_ne_bytes(*number) * scale;
            let place = places.and_then(|places| places.get(i));
            *number = place.map_or(stretched, |place| stretched + place).to_ne_bytes();
        }
        Ok(true)
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
