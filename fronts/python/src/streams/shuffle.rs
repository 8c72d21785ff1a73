//! Shuffling in place, in the order that `Stream::shuffle` of Rust has for so many elements.
//!
//! Rust's function shuffles a slice of any type, and Python's items have sizes known only while the
//! program runs. So items as long as a number are shuffled as numbers, and others follow a shuffled
//! list of their places, which has the same order.

use super::args::{hides_a_mask, listed, not_a, zeros};
use super::dlpack::Tensor;
use super::dtype::Dtype;
use super::memory::{Memory, Out, View};
use super::output::run;
use headwater_streams::Stream;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyList;

/// Shuffles a list, another mutable sequence, a writable buffer or a tensor.
pub(crate) fn shuffle(stream: &Stream, x: &Bound<'_, PyAny>) -> PyResult<()> {
    if let Ok(list) = x.cast_exact::<PyList>() {
        let mut items = listed(list.iter())?;
        stream.shuffle(&mut items);
        return list.set_slice(0, list.len(), PyList::new(x.py(), items)?.as_any());
    }
    if hides_a_mask(x)? {
        return Err(PyTypeError::new_err(
            "x is a masked array, whose mask would stay where it is: shuffle x.filled(), or take \
             the rows of x in a shuffled order",
        ));
    }
    if View::is_offered(x) {
        return buffer(stream, x);
    }
    if Tensor::is_offered(x)? {
        let out = Out::of_any(x, "x")?;
        let rows = rows(x, out.shape().dimensions())?;
        let mut made = Ok(());
        run(x.py(), out.memory().as_bytes(), |memory| {
            made = shuffle_rows(stream, memory, rows);
            Ok(())
        })?;
        return made;
    }
    let mutable = x.py().import("collections.abc")?.getattr("MutableSequence")?;
    if !x.is_instance(&mutable)? {
        return Err(not_a(x, "x", "a mutable sequence or a writable buffer"));
    }
    let mut items = x.try_iter()?.collect::<PyResult<Vec<_>>>()?;
    stream.shuffle(&mut items);
    items.into_iter().enumerate().try_for_each(|(i, item)| x.set_item(i, item))
}

fn buffer(stream: &Stream, x: &Bound<'_, PyAny>) -> PyResult<()> {
    let view = View::writable(x, "x")?;
    let rows = rows(x, view.shape().dimensions())?;
    // SAFETY: `writable` asked for it, so the view grants so many bytes in C order, to be written
    // to, until it is dropped at the end; bytes need no alignment.
    let memory = unsafe { Memory::new(view.start(), view.bytes(), Dtype::U8) };
    if view.holds_objects() {
        // Between two writes a reference is in two places, and another thread could drop it. So
        // Python stays attached, and no other thread runs.
        return shuffle_rows(stream, memory, rows);
    }
    let mut made = Ok(());
    run(x.py(), memory, |memory| {
        made = shuffle_rows(stream, memory, rows);
        Ok(())
    })?;
    made
}

/// Returns the number of items, or of rows if there are several dimensions.
fn rows(x: &Bound<'_, PyAny>, dimensions: &[usize]) -> PyResult<usize> {
    let first = dimensions.first().copied();
    first.ok_or_else(|| not_a(x, "x", "a sequence or an array with a dimension"))
}

/// Moves rows of bytes. Rows as long as a number are moved as they are, and longer ones through a
/// copy of all of them.
fn shuffle_rows(stream: &Stream, memory: Memory, rows: usize) -> PyResult<()> {
    // SAFETY: the elements are bytes, which take any bits, and this call makes no other reference
    // to them.
    let bytes = unsafe { memory.elements::<u8>() };
    let width = bytes.len().checked_div(rows).unwrap_or(0);
    match width {
        0 => {}
        1 => stream.shuffle(bytes),
        2 => stream.shuffle(bytes.as_chunks_mut::<2>().0),
        4 => stream.shuffle(bytes.as_chunks_mut::<4>().0),
        8 => stream.shuffle(bytes.as_chunks_mut::<8>().0),
        16 => stream.shuffle(bytes.as_chunks_mut::<16>().0),
        _ => {
            let mut order = listed(0..rows)?;
            stream.shuffle(&mut order);
            let mut before = zeros(bytes.len())?;
            before.copy_from_slice(bytes);
            for (to, from) in bytes.chunks_exact_mut(width).zip(order) {
                to.copy_from_slice(&before[from * width..][..width]);
            }
        }
    }
    Ok(())
}

/// Returns an error if bytes would overwrite references to Python objects.
pub(crate) fn no_objects(view: &View, name: &str) -> PyResult<()> {
    match view.holds_objects() {
        true => Err(PyTypeError::new_err(format!("{name} must hold plain data, not objects"))),
        false => Ok(()),
    }
}
