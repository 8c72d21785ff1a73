//! An addon for Node, by which `node.cjs` draws from headwater, and sees that it was copied.
//!
//! A call from JavaScript into an addon takes longer than a `Math.random`. So the addon hands out
//! the word that a copy loses, and the count of copies, as arrays: the script compares one element
//! of each at each draw, and calls only if one changed. The word alone would not do: Node's workers
//! share it, and the first that calls sets it again for all.
//!
//! Node-API is found by its names at registration (`node_api.h`, version 1 and later), because a
//! reference to it would keep this library from being preloaded into any other program.

use super::original::anywhere;
use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr::{null, null_mut};
use core::sync::atomic::{AtomicPtr, Ordering};

type Env = *mut c_void;
type Value = *mut c_void;
type Callback = unsafe extern "C" fn(Env, *mut c_void) -> Value;

/// Declares functions of Node-API: each finds its address once, and answers 1 without one.
macro_rules! api {
    ($($name:ident, $text:literal: ($($argument:ident: $type:ty),*);)*) => {
        $(
            /// Calls the function of this name of Node-API; 0 is success.
            ///
            /// # Safety
            ///
            /// The arguments are sound for it.
            unsafe fn $name($($argument: $type),*) -> c_int {
                type Function = unsafe extern "C" fn($($type),*) -> c_int;
                static ADDRESS: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
                let mut address = ADDRESS.load(Ordering::Relaxed);
                if address.is_null() {
                    address = anywhere($text);
                    ADDRESS.store(address, Ordering::Relaxed);
                }
                if address.is_null() {
                    return 1;
                }
                // SAFETY: Node's function of this name, whose signature its stable interface fixes.
                // The arguments are passed on, for which the caller answers.
                unsafe { core::mem::transmute::<*mut c_void, Function>(address)($($argument),*) }
            }
        )*
    };
}

api! {
    create_external_arraybuffer, c"napi_create_external_arraybuffer":
        (env: Env, data: *mut c_void, len: usize, end: *const c_void, hint: *const c_void,
         result: *mut Value);
    create_function, c"napi_create_function":
        (env: Env, name: *const c_char, len: usize, callback: Callback, data: *const c_void,
         result: *mut Value);
    create_double, c"napi_create_double": (env: Env, number: f64, result: *mut Value);
    get_boolean, c"napi_get_boolean": (env: Env, is: bool, result: *mut Value);
    set_named_property, c"napi_set_named_property":
        (env: Env, object: Value, name: *const c_char, value: Value);
    get_cb_info, c"napi_get_cb_info":
        (env: Env, info: *mut c_void, count: *mut usize, arguments: *mut Value, this: *mut Value,
         data: *mut *mut c_void);
    get_typedarray_info, c"napi_get_typedarray_info":
        (env: Env, array: Value, kind: *mut c_int, len: *mut usize, data: *mut *mut c_void,
         buffer: *mut Value, offset: *mut usize);
    throw_error, c"napi_throw_error": (env: Env, code: *const c_char, text: *const c_char);
}

/// Returns the version of Node-API that is used.
#[unsafe(no_mangle)]
extern "C" fn node_api_module_get_api_version_v1() -> i32 {
    8
}

/// Fills the addon's exports: `word`, `count`, `fill`, `copies`, `machines`.
#[unsafe(no_mangle)]
unsafe extern "C" fn napi_register_module_v1(env: Env, exports: Value) -> Value {
    let word = headwater::internal::copies_word().cast_mut().cast();
    let count = headwater::internal::copies_count().cast_mut().cast();
    let (_, machines) = headwater::internal::copies_seen();
    let mut value = null_mut();
    // SAFETY: Node calls this function with an environment and an object, which stay valid until it
    // returns; the results are places of this frame. Both words stay readable for ever, so nothing
    // has to be done at their end. A script that wrote there would void draws, and no more.
    unsafe {
        let done = create_external_arraybuffer(env, word, 8, null(), null(), &raw mut value) == 0
            && set_named_property(env, exports, c"word".as_ptr(), value) == 0
            && create_external_arraybuffer(env, count, 8, null(), null(), &raw mut value) == 0
            && set_named_property(env, exports, c"count".as_ptr(), value) == 0
            && get_boolean(env, machines, &raw mut value) == 0
            && set_named_property(env, exports, c"machines".as_ptr(), value) == 0
            && export(env, exports, c"fill", fill)
            && export(env, exports, c"copies", copies);
        if !done {
            throw_error(
                env,
                null(),
                c"headwater: this Node has no external array buffers".as_ptr(),
            );
        }
    }
    exports
}

/// Exports a function; false if Node refuses.
///
/// # Safety
///
/// The environment and the object are those of a registration that is under way.
unsafe fn export(env: Env, exports: Value, name: &CStr, function: Callback) -> bool {
    let mut value = null_mut();
    // SAFETY: the name is a C string, as its length `usize::MAX` says (NAPI_AUTO_LENGTH). The rest
    // are the registration's, as `napi_register_module_v1` passes them.
    unsafe {
        create_function(env, name.as_ptr(), usize::MAX, function, null(), &raw mut value) == 0
            && set_named_property(env, exports, name.as_ptr(), value) == 0
    }
}

/// Fills a `Uint8Array` with random bytes of headwater.
unsafe extern "C" fn fill(env: Env, info: *mut c_void) -> Value {
    const UINT8_ARRAY: c_int = 1;
    let (mut count, mut array, mut kind, mut len) = (1, null_mut(), -1, 0);
    let mut data: *mut c_void = null_mut();
    // SAFETY: the call's own environment and information; the results are places of this frame, one
    // argument at most, and null where nothing is asked for.
    let is_array = unsafe {
        get_cb_info(env, info, &raw mut count, &raw mut array, null_mut(), null_mut()) == 0
            && count == 1
            && get_typedarray_info(
                env,
                array,
                &raw mut kind,
                &raw mut len,
                &raw mut data,
                null_mut(),
                null_mut(),
            ) == 0
            && kind == UINT8_ARRAY
    };
    let error = if !is_array {
        c"headwater: fill() takes a Uint8Array"
    } else if len == 0 {
        return null_mut();
    } else {
        // SAFETY: Node says that the array has `len` bytes there, and they stay until this call
        // returns, because JavaScript runs on this thread alone. Other threads may share the
        // memory; they see old or new bytes, as with getRandomValues.
        let bytes = unsafe { core::slice::from_raw_parts_mut(data.cast::<u8>(), len) };
        match headwater::fill(bytes) {
            Ok(()) => return null_mut(),
            Err(_) => c"headwater: the kernel returns no random bytes",
        }
    };
    // SAFETY: the call's own environment, and a C string. The exception is thrown at the return.
    unsafe { throw_error(env, null(), error.as_ptr()) };
    null_mut()
}

/// Returns the count of copies.
unsafe extern "C" fn copies(env: Env, _: *mut c_void) -> Value {
    let mut value = null_mut();
    // SAFETY: the call's own environment, and a place of this frame.
    unsafe { create_double(env, headwater::copies() as f64, &raw mut value) };
    value
}
