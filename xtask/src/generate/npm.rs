//! JavaScript: the table as a module, a function for each kind, and its TypeScript declaration.

use super::words::{about, has, needs, wrapped};
use super::{File, NOTE};
use headwater_streams::kinds::{Dtype, Form, Kind, Parameter};
use std::fmt::Write;

pub(super) fn files() -> Vec<File> {
    vec![
        File { path: "fronts/npm/src/table.js", text: table() },
        File { path: "fronts/npm/src/factories.js", text: factories() },
        File { path: "fronts/npm/src/factories.d.ts", text: declarations() },
    ]
}

/// Returns the functions with the kinds that each of them makes, by the number of arguments:
/// `gamma(shape)` is the kind `gamma`, and `gamma(shape, scale)` the kind `scaled_gamma`.
pub(super) fn functions() -> Vec<(String, Vec<Kind>)> {
    let mut functions: Vec<(String, Vec<Kind>)> = Vec::new();
    for kind in Kind::ALL {
        let name = function(kind);
        match functions.iter_mut().find(|(present, _)| *present == name) {
            Some((_, kinds)) => kinds.push(kind),
            None => functions.push((name, vec![kind])),
        }
    }
    functions
}

/// Returns the name of a kind's function: Java's, or the kind's own in camel case. A kind with a
/// scale shares the function of the kind without one.
fn function(kind: Kind) -> String {
    if let Some(name) = kind.facts().fronts.java {
        return name.to_owned();
    }
    let name = kind.name().strip_prefix("scaled_").unwrap_or(kind.name());
    let mut words = name.split('_');
    let mut camel = words.next().unwrap_or_default().to_owned();
    for word in words {
        let (first, rest) = word.split_at(1);
        camel += &first.to_uppercase();
        camel += rest;
    }
    camel
}

fn table() -> String {
    let mut text = format!("// {NOTE}\n\n/** The types of elements, by their numbers. */\n");
    let names: Vec<_> =
        Dtype::ALL.iter().map(|dtype| format!("    \"{}\"", dtype.name())).collect();
    let _ = write!(text, "export const DTYPES = [\n{},\n];\n\n", names.join(",\n"));
    text += "/** The kinds of each function, of which the number of arguments chooses one. */\n";
    text += "export const FACTORIES = {\n";
    for (name, kinds) in functions() {
        let _ = writeln!(text, "    {name}: [");
        for kind in kinds {
            text += &entry(&name, kind);
        }
        text += "    ],\n";
    }
    text + "};\n"
}

fn entry(js: &str, kind: Kind) -> String {
    let types: Vec<_> =
        kind.types().iter().map(|one| format!("\"{}\"", one.dtype.name())).collect();
    let parameters: String = kind.parameters().iter().map(parameter).collect();
    let parameters = match parameters.is_empty() {
        true => "[]".to_owned(),
        false => format!("[\n{parameters}            ]"),
    };
    format!(
        "        {{
            js: \"{js}\",
            name: \"{}\",
            number: {},
            complex: {},
            types: [{}],
            parameters: {parameters},
        }},
",
        kind.name(),
        kind as u8,
        kind.types().iter().all(|one| matches!(one.dtype, Dtype::C128 | Dtype::C64)),
        types.join(", "),
    )
}

fn parameter(one: &Parameter) -> String {
    let form = match one.form {
        Form::Real => "real",
        Form::Count => "count",
        Form::Integer => "integer",
        Form::Flag => "flag",
        Form::Buckets | Form::Shares => "table",
        Form::Factor => "matrix",
        _ => "list",
    };
    let default = match (one.form, one.default) {
        (_, None) => String::new(),
        (Form::Flag, Some(value)) => format!(", default: {}", value != 0.0),
        (_, Some(value)) => format!(", default: {value}"),
    };
    format!(
        "                {{ name: \"{}\", js: \"{}\", form: \"{form}\"{default} }},\n",
        one.name, one.java
    )
}

fn factories() -> String {
    let mut text = format!(
        "// {NOTE}\n// factories.d.ts says what each function returns.\n\n\
         import {{ distribution }} from \"./distribution.js\";\n"
    );
    for (name, _) in functions() {
        let _ = write!(
            text,
            "\nexport function {name}(...values) {{\n    \
             return distribution(\"{name}\", values);\n}}\n"
        );
    }
    text
}

