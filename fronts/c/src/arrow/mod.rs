//! Random columns by row id, over the Arrow C data interface.

mod batch;
mod call;
mod fault;
mod parameters;

use crate::edge::elements;
use crate::streams::key::headwater_key;
use batch::batch;
use call::{column_by, made};
use core::ffi::{c_char, c_double, c_int};
use fault::Fault;
use headwater_arrow::{
    ArrowArray, ArrowSchema, By, Column, Parts, draw, draw_by_row, label, order, sample, split,
};
use headwater_streams::kinds::Value;
use headwater_streams::{Key, Stream};
use libc::{EFAULT, EINVAL, size_t};
use parameters::{Given, MOST, kind_of, numbers};

/// A flag of headwater_arrow_...(): an id that is null is an error that names its row. Otherwise
/// its row of the result is null.
pub const HEADWATER_ARROW_REFUSE_NULLS: u32 = 1;

/// Bytes that a message of headwater_arrow_...() takes, with its end.
pub const HEADWATER_ARROW_MESSAGE: usize = 256;

/// Makes a column of numbers of a kind: in each row the element of stream 0 whose index is the
/// row's id. So a row has one number, whatever the batches, threads and order in which an engine
/// passes it. Not for secrets.
///
/// `ids` is a column of integers of 8 to 64 bits, also by a dictionary, or of decimals without
/// digits after the point. `name` is the column's name and label: its stream belongs to the child
/// of the key with this text as label. If `name` is NULL, it belongs to the child that has the name
/// of the kind in Python as bytes for its label, such as "standard_normal" or "gamma".
///
/// `kind` is a name of docs/distributions.md, such as "normal", whose parameters are numbers, of
/// which `parameters` has all, in the order of that table. `type` is "float64" and the like, or
/// NULL for the kind's first one. Kinds of vectors make lists of one length.
///
/// Returns 0, or -1 with errno set, both results empty and a sentence in `message`, unless that is
/// NULL:
///
///     EINVAL  a column, kind, type, parameter or flag is wrong; the key's engine is unknown
///     ERANGE  an id is negative or past the end of the stream
///     EFAULT  a pointer that must not be NULL is
///     ENOMEM  there is no memory for the column
///
/// The caller keeps `schema` and `ids`, and releases the results. Not async-signal-safe, because it
/// calls malloc(3). Takes up to 64 KiB of stack.
///
/// # Safety
///
/// `schema` and `ids` are NULL or what the Arrow C data interface says, and nothing changes them
/// meanwhile. `key` is NULL or valid for reads, `parameters` NULL or valid for reads of `n`
/// numbers, `out_schema` and `out` NULL or valid for writes, `message` NULL or valid for writes of
/// HEADWATER_ARROW_MESSAGE bytes; `kind`, `type` and `name` are NULL or C strings.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_arrow_draw(
    key: *const headwater_key,
    name: *const c_char,
    kind: *const c_char,
    r#type: *const c_char,
    parameters: *const c_double,
    n: size_t,
    flags: u32,
    schema: *const ArrowSchema,
    ids: *const ArrowArray,
    out_schema: *mut ArrowSchema,
    out: *mut ArrowArray,
    message: *mut c_char,
) -> c_int {
    let make = |key: Key, name: Option<&str>, column: &Column<'_>, nulls| {
        // SAFETY: NULL or C strings, as `# Safety` says.
        let (kind, dtype) = unsafe { kind_of(kind, r#type) }?;
        let mut room = [Value::Flag(false); MOST];
        // SAFETY: NULL or `n` readable numbers, as `# Safety` says.
        let values = unsafe { numbers(kind, (parameters, n), &mut room) }?;
        let stream = label::drawn(&key, kind, name).stream(0)?;
        let mut made = Err(Fault::Errno(EINVAL));
        kind.with(values, &mut |kind| {
            made = draw(column, &stream, kind, dtype, nulls).map_err(Fault::Arrow);
        })?;
        made
    };
    // SAFETY: `# Safety` says of the pointers what `column_by` asks.
    unsafe { column_by((key, name, flags), (schema, ids), (out_schema, out, message), make) }
}

/// Makes a column of numbers of a kind as headwater_arrow_draw() does, with parameters that may
/// differ from row to row. A row's number equals the one that headwater_arrow_draw() makes of its
/// id and of its parameters.
///
/// `schemas` and `columns` have a pointer for each of the `n` parameters: to a column with as many
/// rows as `ids`, of integers, booleans, decimals without digits after the point, or, where the
/// parameter does not count, floats of 32 or 64 bits. Or both are NULL, and all rows have the
/// number that `parameters` has at this place; no other number is read there, and `parameters` may
/// be NULL if all are columns. The ends of "integers" and the length of "permutation" are no
/// columns. A row with a null parameter is null, or an error if `flags` refuses nulls. Rows with
/// equal parameters that follow each other are drawn at once.
///
/// Kinds of vectors and complex numbers are EINVAL. Other arguments and errors are those of
/// headwater_arrow_draw(); that of a value in a column names its row, and the value if it counts.
/// Without a row, a number beside a column is not looked at.
///
/// # Safety
///
/// The promise of [`headwater_arrow_draw`], where `parameters` needs no number in the places of
/// columns. `schemas` and `columns` are NULL or valid for reads of `n` pointers, each of which is
/// NULL or leads to a struct as `schema` and `ids` do.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_arrow_draw_by_row(
    key: *const headwater_key,
    name: *const c_char,
    kind: *const c_char,
    r#type: *const c_char,
    parameters: *const c_double,
    schemas: *const *const ArrowSchema,
    columns: *const *const ArrowArray,
    n: size_t,
    flags: u32,
    schema: *const ArrowSchema,
    ids: *const ArrowArray,
    out_schema: *mut ArrowSchema,
    out: *mut ArrowArray,
    message: *mut c_char,
) -> c_int {
    let make = |key: Key, name: Option<&str>, column: &Column<'_>, nulls| {
        // SAFETY: NULL or C strings, as `# Safety` says.
        let (kind, dtype) = unsafe { kind_of(kind, r#type) }?;
        let given = Given { numbers: parameters, schemas, columns, n };
        let mut columns = [const { None }; MOST];
        let mut room = [By::Value(Value::Flag(false)); MOST];
        // SAFETY: NULL, or lists of `n` that are as the two functions ask, as `# Safety` says.
        let by = unsafe {
            given.read(kind, &mut columns)?;
            given.by(kind, &columns, &mut room)?
        };
        let stream = label::drawn(&key, kind, name).stream(0)?;
        Ok(draw_by_row(column, &stream, (kind, dtype), by, nulls)?)
    };
    // SAFETY: `# Safety` says of the pointers what `column_by` asks.
    unsafe { column_by((key, name, flags), (schema, ids), (out_schema, out, message), make) }
}

/// Makes a column of bits: true in each row with the probability `p`. A row that is true for one
/// `p` is so for every larger one. The stream belongs to a child of the key of its own, and if
/// `name` is not NULL, to the child of that with this label. Other arguments and errors are those
/// of headwater_arrow_draw().
///
/// # Safety
///
/// The promise of [`headwater_arrow_draw`].
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_arrow_sample(
    key: *const headwater_key,
    name: *const c_char,
    p: c_double,
    flags: u32,
    schema: *const ArrowSchema,
    ids: *const ArrowArray,
    out_schema: *mut ArrowSchema,
    out: *mut ArrowArray,
    message: *mut c_char,
) -> c_int {
    let make = |key: Key, name: Option<&str>, column: &Column<'_>, nulls| {
        Ok(sample(column, &purpose(&key, "sample", name)?, p, nulls)?)
    };
    // SAFETY: `# Safety` says of the pointers what `column_by` asks.
    unsafe { column_by((key, name, flags), (schema, ids), (out_schema, out, message), make) }
}

