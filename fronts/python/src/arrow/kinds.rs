//! The table of kinds as Python's fronts read it, so that a new kind has functions in all of them.

use headwater_arrow::label;
use headwater_streams::kinds::{Form, Kind};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// Returns a dict for each kind.
pub(super) fn kinds(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let all = PyList::empty(py);
    for kind in Kind::ALL {
        let facts = kind.facts();
        let parameters = PyList::empty(py);
        // Parameters without a default first, as Python wants them.
        for has_default in [false, true] {
            for parameter in facts.parameters {
                if parameter.default.is_some() == has_default {
                    let default: Option<Bound<'_, PyAny>> =
                        match (parameter.default, parameter.form) {
                            (Some(value), Form::Flag) => {
                                Some((value == 1.0).into_pyobject(py)?.to_owned().into_any())
                            }
                            (Some(value), _) => Some(value.into_pyobject(py)?.into_any()),
                            (None, _) => None,
                        };
                    parameters.append((parameter.numpy, default))?;
                }
            }
        }
        let order: Vec<_> = facts.parameters.iter().map(|parameter| parameter.numpy).collect();
        let dtypes: Vec<_> = facts.types.iter().map(|one| one.dtype.name()).collect();
        let mut about = facts.about.replace("{normal}", "`normal`");
        for parameter in facts.parameters {
            about =
                about.replace(&format!("`{}`", parameter.name), &format!("`{}`", parameter.numpy));
        }
        let dict = PyDict::new(py);
        dict.set_item("name", label::name_of(kind))?;
        dict.set_item("kind", kind.name())?;
        dict.set_item("parameters", parameters)?;
        dict.set_item("order", order)?;
        dict.set_item("dtypes", dtypes)?;
        dict.set_item("about", about)?;
        let is_number =
            |form| matches!(form, Form::Real | Form::Count | Form::Integer | Form::Flag);
        let numbers = facts.parameters.iter().all(|parameter| is_number(parameter.form));
        dict.set_item("is_plain", numbers && !facts.vectors)?;
        // The parameters that a column may have.
        let is_column = |form| matches!(form, Form::Real | Form::Count);
        let columns = facts.parameters.iter().filter(|parameter| is_column(parameter.form));
        let columns: Vec<_> = columns.map(|parameter| parameter.numpy).collect();
        let takes_columns = numbers && !facts.vectors && kind != Kind::Permutation;
        dict.set_item("columns", if takes_columns { columns } else { Vec::new() })?;
        all.append(dict)?;
    }
    Ok(all)
}
