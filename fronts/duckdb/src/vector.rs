//! DuckDB's vectors as slices.
//!
//! DuckDB flattens the arguments of a C function, so a vector is an array with a place for each row
//! of the chunk, also where the argument is one constant or the codes of a dictionary
//! (`DataChunk::Flatten` in `CAPIScalarFunction`). So nothing here asks for the kind of a vector,
//! which the C interface could not say.

use crate::abi::{Api, Handle, id};
use core::ffi::{CStr, c_char};
use core::marker::PhantomData;
use core::slice;

/// The arguments of a call: a column each, of the same number of rows.
#[derive(Clone, Copy)]
pub(crate) struct Chunk<'a> {
    api: &'a Api,
    chunk: Handle,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
}

/// A type of DuckDB's that this value owns.
struct Type<'a> {
    api: &'a Api,
    handle: Handle,
}

/// An argument.
pub(crate) struct Vector<'a> {
    api: &'a Api,
    kind: Type<'a>,
    /// The number of the type, or of the type in which an ENUM or a DECIMAL is stored.
    stored: u32,
    vector: Handle,
    rows: usize,
}

/// A text or a BLOB: `duckdb_string_t`, up to 12 bytes in place or a pointer.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Text<'a> {
    /// The length in 4 bytes, and 12 bytes of the text; or its length, its first 4 bytes and the
    /// pointer. As two words, because that is how texts are compared.
    words: [u64; 2],
    borrowed: PhantomData<&'a [u8]>,
}

/// The bits of the rows that are not null, if there may be others.
#[derive(Clone, Copy)]
pub(crate) struct Nulls<'a>(pub(crate) Option<&'a [u64]>);

impl Nulls<'_> {
    /// Returns true if a row is null.
    pub(crate) fn has(&self, row: usize) -> bool {
        let word = self.0.and_then(|bits| bits.get(row / 64));
        word.is_some_and(|word| word >> (row % 64) & 1 == 0)
    }

    /// Returns true if one of so many rows is null.
    pub(crate) fn any(&self, rows: usize) -> bool {
        let Some(bits) = self.0 else { return false };
        let whole = bits.iter().take(rows / 64).all(|&word| word == u64::MAX);
        !whole || (rows / 64 * 64..rows).any(|row| self.has(row))
    }
}