/// Makes a column of bytes: the number of each row's part, from 0, of `parts` parts (1 to 256).
/// `shares` has their probabilities, which add up to 1, or is NULL for equal parts. A row keeps its
/// part when rows are added. Other arguments and errors are those of headwater_arrow_sample().
///
/// # Safety
///
/// The promise of [`headwater_arrow_draw`], and `shares` is NULL or valid for reads of `parts`
/// numbers.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_arrow_split(
    key: *const headwater_key,
    name: *const c_char,
    shares: *const c_double,
    parts: size_t,
    flags: u32,
    schema: *const ArrowSchema,
    ids: *const ArrowArray,
    out_schema: *mut ArrowSchema,
    out: *mut ArrowArray,
    message: *mut c_char,
) -> c_int {
    let make = |key: Key, name: Option<&str>, column: &Column<'_>, nulls| {
        let parts = match shares.is_null() {
            true => Parts::Equal(parts as u64),
            // SAFETY: not null, and so `parts` readable numbers, as `# Safety` says.
            false => Parts::Shares(unsafe { elements(shares, parts) }.ok_or(Fault::Errno(EFAULT))?),
        };
        Ok(split(column, &purpose(&key, "split", name)?, parts, nulls)?)
    };
    // SAFETY: `# Safety` says of the pointers what `column_by` asks.
    unsafe { column_by((key, name, flags), (schema, ids), (out_schema, out, message), make) }
}

