//! Rows in blocks: their ids, and which of them are null.

use crate::column::Column;
use crate::format::Type;
use crate::memory::Memory;
use crate::{Error, Output};
use headwater_streams::kinds::{Elements, Survey};

/// Rows of a block. A multiple of 8, so that a block of bits begins at a byte; its ids fit a first
/// cache beside as many values.
pub(crate) const BLOCK: usize = 1024;

/// The answer to an id that is null.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Nulls {
    /// The row of the result is null, as in SQL. An outer join makes such ids.
    #[default]
    Kept,
    /// The call is an error that names the row.
    Refused,
}

/// Ids of up to [`BLOCK`] rows.
pub(crate) struct Block<'a> {
    /// The ids, where the column has them in the form in which they are used. So the usual column
    /// is read once, and not copied.
    own: Option<&'a [u64]>,
    /// Otherwise the ids, widened and without the values under nulls. The room is made when it is
    /// first used, because its zeros are 8 KiB that the usual column need not pay for.
    room: Option<[u64; BLOCK]>,
    null: [bool; BLOCK],
    len: usize,
    /// True if a row is null.
    pub(crate) has_null: bool,
    /// True if ids count up by one.
    is_run: bool,
    /// The number of the first row.
    pub(crate) start: usize,
}

impl<'a> Block<'a> {
    pub(crate) fn ids(&self) -> &[u64] {
        let room = || self.room.as_ref()?.get(..self.len);
        self.own.or_else(room).unwrap_or_default()
    }

    pub(crate) fn null(&self) -> &[bool] {
        self.null.get(..self.len).unwrap_or_default()
    }

    /// Returns the elements to draw. Ids that count up take the functions that fill a range,
    /// because those make a block of the engine once, and a list makes one for each of its rows.
    pub(crate) fn elements(&self) -> Elements<'_> {
        match (self.is_run, self.ids().first()) {
            (true, Some(&start)) => Elements::From(start),
            _ => Elements::At(self.ids()),
        }
    }

    fn read(&mut self, column: &Column<'a>, last: u64, nulls: Nulls) -> Result<(), Error> {
        let (start, len) = (self.start, self.len);
        let may_be_null = column.may_be_null();
        let Block { own, room, null, has_null, is_run, .. } = self;
        let null = null.get_mut(..len).unwrap_or_default();
        if *has_null {
            null.fill(false);
            *has_null = false;
        }
        let plain = column.dictionary.is_none();
        *own = if plain && !may_be_null { column.rows.words(start, len) } else { None };
        let room = match own {
            Some(_) => &mut [][..],
            None => room.get_or_insert([0; BLOCK]),
        };
        let ids = room.get_mut(..len).unwrap_or_default();
        let plain = own.is_some() || (plain && column.rows.widen(start, ids));
        let signed = plain && matches!(column.rows.kind, Type::Integer { signed: true, .. });
        if plain {
            if may_be_null {
                for (i, (id, null)) in ids.iter_mut().zip(null.iter_mut()).enumerate() {
                    *null = column.rows.is_null(start + i);
                    // The value under a null may be anything, a negative number too.
                    *id = if *null { 0 } else { *id };
                    *has_null |= *null;
                }
            }
        } else {
            for (i, (id, null)) in ids.iter_mut().zip(null.iter_mut()).enumerate() {
                let row = start + i;
                let value = match column.value(row)? {
                    Some((values, place)) => values.integer(place),
                    None => {
                        *null = true;
                        *has_null = true;
                        0
                    }
                };
                *id = u64::try_from(value).map_err(|_| match value < 0 {
                    true => Error::Negative { row, value },
                    false => Error::TooLarge { row, value, last },
                })?;
            }
        }
        if *has_null {
            if nulls == Nulls::Refused {
                let row = null.iter().position(|&null| null).unwrap_or(0);
                return Err(Error::Null { row: start + row });
            }
            bridge(ids, null);
        }
        let ids = own.unwrap_or(ids);
        let Survey { bits: any, is_run: counts } = Survey::of(ids);
        *is_run = counts;
        // A null row has an id near its neighbours' by now, so it may be outside of the range too.
        let found = |is_wrong: &dyn Fn(u64) -> bool| {
            let mut real = ids.iter().zip(&*null).enumerate();
            let (row, (&id, _)) = real.find(|(_, (id, null))| is_wrong(**id) && !**null)?;
            Some((start + row, id))
        };
        if signed
            && any >> 63 == 1
            && let Some((row, id)) = found(&|id| id >> 63 == 1)
        {
            return Err(Error::Negative { row, value: i128::from(id as i64) });
        }
        // No id is above the bits that any id has, so the largest one, which processors without
        // AVX-512 find one by one, is needed only where an id may be too large.
        if any > last
            && let Some((row, id)) = found(&|id| id > last)
        {
            return Err(Error::TooLarge { row, value: i128::from(id), last });
        }
        Ok(())
    }
}

/// Fills rows that are null with the id after the one before, so that a null in a run of ids does
/// not end it. The value is never seen.
///
/// But the element is drawn, so it must exist. The kind's last element would not do as the bound:
/// a permutation and a long vector have fewer elements than their type, and only `draw` knows how
/// many. So the bound is the largest id of the rows that are not null, and 0 stands past it.
fn bridge(ids: &mut [u64], null: &[bool]) {
    let real = || ids.iter().zip(null).filter(|(_, null)| !**null).map(|(&id, _)| id);
    let most = real().max().unwrap_or(0);
    let mut next = real().next().unwrap_or(0);
    let before = null.iter().take_while(|null| **null).count() as u64;
    next = next.saturating_sub(before);
    for (id, &null) in ids.iter_mut().zip(null) {
        if null {
            *id = if next > most { 0 } else { next };
        }
        next = id.saturating_add(1);
    }
}

