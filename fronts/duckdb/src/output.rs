//! Results in DuckDB's vectors.

use crate::abi::{Api, Handle};
use core::slice;
use headwater_arrow::Output;

/// The vector of a call's results.
pub(crate) struct Place<'a> {
    api: &'a Api,
    vector: Handle,
    rows: usize,
}

/// The error of a column whose number of rows or type is another one, which no call makes. It is
/// checked, because the bytes of a vector are written without its knowledge.
const OTHER: &str = "headwater made a column of another form, which is a bug";

impl<'a> Place<'a> {
    /// Takes the place of results.
    ///
    /// # Safety
    ///
    /// `vector` is the one that DuckDB passed to a function for its results, of so many rows.
    pub(crate) unsafe fn new(api: &'a Api, vector: Handle, rows: usize) -> Place<'a> {
        Place { api, vector, rows }
    }

    /// Returns the bytes of the vector, if its rows have this width.
    fn bytes(&mut self, width: usize) -> &mut [u8] {
        // SAFETY: DuckDB made the vector with a value for each row, and no other thread has it
        // during the call. The caller passes the width of the type that `Function::result` has,
        // for which `lib.rs` registered the function. Any bits are values of numbers; those of a
        // BOOLEAN are 0 or 1, as `write` makes them.
        unsafe {
            let data = (self.api.vector_get_data)(self.vector);
            slice::from_raw_parts_mut(data.cast::<u8>(), self.rows * width)
        }
    }

    /// Writes a column.
    pub(crate) fn write(&mut self, made: &Output) -> Result<(), String> {
        let (format, list) = made.format();
        if made.len() != self.rows || list.is_some() {
            return Err(OTHER.into());
        }
        let width = match format.to_bytes() {
            b"b" => 0,
            b"C" => 1,
            b"g" | b"l" | b"L" => 8,
            _ => return Err(OTHER.into()),
        };
        let (_, values) = made.buffers();
        if width == 0 {
            let rows = self.rows;
            // SAFETY: a column of bits has one for each row.
            let bits = unsafe { slice::from_raw_parts(values.as_ptr(), rows.div_ceil(8)) };
            for (out, byte) in self.bytes(1).chunks_mut(8).zip(bits) {
                for (place, out) in out.iter_mut().enumerate() {
                    *out = byte >> place & 1;
                }
            }
        } else {
            // SAFETY: the column has so many rows of this width, and is not DuckDB's.
            let values = unsafe { slice::from_raw_parts(values.as_ptr(), self.rows * width) };
            self.bytes(width).copy_from_slice(values);
        }
        self.nulls(made);
        Ok(())
    }

    /// Writes exponential numbers divided by weights: the order of a weighted sample. A weight of 0
    /// makes infinity, which comes last.
    pub(crate) fn divide(&mut self, made: &Output, weights: &[f64]) -> Result<(), String> {
        if made.len() != self.rows || weights.len() != self.rows || made.format().0 != c"g" {
            return Err(OTHER.into());
        }
        let (_, values) = made.buffers();
        // SAFETY: the column has a double for each row.
        let numbers = unsafe { slice::from_raw_parts(values.cast::<f64>().as_ptr(), self.rows) };
        let out = self.bytes(8).as_chunks_mut::<8>().0;
        for ((out, number), weight) in out.iter_mut().zip(numbers).zip(weights) {
            let quotient = if *weight == 0.0 { f64::INFINITY } else { number / weight };
            *out = quotient.to_ne_bytes();
        }
        self.nulls(made);
        Ok(())
    }

    /// Writes which rows are null.
    fn nulls(&mut self, made: &Output) {
        let (Some(valid), true) = (made.buffers().0, made.null_count() > 0) else { return };
        let len = self.rows.div_ceil(8);
        // SAFETY: the column has a bit for each row. DuckDB makes bits for its vector when asked,
        // in whole words of 64, so all of these bytes exist; a word's lowest byte comes first on
        // every machine that the package supports.
        unsafe {
            (self.api.vector_ensure_validity_writable)(self.vector);
            let bits = (self.api.vector_get_validity)(self.vector).cast::<u8>();
            if !bits.is_null() {
                bits.copy_from_nonoverlapping(valid.as_ptr(), len);
            }
        }
    }
}
