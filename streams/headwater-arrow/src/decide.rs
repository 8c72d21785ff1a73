//! Decisions: which rows are in a sample, in which part a row is, and in which order rows come.
//!
//! Each takes the row's word of 64 bits and compares it. So a sample takes a bit a row and a part a
//! byte, where a program that compares a column of uniform numbers makes 8 bytes a row first.

use crate::memory::Memory;
use crate::rows::{
    BLOCK, Block, Made, Nulls, SHORT, Validity, are_ids, blocks, column_of, pack, rows_to,
};
use crate::{Column, Error, Output};
use headwater_streams::Stream;
use headwater_streams::kinds::Elements;

/// The last id that has a word.
const LAST: u64 = u64::MAX - 1;
/// The parts that a byte can count.
const MOST: usize = 256;

/// Returns the words of a block's rows, written to `room`.
fn words<'a>(
    stream: &Stream,
    block: &Block,
    room: &'a mut [u64; BLOCK],
) -> Result<&'a [u64], Error> {
    let out = room.get_mut(..block.ids().len()).ok_or(SHORT)?;
    match block.elements() {
        Elements::At(ids) => stream.u64_at(ids, out)?,
        _ => stream.fill_u64(block.ids().first().copied().unwrap_or(0), out)?,
    }
    Ok(out)
}

/// Returns the smallest whole number from `share` * 2^64 on. The share is below 1, so the product
/// is exact and fits.
fn threshold(share: f64) -> u64 {
    let scaled = share * 18_446_744_073_709_551_616.0;
    let whole = scaled as u64;
    if (whole as f64) < scaled { whole + 1 } else { whole }
}

/// Returns the word below which rows are in a sample, or `None` if all are: 2^64 is no `u64`, and
/// all words are below it.
fn bound(p: f64) -> Result<Option<u64>, Error> {
    if !(0.0..=1.0).contains(&p) {
        return Err(Error::Parameter { name: "p", need: "a number from 0 to 1" });
    }
    Ok((p < 1.0).then(|| threshold(p)))
}

/// Returns true in each row with the probability `p`: if its word is below `p` * 2^64. A row that
/// is true for one `p` is so for every larger one.
///
/// # Errors
///
/// [`Error::Parameter`] unless `p` is from 0 to 1, and the errors of [`draw`](crate::draw()).
pub fn sample(ids: &Column<'_>, stream: &Stream, p: f64, nulls: Nulls) -> Result<Output, Error> {
    let below = bound(p)?;
    are_ids(ids)?;
    let mut data = Memory::new(ids.len().div_ceil(8))?;
    let mut validity = Validity::new(ids.len(), ids.may_be_null())?;
    let mut room = [0; BLOCK];
    blocks(ids, LAST, nulls, |block| {
        let words = words(stream, block, &mut room)?;
        let out = data.cleared(block.start / 8, words.len().div_ceil(8)).ok_or(SHORT)?;
        let is_in = |word: u64| below.is_none_or(|below| word < below);
        match block.has_null {
            false => pack(out, words.iter().map(|&word| is_in(word))),
            true => pack(out, words.iter().zip(block.null()).map(|(&w, null)| is_in(w) && !null)),
        }
        validity.write(block.start, block.null())
    })?;
    Made { len: ids.len(), format: c"b", data, validity: validity.finish() }.output()
}

/// The parts of a split.
#[derive(Clone, Copy, Debug)]
pub enum Parts<'a> {
    /// So many parts, from 1 to 256, each as likely as any other.
    Equal(u64),
    /// Parts of these probabilities, which add up to 1.
    Shares(&'a [f64]),
}

/// Returns in each row the number of its part, from 0, as a byte.
///
/// A row's part depends on its word alone: it stays when rows are added, and if only a border
/// between two parts moves, then only rows of these two change their part.
///
/// # Errors
///
/// [`Error::Parameter`] unless there are 1 to 256 parts whose shares are from 0 and add up to 1 (to
/// 1e-9), and the errors of [`draw`](crate::draw()).
pub fn split(
    ids: &Column<'_>,
    stream: &Stream,
    parts: Parts<'_>,
    nulls: Nulls,
) -> Result<Output, Error> {
    let mut borders = [0; MOST];
    let parts = Checked::new(parts, &mut borders)?;
    let mut room = [0; BLOCK];
    column_of(ids, (c"C", 1), (LAST, nulls), |block, out| {
        parts.write(words(stream, block, &mut room)?, out);
        Ok(())
    })?
    .output()
}

/// Parts that were checked: so many equal ones, or the borders between them.
enum Checked<'a> {
    Equal(u64),
    Borders(&'a [u64]),
}

