//! The part of DuckDB's C interface that an extension of this kind needs.
//!
//! DuckDB hands an extension a struct of pointers to functions, `duckdb_ext_api_v1` of
//! `duckdb_extension.h`. Its first 357 are stable since version 1.2.0, because later versions only
//! append. So a function is known by its place in the struct, and neither DuckDB's headers nor its
//! library is needed to build. But a wrong place would call another function, so `struct.txt` has
//! the names of all places as the header of 1.5.4 has them, and a test of xtask compares.

use core::ffi::{c_char, c_void};

/// The version of the struct that an extension asks for.
pub(crate) const VERSION: &core::ffi::CStr = c"v1.2.0";

pub(crate) type Handle = *mut c_void;
pub(crate) type Destroy = unsafe extern "C" fn(*mut c_void);
pub(crate) type Callback = unsafe extern "C" fn(info: Handle, chunk: Handle, out: Handle);
/// `DUCKDB_SUCCESS`; `DUCKDB_ERROR` is 1.
pub(crate) const SUCCESS: u32 = 0;

/// The entry point's argument: `struct duckdb_extension_access`.
#[repr(C)]
pub(crate) struct Access {
    pub(crate) set_error: unsafe extern "C" fn(info: Handle, error: *const c_char),
    /// Returns a pointer to the database.
    pub(crate) get_database: unsafe extern "C" fn(info: Handle) -> *mut Handle,
    /// Returns the struct of this version, or null after it set an error.
    pub(crate) get_api: unsafe extern "C" fn(info: Handle, version: *const c_char) -> *const c_void,
}

macro_rules! api {
    ($($place:literal $name:ident: fn($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// Functions of DuckDB, by their names without `duckdb_`.
        #[derive(Clone, Copy)]
        pub(crate) struct Api {$(
            pub(crate) $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,
        )*}

        impl Api {
            /// Reads the struct. Returns `None` if a function is missing.
            ///
            /// # Safety
            ///
            /// The pointer is one that `get_api` returned for [`VERSION`], and not null.
            pub(crate) unsafe fn read(table: *const c_void) -> Option<Api> {
                let table = table.cast::<*const c_void>();
                Some(Api {$(
                    // SAFETY: the struct of version 1.2.0 has 357 pointers and the place is below,
                    // as the test shows. A pointer there that is not null has the type that the
                    // header declares for the name, and `Option` of a function has null as `None`.
                    $name: unsafe {
                        core::mem::transmute::<
                            *const c_void,
                            Option<unsafe extern "C" fn($($argument),*) $(-> $result)?>,
                        >(*table.add($place))
                    }?,
                )*})
            }
        }
    };
}

api! {
    3 connect: fn(Handle, *mut Handle) -> u32;
    6 disconnect: fn(*mut Handle);
    25 free: fn(*mut c_void);
    156 create_logical_type: fn(u32) -> Handle;
    166 get_type_id: fn(Handle) -> u32;
    168 decimal_scale: fn(Handle) -> u8;
    169 decimal_internal_type: fn(Handle) -> u32;
    170 enum_internal_type: fn(Handle) -> u32;
    172 enum_dictionary_value: fn(Handle, u64) -> *mut c_char;
    184 destroy_logical_type: fn(*mut Handle);
    189 data_chunk_get_column_count: fn(Handle) -> u64;
    190 data_chunk_get_vector: fn(Handle, u64) -> Handle;
    191 data_chunk_get_size: fn(Handle) -> u64;
    193 vector_get_column_type: fn(Handle) -> Handle;
    194 vector_get_data: fn(Handle) -> *mut c_void;
    195 vector_get_validity: fn(Handle) -> *mut u64;
    196 vector_ensure_validity_writable: fn(Handle);
    199 list_vector_get_child: fn(Handle) -> Handle;
    200 list_vector_get_size: fn(Handle) -> u64;
    209 create_scalar_function: fn() -> Handle;
    210 destroy_scalar_function: fn(*mut Handle);
    211 scalar_function_set_name: fn(Handle, *const c_char);
    212 scalar_function_set_varargs: fn(Handle, Handle);
    213 scalar_function_set_special_handling: fn(Handle);
    216 scalar_function_set_return_type: fn(Handle, Handle);
    217 scalar_function_set_extra_info: fn(Handle, *mut c_void, Option<Destroy>);
    218 scalar_function_set_function: fn(Handle, Callback);
    219 register_scalar_function: fn(Handle, Handle) -> u32;
    220 scalar_function_get_extra_info: fn(Handle) -> *mut c_void;
    221 scalar_function_set_error: fn(Handle, *const c_char);
}

/// Numbers of types: `enum DUCKDB_TYPE` of `duckdb.h`.
pub(crate) mod id {
    pub(crate) const BOOLEAN: u32 = 1;
    pub(crate) const TINYINT: u32 = 2;
    pub(crate) const SMALLINT: u32 = 3;
    pub(crate) const INTEGER: u32 = 4;
    pub(crate) const BIGINT: u32 = 5;
    pub(crate) const UTINYINT: u32 = 6;
    pub(crate) const USMALLINT: u32 = 7;
    pub(crate) const UINTEGER: u32 = 8;
    pub(crate) const UBIGINT: u32 = 9;
    pub(crate) const FLOAT: u32 = 10;
    pub(crate) const DOUBLE: u32 = 11;
    pub(crate) const TIMESTAMP: u32 = 12;
    pub(crate) const DATE: u32 = 13;
    pub(crate) const TIME: u32 = 14;
    pub(crate) const INTERVAL: u32 = 15;
    pub(crate) const HUGEINT: u32 = 16;
    pub(crate) const VARCHAR: u32 = 17;
    pub(crate) const BLOB: u32 = 18;
    pub(crate) const DECIMAL: u32 = 19;
    pub(crate) const TIMESTAMP_S: u32 = 20;
    pub(crate) const TIMESTAMP_MS: u32 = 21;
    pub(crate) const TIMESTAMP_NS: u32 = 22;
    pub(crate) const ENUM: u32 = 23;
    pub(crate) const LIST: u32 = 24;
    pub(crate) const STRUCT: u32 = 25;
    pub(crate) const MAP: u32 = 26;
    pub(crate) const UUID: u32 = 27;
    pub(crate) const UNION: u32 = 28;
    pub(crate) const BIT: u32 = 29;
    pub(crate) const TIME_TZ: u32 = 30;
    pub(crate) const TIMESTAMP_TZ: u32 = 31;
    pub(crate) const UHUGEINT: u32 = 32;
    pub(crate) const ARRAY: u32 = 33;
    pub(crate) const ANY: u32 = 34;
    pub(crate) const SQLNULL: u32 = 36;
    pub(crate) const TIMESTAMP_TZ_NS: u32 = 42;
}
