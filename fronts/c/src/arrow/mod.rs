//! Random columns by row id, over the Arrow C data interface.

use crate::edge::{elements, fail, text};
use crate::streams::key::{headwater_key, key_of};
use crate::streams::numbers::errno;
use core::ffi::{CStr, c_char, c_double, c_int};
use headwater_arrow::{
    ArrowArray, ArrowSchema, Column, Error, Nulls, Output, Part, Parts, draw, label, order, sample,
    split,
};
use headwater_streams::kinds::{Dtype, Form, Kind, Value};
use headwater_streams::{Key, Stream};
use libc::{EFAULT, EINVAL, ENOMEM, ERANGE, size_t};

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
        // SAFETY: both are NULL or C strings, as `# Safety` says; `text` refuses NULL, and
        // `optional` takes it for none.
        let (kind, dtype) = unsafe { (text(kind), optional(r#type)) };
        let kind = kind.map_err(Fault::Errno)?;
        let kind = Kind::by_name(kind).ok_or(Fault::Text("no kind has this name"))?;
        let dtype = match dtype.map_err(Fault::Errno)? {
            Some(name) => Dtype::by_name(name).ok_or(Fault::Text("no type has this name"))?,
            None => kind.types().first().map_or(Dtype::F64, |one| one.dtype),
        };
        // SAFETY: NULL or `n` readable numbers, as `# Safety` says; `elements` refuses NULL.
        let given = unsafe { elements(parameters, n) }.ok_or(Fault::Errno(EFAULT))?;
        let mut room = [Value::Flag(false); 8];
        let values = numbers(kind, given, &mut room)?;
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

/// The most columns of a batch.
const FIELDS: usize = 16;

/// The columns of a struct, as Arrow libraries export the rows of a table.
struct Batch<'a> {
    columns: [Column<'a>; FIELDS],
    len: usize,
}

impl Batch<'_> {
    fn columns(&self) -> &[Column<'_>] {
        self.columns.get(..self.len).unwrap_or_default()
    }
}

/// Returns the columns of a struct, or `None` for a column of another type.
///
/// # Safety
///
/// The pointers are NULL or lead to structs of the interface, as [`headwater_arrow_draw`] asks,
/// which live as long as the result.
unsafe fn batch<'a>(
    schema: *const ArrowSchema,
    array: *const ArrowArray,
) -> Result<Option<Batch<'a>>, Fault> {
    const PLAIN: Fault = Fault::Text(
        "a batch has 1 to 16 columns of its own length, and no offset and no nulls of its own",
    );
    // SAFETY: NULL or structs, as `# Safety` says, and `as_ref` refuses NULL.
    let (Some(schema), Some(array)) = (unsafe { (schema.as_ref(), array.as_ref()) }) else {
        return Err(Fault::Errno(EFAULT));
    };
    // SAFETY: a format that is not NULL is a C string, as the interface says.
    if schema.format.is_null() || unsafe { CStr::from_ptr(schema.format) } != c"+s" {
        return Ok(None);
    }
    let len = usize::try_from(array.n_children).unwrap_or(0);
    // SAFETY: lists of `n_children` pointers, or NULL, as the interface says. That of the schema
    // has as many, because the numbers are compared before.
    let children = unsafe {
        let same = schema.n_children == array.n_children && (1..=FIELDS).contains(&len);
        let len = if same { len } else { 0 };
        (elements(schema.children, len), elements(array.children, len))
    };
    let (Some(schemas), Some(arrays)) = children else { return Err(PLAIN) };
    // SAFETY: a struct has one buffer, the bits of validity, or NULL if no row is null.
    let valid = unsafe { elements(array.buffers, usize::from(array.n_buffers == 1)) };
    let has_nulls = valid.and_then(<[_]>::first).is_none_or(|bits| !bits.is_null());
    if array.offset != 0 || (array.null_count != 0 && has_nulls) {
        return Err(PLAIN);
    }
    let mut made: Option<Batch<'a>> = None;
    for (place, (&schema, &array_of)) in schemas.iter().zip(arrays).enumerate() {
        // SAFETY: children are structs of the interface that live as long as their parents.
        let (Some(schema), Some(child)) = (unsafe { (schema.as_ref(), array_of.as_ref()) }) else {
            return Err(PLAIN);
        };
        if child.length != array.length {
            return Err(PLAIN);
        }
        // SAFETY: as above.
        let column = unsafe { Column::new(schema, child) }?;
        let batch = made.get_or_insert(Batch { columns: [column; FIELDS], len });
        if let Some(to) = batch.columns.get_mut(place) {
            *to = column;
        }
    }
    made.map(Some).ok_or(PLAIN)
}

