//! Hooks in the methods of `_random.Random`, in place.
//!
//! To assign other functions to `random.random` would miss each copy that `from random import
//! random` has made, each bound method that a library keeps, and would cost a call in Python. But
//! all of them lead to one entry of the class's table of methods, and call what stands there. So
//! the entry is changed, as a debugger would: no object changes, and a draw costs one comparison
//! more.
//!
//! The entry is found by a function object, whose second field has been its address in every
//! CPython. This is no part of the stable interface, so it is believed only if the interpreter's
//! own accessors agree with what lies there. Otherwise nothing is changed, and `install` raises.

use super::{is_copied, renew};
use core::ffi::{CStr, c_int, c_void};
use core::sync::atomic::{AtomicPtr, Ordering};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::{ffi, intern};
use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

type Two = unsafe extern "C" fn(*mut ffi::PyObject, *mut ffi::PyObject) -> *mut ffi::PyObject;
type Fast = unsafe extern "C" fn(
    *mut ffi::PyObject,
    *const *mut ffi::PyObject,
    ffi::Py_ssize_t,
) -> *mut ffi::PyObject;

/// `PyCFunctionObject` of Include/cpython/methodobject.h, as far as it is read.
#[repr(C)]
struct FunctionObject {
    base: ffi::PyObject,
    method: *mut MethodEntry,
}

/// `PyMethodDef` of Include/methodobject.h, which is part of the stable interface.
#[repr(C)]
struct MethodEntry {
    name: *const core::ffi::c_char,
    function: AtomicPtr<c_void>,
    flags: c_int,
    doc: *const core::ffi::c_char,
}

/// The functions that were in the table.
static RANDOM: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());
static GETRANDBITS: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());
static SEED: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());
static SETSTATE: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());

/// Addresses of generators that the program has seeded. An address is used again by an object that
/// is made later, but each is seeded when it is made, which corrects the note.
static SEEDED: Mutex<Option<HashSet<usize>>> = Mutex::new(None);

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(clones_hook_random, module)?)?;
    module.add_function(wrap_pyfunction!(clones_is_seeded, module)?)
}

fn note(generator: *mut ffi::PyObject, is_seeded: bool) {
    let mut seeded = SEEDED.lock().unwrap_or_else(PoisonError::into_inner);
    let seeded = seeded.get_or_insert_default();
    if is_seeded {
        seeded.insert(generator.addr());
    } else {
        seeded.remove(&generator.addr());
    }
}

/// Renews if this is a copy; false if that raised.
#[inline(always)]
fn is_ready() -> bool {
    !is_copied() || is_renewed()
}

#[cold]
#[inline(never)]
fn is_renewed() -> bool {
    // SAFETY: the interpreter calls a method with its lock held.
    let py = unsafe { Python::assume_attached() };
    renew(py).map_err(|error| error.restore(py)).is_ok()
}

/// Calls the method of two arguments that was in the table.
///
/// # Safety
///
/// The arguments are those of a call by the interpreter, and `place` is that method's.
#[inline(always)]
unsafe fn call(
    place: &AtomicPtr<c_void>,
    this: *mut ffi::PyObject,
    argument: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: `hook` stored a function with this signature, by its flags, before it put the hook
    // in its place, so it is not null. The arguments are passed as they came.
    unsafe {
        core::mem::transmute::<*mut c_void, Two>(place.load(Ordering::Acquire))(this, argument)
    }
}

unsafe extern "C" fn random(
    this: *mut ffi::PyObject,
    unused: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    if !is_ready() {
        return core::ptr::null_mut();
    }
    // SAFETY: the interpreter's own call, passed on.
    unsafe { call(&RANDOM, this, unused) }
}

unsafe extern "C" fn getrandbits(
    this: *mut ffi::PyObject,
    bits: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    if !is_ready() {
        return core::ptr::null_mut();
    }
    // SAFETY: the interpreter's own call, passed on.
    unsafe { call(&GETRANDBITS, this, bits) }
}

/// Notes that the program has chosen the state.
unsafe extern "C" fn setstate(
    this: *mut ffi::PyObject,
    state: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    note(this, true);
    // SAFETY: the interpreter's own call, passed on.
    unsafe { call(&SETSTATE, this, state) }
}

/// Notes whether the program has chosen the seed: without one, or with None, the kernel does.
unsafe extern "C" fn seed(
    this: *mut ffi::PyObject,
    arguments: *const *mut ffi::PyObject,
    count: ffi::Py_ssize_t,
) -> *mut ffi::PyObject {
    // SAFETY: `count` is the number of arguments, and `Py_None` lives as long as the interpreter.
    note(this, unsafe { count > 0 && *arguments != ffi::Py_None() });
    // SAFETY: `hook` has checked the flags, by which the table had a function with this signature.
    // The arguments are the interpreter's own.
    unsafe {
        let seed = core::mem::transmute::<*mut c_void, Fast>(SEED.load(Ordering::Acquire));
        seed(this, arguments, count)
    }
}

