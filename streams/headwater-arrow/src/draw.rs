//! Numbers of a kind, row by row.

use crate::rows::{Nulls, are_ids, column_of, rows_to};
use crate::{Column, Error, Output};
use core::ffi::CStr;
use core::num::NonZero;
use headwater_streams::Stream;
use headwater_streams::kinds::{Dtype, Kind, Made, Out};

/// Returns Arrow's format of a type of elements, and how many of its values an element has: two for
/// a complex number, which is a list of its parts, because Arrow has no complex type.
///
/// # Errors
///
/// [`Error::NoType`] for bfloat16, which Arrow lacks.
pub fn format_of(dtype: Dtype) -> Result<(&'static CStr, Option<usize>), Error> {
    Ok(match dtype {
        Dtype::F64 => (c"g", None),
        Dtype::F32 => (c"f", None),
        Dtype::F16 => (c"e", None),
        Dtype::I8 => (c"c", None),
        Dtype::U8 => (c"C", None),
        Dtype::I16 => (c"s", None),
        Dtype::U16 => (c"S", None),
        Dtype::I32 => (c"i", None),
        Dtype::U32 => (c"I", None),
        Dtype::I64 => (c"l", None),
        Dtype::U64 => (c"L", None),
        Dtype::C128 => (c"g", Some(2)),
        Dtype::C64 => (c"f", Some(2)),
        Dtype::Bf16 => return Err(Error::NoType(dtype.name())),
    })
}

/// Returns numbers of a kind: in each row the element of the stream whose index is the row's id.
/// Kinds of vectors, and complex numbers, make lists of one length.
///
/// # Errors
///
/// [`Error::Negative`], [`Error::TooLarge`] and [`Error::Null`] name the row; [`Error::NotIds`] the
/// type of the column. [`Error::Stream`] has the errors of [`Made::draw`].
pub fn draw(
    ids: &Column<'_>,
    stream: &Stream,
    made: &Made<'_>,
    dtype: Dtype,
    nulls: Nulls,
) -> Result<Output, Error> {
    are_ids(ids)?;
    let (format, parts) = format_of(dtype)?;
    made.fits(dtype)?;
    let kind = made.kind();
    let components = made.dimension().map_or(1, NonZero::get);
    let list = made.dimension().map(NonZero::get).or(parts);
    let width = dtype.size().checked_mul(components).ok_or(Error::Memory { bytes: usize::MAX })?;
    let last = last(kind, dtype);
    let column = column_of(ids, (format, width), (last, nulls), |block, out| {
        let out = Out::bytes(dtype, out)?;
        made.draw(stream, block.elements(), out).map_err(|error| {
            past_end(error, block.start, block.ids(), |place| {
                block.null().get(place) == Some(&true)
            })
        })
    })?;
    Output::new(column, list)
}

/// Writes the column of [`draw`] to the caller's memory, and hands the rows of blocks in which one
/// is null to `is_null`, by the number of the first. The values of null rows are 0.
///
/// An engine that has memory for its result gets it without an allocation and a copy.
///
/// # Errors
///
/// The errors of [`draw`], and [`Error::Rows`] unless `out` has a value for each row,
/// [`Error::Stream`] unless it is aligned for the type; vectors and complex numbers are
/// [`Error::NoType`].
pub fn draw_to(
    ids: &Column<'_>,
    stream: &Stream,
    (made, dtype): (&Made<'_>, Dtype),
    nulls: Nulls,
    out: &mut [u8],
    is_null: &mut dyn FnMut(usize, &[bool]),
) -> Result<(), Error> {
    are_ids(ids)?;
    let (_, parts) = format_of(dtype)?;
    made.fits(dtype)?;
    if parts.is_some() || made.dimension().is_some() {
        return Err(Error::NoType("more than one number"));
    }
    rows_to(ids, out, dtype.size(), (last(made.kind(), dtype), nulls), is_null, |block, out| {
        let out = Out::bytes(dtype, out)?;
        made.draw(stream, block.elements(), out).map_err(|error| {
            past_end(error, block.start, block.ids(), |place| {
                block.null().get(place) == Some(&true)
            })
        })
    })
}

/// Returns the last element that the type of a kind has, as far as its words show it.
pub(crate) fn last(kind: Kind, dtype: Dtype) -> u64 {
    let of = kind.types().iter().find(|one| one.dtype == dtype);
    of.map_or(u64::MAX - 1, headwater_streams::kinds::Type::last)
}

/// Names the row of an id that lies past the end of what the kind has: of a permutation, or of
/// vectors of many words.
pub(crate) fn past_end(
    error: headwater_streams::Error,
    start: usize,
    ids: &[u64],
    is_null: impl Fn(usize) -> bool,
) -> Error {
    let n = match error {
        headwater_streams::Error::PastEnd { n, .. } => n,
        error => return Error::Stream(error),
    };
    let mut rows = ids.iter().enumerate();
    match (rows.find(|&(place, &id)| id >= n && !is_null(place)), n.checked_sub(1)) {
        (Some((place, &id)), Some(last)) => {
            Error::TooLarge { row: start + place, value: id.into(), last }
        }
        _ => Error::Stream(error),
    }
}
