//! Hooks in NumPy's bit generators.
//!
//! Each method of `Generator` and `RandomState` draws through the four functions of a `bitgen_t`,
//! NumPy's public C interface, of which both classes keep a copy. A hook takes the place of each
//! function. It finds the original by its number, and not by the state that it is called with: an
//! allocation beside each state could never be freed, because a bit generator cannot be watched by
//! a weak reference.

use super::{is_copied, renew};
use crate::bitgen::BitGen;
use core::ffi::c_void;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use std::sync::OnceLock;

/// Classes that can be hooked. NumPy has five.
const CLASSES: usize = 12;

static ORIGINALS: [OnceLock<Functions>; CLASSES] = [const { OnceLock::new() }; CLASSES];

/// The four functions of a class.
#[derive(Clone, Copy)]
struct Functions {
    next_uint64: extern "C" fn(*mut c_void) -> u64,
    next_uint32: extern "C" fn(*mut c_void) -> u32,
    next_double: extern "C" fn(*mut c_void) -> f64,
    next_raw: extern "C" fn(*mut c_void) -> u64,
}

/// Renews if this is a copy.
#[inline(always)]
fn make_ready() {
    if is_copied() {
        renew_anywhere();
    }
}

/// Renews, from a loop that may run without the interpreter's lock.
///
/// An error cannot be raised from here, because `bitgen_t` has no place for one. So it is reported
/// as one of a destructor is, and the next draw tries again.
#[cold]
#[inline(never)]
fn renew_anywhere() {
    Python::attach(|py| {
        if let Err(error) = renew(py) {
            error.write_unraisable(py, None);
        }
    });
}

macro_rules! hook {
    ($name:ident, $result:ty, $zero:expr) => {
        extern "C" fn $name<const CLASS: usize>(state: *mut c_void) -> $result {
            make_ready();
            match ORIGINALS[CLASS].get() {
                Some(original) => (original.$name)(state),
                None => $zero, // not reached: the original is stored before the hook is used
            }
        }
    };
}

hook!(next_uint64, u64, 0);
hook!(next_uint32, u32, 0);
hook!(next_double, f64, 0.0);
hook!(next_raw, u64, 0);

/// Returns the hooks of a class.
fn hooks(class: usize) -> Functions {
    macro_rules! of {
        ($($number:literal),*) => {
            match class {
                $($number => Functions {
                    next_uint64: next_uint64::<$number>,
                    next_uint32: next_uint32::<$number>,
                    next_double: next_double::<$number>,
                    next_raw: next_raw::<$number>,
                },)*
                _ => Functions {
                    next_uint64: next_uint64::<0>,
                    next_uint32: next_uint32::<0>,
                    next_double: next_double::<0>,
                    next_raw: next_raw::<0>,
                },
            }
        };
    }
    of!(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(clones_hook_bitgen, module)?)
}

/// Hooks the `bitgen_t` of a bit generator's capsule. Returns false if it was hooked before.
///
/// A `Generator` or `RandomState` that exists has a copy of it: call its `__init__` afterwards.
#[pyfunction]
fn clones_hook_bitgen(capsule: &Bound<'_, PyAny>) -> PyResult<bool> {
    // SAFETY: the argument is a Python object, and the name is a C string. If the object is no
    // capsule of this name, CPython says so and returns null.
    let pointer = unsafe { ffi::PyCapsule_GetPointer(capsule.as_ptr(), c"BitGenerator".as_ptr()) };
    if pointer.is_null() {
        return Err(PyErr::fetch(capsule.py()));
    }
    if !pointer.cast::<BitGen>().is_aligned() {
        return Err(PyValueError::new_err("capsule holds an unaligned bitgen_t"));
    }
    // SAFETY: a capsule of this name points to the `bitgen_t` inside its bit generator, which NumPy
    // makes writable for such purposes. The interpreter's lock is held, and NumPy's own loops use
    // the copies of it.
    let bitgen = unsafe { &mut *pointer.cast::<BitGen>() };
    let found = Functions {
        next_uint64: bitgen.next_uint64,
        next_uint32: bitgen.next_uint32,
        next_double: bitgen.next_double,
        next_raw: bitgen.next_raw,
    };
    for (class, original) in ORIGINALS.iter().enumerate() {
        let ours = hooks(class);
        if found.next_uint64 as usize == ours.next_uint64 as usize {
            return Ok(false);
        }
        if original.get_or_init(|| found).is(&found) {
            bitgen.next_uint64 = ours.next_uint64;
            bitgen.next_uint32 = ours.next_uint32;
            bitgen.next_double = ours.next_double;
            bitgen.next_raw = ours.next_raw;
            return Ok(true);
        }
    }
    Err(PyRuntimeError::new_err(format!("more than {CLASSES} classes of bit generators")))
}

impl Functions {
    fn is(&self, other: &Functions) -> bool {
        let addresses = |of: &Functions| {
            [
                of.next_uint64 as usize,
                of.next_uint32 as usize,
                of.next_double as usize,
                of.next_raw as usize,
            ]
        };
        addresses(self) == addresses(other)
    }
}