/// The reason why a call makes no column.
enum Fault {
    Arrow(Error),
    Errno(c_int),
    Text(&'static str),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Fault {
        Fault::Arrow(error)
    }
}

impl From<headwater_streams::Error> for Fault {
    fn from(error: headwater_streams::Error) -> Fault {
        Fault::Arrow(Error::Stream(error))
    }
}

impl Fault {
    fn errno(&self) -> c_int {
        match self {
            Fault::Arrow(Error::Negative { .. } | Error::TooLarge { .. }) => ERANGE,
            Fault::Arrow(Error::Memory { .. }) => ENOMEM,
            Fault::Arrow(Error::Stream(error)) => errno(error),
            Fault::Arrow(_) | Fault::Text(_) => EINVAL,
            Fault::Errno(errno) => *errno,
        }
    }

    fn spell(&self, write: &mut dyn FnMut(Part<'_>)) {
        match self {
            Fault::Arrow(Error::Stream(headwater_streams::Error::Parameter { name, need })) => {
                [*name, " must be ", *need].into_iter().for_each(|text| write(Part::Text(text)));
            }
            Fault::Arrow(Error::Stream(_)) => {
                write(Part::Text("the kind has no such type, parameters or elements"));
            }
            Fault::Arrow(error) => error.spell(write),
            Fault::Text(text) => write(Part::Text(text)),
            Fault::Errno(EFAULT) => write(Part::Text("a pointer is NULL")),
            Fault::Errno(_) => write(Part::Text("a text is not UTF-8, or the engine is unknown")),
        }
    }
}

/// Returns a purpose's stream.
fn purpose(key: &Key, purpose: &str, name: Option<&str>) -> Result<Stream, Fault> {
    Ok(label::purpose(key, purpose, name).stream(0)?)
}

/// Returns a text, or `None` for NULL, or an errno.
///
/// # Safety
///
/// `at` is NULL or a C string.
unsafe fn optional<'a>(at: *const c_char) -> Result<Option<&'a str>, c_int> {
    if at.is_null() {
        return Ok(None);
    }
    // SAFETY: a C string, as `# Safety` says.
    unsafe { text(at) }.map(Some)
}

/// Reads the parameters of a kind from numbers.
fn numbers<'a, 'v>(
    kind: Kind,
    given: &[f64],
    room: &'a mut [Value<'v>; 8],
) -> Result<&'a [Value<'v>], Fault> {
    let parameters = kind.parameters();
    if given.len() != parameters.len() || given.len() > room.len() {
        return Err(Fault::Text("the kind has another number of parameters"));
    }
    for ((place, parameter), &number) in room.iter_mut().zip(parameters).zip(given) {
        // A cast saturates, and a number that it changes is no whole number of its range.
        let wrong = Fault::Text("a parameter that counts is no whole number below 2^63");
        *place = match parameter.form {
            Form::Real => Value::Real(number),
            Form::Flag => Value::Flag(number != 0.0),
            Form::Count | Form::Integer => {
                let whole = number as i64;
                if whole as f64 != number || whole == i64::MAX {
                    return Err(wrong);
                }
                match (parameter.form, u64::try_from(whole)) {
                    (Form::Count, Ok(count)) => Value::Count(count),
                    (Form::Count, Err(_)) => return Err(wrong),
                    _ => Value::Integer(whole.into()),
                }
            }
            _ => {
                return Err(Fault::Text("the kind has a list as parameter: it has no column in C"));
            }
        };
    }
    room.get(..given.len()).ok_or(Fault::Errno(EINVAL))
}

