//! Functions for Polars: an expression plugin is a few C symbols, which Polars looks up by name in
//! the library that an expression names. No crate of Polars' is needed, so one wheel serves all its
//! versions whose plugin interface has major version 0 (0.20.31 to 2.1 were tried).
//!
//! The interface is that of the crate polars-ffi, `version_0`. A plugin has for each function a
//! `_polars_plugin_field_NAME`, which returns the type of the result from the types of the inputs,
//! before there is data; so there is a function for each type of results, and the plan, a literal,
//! is the second input of each.

use super::plan::{NOT_A_PLAN, Plan};
use headwater_arrow::{ArrowArray, ArrowSchema, Column, Output, schema};
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{null, null_mut};

/// A column: `SeriesExport` of polars-ffi.
#[repr(C)]
pub(super) struct Series {
    field: *mut ArrowSchema,
    arrays: *mut *mut ArrowArray,
    len: usize,
    release: Option<unsafe extern "C" fn(*mut Series)>,
    private_data: *mut c_void,
}

/// A result: its type, its chunks, and the list that leads to them.
struct Made {
    field: ArrowSchema,
    arrays: Vec<ArrowArray>,
    list: Vec<*mut ArrowArray>,
}

thread_local! {
    /// The text of the last error, which Polars asks for in the thread of the call.
    static MESSAGE: RefCell<CString> = RefCell::new(CString::default());
}

fn remember(text: &str) {
    let text = CString::new(text.replace('\0', " ")).unwrap_or_default();
    MESSAGE.with(|message| message.replace(text));
}

/// Returns the version of the interface: major 0, minor 1.
#[unsafe(no_mangle)]
pub(super) extern "C" fn _polars_plugin_get_version() -> u32 {
    1
}

/// Returns the text of this thread's last error, valid until its next one.
#[unsafe(no_mangle)]
pub(super) extern "C" fn _polars_plugin_get_last_error_message() -> *const c_char {
    MESSAGE.with(|message| message.borrow().as_ptr())
}

/// Frees a result. Polars has taken the arrays out of their places by then, so that only the places
/// are left.
unsafe extern "C" fn release_result(series: *mut Series) {
    // SAFETY: Polars passes a series of `evaluate`, once; its data are a box of `Made`.
    unsafe {
        let mut result = Box::from_raw((*series).private_data.cast::<Made>());
        release_schema(&mut result.field);
        (*series).release = None;
        (*series).private_data = null_mut();
    }
}

fn release_schema(schema: &mut ArrowSchema) {
    if let Some(release) = schema.release {
        // SAFETY: the struct was not released: its function sets `release` to null.
        unsafe { release(schema) };
    }
}

/// Releases the inputs, which a plugin owns: first the arrays, which were exported into their
/// places, then what holds the places.
///
/// # Safety
///
/// The series are those that Polars passed, and are not used again.
unsafe fn release_inputs(inputs: &mut [Series]) {
    for series in inputs {
        for i in 0..series.len {
            // SAFETY: the list has `len` places, each of which leads to an array of ours.
            unsafe {
                let array = *series.arrays.add(i);
                if let Some(release) = (*array).release {
                    release(array);
                }
            }
        }
        if let Some(release) = series.release {
            // SAFETY: the series is ours and was not released yet.
            unsafe { release(series) };
        }
    }
}

/// Makes the result of the inputs: the ids, and the plan as a literal.
///
/// # Safety
///
/// The series are what Polars passes to a plugin.
unsafe fn evaluate(inputs: &[Series]) -> Result<Box<Made>, String> {
    let [ids, literal, ..] = inputs else { return Err("an id and a plan are needed".into()) };
    if literal.len == 0 || ids.field.is_null() || literal.field.is_null() {
        return Err("an id and a plan are needed".into());
    }
    let text = |error: headwater_arrow::Error| error.to_string();
    // SAFETY: a series has a field and `len` arrays, of the Arrow C data interface, ours for the
    // call.
    let plan = unsafe { Column::new(&*literal.field, &**literal.arrays) }.map_err(text)?;
    let plan = match plan.bytes(0).map_err(text)? {
        Some(bytes) => Plan::decode(bytes).ok_or(NOT_A_PLAN)?,
        None => return Err(NOT_A_PLAN.into()),
    };
    // SAFETY: as above; a name is null or a C string.
    let name = unsafe { (*ids.field).name };
    let name = match name.is_null() {
        true => "".into(),
        // SAFETY: as above.
        false => unsafe { CStr::from_ptr(name) }.to_string_lossy(),
    };
    let mut outputs: Vec<Output> = Vec::new();
    for i in 0..ids.len {
        // SAFETY: as above.
        let column = unsafe { Column::new(&*ids.field, &**ids.arrays.add(i)) }.map_err(text)?;
        outputs.push(plan.column(&column, &[]).map_err(text)?);
    }
    let (format, list) = plan.kind_of_column().map_err(text)?;
    let mut result = Box::new(Made {
        field: schema(format, list, &name).map_err(text)?,
        arrays: Vec::new(),
        list: Vec::new(),
    });
    for output in outputs {
        match output.array() {
            Ok(array) => result.arrays.push(array),
            Err(error) => {
                release_schema(&mut result.field);
                for array in &mut result.arrays {
                    // SAFETY: the array was exported just now.
                    array.release.inspect(|release| unsafe { release(array) });
                }
                return Err(error.to_string());
            }
        }
    }
    // The list of arrays is complete, so none of them moves any more.
    let made = &mut *result;
    made.list = made.arrays.iter_mut().map(std::ptr::from_mut).collect();
    Ok(result)
}

