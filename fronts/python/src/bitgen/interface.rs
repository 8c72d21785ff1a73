//! NumPy's `bitgen_t`, and its four functions over any source of words.

use super::words::{Words, to_f64};
use core::cell::UnsafeCell;
use core::ffi::{c_char, c_void};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// `bitgen_t` of numpy/random/bitgen.h. It is part of NumPy's public C interface, and has had these
/// fields since NumPy 1.17.
#[repr(C)]
pub(crate) struct BitGen {
    state: *mut c_void,
    pub(crate) next_uint64: extern "C" fn(*mut c_void) -> u64,
    pub(crate) next_uint32: extern "C" fn(*mut c_void) -> u32,
    pub(crate) next_double: extern "C" fn(*mut c_void) -> f64,
    pub(crate) next_raw: extern "C" fn(*mut c_void) -> u64,
}

/// A source of words, and the half word that a draw of 32 bits left over.
///
/// The alignment is that of a cache line: a state that begins in the middle of one shares it with
/// other data of the program, which another thread may write.
#[repr(C, align(64))]
pub(super) struct State<W> {
    /// True while `left` has not been drawn: the upper half of a word whose lower half has been, as
    /// NumPy's generators keep it. Not an `Option`: `take` would store twice in each second draw.
    has_left: bool,
    left: u32,
    pub(super) words: W,
}

impl<W> State<W> {
    /// Returns the half word left over.
    pub(super) fn half(&self) -> Option<u32> {
        self.has_left.then_some(self.left)
    }

    /// Sets the half word left over.
    pub(super) fn set_half(&mut self, half: Option<u32>) {
        (self.has_left, self.left) = (half.is_some(), half.unwrap_or(0));
    }
}

/// The place of a state.
///
/// `Generator` copies the `bitgen_t` when it is made, so the state must stay at one address as long
/// as this value lives. A setter would be simpler if it made a new box, but then the copy points to
/// the old one, which crashed NumPy's own tests. So the setter writes in place.
pub(super) struct StatePlace<W>(Box<UnsafeCell<State<W>>>);

// SAFETY: a state is plain data. Every access holds the bit generator's lock: `Generator` and
// `random_raw` take it around each draw, and `headwater.numpy` around each call of this crate.
unsafe impl<W: Send> Sync for StatePlace<W> {}

impl<W: Words> StatePlace<W> {
    pub(super) fn new(words: W) -> StatePlace<W> {
        StatePlace(Box::new(UnsafeCell::new(State { has_left: false, left: 0, words })))
    }

    /// Runs `action` on the state.
    pub(super) fn with<R>(&self, action: impl FnOnce(&mut State<W>) -> R) -> R {
        // SAFETY: the caller holds the bit generator's lock, so no other reference exists. The
        // actions of this crate call no Python, which could take the (reentrant) lock again.
        action(unsafe { &mut *self.0.get() })
    }

    /// Writes the address of this state and the four functions into the capsule's `bitgen_t`.
    pub(super) fn install(&self, capsule: &Bound<'_, PyAny>) -> PyResult<()> {
        const NAME: *const c_char = c"BitGenerator".as_ptr();
        // SAFETY: the argument is a Python object, and the name is a C string. If the object is no
        // capsule of this name, CPython says so and returns null.
        let pointer = unsafe { pyo3::ffi::PyCapsule_GetPointer(capsule.as_ptr(), NAME) };
        if pointer.is_null() {
            return Err(PyErr::fetch(capsule.py()));
        }
        if !pointer.cast::<BitGen>().is_aligned() {
            return Err(PyValueError::new_err("capsule holds an unaligned bitgen_t"));
        }
        // All four: NumPy calls a null pointer without a test.
        let interface = BitGen {
            state: self.0.get().cast(),
            next_uint64: next_uint64::<W>,
            next_uint32: next_uint32::<W>,
            next_double: next_double::<W>,
            next_raw: next_uint64::<W>,
        };
        // SAFETY: a capsule of this name points to the `bitgen_t` inside its bit generator, which
        // NumPy makes writable for this purpose.
        unsafe { pointer.cast::<BitGen>().write(interface) };
        Ok(())
    }
}

/// Returns the state at the pointer that [`StatePlace::install`] wrote.
///
/// # Safety
///
/// The pointer comes from a `StatePlace` of the same `W` that is alive, and the bit generator's
/// lock is held.
#[inline(always)]
unsafe fn state<'a, W>(pointer: *mut c_void) -> &'a mut State<W> {
    // SAFETY: the `StatePlace` is alive, so the state is there, and has the type `W` that its
    // functions were made for. The bit generator's lock is held, so no other reference to the state
    // is in use.
    unsafe { &mut *pointer.cast() }
}

extern "C" fn next_uint64<W: Words>(pointer: *mut c_void) -> u64 {
    // SAFETY: NumPy passes the pointer of this bit generator, whose Python object owns the
    // `StatePlace`, and holds its lock.
    unsafe { state::<W>(pointer) }.words.next()
}

/// Returns the lower half of a word, then its upper half.
extern "C" fn next_uint32<W: Words>(pointer: *mut c_void) -> u32 {
    // SAFETY: NumPy passes the pointer of this bit generator, and holds its lock.
    let state = unsafe { state::<W>(pointer) };
    if state.has_left {
        state.has_left = false;
        return state.left;
    }
    let word = state.words.next();
    (state.has_left, state.left) = (true, (word >> 32) as u32);
    word as u32
}

extern "C" fn next_double<W: Words>(pointer: *mut c_void) -> f64 {
    // SAFETY: NumPy passes the pointer of this bit generator, and holds its lock.
    to_f64(unsafe { state::<W>(pointer) }.words.next())
}
