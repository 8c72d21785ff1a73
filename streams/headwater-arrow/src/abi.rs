//! The structs of the Arrow C data interface and of its stream interface, as their specification
//! has them. They are the same in every version of Arrow.

use core::ffi::{c_char, c_int, c_void};
use core::ptr;

/// The type of a column: `struct ArrowSchema` of the Arrow C data interface.
///
/// The producer owns what the pointers lead to, and the one who holds the struct calls `release`
/// once. A struct whose `release` is null is empty: it was released, or moved elsewhere.
#[repr(C)]
#[derive(Debug)]
pub struct ArrowSchema {
    /// The type, as a C string of the format's letters.
    pub format: *const c_char,
    /// The name of the column, or null.
    pub name: *const c_char,
    /// Key and value pairs of the producer's, or null.
    pub metadata: *const c_char,
    /// Bits: 1 ordered dictionary, 2 nullable, 4 sorted keys of a map.
    pub flags: i64,
    /// The number of children.
    pub n_children: i64,
    /// The children, or null for none.
    pub children: *mut *mut ArrowSchema,
    /// The type of a dictionary's values, or null.
    pub dictionary: *mut ArrowSchema,
    /// The producer's function that frees all this, or null.
    pub release: Option<unsafe extern "C" fn(*mut ArrowSchema)>,
    /// Memory of the producer's.
    pub private_data: *mut c_void,
}

/// The values of a column: `struct ArrowArray` of the Arrow C data interface.
#[repr(C)]
#[derive(Debug)]
pub struct ArrowArray {
    /// The number of rows.
    pub length: i64,
    /// The number of rows that are null, or -1 if the producer did not count them.
    pub null_count: i64,
    /// The rows of the buffers before the first row of the column.
    pub offset: i64,
    /// The number of buffers.
    pub n_buffers: i64,
    /// The number of children.
    pub n_children: i64,
    /// The buffers, the bits of validity first for most types.
    pub buffers: *mut *const c_void,
    /// The children, or null for none.
    pub children: *mut *mut ArrowArray,
    /// A dictionary's values, or null.
    pub dictionary: *mut ArrowArray,
    /// The producer's function that frees all this, or null.
    pub release: Option<unsafe extern "C" fn(*mut ArrowArray)>,
    /// Memory of the producer's.
    pub private_data: *mut c_void,
}

/// Chunks of a column, one after the other: `struct ArrowArrayStream`.
#[repr(C)]
#[derive(Debug)]
pub struct ArrowArrayStream {
    /// Writes the type of all chunks. Returns 0, or an errno.
    pub get_schema:
        Option<unsafe extern "C" fn(*mut ArrowArrayStream, out: *mut ArrowSchema) -> c_int>,
    /// Writes the next chunk, or an empty struct at the end. Returns 0, or an errno.
    pub get_next:
        Option<unsafe extern "C" fn(*mut ArrowArrayStream, out: *mut ArrowArray) -> c_int>,
    /// Returns the text of the last error, or null.
    pub get_last_error: Option<unsafe extern "C" fn(*mut ArrowArrayStream) -> *const c_char>,
    /// The producer's function that frees all this, or null.
    pub release: Option<unsafe extern "C" fn(*mut ArrowArrayStream)>,
    /// Memory of the producer's.
    pub private_data: *mut c_void,
}

impl ArrowSchema {
    /// Returns an empty struct, as a place for a producer to write to.
    pub const fn empty() -> ArrowSchema {
        ArrowSchema {
            format: ptr::null(),
            name: ptr::null(),
            metadata: ptr::null(),
            flags: 0,
            n_children: 0,
            children: ptr::null_mut(),
            dictionary: ptr::null_mut(),
            release: None,
            private_data: ptr::null_mut(),
        }
    }
}

impl ArrowArray {
    /// Returns an empty struct, as a place for a producer to write to.
    pub const fn empty() -> ArrowArray {
        ArrowArray {
            length: 0,
            null_count: 0,
            offset: 0,
            n_buffers: 0,
            n_children: 0,
            buffers: ptr::null_mut(),
            children: ptr::null_mut(),
            dictionary: ptr::null_mut(),
            release: None,
            private_data: ptr::null_mut(),
        }
    }
}

impl ArrowArrayStream {
    /// Returns an empty struct, as a place for a producer to write to.
    pub const fn empty() -> ArrowArrayStream {
        ArrowArrayStream {
            get_schema: None,
            get_next: None,
            get_last_error: None,
            release: None,
            private_data: ptr::null_mut(),
        }
    }
}
