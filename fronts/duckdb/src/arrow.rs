//! Arguments as columns of the Arrow C data interface, which the kernel takes.
//!
//! Numbers, dates, times and bits of validity have the same form in both, so they are borrowed.
//! Texts, booleans and ENUMs are copied in Arrow's form.

use crate::abi::id;
use crate::constant::{Numbers, stored, wide};
use crate::vector::{Data, Nulls, Vector};
use core::ffi::{CStr, c_void};
use core::ptr;
use headwater_arrow::{ArrowArray, ArrowSchema, Column, Error};
use headwater_streams::kinds::Form;
use std::collections::HashMap;

/// An argument in the structs of the interface.
pub(crate) struct Arrow<'a> {
    format: &'static CStr,
    rows: usize,
    validity: Option<&'a [u64]>,
    values: Values<'a>,
    schema: ArrowSchema,
    array: ArrowArray,
    buffers: [*const c_void; 3],
}

/// The values of a column.
enum Values<'a> {
    Borrowed(Data<'a>),
    /// Bits of booleans, the lowest of each byte first.
    Bits(Vec<u8>),
    Words(Vec<u64>),
    Reals(Vec<f64>),
    Wide(Vec<[u64; 2]>),
    /// The ends of texts, and their bytes.
    Texts(Vec<i64>, Vec<u8>),
}

/// Releases nothing, because the structs lead to memory of [`Arrow`] and of DuckDB.
extern "C" fn keep_schema(_: *mut ArrowSchema) {}

/// Releases nothing, as [`keep_schema`].
extern "C" fn keep_array(_: *mut ArrowArray) {}