/// Does a call of a plugin's function.
///
/// # Safety
///
/// The arguments are those that Polars passes.
unsafe fn call(inputs: *mut Series, many: usize, out: *mut Series) {
    let nothing = Series {
        field: null_mut(),
        arrays: null_mut(),
        len: 0,
        release: None,
        private_data: null_mut(),
    };
    let series = match inputs.is_null() {
        true => &mut [][..],
        // SAFETY: Polars passes `many` series, which are the plugin's from now on.
        false => unsafe { std::slice::from_raw_parts_mut(inputs, many) },
    };
    // A panic must not leave a C function, which would end the process.
    // SAFETY: the series are those that Polars passed.
    let result = catch_unwind(AssertUnwindSafe(|| unsafe { evaluate(series) }));
    // SAFETY: as above; the columns of `evaluate` are gone.
    unsafe { release_inputs(series) };
    let result = match result {
        Ok(Ok(result)) => {
            let result = Box::into_raw(result);
            // SAFETY: the box was leaked just now, so its fields may be used until
            // `release_result`.
            unsafe {
                Series {
                    field: &raw mut (*result).field,
                    arrays: (*result).list.as_mut_ptr(),
                    len: (*result).list.len(),
                    release: Some(release_result),
                    private_data: result.cast(),
                }
            }
        }
        Ok(Err(error)) => {
            remember(&error);
            nothing
        }
        Err(_) => {
            remember("headwater failed unexpectedly, which is a bug");
            nothing
        }
    };
    // SAFETY: Polars passes a place for the result.
    unsafe { out.write(result) };
}

/// Writes the type of a result: the name of the ids, and this format.
///
/// # Safety
///
/// The arguments are those that Polars passes.
unsafe fn field(
    inputs: *const ArrowSchema,
    many: usize,
    out: *mut ArrowSchema,
    format: &'static CStr,
) {
    // SAFETY: Polars passes `many` fields and a place for the result; a name is null or a C string.
    unsafe {
        let name = if many == 0 || inputs.is_null() { null() } else { (*inputs).name };
        let name = if name.is_null() { "".into() } else { CStr::from_ptr(name).to_string_lossy() };
        match schema(format, None, &name) {
            Ok(schema) => out.write(schema),
            Err(error) => {
                remember(&error.to_string());
                out.write(ArrowSchema::empty());
            }
        }
    }
}

/// Makes the two symbols of each function.
macro_rules! functions {
    ($($name:ident $field:ident $format:literal;)*) => {$(
        /// Evaluates an expression. Polars calls it.
        #[unsafe(no_mangle)]
        pub(super) unsafe extern "C" fn $name(
            inputs: *mut Series,
            many: usize,
            _keywords: *const u8,
            _keywords_len: usize,
            out: *mut Series,
            _context: *mut c_void,
        ) {
            // SAFETY: the arguments are Polars', as `call` asks.
            unsafe { call(inputs, many, out) }
        }

        /// Returns the type of an expression. Polars calls it.
        #[unsafe(no_mangle)]
        pub(super) unsafe extern "C" fn $field(
            inputs: *const ArrowSchema,
            many: usize,
            out: *mut ArrowSchema,
            _keywords: *const u8,
            _keywords_len: usize,
        ) {
            // SAFETY: the arguments are Polars', as `field` asks.
            unsafe { field(inputs, many, out, $format) }
        }
    )*};
}

functions! {
    _polars_plugin_hw_g _polars_plugin_field_hw_g c"g";
    _polars_plugin_hw_f _polars_plugin_field_hw_f c"f";
    _polars_plugin_hw_b _polars_plugin_field_hw_b c"b";
    _polars_plugin_hw_i8 _polars_plugin_field_hw_i8 c"c";
    _polars_plugin_hw_u8 _polars_plugin_field_hw_u8 c"C";
    _polars_plugin_hw_i16 _polars_plugin_field_hw_i16 c"s";
    _polars_plugin_hw_u16 _polars_plugin_field_hw_u16 c"S";
    _polars_plugin_hw_i32 _polars_plugin_field_hw_i32 c"i";
    _polars_plugin_hw_u32 _polars_plugin_field_hw_u32 c"I";
    _polars_plugin_hw_i64 _polars_plugin_field_hw_i64 c"l";
    _polars_plugin_hw_u64 _polars_plugin_field_hw_u64 c"L";
}
