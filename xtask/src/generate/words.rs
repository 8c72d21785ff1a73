//! Words of the table in the forms that languages need.

use headwater_streams::kinds::{Dtype, Form, Kind, Parameter};

/// The columns of a line.
const WIDTH: usize = 100;

/// Returns a kind's `about` with a front's names of the parameters and of the normal doubles, both
/// with the signs that the front has around names.
pub(super) fn about(kind: Kind, name: impl Fn(&Parameter) -> String, normal: &str) -> String {
    let mut text = kind.facts().about.replace("{normal}", normal);
    for parameter in kind.parameters() {
        let quoted = format!("`{}`", parameter.name);
        text = text.replace(&quoted, &name(parameter));
    }
    text
}

/// Returns what the parameters must be: "mean must be a finite number, and deviation a finite
/// number from 0". Parameters whose range another one has, or whose form says it, are left out.
pub(super) fn needs(kind: Kind, name: impl Fn(&Parameter) -> String) -> String {
    let needs = grouped(kind, name, |parameter| parameter.range.need);
    let text = |(i, (names, need)): (usize, &(Vec<String>, &str))| {
        let verb = match (i, names.len()) {
            (0, 1) => " must be",
            (0, _) => " must each be",
            (_, 1) => "",
            _ => " each",
        };
        format!("{}{verb} {need}", names.join(" and "))
    };
    list(&needs.iter().enumerate().map(text).collect::<Vec<_>>(), "and")
}

/// Returns the names of parameters that have the same text, with that text.
pub(super) fn grouped<'a>(
    kind: Kind,
    name: impl Fn(&Parameter) -> String,
    text: impl Fn(&Parameter) -> &'a str,
) -> Vec<(Vec<String>, &'a str)> {
    let mut groups: Vec<(Vec<String>, &str)> = Vec::new();
    for parameter in kind.parameters().iter().filter(|one| !text(one).is_empty()) {
        match groups.last_mut() {
            Some((names, last)) if *last == text(parameter) => names.push(name(parameter)),
            _ => groups.push((vec![name(parameter)], text(parameter))),
        }
    }
    groups
}

/// Joins parts by commas, and the last one by a word as well.
pub(super) fn list(parts: &[impl AsRef<str>], word: &str) -> String {
    let parts: Vec<&str> = parts.iter().map(AsRef::as_ref).collect();
    match parts.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{}, {word} {last}", others.join(", ")),
        None => String::new(),
    }
}

/// A space at which no line breaks, and which is written as an ordinary one.
pub(super) const FIXED: char = '\u{a0}';

/// Breaks a text into lines that begin with `first`, and then with `next`.
pub(super) fn wrapped(text: &str, first: &str, next: &str) -> String {
    let mut lines = String::new();
    let mut line = first.to_owned();
    let mut is_empty = true;
    for word in text.split_ascii_whitespace() {
        if !is_empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
            lines += line.trim_end();
            lines += "\n";
            line = next.to_owned();
            is_empty = true;
        }
        if !is_empty {
            line += " ";
        }
        line += word;
        is_empty = false;
    }
    (lines + line.trim_end() + "\n").replace(FIXED, " ")
}

/// Returns true if all parameters are single numbers.
pub(super) fn has_numbers_alone(kind: Kind) -> bool {
    kind.parameters().iter().all(|one| matches!(one.form, Form::Real | Form::Count))
}

/// Returns true if the kind has elements of the type.
pub(super) fn has(kind: Kind, dtype: Dtype) -> bool {
    kind.types().iter().any(|one| one.dtype == dtype)
}