/// Returns Arrow's format of a type. A type without ids and keys has one that the kernel refuses by
/// its name.
fn format(vector: &Vector<'_>) -> &'static CStr {
    match vector.id() {
        id::BOOLEAN => c"b",
        id::TINYINT => c"c",
        id::SMALLINT => c"s",
        id::INTEGER => c"i",
        id::BIGINT => c"l",
        id::UTINYINT => c"C",
        id::USMALLINT => c"S",
        id::UINTEGER => c"I",
        id::UBIGINT => c"L",
        id::FLOAT => c"f",
        id::DOUBLE => c"g",
        id::DATE => c"tdD",
        id::TIMESTAMP => c"tsu:",
        id::TIMESTAMP_TZ => c"tsu:UTC",
        id::TIMESTAMP_S => c"tss:",
        id::TIMESTAMP_MS => c"tsm:",
        id::TIMESTAMP_NS => c"tsn:",
        id::TIMESTAMP_TZ_NS => c"tsn:UTC",
        id::HUGEINT => c"d:38,0",
        // Words of 64 bits after a check, because Arrow's decimals have a sign.
        id::UHUGEINT => c"L",
        id::DECIMAL => match (vector.scale(), vector.data()) {
            (0, Data::I16(_)) => c"s",
            (0, Data::I32(_)) => c"i",
            (0, Data::I64(_)) => c"l",
            (0, _) => c"d:38,0",
            // Only the letters of this format are used: the kernel takes no such column.
            _ => c"d:38,1",
        },
        id::VARCHAR | id::ENUM | id::UUID => c"U",
        id::BLOB => c"Z",
        id::SQLNULL => c"n",
        id::TIME | id::TIME_TZ => c"ttu",
        id::INTERVAL => c"tin",
        id::LIST | id::ARRAY | id::MAP => c"+l",
        id::STRUCT | id::UNION => c"+s",
        _ => c"unknown",
    }
}

impl<'a> Arrow<'a> {
    /// Returns the column of an argument.
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`] for a UHUGEINT of more than 64 bits.
    pub(crate) fn new(vector: &Vector<'a>, rows: usize) -> Result<Arrow<'a>, Error> {
        let (data, nulls) = (vector.data(), vector.nulls());
        let values = match (vector.id(), data) {
            (id::BOOLEAN, Data::U8(bytes)) => {
                let bit = |byte: &[u8]| (0..).zip(byte).fold(0, |all, (i, x)| all | (x & 1) << i);
                Values::Bits(bytes.chunks(8).map(bit).collect())
            }
            (id::UHUGEINT, Data::Wide(values)) => Values::Words(words(nulls, values)?),
            (id::VARCHAR | id::BLOB, Data::Text(texts)) => of_texts(texts.iter().enumerate().map(
                |(row, text)| {
                    if nulls.has(row) { &[] } else { text.bytes() }
                },
            )),
            (id::ENUM, _) => enums(vector, &data, rows),
            (id::UUID, Data::Wide(values)) => {
                let texts: Vec<String> = values.iter().map(|words| uuid(*words)).collect();
                of_texts(texts.iter().map(String::as_bytes))
            }
            _ => Values::Borrowed(data),
        };
        Ok(Arrow::of(vector, rows, format(vector), values))
    }

    /// Returns the column of a parameter that has a value for each row. Numbers of types that no id
    /// has are made floats, as constants of theirs are, and the kernel refuses what is no number.
    ///
    /// # Errors
    ///
    /// The errors of [`new`](Arrow::new).
    pub(crate) fn parameter(
        vector: &Vector<'a>,
        rows: usize,
        form: Form,
    ) -> Result<Arrow<'a>, Error> {
        let (format, values) = match (vector.id(), vector.data()) {
            (id::BOOLEAN, data @ Data::U8(_)) => (c"C", Values::Borrowed(data)),
            // A count is at most 2^64 - 1, so a larger number stays one that is refused.
            (id::UHUGEINT, Data::Wide(words)) if form == Form::Count => {
                let most = |[low, high]: &[u64; 2]| [*low, *high & u64::MAX >> 1 | *high >> 63];
                (c"d:38,0", Values::Wide(words.iter().map(most).collect()))
            }
            (id::UHUGEINT, _) => (c"g", reals(vector, rows)),
            (id::DECIMAL, _) if vector.scale() > 0 => (c"g", reals(vector, rows)),
            _ => return Arrow::new(vector, rows),
        };
        Ok(Arrow::of(vector, rows, format, values))
    }

    fn of(
        vector: &Vector<'a>,
        rows: usize,
        format: &'static CStr,
        values: Values<'a>,
    ) -> Arrow<'a> {
        Arrow {
            format,
            rows,
            validity: vector.nulls().0,
            values,
            schema: ArrowSchema::empty(),
            array: ArrowArray::empty(),
            buffers: [ptr::null(); 3],
        }
    }

    /// Returns the column, which borrows the value alone, because the structs lead to each other.
    ///
    /// # Errors
    ///
    /// [`Error::Malformed`], which no column of DuckDB's is.
    pub(crate) fn column(&mut self) -> Result<Column<'_>, Error> {
        self.schema.format = self.format.as_ptr();
        self.schema.release = Some(keep_schema);
        self.array.release = Some(keep_array);
        self.array.length = i64::try_from(self.rows).unwrap_or(-1);
        self.array.null_count = if self.validity.is_some() { -1 } else { 0 };
        let validity = self.validity.map_or(ptr::null(), |bits| bits.as_ptr().cast());
        let (values, bytes): (*const c_void, *const c_void) = match &self.values {
            Values::Borrowed(data) => (start(data), ptr::null()),
            Values::Bits(bits) => (bits.as_ptr().cast(), ptr::null()),
            Values::Words(words) => (words.as_ptr().cast(), ptr::null()),
            Values::Reals(reals) => (reals.as_ptr().cast(), ptr::null()),
            Values::Wide(wide) => (wide.as_ptr().cast(), ptr::null()),
            Values::Texts(ends, bytes) => (ends.as_ptr().cast(), bytes.as_ptr().cast()),
        };
        self.buffers = [validity, values, bytes];
        let takes_none = self.format == c"n";
        self.array.n_buffers = match &self.values {
            _ if takes_none => 0,
            Values::Texts(..) => 3,
            _ => 2,
        };
        self.array.buffers = self.buffers.as_mut_ptr();
        // SAFETY: the format is a C string of the program's text. The buffers lie in `self`, which
        // the column borrows, or in DuckDB's memory for `'a`, which outlives `self`: the bits of
        // validity have one for each row, lowest first, as Arrow's have; values have a place for
        // each row in the format's type, as `format` and `Vector::data` have the same table of
        // types; texts have a last end more. For formats that the kernel refuses no value is read.
        unsafe { Column::new(&self.schema, &self.array) }
    }
}

