//! Dask: a function for each method of Python, which draws an array chunk by chunk.

use super::python::{default, flags, kinds, positional};
use super::{File, NOTE};
use headwater_streams::kinds::{Form, Kind, Parameter};

pub(super) fn file() -> File {
    let mut text = format!(
        "# {NOTE}
\"\"\"Dask arrays of distributions with parameters: the methods of `Stream`, chunk by chunk.

A function takes the key and the shape of the array, then the parameters of the method.
\"\"\"

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from headwater._dask_draw import Matrix, Reals, drawn
from headwater._dask_layer import Shape

if TYPE_CHECKING:
    from dask.array.core import Array
    from numpy.typing import DTypeLike

    from headwater import Categorical, Key, Stream

__all__ = [
"
    );
    let mut names: Vec<_> = kinds().map(|(_, method)| method).collect();
    names.sort_unstable();
    for name in names {
        text += &format!("    \"{name}\",\n");
    }
    text += "]\n";
    for (kind, method) in kinds() {
        text += &function(kind, method);
    }
    File { path: "fronts/python/headwater/_dask_distributions.py", text }
}

fn function(kind: Kind, method: &str) -> String {
    let facts = kind.facts();
    let default_type = kind.types()[0].dtype.name();
    let has_types = kind.types().len() > 1;
    let mut lines = vec!["key: Key | Stream".to_owned(), "shape: Shape".to_owned()];
    lines.extend(positional(kind).iter().map(|one| {
        let form = match one.form {
            Form::Real => "float",
            Form::Count => "int",
            Form::Buckets => "Reals | Categorical",
            Form::Factor => "Matrix",
            _ => "Reals",
        };
        format!("{}: {form}{}", name(one), default(one, " = "))
    }));
    lines.push("*".to_owned());
    lines.extend(flags(kind).map(|one| format!("{}: bool{}", one.numpy, default(one, " = "))));
    lines.extend(has_types.then(|| format!("dtype: DTypeLike = \"{default_type}\"")));
    lines.push("chunks: Any = \"auto\"".to_owned());
    let lines: String = lines.iter().map(|line| format!("    {line},\n")).collect();
    let (what, place) = match facts.vectors {
        true => ("vectors", " in the last dimension"),
        false => ("numbers", ""),
    };
    let values: Vec<_> = positional(kind).iter().map(|one| name(one)).collect();
    let values = if let [one] = values[..] { format!("{one},") } else { values.join(", ") };
    let dtype = if has_types { "dtype" } else { &format!("\"{default_type}\"") };
    let options: String = flags(kind).map(|one| format!(", {0}={0}", one.numpy)).collect();
    format!(
        "

def {method}(
{lines}) -> Array:
    \"\"\"Returns the {what} of `Stream.{method}`{place}.\"\"\"
    return drawn(
        key, shape, chunks, \"{method}\", ({values}), np.dtype({dtype}){options}
    )
"
    )
}

/// Returns the name of a parameter, which must not be that of the array's shape.
fn name(parameter: &Parameter) -> &'static str {
    if parameter.numpy == "shape" { "a" } else { parameter.numpy }
}