/// Puts hooks into the methods of `_random.Random`; a second call changes nothing.
#[pyfunction]
fn clones_hook_random(py: Python<'_>, generator: &Bound<'_, PyAny>) -> PyResult<()> {
    if !RANDOM.load(Ordering::Acquire).is_null() {
        return Ok(());
    }
    let class = py.import(intern!(py, "_random"))?.getattr(intern!(py, "Random"))?;
    let hooks: [(&CStr, c_int, &AtomicPtr<c_void>, *mut c_void); 4] = [
        (c"setstate", ffi::METH_O, &SETSTATE, setstate as *mut c_void),
        (c"seed", ffi::METH_FASTCALL, &SEED, seed as *mut c_void),
        (c"getrandbits", ffi::METH_O, &GETRANDBITS, getrandbits as *mut c_void),
        (c"random", ffi::METH_NOARGS, &RANDOM, random as *mut c_void),
    ];
    // All are looked at before one is changed.
    let mut entries = Vec::new();
    for (name, flags, ..) in hooks {
        // Bound by the class of C, whatever a subclass makes of the name.
        let method = class
            .getattr(name.to_string_lossy().as_ref())?
            .call_method1("__get__", (generator,))?;
        entries.push(entry(&method, name, flags)?);
    }
    for (entry, (_, _, place, hook)) in entries.into_iter().zip(hooks) {
        place.store(entry.function.load(Ordering::Acquire), Ordering::Release);
        entry.function.store(hook, Ordering::Release);
    }
    Ok(())
}

/// Returns the entry of the table of methods that a bound method leads to.
fn entry(method: &Bound<'_, PyAny>, name: &CStr, flags: c_int) -> PyResult<&'static MethodEntry> {
    let refused = |why: &str| {
        Err(PyRuntimeError::new_err(format!(
            "cannot hook _random.Random.{}: {why}; draws of `random` would repeat in copies",
            name.to_string_lossy()
        )))
    };
    let object = method.as_ptr();
    // SAFETY: the object lives through the call. Both accessors check its type.
    let (function, found) = unsafe {
        if ffi::PyCFunction_Check(object) == 0 {
            return refused("it is no method written in C");
        }
        (ffi::PyCFunction_GetFunction(object), ffi::PyCFunction_GetFlags(object))
    };
    if found != flags {
        return refused(&format!("this Python calls it otherwise (flags {found:#x})"));
    }
    let Some(function) = function else { return refused("it has no function") };
    // SAFETY: an object of this type is larger than the part that is read: it has at least a
    // header, the entry's address and the object that it is bound to.
    let entry = unsafe { (*object.cast::<FunctionObject>()).method };
    match is_writable(entry.addr(), size_of::<MethodEntry>()) {
        Ok(true) => {}
        Ok(false) => {
            return refused("its table of methods is not where it is expected, or not writable");
        }
        Err(error) => {
            return refused(&format!("whether it may be written is in /proc/self/maps ({error})"));
        }
    }
    // SAFETY: memory that can be read and written, as /proc/self/maps says. It is a table of a
    // module that is never unloaded. If it were not one, the comparison below would say so.
    let entry = unsafe { &*entry };
    if entry.function.load(Ordering::Acquire).addr() != function as usize || entry.flags != flags {
        return refused("its table of methods is not where it is expected");
    }
    Ok(entry)
}

/// Returns whether the memory is mapped for reading and writing, by /proc/self/maps.
fn is_writable(start: usize, len: usize) -> std::io::Result<bool> {
    if !start.is_multiple_of(align_of::<MethodEntry>()) {
        return Ok(false);
    }
    // Any bytes: the list names the files that are mapped, as their owners have named them.
    let maps = std::fs::read("/proc/self/maps")?;
    Ok(String::from_utf8_lossy(&maps).lines().any(|line| {
        let Some((range, rest)) = line.split_once(' ') else { return false };
        let Some((from, to)) = range.split_once('-') else { return false };
        let number = |text| usize::from_str_radix(text, 16).unwrap_or(0);
        rest.starts_with("rw") && number(from) <= start && start + len <= number(to)
    }))
}

/// Returns whether the program has seeded this generator since the hooks were put in.
#[pyfunction]
fn clones_is_seeded(generator: &Bound<'_, PyAny>) -> bool {
    let seeded = SEEDED.lock().unwrap_or_else(PoisonError::into_inner);
    seeded.as_ref().is_some_and(|seeded| seeded.contains(&generator.as_ptr().addr()))
}
