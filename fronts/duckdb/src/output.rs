//! Results in DuckDB's vectors.

use crate::abi::{Api, Handle};
use core::arch::asm;
use core::slice;

/// The vector of a call's results.
pub(crate) struct Place<'a> {
    api: &'a Api,
    vector: Handle,
    rows: usize,
}

impl<'a> Place<'a> {
    /// Takes the place of results.
    ///
    /// # Safety
    ///
    /// `vector` is the one that DuckDB passed to a function for its results, of so many rows, and
    /// `'a` ends with the call.
    pub(crate) unsafe fn new(api: &'a Api, vector: Handle, rows: usize) -> Place<'a> {
        Place { api, vector, rows }
    }

    /// Returns the bytes of the values, which are any until they are written.
    ///
    /// # Safety
    ///
    /// The type for which DuckDB knows the function has this width. The caller writes a value of
    /// the type to each row, before it reads one or returns without an error: any bits for numbers,
    /// 0 or 1 for a BOOLEAN.
    pub(crate) unsafe fn values(&mut self, width: usize) -> &mut [u8] {
        // SAFETY: DuckDB made the vector with a value for each row, and no other thread has it
        // during the call; the width is the type's, as `# Safety` says. DuckDB may not have written
        // to its memory yet, and a slice of unwritten bytes must not exist. Zeros would do, but
        // then each call writes its results twice. An assembly block may write any byte that its
        // pointer leads to, as far as the compiler can know; so all of them count as written by
        // this one, although it has no instruction. Their values may be any, and nothing reads one
        // before the caller has written it.
        unsafe {
            let data = (self.api.vector_get_data)(self.vector).cast::<u8>();
            asm!("/* {} */", in(reg) data, options(nostack, preserves_flags));
            slice::from_raw_parts_mut(data, self.rows * width)
        }
    }

    /// Makes these rows null.
    pub(crate) fn nulls(&mut self, rows: &[usize]) {
        if rows.is_empty() {
            return;
        }
        // SAFETY: DuckDB makes the bits for its vector when asked: a word for each 64 rows, all of
        // them written. No other code has them during the call.
        let bits = unsafe {
            (self.api.vector_ensure_validity_writable)(self.vector);
            let bits = (self.api.vector_get_validity)(self.vector);
            if bits.is_null() {
                return;
            }
            slice::from_raw_parts_mut(bits, self.rows.div_ceil(64))
        };
        for row in rows {
            if let Some(word) = bits.get_mut(row / 64) {
                *word &= !(1 << (row % 64));
            }
        }
    }
}
