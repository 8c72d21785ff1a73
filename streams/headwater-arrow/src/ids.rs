//! Ids in memory of Rust's, as a column.

use crate::abi::{ArrowArray, ArrowSchema};
use crate::{Column, Error};
use core::ffi::{CStr, c_void};
use core::marker::PhantomData;
use core::ptr;

/// A slice of ids in the two structs of the interface, for callers that have no Arrow data.
pub struct Ids<'a> {
    schema: ArrowSchema,
    array: ArrowArray,
    buffers: [*const c_void; 2],
    borrowed: PhantomData<&'a [u64]>,
}

/// Releases nothing, because the slice belongs to the caller. [`Column::new`] takes a struct
/// without a release function for one that was released.
extern "C" fn keep_schema(_: *mut ArrowSchema) {}

/// Releases nothing, as [`keep_schema`].
extern "C" fn keep_array(_: *mut ArrowArray) {}

impl<'a> Ids<'a> {
    /// Returns the ids of a slice of integers with a sign.
    pub fn from_i64(ids: &'a [i64]) -> Ids<'a> {
        Ids::new(c"l", ids.as_ptr().cast(), ids.len())
    }

    /// Returns the ids of a slice of integers without a sign.
    pub fn from_u64(ids: &'a [u64]) -> Ids<'a> {
        Ids::new(c"L", ids.as_ptr().cast(), ids.len())
    }

    /// Returns `len` ids of this format of an integer type from `start` on.
    ///
    /// # Safety
    ///
    /// `start` is valid for reads of `len` values of the type during `'a`, and nothing writes to
    /// them.
    pub unsafe fn from_raw(format: &'static CStr, start: *const c_void, len: usize) -> Ids<'a> {
        Ids::new(format, start, len)
    }

    /// Returns the ids with those null whose bit is 0: a bit for each, the lowest of a byte first.
    /// With fewer bits than ids, [`column`](Ids::column) is an error.
    #[must_use]
    pub fn with_validity(mut self, bits: &'a [u8]) -> Ids<'a> {
        let len = usize::try_from(self.array.length).unwrap_or(usize::MAX);
        if bits.len() < len.div_ceil(8) {
            self.array.length = -1;
        }
        self.array.null_count = -1;
        self.buffers[0] = bits.as_ptr().cast();
        self
    }

    fn new(format: &'static CStr, start: *const c_void, len: usize) -> Ids<'a> {
        Ids {
            schema: ArrowSchema {
                format: format.as_ptr(),
                release: Some(keep_schema),
                ..ArrowSchema::empty()
            },
            array: ArrowArray {
                length: i64::try_from(len).unwrap_or(-1),
                n_buffers: 2,
                release: Some(keep_array),
                ..ArrowArray::empty()
            },
            buffers: [ptr::null(), start],
            borrowed: PhantomData,
        }
    }

    /// Returns the column, which borrows the value alone, because the structs lead to each other.
    ///
    /// # Errors
    ///
    /// [`Error::Malformed`] for more ids than fit in memory, or than have a bit of validity.
    pub fn column(&mut self) -> Result<Column<'_>, Error> {
        self.array.buffers = self.buffers.as_mut_ptr();
        // SAFETY: the format is a C string of the program's text, the list has two buffers and lies
        // in `self`, which the column borrows. The second buffer has `length` ids, as the slice
        // shows that `new` was given, or `# Safety` of `from_raw`. The first is null, for no nulls,
        // or has a bit for each, because `with_validity` makes a length that is refused of fewer.
        unsafe { Column::new(&self.schema, &self.array) }
    }
}