/// Makes a column of words of 64 bits to sort by: rows sorted by the word, and by their id where
/// two are equal, are a shuffle, and the first k of them a sample of exactly k rows. Arguments and
/// errors are those of headwater_arrow_sample().
///
/// # Safety
///
/// The promise of [`headwater_arrow_draw`].
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_arrow_order(
    key: *const headwater_key,
    name: *const c_char,
    flags: u32,
    schema: *const ArrowSchema,
    ids: *const ArrowArray,
    out_schema: *mut ArrowSchema,
    out: *mut ArrowArray,
    message: *mut c_char,
) -> c_int {
    let make = |key: Key, name: Option<&str>, column: &Column<'_>, nulls| {
        Ok(order(column, &purpose(&key, "order", name)?, nulls)?)
    };
    // SAFETY: `# Safety` says of the pointers what `column_by` asks.
    unsafe { column_by((key, name, flags), (schema, ids), (out_schema, out, message), make) }
}

/// Makes a column of ids, from 0 to 2^63 - 1, of a column of text, binary values, integers,
/// booleans, dates or timestamps, or of a batch (a struct) of up to 16 such columns: half of what
/// Spark's xxhash64() returns for the values as `bigint`, `string` and so on. Nulls are left out,
/// and a row of nulls is null. Two rows of n share an id with a chance of n^2 / 2^64. The arguments
/// and errors are those of headwater_arrow_sample().
///
/// The struct has no nulls and no offset of its own, and columns of its own length: make a batch of
/// the columns' slices, and no slice of a struct.
///
/// # Safety
///
/// The promise of [`headwater_arrow_draw`].
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_arrow_key_of(
    flags: u32,
    schema: *const ArrowSchema,
    values: *const ArrowArray,
    out_schema: *mut ArrowSchema,
    out: *mut ArrowArray,
    message: *mut c_char,
) -> c_int {
    // SAFETY: `# Safety` says of the pointers what `made` asks.
    unsafe {
        made(flags, (schema, values), (out_schema, out, message), "key", |column, nulls| {
            Ok(match batch(schema, values)? {
                Some(batch) => headwater_arrow::key_of(batch.columns(), nulls)?,
                None => headwater_arrow::key_of(core::slice::from_ref(column), nulls)?,
            })
        })
    }
}

/// Returns a purpose's stream.
fn purpose(key: &Key, purpose: &str, name: Option<&str>) -> Result<Stream, Fault> {
    Ok(label::purpose(key, purpose, name).stream(0)?)
}
