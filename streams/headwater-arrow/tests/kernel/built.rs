//! Columns as another program would make them: buffers of bytes, and structs that lead to them.

use headwater_arrow::{ArrowArray, ArrowSchema, Column, Error, Output};
use std::ffi::{CString, c_char, c_void};
use std::ptr;

pub(crate) struct Built {
    format: *mut c_char,
    _buffers: Vec<Vec<u8>>,
    _pointers: Vec<*const c_void>,
    dictionary: *mut Built,
    pub(crate) schema: ArrowSchema,
    pub(crate) array: ArrowArray,
}

extern "C" fn keep_schema(_: *mut ArrowSchema) {}
extern "C" fn keep_array(_: *mut ArrowArray) {}

/// Sets bits, the lowest of a byte first.
pub(crate) fn bits(values: &[bool]) -> Vec<u8> {
    let byte = |bits: &[bool]| {
        bits.iter().enumerate().fold(0, |byte, (i, &bit)| byte | u8::from(bit) << i)
    };
    values.chunks(8).map(byte).collect()
}

impl Built {
    /// Makes a column of these buffers, the first of which is left out if it is empty. The first
    /// `offset` rows of them are not part of the column.
    pub(crate) fn new(format: &str, len: usize, offset: usize, buffers: Vec<Vec<u8>>) -> Built {
        let format = CString::new(format).unwrap().into_raw();
        let address = |(i, buffer): (usize, &Vec<u8>)| match i == 0 && buffer.is_empty() {
            true => ptr::null(),
            false => buffer.as_ptr().cast(),
        };
        let mut pointers: Vec<*const c_void> = buffers.iter().enumerate().map(address).collect();
        let schema = ArrowSchema { format, release: Some(keep_schema), ..ArrowSchema::empty() };
        let array = ArrowArray {
            length: len as i64,
            null_count: -1,
            offset: offset as i64,
            n_buffers: buffers.len() as i64,
            buffers: pointers.as_mut_ptr(),
            release: Some(keep_array),
            ..ArrowArray::empty()
        };
        Built {
            format,
            _buffers: buffers,
            _pointers: pointers,
            dictionary: ptr::null_mut(),
            schema,
            array,
        }
    }

    /// Makes a column of integers, with garbage in the rows of the offset.
    pub(crate) fn integers(format: &str, rows: &[Option<i128>], offset: usize) -> Built {
        let width = match format {
            "c" | "C" => 1,
            "s" | "S" => 2,
            "i" | "I" | "tdD" => 4,
            "l" | "L" | "tdm" => 8,
            _ if format.starts_with("ts") => 8,
            _ => 16,
        };
        let garbage = std::iter::repeat_n(&Some(-7), offset);
        let all: Vec<_> = garbage.chain(rows).collect();
        let valid: Vec<bool> = all.iter().map(|row| row.is_some()).collect();
        // Under a null lies a number that is no id.
        let values = all.iter().flat_map(|row| row.unwrap_or(-9).to_le_bytes()[..width].to_vec());
        let values = values.collect();
        let validity = if rows.contains(&None) { bits(&valid) } else { Vec::new() };
        Built::new(format, rows.len(), offset, vec![validity, values])
    }

    /// Makes a column of texts or binary values with ends of 4 bytes, or of 8.
    pub(crate) fn texts(format: &str, rows: &[Option<&[u8]>]) -> Built {
        let large = ["U", "Z"].contains(&format);
        let (mut ends, mut bytes) = (vec![0_i64], Vec::new());
        for row in rows {
            bytes.extend_from_slice(row.unwrap_or_default());
            ends.push(bytes.len() as i64);
        }
        let width = if large { 8 } else { 4 };
        let ends = ends.iter().flat_map(|end| end.to_le_bytes()[..width].to_vec()).collect();
        let valid: Vec<bool> = rows.iter().map(Option::is_some).collect();
        let validity = if rows.contains(&None) { bits(&valid) } else { Vec::new() };
        Built::new(format, rows.len(), 0, vec![validity, ends, bytes])
    }

    /// Makes a column of views, long values in one buffer.
    pub(crate) fn views(format: &str, rows: &[&[u8]]) -> Built {
        let (mut views, mut bytes) = (Vec::new(), Vec::new());
        for row in rows {
            views.extend((row.len() as i32).to_le_bytes());
            if row.len() <= 12 {
                let mut short = row.to_vec();
                short.resize(12, 0);
                views.extend(short);
            } else {
                views.extend(&row[..4]);
                views.extend(0_i32.to_le_bytes());
                views.extend((bytes.len() as i32).to_le_bytes());
                bytes.extend_from_slice(row);
            }
        }
        let sizes = (bytes.len() as i64).to_le_bytes().to_vec();
        Built::new(format, rows.len(), 0, vec![Vec::new(), views, bytes, sizes])
    }

    /// Makes a dictionary of `values`, whose places are the rows of this column.
    pub(crate) fn with_values(mut self, values: Built) -> Built {
        let values = Box::into_raw(Box::new(values));
        // SAFETY: the value was leaked just now, and only addresses of its fields are taken.
        unsafe {
            self.schema.dictionary = &raw mut (*values).schema;
            self.array.dictionary = &raw mut (*values).array;
        }
        self.dictionary = values;
        self
    }

    pub(crate) fn column(&self) -> Result<Column<'_>, Error> {
        // SAFETY: `new` made both structs, and a test changes only what the column must refuse.
        unsafe { Column::new(&self.schema, &self.array) }
    }
}

impl Drop for Built {
    fn drop(&mut self) {
        // SAFETY: both were leaked by this module, and a drop runs once.
        unsafe {
            drop(CString::from_raw(self.format));
            if !self.dictionary.is_null() {
                drop(Box::from_raw(self.dictionary));
            }
        }
    }
}

/// Returns the rows of a result as bytes of this width; nulls as `None`.
pub(crate) fn rows(output: &Output, width: usize) -> Vec<Option<Vec<u8>>> {
    let (validity, values) = output.buffers();
    let row = |row: usize| {
        // SAFETY: the result has a bit for each row, and values of this width.
        let valid = validity
            .is_none_or(|bits| unsafe { *bits.as_ptr().add(row / 8) } >> (row % 8) & 1 == 1);
        // SAFETY: as above.
        let value = unsafe { std::slice::from_raw_parts(values.as_ptr().add(row * width), width) };
        valid.then(|| value.to_vec())
    };
    (0..output.len()).map(row).collect()
}
