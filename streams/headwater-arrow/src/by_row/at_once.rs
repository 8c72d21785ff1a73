//! Loops over all rows of a block, for the kinds that have them: several times as fast as rows that
//! are drawn one by one, with the same bits.

use super::{MOST, Rows, copy};
use crate::Error;
use crate::by_row::By;
use crate::rows::{BLOCK, Block, SHORT};
#[cfg(feature = "std")]
use headwater_streams::kinds::draw_each;
use headwater_streams::kinds::{Dtype, Form, Kind, Out, Parameter, Value};

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
    /// Writes a block as loops over all of its rows, where the kind has one. Returns false, after
    /// which anything may be in `out` and `null`, if it has none or if a row's parameter is
    /// refused: only the other way names the row.
    pub(super) fn fill_at_once(
        &self,
        block: &Block<'_>,
        null: &mut [bool],
        values: &[Value<'_>],
        out: &mut [u8],
    ) -> Result<bool, Error> {
        let is_f64 = self.dtype == Dtype::F64;
        let stretched = is_stretched(self.kind) && is_f64;
        let is_number = |(parameter, by): (&Parameter, &By<'_>)| match (parameter.form, by) {
            // The draw alone refuses a constant of another form.
            (Form::Real, By::Value(value)) => matches!(value, Value::Real(_)),
            (Form::Count, By::Value(value)) => matches!(value, Value::Count(_)),
            (Form::Real | Form::Count, By::Column(_)) => true,
            _ => false,
        };
        // The loops of the streams want the standard library.
        let has_loop = stretched || cfg!(feature = "std");
        if !has_loop || !self.parameters.iter().zip(self.by).all(is_number) {
            return Ok(false);
        }
        let mut lists = [[0.0; BLOCK]; MOST];
        if !self.read_lists(block.start, &mut lists, null.len())
            && !self.read_rows(block.start, &mut lists, null, values)?
        {
            return Ok(false);
        }
        let [a, b, c, d] = &lists;
        let lists = [a, b, c, d].map(|list| list.get(..null.len()).unwrap_or_default());
        let lists = lists.get(..values.len()).ok_or(SHORT)?;
        if stretched {
            return self.stretch(block, lists, out);
        }
        #[cfg(feature = "std")]
        {
            let mut out = Out::bytes(self.dtype, out)?;
            let done = draw_each(self.kind, lists, self.stream, block.elements(), &mut out);
            Ok(matches!(done, Some(Ok(()))))
        }
        #[cfg(not(feature = "std"))]
        Ok(false)
    }

    /// Reads the parameters of a block column by column. Returns false if one has nulls or other
    /// numbers than floats of 8 bytes.
    fn read_lists(&self, start: usize, lists: &mut [[f64; BLOCK]; MOST], len: usize) -> bool {
        lists.iter_mut().zip(self.by).all(|(list, by)| {
            let Some(list) = list.get_mut(..len) else { return false };
            match by {
                By::Value(value) => {
                    let Some(float) = as_float(value) else { return false };
                    list.fill(float);
                }
                By::Column(column) if column.dictionary.is_none() && !column.may_be_null() => {
                    let Some(reals) = column.rows.reals(start, len) else { return false };
                    copy(reals, list);
                }
                _ => return false,
            }
            true
        })
    }

    /// Reads the parameters of a block row by row, and marks the rows in which one is null. Returns
    /// false if one is a count that no float has.
    fn read_rows(
        &self,
        start: usize,
        lists: &mut [[f64; BLOCK]; MOST],
        null: &mut [bool],
        values: &[Value<'_>],
    ) -> Result<bool, Error> {
        let mut next = [Value::Real(0.0); MOST];
        let next = next.get_mut(..values.len()).ok_or(SHORT)?;
        copy(values, next);
        for (place, null) in null.iter_mut().enumerate() {
            if !*null {
                *null = !self.read(start + place, next)?;
            }
            // A null row has the parameters of the row before, so that it ends no loop; at the
            // start of a block they may be refused, and then the block goes the other way.
            for (list, value) in lists.iter_mut().zip(&*next) {
                let (Some(item), Some(float)) = (list.get_mut(place), as_float(value)) else {
                    return Ok(false);
                };
                *item = float;
            }
        }
        Ok(true)
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

/// Returns a number as the loops take it, or `None` for a count that no float has.
fn as_float(value: &Value<'_>) -> Option<f64> {
    const EXACT: u64 = 1 << 53;
    match *value {
        Value::Real(real) => Some(real),
        Value::Count(count) if count <= EXACT => Some(count as f64),
        _ => None,
    }
}
