//! A kind of the table and its parameters, from C.

use super::call::optional;
use super::fault::Fault;
use crate::edge::{elements, text};
use core::ffi::{c_char, c_double};
use headwater_arrow::{ArrowArray, ArrowSchema, By, Column};
use headwater_streams::kinds::{Dtype, Form, Kind, Parameter, Value};
use libc::{EFAULT, size_t};

/// The most parameters that a call takes. No kind has more.
pub(super) const MOST: usize = 8;

/// Returns a kind and a type by their names.
///
/// # Safety
///
/// Both are NULL or C strings.
pub(super) unsafe fn kind_of(
    kind: *const c_char,
    dtype: *const c_char,
) -> Result<(Kind, Dtype), Fault> {
    // SAFETY: `text` refuses NULL, and `optional` takes it for none; otherwise they are C strings,
    // as `# Safety` says.
    let (kind, dtype) = unsafe { (text(kind), optional(dtype)) };
    let kind = kind.map_err(Fault::Errno)?;
    let kind = Kind::by_name(kind).ok_or(Fault::Text("no kind has this name"))?;
    let dtype = match dtype.map_err(Fault::Errno)? {
        Some(name) => Dtype::by_name(name).ok_or(Fault::Text("no type has this name"))?,
        None => kind.types().first().map_or(Dtype::F64, |one| one.dtype),
    };
    Ok((kind, dtype))
}

/// Returns the parameters of a kind, unless there are more or fewer than `n`.
fn counted(kind: Kind, n: size_t) -> Result<&'static [Parameter], Fault> {
    let parameters = kind.parameters();
    let fits = n == parameters.len() && n <= MOST;
    if fits {
        Ok(parameters)
    } else {
        Err(Fault::Text("the kind has another number of parameters"))
    }
}

/// Reads the parameters of a kind from numbers.
///
/// # Safety
///
/// `given` is NULL or valid for reads of `n` numbers, which nothing changes while the result lives.
pub(super) unsafe fn numbers<'a, 'v>(
    kind: Kind,
    (given, n): (*const c_double, size_t),
    room: &'a mut [Value<'v>; MOST],
) -> Result<&'a [Value<'v>], Fault> {
    let parameters = counted(kind, n)?;
    // SAFETY: NULL, which `elements` refuses, or `n` readable numbers, as `# Safety` says.
    let given = unsafe { elements(given, n) }.ok_or(Fault::Errno(EFAULT))?;
    for ((place, parameter), &number) in room.iter_mut().zip(parameters).zip(given) {
        *place = value(parameter, number)?;
    }
    room.get(..n).ok_or(Fault::Errno(EFAULT))
}

/// The parameters of a kind: columns, and numbers in the places that have none.
#[derive(Clone, Copy)]
pub(super) struct Given {
    pub(super) numbers: *const c_double,
    pub(super) schemas: *const *const ArrowSchema,
    pub(super) columns: *const *const ArrowArray,
    pub(super) n: size_t,
}

impl Given {
    /// Reads the columns.
    ///
    /// # Safety
    ///
    /// `schemas` and `columns` are NULL or valid for reads of `n` pointers, each of which is NULL
    /// or leads to a struct of the Arrow C data interface that nothing changes during `'a`.
    pub(super) unsafe fn read<'a>(
        self,
        kind: Kind,
        room: &mut [Option<Column<'a>>; MOST],
    ) -> Result<(), Fault> {
        counted(kind, self.n)?;
        // SAFETY: NULL, which `elements` refuses, or `n` readable pointers, as `# Safety` says.
        let lists = unsafe { (elements(self.schemas, self.n), elements(self.columns, self.n)) };
        let (Some(schemas), Some(columns)) = lists else { return Err(Fault::Errno(EFAULT)) };
        for (place, (&schema, &column)) in room.iter_mut().zip(schemas.iter().zip(columns)) {
            // SAFETY: NULL, which `as_ref` takes for none, or structs, as `# Safety` says.
            *place = match unsafe { (schema.as_ref(), column.as_ref()) } {
                // SAFETY: as above.
                (Some(schema), Some(column)) => Some(unsafe { Column::new(schema, column) }?),
                (None, None) => None,
                _ => return Err(Fault::Errno(EFAULT)),
            };
        }
        Ok(())
    }

    /// Returns the columns and the numbers, in the order of the table.
    ///
    /// # Safety
    ///
    /// `numbers` is NULL or valid for reads of `n` numbers, except where a column stands: that
    /// number is not read.
    pub(super) unsafe fn by<'a, 'r>(
        self,
        kind: Kind,
        columns: &'a [Option<Column<'a>>; MOST],
        room: &'r mut [By<'a>; MOST],
    ) -> Result<&'r [By<'a>], Fault> {
        let parameters = counted(kind, self.n)?.iter().zip(columns);
        for (i, (place, (parameter, column))) in room.iter_mut().zip(parameters).enumerate() {
            *place = match column {
                Some(column) => By::Column(column),
                None if self.numbers.is_null() => return Err(Fault::Errno(EFAULT)),
                // SAFETY: not null, and `i` is below `n`, because as many parameters were counted.
                None => By::Value(value(parameter, unsafe { self.numbers.add(i).read() })?),
            };
        }
        room.get(..self.n).ok_or(Fault::Errno(EFAULT))
    }
}

/// Returns a number as a parameter has it.
fn value<'v>(parameter: &Parameter, number: f64) -> Result<Value<'v>, Fault> {
    // A cast saturates, and a number that it changes is no whole number of its range.
    let wrong = Fault::Text("a parameter that counts is no whole number below 2^63");
    match parameter.form {
        Form::Real => Ok(Value::Real(number)),
        Form::Flag => Ok(Value::Flag(number != 0.0)),
        Form::Count | Form::Integer => {
            let whole = number as i64;
            if whole as f64 != number || whole == i64::MAX {
                return Err(wrong);
            }
            match (parameter.form, u64::try_from(whole)) {
                (Form::Count, Ok(count)) => Ok(Value::Count(count)),
                (Form::Count, Err(_)) => Err(wrong),
                _ => Ok(Value::Integer(whole.into())),
            }
        }
        _ => Err(Fault::Text("the kind has a list as parameter: it has no column in C")),
    }
}
