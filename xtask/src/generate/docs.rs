//! The tables of the documents.

use super::words::{about, list, wrapped};
use super::{File, npm, python, with_part};
use anyhow::Result;
use headwater_streams::kinds::{Dtype, Form, Kind, Parameter};
use std::path::Path;

const MARKS: (&str, &str) = ("<!-- generated: kinds -->", "<!-- generated: end -->");

pub(super) fn files(root: &Path) -> Result<Vec<File>> {
    [
        ("docs/distributions.md", methods()),
        ("docs/python/distributions.md", calls()),
        ("docs/python/dask.md", functions()),
        ("docs/java.md", factories()),
        ("docs/javascript.md", npm::calls()),
    ]
    .into_iter()
    .map(|(path, part)| with_part(root, path, MARKS, &part))
    .collect()
}

/// Returns the kinds that are distributions with parameters.
fn distributions() -> impl Iterator<Item = Kind> {
    Kind::ALL.into_iter().filter(|kind| !kind.facts().method.is_empty())
}

/// Returns the types of Rust with their parameters and methods.
fn methods() -> String {
    let mut text = "| distribution | parameters | method |\n| --- | --- | --- |\n".to_owned();
    for kind in distributions().filter(|&kind| kind != Kind::ScaledGamma) {
        let names: Vec<_> = kind.parameters().iter().map(parameter).collect();
        let method = kind.facts().method;
        text += &format!("| `{kind:?}` | {} | {method} |\n", names.join("; "));
    }
    text
}

/// Returns a parameter with its range.
fn parameter(parameter: &Parameter) -> String {
    match (parameter.form, parameter.range.need) {
        (Form::Flag, _) => format!("`{}`, yes or no", parameter.name),
        (Form::Count, "") => format!("`{}`, a whole number", parameter.name),
        (_, "") => format!("`{}`", parameter.name),
        (_, need) => format!("`{}`, {need}", parameter.name),
    }
}

/// Returns the calls of Python with their numbers and types.
fn calls() -> String {
    let mut text = "| method | elements | types |\n| --- | --- | --- |\n".to_owned();
    for (kind, method) in python::kinds() {
        let names = python::positional(kind).into_iter().map(|one| one.numpy.to_owned());
        let flags =
            python::flags(kind).map(|one| format!("{}{}", one.numpy, python::default(one, "=")));
        let all: Vec<_> = names.chain(["size".to_owned()]).chain(flags).collect();
        let types: Vec<_> =
            kind.types().iter().map(|one| format!("`{}`", one.dtype.name())).collect();
        let numbers = about(kind, |one| format!("`{}`", one.numpy), "`standard_normal`");
        let (first, _) = numbers.split_once(". ").unwrap_or((&numbers, ""));
        text += &format!("| `{method}({})` | {first} | {} |\n", all.join(", "), types.join(", "));
    }
    text
}

/// Returns the names of Dask's functions.
fn functions() -> String {
    let names: Vec<_> = python::kinds().map(|(_, method)| format!("`{method}`")).collect();
    wrapped(&format!("{}.", list(&names, "and")), "", "")
}

/// Returns Java's factories by the elements that they have.
fn factories() -> String {
    let mut text = "| distribution | elements |\n| --- | --- |\n".to_owned();
    for (vectors, dtype, elements) in [
        (false, Dtype::F64, "doubles, or floats"),
        (false, Dtype::U64, "longs"),
        (true, Dtype::F64, "vectors of doubles, one after the other"),
        (true, Dtype::U64, "vectors of longs"),
    ] {
        let is_of = |kind: &Kind| {
            let types = kind.types();
            kind.facts().vectors == vectors && types.iter().any(|one| one.dtype == dtype)
        };
        let names: Vec<_> = Kind::ALL
            .into_iter()
            .filter(is_of)
            .filter_map(|kind| Some(format!("`{}`", kind.facts().fronts.java?)))
            .collect();
        text += &format!("| {} | {elements} |\n", names.join(", "));
    }
    text
}
