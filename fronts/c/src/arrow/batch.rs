//! The columns of a struct.

use super::fault::Fault;
use crate::edge::elements;
use core::ffi::CStr;
use headwater_arrow::{ArrowArray, ArrowSchema, Column};
use libc::EFAULT;

/// The most columns of a batch.
const FIELDS: usize = 16;

/// The columns of a struct, as Arrow libraries export the rows of a table.
pub(super) struct Batch<'a> {
    columns: [Column<'a>; FIELDS],
    len: usize,
}

impl Batch<'_> {
    pub(super) fn columns(&self) -> &[Column<'_>] {
        self.columns.get(..self.len).unwrap_or_default()
    }
}

/// Returns the columns of a struct, or `None` for a column of another type.
///
/// # Safety
///
/// The pointers are NULL or lead to structs of the interface, which live and do not change as long
/// as the result lives.
pub(super) unsafe fn batch<'a>(
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
