//! OpenSSL's side of the edge: types of `openssl/core.h`, functions of `openssl/core_dispatch.h`.
//!
//! Only the part that the provider uses. The test `headers` compares it with the headers of each
//! installed OpenSSL.

mod functions;
#[cfg(test)]
mod headers;

pub(crate) use functions::*;

use core::ffi::{CStr, c_char, c_int, c_uint, c_void};

/// `OSSL_CORE_HANDLE`: identifies this provider in calls to the core.
#[repr(C)]
pub(crate) struct CoreHandle {
    _opaque: [u8; 0],
}

/// `char`. To compare `c_char` with C's types would not do: on arm64 it equals `unsigned char`,
/// while C distinguishes the two.
#[repr(transparent)]
pub(crate) struct Char(c_char);

/// `OSSL_DISPATCH`: a function with its number; 0 ends a table.
#[repr(C)]
pub(crate) struct Dispatch {
    pub(crate) function_id: c_int,
    /// A function of the type that belongs to the number.
    pub(crate) function: Option<unsafe extern "C" fn()>,
}

/// `OSSL_ALGORITHM`; null names end a table.
#[repr(C)]
pub(crate) struct Algorithm {
    pub(crate) algorithm_names: *const c_char,
    pub(crate) property_definition: *const c_char,
    pub(crate) implementation: *const Dispatch,
    pub(crate) algorithm_description: *const c_char,
}

/// `OSSL_PARAM`: a named value, of a type and size that the caller chooses; a null key ends a list.
#[repr(C)]
pub(crate) struct Param {
    pub(crate) key: *const c_char,
    pub(crate) data_type: c_uint,
    pub(crate) data: *mut c_void,
    pub(crate) data_size: usize,
    pub(crate) return_size: usize,
}

/// `OSSL_ITEM`: here the text of an error by its number; a null pointer ends a table.
#[repr(C)]
pub(crate) struct Item {
    pub(crate) id: c_uint,
    pub(crate) ptr: *mut c_void,
}

// SAFETY: constant tables of pointers to constants, which are never written through.
unsafe impl Sync for Algorithm {}
// SAFETY: what is shared are tables that describe parameters, which are constants. A list in which
// OpenSSL asks for values is used in its call only.
unsafe impl Sync for Param {}
// SAFETY: a constant table of texts. `ptr` is mutable in C's type only; nothing writes through it.
unsafe impl Sync for Item {}

/// `va_list` as x86-64 and arm64 pass it: by address.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(crate) struct VaList(pub(crate) *mut c_void);

pub(crate) const PARAM_INTEGER: c_uint = 1;
pub(crate) const PARAM_UNSIGNED_INTEGER: c_uint = 2;
pub(crate) const PARAM_REAL: c_uint = 3;
pub(crate) const PARAM_UTF8_PTR: c_uint = 6;
/// `OSSL_PARAM_UNMODIFIED`: no answer was written.
pub(crate) const PARAM_UNMODIFIED: usize = usize::MAX;

pub(crate) const OP_RAND: c_int = 5;

/// `EVP_RAND_STATE_UNINITIALISED`.
pub(crate) const STATE_UNINITIALISED: c_int = 0;
/// `EVP_RAND_STATE_READY`.
pub(crate) const STATE_READY: c_int = 1;
/// `EVP_RAND_STATE_ERROR`.
pub(crate) const STATE_ERROR: c_int = 2;

// Names of parameters.
pub(crate) const STATE: &CStr = c"state";
pub(crate) const STRENGTH: &CStr = c"strength";
pub(crate) const MAX_REQUEST: &CStr = c"max_request";
pub(crate) const RESEED_COUNTER: &CStr = c"reseed_counter";
pub(crate) const NAME: &CStr = c"name";
pub(crate) const VERSION: &CStr = c"version";
pub(crate) const BUILD_INFO: &CStr = c"buildinfo";
pub(crate) const STATUS: &CStr = c"status";