/// The values of an argument, a place for each row. Null rows may have anything.
#[derive(Clone, Copy)]
pub(crate) enum Data<'a> {
    I8(&'a [i8]),
    U8(&'a [u8]),
    I16(&'a [i16]),
    U16(&'a [u16]),
    I32(&'a [i32]),
    U32(&'a [u32]),
    I64(&'a [i64]),
    U64(&'a [u64]),
    /// A HUGEINT, a UHUGEINT, a UUID, or a wide DECIMAL.
    Wide(&'a [[u64; 2]]),
    F32(&'a [f32]),
    F64(&'a [f64]),
    Text(&'a [Text<'a>]),
    /// First element and number of elements.
    List(&'a [[u64; 2]]),
    /// A type whose values are not read.
    Other,
}

impl Drop for Type<'_> {
    fn drop(&mut self) {
        // SAFETY: `vector_get_column_type` made the handle for its caller, who destroys it once,
        // and nothing else has it.
        unsafe { (self.api.destroy_logical_type)(&mut self.handle) };
    }
}

impl<'a> Chunk<'a> {
    /// Reads the sizes of a chunk.
    ///
    /// # Safety
    ///
    /// `chunk` is the one that DuckDB passed to a function, and `'a` ends with the call.
    pub(crate) unsafe fn new(api: &'a Api, chunk: Handle) -> Chunk<'a> {
        // SAFETY: the chunk is valid, as `# Safety` says.
        let (rows, columns) =
            unsafe { ((api.data_chunk_get_size)(chunk), (api.data_chunk_get_column_count)(chunk)) };
        Chunk { api, chunk, rows: rows as usize, columns: columns as usize }
    }

    /// Returns a column, or `None` if there are not so many.
    pub(crate) fn column(&self, number: usize) -> Option<Vector<'a>> {
        if number >= self.columns {
            return None;
        }
        // SAFETY: the chunk is valid during `'a` and has the column, as was checked.
        let vector = unsafe { (self.api.data_chunk_get_vector)(self.chunk, number as u64) };
        // SAFETY: the vector belongs to the chunk and has its number of rows.
        Some(unsafe { Vector::new(self.api, vector, self.rows) })
    }
}

impl<'a> Vector<'a> {
    /// Reads the type of a vector.
    ///
    /// # Safety
    ///
    /// `vector` is flat, and valid during `'a` for so many rows.
    unsafe fn new(api: &'a Api, vector: Handle, rows: usize) -> Vector<'a> {
        // SAFETY: the vector is valid, and the functions for ENUM and DECIMAL get a type that is
        // one.
        unsafe {
            let kind = Type { api, handle: (api.vector_get_column_type)(vector) };
            let stored = match (api.get_type_id)(kind.handle) {
                id::ENUM => (api.enum_internal_type)(kind.handle),
                id::DECIMAL => (api.decimal_internal_type)(kind.handle),
                stored => stored,
            };
            Vector { api, kind, stored, vector, rows }
        }
    }

    /// Returns the number of the type.
    pub(crate) fn id(&self) -> u32 {
        // SAFETY: the type is valid until `self.kind` is dropped.
        unsafe { (self.api.get_type_id)(self.kind.handle) }
    }

    /// Returns the digits after the point of a DECIMAL, and 0 for other types.
    pub(crate) fn scale(&self) -> u8 {
        match self.id() {
            // SAFETY: the type is a DECIMAL, and valid as above.
            id::DECIMAL => unsafe { (self.api.decimal_scale)(self.kind.handle) },
            _ => 0,
        }
    }

    /// Returns which rows are null.
    pub(crate) fn nulls(&self) -> Nulls<'a> {
        // SAFETY: the vector is flat and valid during `'a`. The result is null, or has a bit for
        // each row in words of 64.
        Nulls(unsafe {
            let bits = (self.api.vector_get_validity)(self.vector);
            (!bits.is_null()).then(|| slice::from_raw_parts(bits, self.rows.div_ceil(64)))
        })
    }

    /// Returns the values.
    pub(crate) fn data(&self) -> Data<'a> {
        // SAFETY: the vector is flat and valid, so the array has a value for each row.
        let data = unsafe { (self.api.vector_get_data)(self.vector) };
        if data.is_null() {
            return Data::Other;
        }
        macro_rules! of {
            ($variant:ident) => {
                // SAFETY: DuckDB stores a type of this number as an array of the variant's values,
                // of any bits, one for each row, and nothing writes to arguments during the call.
                // DuckDB's own functions read them by the same types, so they are aligned for it.
                Data::$variant(unsafe { slice::from_raw_parts(data.cast(), self.rows) })
            };
        }
        match self.stored {
            id::BOOLEAN | id::UTINYINT => of!(U8),
            id::TINYINT => of!(I8),
            id::SMALLINT => of!(I16),
            id::USMALLINT => of!(U16),
            id::INTEGER | id::DATE => of!(I32),
            id::UINTEGER => of!(U32),
            id::BIGINT
            | id::TIMESTAMP
            | id::TIMESTAMP_S
            | id::TIMESTAMP_MS
            | id::TIMESTAMP_NS
            | id::TIMESTAMP_TZ
            | id::TIMESTAMP_TZ_NS => of!(I64),
            id::UBIGINT => of!(U64),
            id::FLOAT => of!(F32),
            id::DOUBLE => of!(F64),
            id::HUGEINT | id::UHUGEINT | id::UUID => of!(Wide),
            id::VARCHAR | id::BLOB => of!(Text),
            id::LIST => of!(List),
            _ => Data::Other,
        }
    }

    /// Returns the elements of all lists, one after the other.
    pub(crate) fn elements(&self) -> Option<Vector<'a>> {
        if self.id() != id::LIST {
            return None;
        }
        // SAFETY: the vector is a LIST. Its elements are flat where a list was written as a
        // constant; DuckDB has no function that says so, and `plan::shares` says why a mistake
        // would show.
        unsafe {
            let elements = (self.api.list_vector_get_child)(self.vector);
            let rows = (self.api.list_vector_get_size)(self.vector);
            Some(Vector::new(self.api, elements, rows as usize))
        }
    }

    /// Returns a value of an ENUM by its code.
    pub(crate) fn word(&self, code: u64) -> Option<String> {
        if self.id() != id::ENUM {
            return None;
        }
        // SAFETY: the type is an ENUM. DuckDB returns null for a code that it lacks, and otherwise
        // a C string that the caller frees with its function.
        unsafe {
            let word: *mut c_char = (self.api.enum_dictionary_value)(self.kind.handle, code);
            if word.is_null() {
                return None;
            }
            let owned = CStr::from_ptr(word).to_string_lossy().into_owned();
            (self.api.free)(word.cast());
            Some(owned)
        }
    }
}

impl<'a> Text<'a> {
    /// Returns the bytes.
    pub(crate) fn bytes(&'a self) -> &'a [u8] {
        let [head, rest] = self.words;
        // The length comes first in memory, so it is the lower half on machines of this order,
        // which all that the package supports are.
        let len = head as u32 as usize;
        let start = match len {
            // SAFETY: 4 bytes after the start of the struct lie in it.
            0..=12 => unsafe { (&raw const self.words).cast::<u8>().add(4) },
            _ => rest as usize as *const u8,
        };
        // SAFETY: a short text lies in the struct, which is borrowed; the pointer of a longer one
        // leads to its bytes, which live as long as the vector.
        unsafe { slice::from_raw_parts(start, len) }
    }

    /// Returns two words for each text: equal for two short texts that are equal, and for copies of
    /// one that is longer.
    pub(crate) fn words<'t>(texts: &'t [Text<'a>]) -> &'t [u64] {
        // SAFETY: a text is two words and nothing more, so these are the texts' own bytes, which
        // stay borrowed.
        unsafe { slice::from_raw_parts(texts.as_ptr().cast(), texts.len() * 2) }
    }
}