/// Has `make` make a column by a key and a name.
///
/// # Safety
///
/// The pointers are as [`headwater_arrow_draw`] asks.
unsafe fn column_by(
    (key, name, flags): (*const headwater_key, *const c_char, u32),
    ids: (*const ArrowSchema, *const ArrowArray),
    out: (*mut ArrowSchema, *mut ArrowArray, *mut c_char),
    make: impl FnOnce(Key, Option<&str>, &Column<'_>, Nulls) -> Result<Output, Fault>,
) -> c_int {
    // SAFETY: `# Safety` says so of all of them. `key_of` refuses NULL, and `optional` takes it.
    unsafe {
        let (key, label) = (key_of(key), optional(name));
        let called = label.ok().flatten().unwrap_or("");
        made(flags, ids, out, called, |column, nulls| {
            let (_, key) = key.map_err(Fault::Errno)?;
            make(key, label.map_err(Fault::Errno)?, column, nulls)
        })
    }
}

/// Has `make` make a column, and writes its structs, or empty ones and the message.
///
/// # Safety
///
/// The pointers are as [`headwater_arrow_draw`] asks.
unsafe fn made(
    flags: u32,
    (schema, array): (*const ArrowSchema, *const ArrowArray),
    (out_schema, out, message): (*mut ArrowSchema, *mut ArrowArray, *mut c_char),
    name: &str,
    make: impl FnOnce(&Column<'_>, Nulls) -> Result<Output, Fault>,
) -> c_int {
    if out_schema.is_null() || out.is_null() {
        return fail(EFAULT);
    }
    let nulls = match flags {
        0 => Ok(Nulls::Kept),
        HEADWATER_ARROW_REFUSE_NULLS => Ok(Nulls::Refused),
        _ => Err(Fault::Text("no flag but HEADWATER_ARROW_REFUSE_NULLS exists")),
    };
    // SAFETY: NULL or structs of the interface, as `# Safety` says, and `as_ref` refuses NULL. A
    // column borrows them until the end of this function, before which nothing changes them: the
    // results are written last, so that they may have the place of the input's struct.
    let result = unsafe { (schema.as_ref(), array.as_ref()) };
    let result = (|| {
        let (Some(schema), Some(array)) = result else { return Err(Fault::Errno(EFAULT)) };
        // SAFETY: as above.
        let column = unsafe { Column::new(schema, array) }?;
        let output = make(&column, nulls?)?;
        let schema = output.schema(name)?;
        match output.array() {
            Ok(array) => Ok((schema, array)),
            Err(error) => {
                let mut schema = schema;
                if let Some(release) = schema.release {
                    // SAFETY: the struct was made just now, and was not released.
                    unsafe { release(&mut schema) };
                }
                Err(error.into())
            }
        }
    })();
    let (fault, (schema, array)) = match result {
        Ok(made) => (None, made),
        Err(fault) => (Some(fault), (ArrowSchema::empty(), ArrowArray::empty())),
    };
    // SAFETY: neither is null, as was checked, so both are valid for writes, as `# Safety` says. No
    // reference is made, so what lay there before may be unwritten.
    unsafe {
        out_schema.write(schema);
        out.write(array);
    }
    let Some(fault) = fault else { return 0 };
    // SAFETY: NULL or valid for writes of so many bytes, as `# Safety` says.
    unsafe { tell(&fault, message) };
    fail(fault.errno())
}

/// Writes the sentence, cut off where the room ends.
///
/// # Safety
///
/// `message` is NULL or valid for writes of HEADWATER_ARROW_MESSAGE bytes.
unsafe fn tell(fault: &Fault, message: *mut c_char) {
    if message.is_null() {
        return;
    }
    let mut at = 0;
    let mut write = |letters: &[u8]| {
        for &letter in letters.iter().take(HEADWATER_ARROW_MESSAGE - 1 - at) {
            // SAFETY: not null, and `at` stays below the room less one, because `take` ends there.
            unsafe { message.add(at).write(letter as c_char) };
            at += 1;
        }
        // SAFETY: `at` is below the room.
        unsafe { message.add(at).write(0) };
    };
    write(b"");
    fault.spell(&mut |part| match part {
        Part::Text(text) => write(text.as_bytes()),
        Part::Number(number) => {
            if number < 0 {
                write(b"-");
            }
            let digits = decimal(number.unsigned_abs());
            let first = digits.iter().position(|&digit| digit != b'0').unwrap_or(38);
            write(digits.get(first..).unwrap_or_default());
        }
        Part::Stream(_) => {}
    });
}

/// Returns the 39 decimal digits of a number, by pieces of 32 bits: a division of 128 bits is a
/// function of the compiler's library, whose code can unwind, and then this library does not link.
fn decimal(number: u128) -> [u8; 39] {
    let mut pieces = [96, 64, 32, 0].map(|place| (number >> place) as u32);
    let mut digits = [b'0'; 39];
    for digit in digits.iter_mut().rev() {
        let mut rest = 0;
        for piece in &mut pieces {
            let dividend = rest << 32 | u64::from(*piece);
            (*piece, rest) = ((dividend / 10) as u32, dividend % 10);
        }
        *digit += rest as u8;
    }
    digits
}
