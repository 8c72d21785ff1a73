//! Ids for rows that have none: a hash of their values.

use crate::column::{Column, Flat};
use crate::format::Type;
use crate::memory::Memory;
use crate::rows::{BLOCK, Made, Nulls, SHORT, Validity};
use crate::xxh64::{of_u64, xxh64};
use crate::{Error, Output};

/// The seed of Spark's `xxhash64`.
const SEED: u64 = 42;

/// Returns in each row an id from 0 to 2^63 - 1, made of the row's values in all columns.
///
/// The hash starts as 42; each column's value that is not null replaces it by the
/// [`xxh64`](crate::xxh64()) of its bytes with the hash as seed; the id is half of the last one.
/// Two rows of n share an id with a chance of about n^2 / 2^64: one in 700,000 for five million
/// rows, and of 10^10 rows about five pairs do. Not for values that an adversary chooses, who can
/// find such pairs.
///
/// | value | its bytes |
/// | --- | --- |
/// | text | UTF-8, as it is; nothing is normalised |
/// | binary | as it is |
/// | integer of any width, decimal with scale 0 | 8 bytes, two's complement, the lowest first |
/// | boolean | 4 bytes of 0 or 1 |
/// | date | 4 bytes of the days since 1970 |
/// | timestamp | 8 bytes of the microseconds since 1970 |
///
/// So `xxhash64(...)` in Spark is the same before it is halved, if integers are cast to `bigint`.
/// A row is null if all of its values are.
///
/// # Errors
///
/// [`Error::NoKey`] for other types, such as floats, in which one number has several forms;
/// [`Error::Rows`] for columns of different lengths; [`Error::Inexact`] for a value that its form
/// cannot hold, such as a timestamp of nanoseconds that are no whole microsecond; [`Error::Null`]
/// if asked for.
pub fn key_of(columns: &[Column<'_>], nulls: Nulls) -> Result<Output, Error> {
    let Some(first) = columns.first() else {
        return Err(Error::Parameter { name: "columns", need: "one or more" });
    };
    let len = first.len();
    for column in columns {
        if column.len() != len {
            return Err(Error::Rows { first: len, other: column.len() });
        }
        let kind = column.dictionary.as_ref().map_or(column.rows.kind, |values| values.kind);
        if matches!(kind, Type::Other | Type::Float { .. })
            || matches!(kind, Type::Decimal { scale, .. } if scale != 0)
        {
            return Err(Error::NoKey(column.name));
        }
    }
    let bytes = len.checked_mul(8).ok_or(Error::Memory { bytes: usize::MAX })?;
    let mut data = Memory::new(bytes)?;
    let mut validity = Validity::new(len, columns.iter().all(Column::may_be_null))?;
    let mut start = 0;
    let mut null = [false; BLOCK];
    while start < len {
        let rows = (len - start).min(BLOCK);
        let null = null.get_mut(..rows).ok_or(SHORT)?;
        null.fill(true);
        let mut hashes = [SEED; BLOCK];
        for column in columns {
            for (i, (hash, null)) in hashes.iter_mut().zip(null.iter_mut()).enumerate() {
                if let Some((values, place)) = column.value(start + i)? {
                    *null = false;
                    *hash = hash_of(values, place, start + i, *hash)?;
                }
            }
        }
        let out = data.cleared(start * 8, rows * 8).ok_or(SHORT)?;
        for ((out, hash), null) in out.as_chunks_mut::<8>().0.iter_mut().zip(hashes).zip(&*null) {
            *out = if *null { [0; 8] } else { (hash >> 1).to_ne_bytes() };
        }
        if nulls == Nulls::Refused
            && let Some(place) = null.iter().position(|null| *null)
        {
            return Err(Error::Null { row: start + place });
        }
        validity.write(start, null)?;
        start += rows;
    }
    Made { len, format: c"l", data, validity: validity.finish() }.output()
}

/// Microseconds of a second.
const MICROS: i64 = 1_000_000;

/// Returns the hash of a value with a seed. `row` is its row for the error.
fn hash_of(values: &Flat<'_>, place: usize, row: usize, seed: u64) -> Result<u64, Error> {
    let inexact = |need| Error::Inexact { row, need };
    let integer = |value: i128, need: &'static str| {
        let fits = i64::try_from(value).map(|value| value as u64);
        fits.or_else(|_| u64::try_from(value)).map_err(|_| inexact(need))
    };
    // Dates and times have at most 64 bits. So are their divisions: those of 128 bits are functions
    // of the compiler's library, whose code can unwind, and then the C library does not link.
    let short = |place| i64::try_from(values.integer(place)).unwrap_or(0);
    let days = |value: i64| match i32::try_from(value) {
        Ok(days) => Ok(xxh64(&days.to_le_bytes(), seed)),
        Err(_) => Err(inexact("a date whose days fit 32 bits")),
    };
    match values.kind {
        Type::Bytes { .. } | Type::Views | Type::Fixed { .. } => {
            Ok(xxh64(values.bytes(place)?, seed))
        }
        Type::Integer { .. } | Type::Decimal { .. } => {
            Ok(of_u64(integer(values.integer(place), "an integer of 64 bits")?, seed))
        }
        Type::Bool => Ok(xxh64(&u32::from(values.bit(place)).to_le_bytes(), seed)),
        Type::Days => days(short(place)),
        Type::DayMillis => {
            let millis = short(place);
            match millis.rem_euclid(86_400_000) {
                0 => days(millis.div_euclid(86_400_000)),
                _ => Err(inexact("a whole day: cast the column to timestamps")),
            }
        }
        Type::Timestamp { per_second } => {
            let (value, unit) = (short(place), i64::from(per_second).max(1));
            let micros = if unit > MICROS {
                let of_one = unit / MICROS;
                if value.rem_euclid(of_one) != 0 {
                    let need = "a whole number of microseconds: cast the column to microseconds";
                    return Err(inexact(need));
                }
                Some(value.div_euclid(of_one))
            } else {
                value.checked_mul(MICROS / unit)
            };
            let need = "a time whose microseconds fit 64 bits";
            Ok(of_u64(micros.ok_or(inexact(need))? as u64, seed))
        }
        Type::Null | Type::Float { .. } | Type::Other => Ok(seed),
    }
}
