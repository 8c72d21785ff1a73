//! The steps of every call: its arguments, the column, and the results or the error.

use super::HEADWATER_ARROW_REFUSE_NULLS;
use super::fault::{Fault, tell};
use crate::edge::{fail, text};
use crate::streams::key::{headwater_key, key_of};
use core::ffi::{c_char, c_int};
use headwater_arrow::{ArrowArray, ArrowSchema, Column, Nulls, Output};
use headwater_streams::Key;
use libc::EFAULT;

/// Has `make` make a column by a key and a name.
///
/// # Safety
///
/// The pointers are as [`headwater_arrow_draw`](super::headwater_arrow_draw) asks.
pub(super) unsafe fn column_by(
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
/// The pointers are as [`headwater_arrow_draw`](super::headwater_arrow_draw) asks.
pub(super) unsafe fn made(
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
    // column borrows them, and so do those that `make` reads, until the closure below returns: its
    // result has no lifetime. Afterwards alone the results are written, so that they may have the
    // place of an input's struct.
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

/// Returns a text, or `None` for NULL, or an errno.
///
/// # Safety
///
/// `at` is NULL or a C string.
pub(super) unsafe fn optional<'a>(at: *const c_char) -> Result<Option<&'a str>, c_int> {
    if at.is_null() {
        return Ok(None);
    }
    // SAFETY: a C string, as `# Safety` says.
    unsafe { text(at) }.map(Some)
}
