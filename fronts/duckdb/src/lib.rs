//! Random columns by row id in DuckDB's SQL, as an extension that DuckDB loads.
//!
//! `LOAD 'headwater.duckdb_extension'` makes the functions of [`function`] known. They are those of
//! `headwater.duckdb`'s Python functions, with the same values, because both ask the same kernel;
//! DuckDB's threads call these without Python, side by side.
//!
//! | module | content |
//! | --- | --- |
//! | `abi` | DuckDB's struct of functions |
//! | `vector`, `constant`, `arrow` | arguments: as slices, as one value, as the kernel's columns |
//! | `function`, `plan` | the table of functions, and functions with their constants |
//! | `call`, `output` | a call, and its results |

mod abi;
mod arrow;
mod call;
mod constant;
mod function;
mod output;
mod plan;
mod vector;

use abi::{Access, Api, Handle, SUCCESS, id};
use core::ffi::{CStr, c_void};
use core::ptr::null_mut;
use function::Function;
use std::ffi::CString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

/// The functions of the DuckDB that loaded this library.
static API: OnceLock<Api> = OnceLock::new();

/// The text of an error that has no other.
const BUG: &CStr = c"headwater failed unexpectedly, which is a bug";

/// Returns a text without NUL bytes, which a C string cannot have.
fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', " ")).unwrap_or_default()
}

/// Does a call of a function. DuckDB calls it, from any of its threads.
///
/// # Safety
///
/// The arguments are those of a call of a function that [`register`] made known.
unsafe extern "C" fn callback(info: Handle, chunk: Handle, out: Handle) {
    let Some(api) = API.get() else { return };
    // A panic must not leave a C function, which would end the process.
    let done = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: DuckDB passes the call's handle. Its extra value is the box of `register`, which
        // lives as long as the function and is only read.
        let function = unsafe { &*(api.scalar_function_get_extra_info)(info).cast::<Function>() };
        // SAFETY: DuckDB passes the arguments and the place of the results of this function.
        unsafe { call::run(api, *function, chunk, out) }
    }));
    let text = match done {
        Ok(Ok(())) => return,
        Ok(Err(text)) => c_text(&text),
        Err(_) => BUG.into(),
    };
    // SAFETY: the handle is the call's, and DuckDB copies the text.
    unsafe { (api.scalar_function_set_error)(info, text.as_ptr()) };
}

/// Frees the box of a function. DuckDB calls it when it forgets the function.
///
/// # Safety
///
/// `function` is the extra value of a function of [`register`], and is used no more.
unsafe extern "C" fn forget(function: *mut c_void) {
    // SAFETY: the pointer is that of a box of `register`, and DuckDB calls this once for each.
    drop(unsafe { Box::from_raw(function.cast::<Function>()) });
}

/// Makes a function known to a database. Returns false if DuckDB refuses.
///
/// # Safety
///
/// `connection` is one of the DuckDB that the functions of `api` belong to.
unsafe fn register(api: &Api, connection: Handle, function: Function) -> bool {
    let name = c_text(&function.name());
    // SAFETY: `connection` is valid, as `# Safety` says, and the other handles are made here, used
    // as the functions of their names ask for, and destroyed once. The text outlives the calls.
    unsafe {
        let mut made = (api.create_scalar_function)();
        let mut any = (api.create_logical_type)(id::ANY);
        let mut result = (api.create_logical_type)(function.result());
        (api.scalar_function_set_name)(made, name.as_ptr());
        // Any number of any types, so that a wrong call gets this library's sentence: DuckDB would
        // list all that it knows, and could cast floats to ids.
        (api.scalar_function_set_varargs)(made, any);
        // Otherwise a null constant makes the call null, and a null seed goes unnoticed.
        (api.scalar_function_set_special_handling)(made);
        (api.scalar_function_set_return_type)(made, result);
        let extra = Box::into_raw(Box::new(function)).cast();
        (api.scalar_function_set_extra_info)(made, extra, Some(forget));
        (api.scalar_function_set_function)(made, callback);
        let state = (api.register_scalar_function)(connection, made);
        (api.destroy_scalar_function)(&mut made);
        (api.destroy_logical_type)(&mut any);
        (api.destroy_logical_type)(&mut result);
        state == SUCCESS
    }
}

/// Makes all functions known, or returns why not.
///
/// # Safety
///
/// The arguments are those of [`headwater_init_c_api`], and `access` is not null.
unsafe fn load(info: Handle, access: &Access) -> Result<(), String> {
    // In a build that aborts, `callback` could not hold a panic.
    if cfg!(panic = "abort") {
        return Err(
            "headwater was built to abort on a panic: build it by `cargo xtask duckdb`".into()
        );
    }
    // SAFETY: DuckDB passes a handle for its own functions. `read` gets what `get_api` returned.
    let api = unsafe {
        let table = (access.get_api)(info, abi::VERSION.as_ptr());
        if table.is_null() {
            // DuckDB has set its own error.
            return Err(String::new());
        }
        Api::read(table).ok_or("this DuckDB lacks functions of its interface 1.2.0")?
    };
    let known = API.get_or_init(|| api);
    // A process can hold two DuckDBs, which then share this library. The functions of one must not
    // get the other's vectors.
    if known.scalar_function_get_extra_info as usize != api.scalar_function_get_extra_info as usize
    {
        return Err("another DuckDB in this process has loaded headwater: load it in one".into());
    }
    let mut connection = null_mut();
    // SAFETY: `get_database` returns a pointer to the database, and the connection is destroyed
    // before this function ends.
    unsafe {
        let database = (access.get_database)(info);
        if database.is_null() || (known.connect)(*database, &mut connection) != SUCCESS {
            return Err("headwater cannot connect to the database".into());
        }
        let refused = Function::all().find(|one| !register(known, connection, *one));
        (known.disconnect)(&mut connection);
        match refused {
            None => Ok(()),
            Some(function) => Err(format!("DuckDB refuses the function {}", function.name())),
        }
    }
}

/// Loads the extension. DuckDB calls it, by this name, because the file is called
/// `headwater.duckdb_extension`.
///
/// # Safety
///
/// `info` is DuckDB's, and `access` is null or leads to its functions.
#[unsafe(no_mangle)]
unsafe extern "C" fn headwater_init_c_api(info: Handle, access: *const Access) -> bool {
    // SAFETY: DuckDB passes a struct, or null if it has none.
    let Some(access) = (unsafe { access.as_ref() }) else { return false };
    // SAFETY: the arguments are DuckDB's.
    let done = catch_unwind(AssertUnwindSafe(|| unsafe { load(info, access) }));
    let text = match done {
        Ok(Ok(())) => return true,
        Ok(Err(text)) if text.is_empty() => return false,
        Ok(Err(text)) => c_text(&text),
        Err(_) => BUG.into(),
    };
    // SAFETY: the handle is DuckDB's, and it copies the text.
    unsafe { (access.set_error)(info, text.as_ptr()) };
    false
}
