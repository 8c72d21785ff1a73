//! Python: the methods of `Stream` and `Elements`, and their stubs.

use super::words::{about, list, wrapped};
use super::{File, NOTE};
use headwater_streams::kinds::{Dtype, Form, Kind, Parameter};

pub(super) fn files() -> Vec<File> {
    vec![
        File { path: "fronts/python/src/streams/generated.rs", text: methods() },
        File { path: "fronts/python/headwater/_distributions.pyi", text: stubs() },
    ]
}

/// Returns the kinds that have a method, with its name.
pub(super) fn kinds() -> impl Iterator<Item = (Kind, &'static str)> {
    Kind::ALL.into_iter().filter_map(|kind| Some((kind, kind.facts().fronts.numpy?)))
}

/// Returns the parameters in Python's order: those without a default first. Flags come by name
/// only, and are left out.
pub(super) fn positional(kind: Kind) -> Vec<&'static Parameter> {
    let all = kind.parameters().iter().filter(|one| one.form != Form::Flag);
    let (with, without): (Vec<_>, Vec<_>) = all.partition(|one| one.default.is_some());
    [without, with].concat()
}

pub(super) fn flags(kind: Kind) -> impl Iterator<Item = &'static Parameter> {
    kind.parameters().iter().filter(|one| one.form == Form::Flag)
}

/// Returns a default as Python writes it, with an equals sign.
pub(super) fn default(parameter: &Parameter, equals: &str) -> String {
    match (parameter.default, parameter.form) {
        (Some(value), Form::Flag) => {
            format!("{equals}{}", if value == 1.0 { "True" } else { "False" })
        }
        (Some(value), _) => format!("{equals}{value:?}"),
        (None, _) => String::new(),
    }
}