/// Returns the address of values.
fn start(data: &Data<'_>) -> *const c_void {
    match data {
        Data::I8(values) => values.as_ptr().cast(),
        Data::U8(values) => values.as_ptr().cast(),
        Data::I16(values) => values.as_ptr().cast(),
        Data::U16(values) => values.as_ptr().cast(),
        Data::I32(values) => values.as_ptr().cast(),
        Data::U32(values) => values.as_ptr().cast(),
        Data::I64(values) => values.as_ptr().cast(),
        Data::U64(values) => values.as_ptr().cast(),
        Data::Wide(values) | Data::List(values) => values.as_ptr().cast(),
        Data::F32(values) => values.as_ptr().cast(),
        Data::F64(values) => values.as_ptr().cast(),
        Data::Text(values) => values.as_ptr().cast(),
        Data::Other => ptr::null(),
    }
}

/// Returns the floats next to numbers, and 0 in null rows.
fn reals(vector: &Vector<'_>, rows: usize) -> Values<'static> {
    let numbers = Numbers::new(vector);
    Values::Reals((0..rows).map(|row| numbers.get(row).unwrap_or_default()).collect())
}

/// Returns numbers of 128 bits in 64, with 0 in place of those of null rows.
fn words(nulls: Nulls<'_>, values: &[[u64; 2]]) -> Result<Vec<u64>, Error> {
    let narrow = |(row, words): (usize, &[u64; 2])| match words {
        _ if nulls.has(row) => Ok(0),
        [word, 0] => Ok(*word),
        _ => Err(Error::TooLarge {
            row,
            value: i128::try_from(wide(*words)).unwrap_or(i128::MAX),
            last: u64::MAX - 1,
        }),
    };
    values.iter().enumerate().map(narrow).collect()
}

fn of_texts<'t>(texts: impl Iterator<Item = &'t [u8]>) -> Values<'static> {
    let (mut ends, mut bytes) = (vec![0], Vec::new());
    for text in texts {
        bytes.extend_from_slice(text);
        ends.push(bytes.len() as i64);
    }
    Values::Texts(ends, bytes)
}

/// Returns the words of an ENUM: the code depends on the order of a list, and the word does not.
fn enums(vector: &Vector<'_>, data: &Data<'_>, rows: usize) -> Values<'static> {
    let nulls = vector.nulls();
    let mut known: HashMap<u64, String> = HashMap::new();
    let codes: Vec<Option<u64>> = (0..rows)
        .map(|row| (!nulls.has(row)).then(|| stored(data, row)?.try_into().ok()).flatten())
        .collect();
    for &code in codes.iter().flatten() {
        known.entry(code).or_insert_with(|| vector.word(code).unwrap_or_default());
    }
    of_texts(
        codes.iter().map(|code| {
            code.and_then(|code| known.get(&code)).map_or(&[][..], |word| word.as_bytes())
        }),
    )
}

/// Returns the text of a UUID, which DuckDB stores with its highest bit inverted, so that the order
/// of numbers with a sign is that of the texts.
fn uuid(words: [u64; 2]) -> String {
    let digits = format!("{:032x}", wide(words) ^ 1 << 127);
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| digits.get(part).unwrap_or(""));
    parts.join("-")
}
