//! Reproducible streams: arrays that are the same for any partition of the work.
//!
//! A call goes from a pymethod (`stream`, `elements`, `methods`, `permutation`) with its arguments
//! (`args`, `dtype`, `indices`, `parameters`, `categorical`) to a place for its values (`output`,
//! `memory`, `array`, `dlpack`), where `draw` of the crate `headwater-streams` writes them. No file
//! here knows by itself which parameters and types a kind has, because that crate's table does
//! (`distribution`).

mod args;
mod array;
mod categorical;
mod choice;
mod cursor;
mod distribution;
mod dlpack;
mod dtype;
mod elements;
mod generated;
mod indices;
mod integers;
mod key;
mod lists;
mod memory;
mod methods;
mod numpy;
mod output;
mod parameters;
mod permutation;
mod shared;
mod shuffle;
mod stream;
mod taken;

pub(crate) use args::{Shape, hides_a_mask, integer, not_a, outside, signed};
pub(crate) use distribution::refused;
pub(crate) use key::Key;
pub(crate) use memory::{Memory, View};
pub(crate) use output::{Place, WORTH_A_SWITCH, Wanted};
pub(crate) use parameters::Parameter;
pub(crate) use stream::Stream;

use pyo3::prelude::*;

/// Reads the argument `dtype`, which must be one of the kind's types.
pub(crate) fn one_of_types(
    value: &Bound<'_, PyAny>,
    kind: headwater_streams::kinds::Kind,
) -> PyResult<dtype::Dtype> {
    dtype::one_of(dtype::dtype(value)?, kind.types().iter().map(|one| one.dtype), "dtype")
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("ENGINES", key::engines(py)?)?;
    shared::set_up(py)?;
    module.add_function(wrap_pyfunction!(shared::warn_of_shared_words, module)?)?;
    module.add("KINDS", cursor::kinds(py)?)?;
    module.add_class::<array::Array>()?;
    module.add_class::<categorical::Categorical>()?;
    module.add_class::<cursor::Cursor>()?;
    module.add_class::<elements::Elements>()?;
    module.add_class::<key::Key>()?;
    module.add_class::<permutation::Permutation>()?;
    module.add_class::<stream::Stream>()?;
    // Python's own functions, such as `random.sample`, ask for a registered sequence. Python loads
    // this module when it starts, and `collections.abc` would load all of `collections` for 2 ms.
    let sequence = py.import("_collections_abc")?.getattr("Sequence")?;
    sequence.call_method1("register", (py.get_type::<permutation::Permutation>(),))?;
    Ok(())
}
