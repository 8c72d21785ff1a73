//! The JVM as a native function sees it: the functions of JNI, and arrays that are held in place.

use core::ffi::c_void;
use core::ptr::null_mut;

/// A reference to an object or a class.
pub(crate) type Object = *mut c_void;

/// The functions of JNI that the package calls, at their places in the table (JNI specification,
/// chapter 4).
#[repr(C)]
pub(crate) struct Functions {
    before_get_array_length: [usize; 171],
    pub(crate) get_array_length: unsafe extern "system" fn(Env, Object) -> i32,
    before_set_byte_region: [usize; 36],
    pub(crate) set_byte_region: unsafe extern "system" fn(Env, Object, i32, i32, *const c_void),
    before_set_long_region: [usize; 3],
    pub(crate) set_long_region: unsafe extern "system" fn(Env, Object, i32, i32, *const c_void),
    before_get_critical: [usize; 9],
    get_critical: unsafe extern "system" fn(Env, Object, *mut u8) -> *mut c_void,
    release_critical: unsafe extern "system" fn(Env, Object, *mut c_void, i32),
    before_new_direct_byte_buffer: [usize; 5],
    pub(crate) new_direct_byte_buffer: unsafe extern "system" fn(Env, *mut c_void, i64) -> Object,
}

const _: () = {
    assert!(core::mem::offset_of!(Functions, get_array_length) == 171 * size_of::<usize>());
    assert!(core::mem::offset_of!(Functions, set_byte_region) == 208 * size_of::<usize>());
    assert!(core::mem::offset_of!(Functions, set_long_region) == 212 * size_of::<usize>());
    assert!(core::mem::offset_of!(Functions, get_critical) == 222 * size_of::<usize>());
    assert!(core::mem::offset_of!(Functions, release_critical) == 223 * size_of::<usize>());
    assert!(core::mem::offset_of!(Functions, new_direct_byte_buffer) == 229 * size_of::<usize>());
};

/// The JVM's environment of a thread.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Env(pub(crate) *const *const Functions);

/// The JVM writes changes back and frees its copy, if it made one.
const COMMIT_AND_FREE: i32 = 0;

/// A primitive array whose elements are pinned until this is dropped. No other function of JNI may
/// be called meanwhile, except on another critical array.
pub(crate) struct Critical {
    env: Env,
    array: Object,
    elements: *mut c_void,
}

impl Critical {
    /// Returns None if the JVM has no memory; an exception is then pending.
    ///
    /// # Safety
    ///
    /// `env` is this thread's, and `array` a primitive array.
    pub(crate) unsafe fn get(env: Env, array: Object) -> Option<Critical> {
        // SAFETY: `env` is this thread's, so it points to the JVM's table, which has this function
        // since Java 1.2; `array` is a primitive array, as `# Safety` says.
        let elements = unsafe { ((**env.0).get_critical)(env, array, null_mut()) };
        (!elements.is_null()).then_some(Critical { env, array, elements })
    }

    /// Returns the address of element `index`.
    ///
    /// # Safety
    ///
    /// The array has elements of type `T`, and at least `index` of them.
    pub(crate) unsafe fn at<T>(&self, index: i32) -> *mut T {
        // SAFETY: the elements are pinned until `self` is dropped, are of type `T`, and `index` is
        // at most their number, as `# Safety` says. So the address is in the array or at its end.
        unsafe { self.elements.cast::<T>().add(index as usize) }
    }
}

impl Drop for Critical {
    fn drop(&mut self) {
        // SAFETY: this releases what `get` returned, once, because the value has one owner, and in
        // the same thread, because it is not `Send`.
        unsafe {
            let release = (**self.env.0).release_critical;
            release(self.env, self.array, self.elements, COMMIT_AND_FREE);
        }
    }
}