fn declarations() -> String {
    let mut text = format!(
        "// {NOTE}\n\n\
         import type {{ Count, Counts, Distribution, Reals, Words }} from \"../index.js\";\n"
    );
    for (name, kinds) in functions() {
        let mut before = 0;
        for (i, kind) in kinds.into_iter().enumerate() {
            // An argument more than the function before takes chooses this one.
            let required = if i == 0 { 0 } else { before + 1 };
            text += &declaration(&name, kind, required);
            before = kind.parameters().len();
        }
    }
    text
}

fn declaration(name: &str, kind: Kind, required: usize) -> String {
    let code = |parameter: &Parameter| format!("`{}`", parameter.java);
    let mut comment = format!("Returns {}.", about(kind, code, "`normal()`"));
    let needs = needs(kind, code);
    if !needs.is_empty() {
        let _ = write!(comment, " {needs}.");
    }
    let argument = |(i, one): (usize, &Parameter)| {
        let form = match one.form {
            Form::Real => "number",
            Form::Count | Form::Integer => "Count",
            Form::Flag => "boolean",
            Form::Factor => "ArrayLike<number> | readonly ArrayLike<number>[]",
            _ => "ArrayLike<number>",
        };
        let has_default = |one: &Parameter| one.default.is_some();
        // TypeScript has no optional argument in front of one that is needed.
        let is_optional = i >= required && kind.parameters()[i..].iter().all(has_default);
        match (is_optional, has_default(one) && i >= required) {
            (true, _) => format!("{}?: {form}", one.java),
            (false, true) => format!("{}: {form} | undefined", one.java),
            (false, false) => format!("{}: {form}", one.java),
        }
    };
    let arguments: Vec<_> = kind.parameters().iter().enumerate().map(argument).collect();
    let elements = match (has(kind, Dtype::F64), has(kind, Dtype::F32), has(kind, Dtype::U64)) {
        (true, false, _) => "Float64Array",
        (true, true, _) => "Reals",
        (_, _, true) if kind == Kind::Words => "Words, BigUint64Array",
        (_, _, true) => "Counts",
        _ => "Reals",
    };
    let comment = match comment.len() + 8 <= 100 {
        true => format!("/** {comment} */\n"),
        false => format!("/**\n{} */\n", wrapped(&comment, " * ", " * ")),
    };
    format!(
        "\n{comment}export function {name}({}): Distribution<{elements}>;\n",
        arguments.join(", ")
    )
}

/// Returns the document's table: each call with what its elements are.
pub(super) fn calls() -> String {
    let mut text = "| distribution | elements |\n| --- | --- |\n".to_owned();
    for (name, kinds) in functions() {
        for (i, kind) in kinds.iter().enumerate() {
            let before = if i == 0 { 0 } else { kinds[i - 1].parameters().len() + 1 };
            let arguments: Vec<_> = kind
                .parameters()
                .iter()
                .enumerate()
                .map(|(place, one)| match one.default {
                    Some(value) if place >= before && one.form == Form::Flag => {
                        format!("{} = {}", one.java, value != 0.0)
                    }
                    Some(value) if place >= before => format!("{} = {value}", one.java),
                    _ => one.java.to_owned(),
                })
                .collect();
            let about = about(*kind, |one| format!("`{}`", one.java), "`normal()`");
            let (first, _) = about.split_once(". ").unwrap_or((&about, ""));
            let _ = writeln!(text, "| `{name}({})` | {first} |", arguments.join(", "));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Otherwise the number of arguments could not choose between the kinds of a function.
    #[test]
    fn the_kinds_of_a_function_differ_in_the_number_of_their_parameters() {
        for (name, kinds) in functions() {
            let counts: Vec<_> = kinds.iter().map(|kind| kind.parameters().len()).collect();
            assert!(counts.is_sorted_by(|a, b| a < b), "{name}: {counts:?}");
        }
    }

    /// The library finds the end of a list by the words of the other parameters.
    #[test]
    fn a_kind_has_one_list_unless_a_square_follows_it() {
        for kind in Kind::ALL {
            let forms: Vec<_> = kind.parameters().iter().map(|one| one.form).collect();
            let is_list = |form: &&Form| {
                !matches!(form, Form::Real | Form::Count | Form::Integer | Form::Flag)
            };
            let lists: Vec<_> = forms.iter().filter(is_list).collect();
            assert!(lists.len() <= 1 || forms == [Form::Reals, Form::Factor], "{kind:?}");
        }
    }
}