/// Returns the entries of the macro that makes the methods.
fn methods() -> String {
    let mut text = format!(
        "// {NOTE}

use super::args::{{Size, Start, Threads}};
use super::distribution::Argument;
use super::elements::Elements as At;
use super::methods::{{To, drawn, methods}};
use super::parameters::Parameter;
use super::shared;
use super::stream::Stream;
use headwater_streams::kinds::{{Elements, Kind}};
use pyo3::prelude::*;

methods! {{
"
    );
    for (kind, method) in kinds() {
        text += &wrapped(&format!("Returns {}", documented(kind)), "    /// ", "    /// ");
        let rust = |one: &&Parameter| format!("{}{}", one.numpy, default(one, " = "));
        let arguments: Vec<_> = positional(kind).iter().map(rust).collect();
        let flags_of = |one: &Parameter| format!("; {} = {}", one.numpy, one.default == Some(1.0));
        let given: Vec<_> = kind.parameters().iter().map(|one| one.numpy).collect();
        let flag: String = flags(kind).map(flags_of).collect();
        text += &format!(
            "    {kind:?}: {method}({}{flag}) [{}]\n        {:?}\n        {:?};\n",
            arguments.join(", "),
            given.join(", "),
            signature(kind, true),
            signature(kind, false)
        );
    }
    text + "}\n"
}

/// Returns the sentence of `help`: the numbers, and in front of its first full stop the types.
fn documented(kind: Kind) -> String {
    let about = about(kind, |one| format!("`{}`", one.numpy), "`standard_normal`");
    let names: Vec<_> = kind.types().iter().map(|one| one.dtype.name()).collect();
    let types = match names[..] {
        [one] => one.to_owned(),
        [one, other] => format!("{one}, or {other}"),
        _ => list(&names, "or").replace(", or ", " or "),
    };
    let place = if kind.facts().vectors { " in the last dimension" } else { "" };
    let (first, rest) = about.split_once(". ").unwrap_or((&about, ""));
    let rest = if rest.is_empty() { String::new() } else { format!(" {rest}.") };
    let table = match kind.parameters().iter().find(|one| one.form == Form::Buckets) {
        Some(weights) => format!(
            " Each call makes a table of all weights, unless `{}` is a `headwater.Categorical`, \
             which has one.",
            weights.numpy
        ),
        None => String::new(),
    };
    format!("{first}{place}: {types}.{rest}{table}")
}

/// Returns the signature that `help` shows, of a range or of a list of elements.
fn signature(kind: Kind, is_range: bool) -> String {
    let mut parts = vec!["$self".to_owned()];
    parts.extend(positional(kind).iter().map(|one| format!("{}{}", one.numpy, default(one, "="))));
    parts.extend(is_range.then(|| "size=None".to_owned()));
    parts.push("*".to_owned());
    parts.extend(flags(kind).map(|one| format!("{}{}", one.numpy, default(one, "="))));
    parts.push(format!("dtype='{}'", kind.types()[0].dtype.name()));
    parts.push("out=None".to_owned());
    parts.extend(is_range.then(|| "start=0, threads=1".to_owned()));
    format!("({})", parts.join(", "))
}

/// Returns the stubs of all methods.
fn stubs() -> String {
    let mut text = format!(
        "# {NOTE}
#
# The types of the distributions' methods. No module has this name at run time: `Stream` and
# `Elements` have these methods themselves, and the classes exist for type checkers only.

from typing import Any, Literal, SupportsIndex, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from headwater._parameters import Categorical, _Matrix, _Real, _Reals
from headwater._streams import _F32, _F64, _I64, _Out, _Shape

_U32: TypeAlias = Literal[\"uint32\", \"u4\"] | type[np.uint32] | np.dtype[np.uint32]
_U64: TypeAlias = Literal[\"uint64\", \"u8\"] | type[np.uint64] | np.dtype[np.uint64]

class _Distributions:
"
    );
    for (kind, method) in kinds() {
        text += &overloads(kind, method);
    }
    text += "
class _DistributionsAt:
    # One index makes a number and several make an array: types cannot say which.
";
    for (kind, method) in kinds() {
        let mut lines = parameters(kind, true);
        lines.push("*".to_owned());
        lines.extend(flag_lines(kind));
        lines.push(format!("dtype: {} | str | None = None", dtypes(kind)));
        lines.push("out: Any = None".to_owned());
        text += &function(method, "", &lines, "Any");
    }
    text
}

/// Returns the overloads of a method: one number, an array of each type, and the argument `out`.
fn overloads(kind: Kind, method: &str) -> String {
    let mut text = String::new();
    let has_defaults = positional(kind).iter().any(|one| one.default.is_some());
    let mut add = |size: &str, by_name: bool, dtype: &str, out: &str, note: &str, result: &str| {
        // A size by its position needs every parameter in front of it.
        let needs_all = !by_name && size == "size: _Shape";
        let mut lines = parameters(kind, !needs_all);
        lines.extend((!by_name).then(|| size.to_owned()));
        lines.push("*".to_owned());
        lines.extend(by_name.then(|| size.to_owned()));
        lines.extend(flag_lines(kind));
        lines.push(format!("dtype: {dtype}"));
        lines.push(format!("out: {out}"));
        lines.extend(["start: SupportsIndex = 0", "threads: SupportsIndex = 1"].map(str::to_owned));
        text += "    @overload\n";
        text += &function(method, note, &lines, result);
    };
    let any = format!("{} | None = None", dtypes(kind));
    let optional = "size: _Shape | None = None";
    let is_real = kind.types()[0].dtype == Dtype::F64;
    if !kind.facts().vectors {
        let number = if is_real { "float" } else { "int" };
        add("size: None = None", false, &any, "None = None", "", number);
    }
    for (i, one) in kind.types().iter().enumerate() {
        let name = alias(one.dtype);
        let dtype = if i == 0 { format!("{name} | None = None") } else { name.to_owned() };
        let result = format!("NDArray[np.{}]", one.dtype.name());
        // A dtype of NumPy is generic over a type, and those of two widths overlap.
        let next = kind.types().get(i + 1).map(|next| next.dtype);
        let overlaps = matches!(
            (one.dtype, next),
            (Dtype::F64, Some(Dtype::F32)) | (Dtype::U64, Some(Dtype::U32))
        );
        let note = if overlaps { "  # type: ignore[overload-overlap]" } else { "" };
        if kind.facts().vectors {
            add(optional, false, &dtype, "None = None", note, &result);
            continue;
        }
        add("size: _Shape", false, &dtype, "None = None", note, &result);
        if has_defaults {
            add("size: _Shape", true, &dtype, "None = None", note, &result);
        }
    }
    add(optional, false, &any, "_Out", "", "_Out");
    text
}

fn function(method: &str, note: &str, lines: &[String], result: &str) -> String {
    let mut text = format!("    def {method}({note}\n        self,\n");
    for line in lines {
        text += &format!("        {line},\n");
    }
    text + &format!("    ) -> {result}: ...\n")
}

fn parameters(kind: Kind, with_defaults: bool) -> Vec<String> {
    let parameter = |one: &&Parameter| {
        let form = match one.form {
            Form::Real => "_Real",
            Form::Count => "SupportsIndex",
            Form::Buckets => "_Reals | Categorical",
            Form::Factor => "_Matrix",
            _ => "_Reals",
        };
        let default = if with_defaults { default(one, " = ") } else { String::new() };
        format!("{}: {form}{default}", one.numpy)
    };
    positional(kind).iter().map(parameter).collect()
}

fn flag_lines(kind: Kind) -> impl Iterator<Item = String> {
    flags(kind).map(|one| format!("{}: bool{}", one.numpy, default(one, " = ")))
}

fn dtypes(kind: Kind) -> String {
    let names: Vec<_> = kind.types().iter().map(|one| alias(one.dtype)).collect();
    names.join(" | ")
}

/// Returns the name of the stubs for the arguments that stand for a type.
fn alias(dtype: Dtype) -> &'static str {
    match dtype {
        Dtype::F64 => "_F64",
        Dtype::F32 => "_F32",
        Dtype::I64 => "_I64",
        Dtype::U64 => "_U64",
        Dtype::U32 => "_U32",
        other => panic!("the stubs have no name for {other:?}: add one to `_distributions.pyi`"),
    }
}