impl<'a> Checked<'a> {
    fn new(parts: Parts<'_>, borders: &'a mut [u64; MOST]) -> Result<Checked<'a>, Error> {
        match parts {
            Parts::Equal(n @ 1..=256) => Ok(Checked::Equal(n)),
            Parts::Equal(_) => {
                Err(Error::Parameter { name: "parts", need: "from 1 to 256 of them" })
            }
            Parts::Shares(shares) => Ok(Checked::Borders(borders_of(shares, borders)?)),
        }
    }

    /// Writes the part of each word.
    fn write(&self, words: &[u64], out: &mut [u8]) {
        for (out, &word) in out.iter_mut().zip(words) {
            *out = match self {
                Checked::Equal(n) => ((u128::from(word) * u128::from(*n)) >> 64) as u8,
                Checked::Borders(borders) => {
                    borders.iter().map(|border| u8::from(word >= *border)).sum()
                }
            };
        }
    }
}

/// Writes the border after each part but the last, which has what is left.
fn borders_of<'a>(shares: &[f64], borders: &'a mut [u64; MOST]) -> Result<&'a [u64], Error> {
    let wrong = Error::Parameter {
        name: "parts",
        need: "a number from 1 to 256, or as many shares from 0 that add up to 1",
    };
    let sum: f64 = shares.iter().sum();
    let in_range = shares.iter().all(|share| (0.0..=1.0).contains(share));
    if shares.is_empty() || shares.len() > MOST || !in_range || (sum - 1.0).abs() > 1e-9 {
        return Err(wrong);
    }
    let (mut end, mut count) = (0.0, 0);
    for (border, share) in borders.iter_mut().zip(shares).take(shares.len() - 1) {
        end += share;
        // The sum of all but the last may round to 1 or above, where no word is.
        *border = if end < 1.0 { threshold(end) } else { u64::MAX };
        count += 1;
    }
    Ok(borders.get(..count).unwrap_or_default())
}

/// Returns a word of 64 bits in each row. Rows sorted by it, and by their ids where two are equal,
/// are a shuffle that is the same for any partition; the first k are a sample of exactly k rows.
///
/// # Errors
///
/// The errors of [`draw`](crate::draw()).
pub fn order(ids: &Column<'_>, stream: &Stream, nulls: Nulls) -> Result<Output, Error> {
    let mut room = [0; BLOCK];
    column_of(ids, (c"L", 8), (LAST, nulls), |block, out| {
        spread(words(stream, block, &mut room)?, out);
        Ok(())
    })?
    .output()
}

/// Writes words as bytes.
fn spread(words: &[u64], out: &mut [u8]) {
    for (out, word) in out.as_chunks_mut::<8>().0.iter_mut().zip(words) {
        *out = word.to_ne_bytes();
    }
}

/// Writes the column of [`sample`] to the caller's memory, a byte of 0 or 1 in each row, and hands
/// the rows of blocks in which one is null to `is_null`, by the number of the first.
///
/// # Errors
///
/// The errors of [`sample`], and [`Error::Rows`] unless `out` has a place for each row.
pub fn sample_to(
    ids: &Column<'_>,
    stream: &Stream,
    p: f64,
    nulls: Nulls,
    out: &mut [u8],
    is_null: &mut dyn FnMut(usize, &[bool]),
) -> Result<(), Error> {
    let below = bound(p)?;
    let mut room = [0; BLOCK];
    rows_to(ids, out, 1, (LAST, nulls), is_null, |block, out| {
        for (out, &word) in out.iter_mut().zip(words(stream, block, &mut room)?) {
            *out = u8::from(below.is_none_or(|below| word < below));
        }
        Ok(())
    })
}

/// Writes the column of [`split`] to the caller's memory, as [`sample_to`] does.
///
/// # Errors
///
/// The errors of [`split`], and [`Error::Rows`] unless `out` has a byte for each row.
pub fn split_to(
    ids: &Column<'_>,
    stream: &Stream,
    parts: Parts<'_>,
    nulls: Nulls,
    out: &mut [u8],
    is_null: &mut dyn FnMut(usize, &[bool]),
) -> Result<(), Error> {
    let mut borders = [0; MOST];
    let parts = Checked::new(parts, &mut borders)?;
    let mut room = [0; BLOCK];
    rows_to(ids, out, 1, (LAST, nulls), is_null, |block, out| {
        parts.write(words(stream, block, &mut room)?, out);
        Ok(())
    })
}

/// Writes the column of [`order`] to the caller's memory, as [`sample_to`] does: 8 bytes a row.
///
/// # Errors
///
/// The errors of [`order`], and [`Error::Rows`] unless `out` has 8 bytes for each row.
pub fn order_to(
    ids: &Column<'_>,
    stream: &Stream,
    nulls: Nulls,
    out: &mut [u8],
    is_null: &mut dyn FnMut(usize, &[bool]),
) -> Result<(), Error> {
    let mut room = [0; BLOCK];
    rows_to(ids, out, 8, (LAST, nulls), is_null, |block, out| {
        spread(words(stream, block, &mut room)?, out);
        Ok(())
    })
}