/// Returns an error unless the column has ids.
pub(crate) fn are_ids(column: &Column<'_>) -> Result<(), Error> {
    let kind = column.dictionary.as_ref().map_or(column.rows.kind, |values| values.kind);
    match kind {
        Type::Integer { .. } | Type::Decimal { scale: 0, .. } | Type::Null => Ok(()),
        _ => Err(Error::NotIds(column.name)),
    }
}

/// Hands the rows of a column of ids to `then`, block by block.
pub(crate) fn blocks(
    column: &Column<'_>,
    last: u64,
    nulls: Nulls,
    mut then: impl FnMut(&Block) -> Result<(), Error>,
) -> Result<(), Error> {
    are_ids(column)?;
    let mut block = Block {
        own: None,
        room: None,
        null: [false; BLOCK],
        len: 0,
        has_null: false,
        is_run: false,
        start: 0,
    };
    while block.start < column.len() {
        block.len = (column.len() - block.start).min(BLOCK);
        block.read(column, last, nulls)?;
        then(&block)?;
        block.start += block.len;
    }
    Ok(())
}

/// The bits of validity of a result, while its blocks are made.
pub(crate) struct Validity {
    bits: Option<Memory>,
    nulls: usize,
}

impl Validity {
    /// Makes room for so many rows, if one of them may be null.
    pub(crate) fn new(len: usize, may_be_null: bool) -> Result<Validity, Error> {
        let bits = may_be_null.then(|| Memory::new(len.div_ceil(8))).transpose()?;
        Ok(Validity { bits, nulls: 0 })
    }

    /// Writes the bits of a block of rows from `start` on, a multiple of 8.
    pub(crate) fn write(&mut self, start: usize, null: &[bool]) -> Result<(), Error> {
        let Some(bits) = &mut self.bits else { return Ok(()) };
        let bytes = bits.cleared(start / 8, null.len().div_ceil(8)).ok_or(SHORT)?;
        pack(bytes, null.iter().map(|null| !null));
        self.nulls += null.iter().filter(|null| **null).count();
        Ok(())
    }

    /// Returns the bits, unless no row is null, and the number of rows that are.
    pub(crate) fn finish(self) -> (Option<Memory>, usize) {
        (self.bits.filter(|_| self.nulls > 0), self.nulls)
    }
}

/// The error of a place outside of a column's own memory, which no call reaches: lengths are
/// computed from one number of rows. It is an error and not a panic, because the C library has
/// none.
pub(crate) const SHORT: Error = Error::Malformed("a column changed its length during the call");

/// Sets bits, the lowest of each byte first, as Arrow has them. The bytes are 0.
pub(crate) fn pack(bytes: &mut [u8], bits: impl Iterator<Item = bool>) {
    let mut bits = bits;
    for byte in bytes {
        for (place, bit) in (&mut bits).take(8).enumerate() {
            *byte |= u8::from(bit) << place;
        }
    }
}

/// Sets the values of null rows to 0.
fn clear(block: &Block, width: usize, out: &mut [u8]) {
    if block.has_null {
        let rows = out.chunks_exact_mut(width.max(1)).zip(block.null());
        rows.filter(|(_, null)| **null).for_each(|(row, _)| row.fill(0));
    }
}

/// Writes rows of one fixed width to the caller's bytes, as [`column_of`] does, and hands the rows
/// of blocks in which one is null to `is_null`.
pub(crate) fn rows_to(
    column: &Column<'_>,
    out: &mut [u8],
    width: usize,
    (last, nulls): (u64, Nulls),
    is_null: &mut dyn FnMut(usize, &[bool]),
    mut write: impl FnMut(&Block, &mut [u8]) -> Result<(), Error>,
) -> Result<(), Error> {
    if Some(out.len()) != column.len().checked_mul(width) {
        return Err(Error::Rows { first: column.len(), other: out.len() / width.max(1) });
    }
    blocks(column, last, nulls, |block| {
        let start = block.start * width;
        let out = out.get_mut(start..start + block.ids().len() * width).ok_or(SHORT)?;
        write(block, out)?;
        clear(block, width, out);
        if block.has_null {
            is_null(block.start, block.null());
        }
        Ok(())
    })
}

/// Makes a column of one fixed width a row, block by block. `write` gets the block and its bytes,
/// which are 0, and values under nulls are 0 afterwards.
pub(crate) fn column_of(
    column: &Column<'_>,
    (format, width): (&'static core::ffi::CStr, usize),
    (last, nulls): (u64, Nulls),
    mut write: impl FnMut(&Block, &mut [u8]) -> Result<(), Error>,
) -> Result<Made, Error> {
    let bytes = column.len().checked_mul(width);
    let mut data = Memory::new(bytes.ok_or(Error::Memory { bytes: usize::MAX })?)?;
    let mut validity = Validity::new(column.len(), column.may_be_null())?;
    blocks(column, last, nulls, |block| {
        let len = block.ids().len();
        let out = data.cleared(block.start * width, len * width).ok_or(SHORT)?;
        write(block, out)?;
        clear(block, width, out);
        validity.write(block.start, block.null())
    })?;
    Ok(Made { len: column.len(), format, data, validity: validity.finish() })
}

/// A column's parts, before they become structs of the interface.
pub(crate) struct Made {
    pub(crate) len: usize,
    pub(crate) format: &'static core::ffi::CStr,
    pub(crate) data: Memory,
    pub(crate) validity: (Option<Memory>, usize),
}

impl Made {
    pub(crate) fn output(self) -> Result<Output, Error> {
        Output::new(self, None)
    }
}
