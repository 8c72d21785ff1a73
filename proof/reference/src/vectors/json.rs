//! The part of JSON that the files need.

use crate::streams::SPEC;
use std::fmt::Write;

/// One object: names and values that are JSON already.
pub(super) type Object = Vec<(&'static str, String)>;

/// Returns a document: its description, and one object a line.
pub(super) fn document(schema: &str, about: &str, cases: &[Object]) -> String {
    let mut text = String::from("{\n");
    for (name, value) in [("schema", schema), ("spec", SPEC), ("about", about)] {
        let _ = writeln!(text, "  \"{name}\": {},", string(value));
    }
    text.push_str("  \"cases\": [\n");
    for (i, case) in cases.iter().enumerate() {
        let fields: Vec<String> =
            case.iter().map(|(name, value)| format!("\"{name}\": {value}")).collect();
        let comma = if i + 1 < cases.len() { "," } else { "" };
        let _ = writeln!(text, "    {{{}}}{comma}", fields.join(", "));
    }
    text.push_str("  ]\n}\n");
    text
}

/// Returns a text as JSON; only quotes, backslashes and control characters are escaped.
pub(super) fn string(text: &str) -> String {
    let mut json = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => json.extend(['\\', c]),
            c if c < ' ' => {
                let _ = write!(json, "\\u{:04x}", u32::from(c));
            }
            c => json.push(c),
        }
    }
    json.push('"');
    json
}

/// Returns bytes as hexadecimal digits, in their order.
pub(super) fn hex(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    string(&digits)
}

/// Returns a number of 128 bits as hexadecimal digits.
pub(super) fn number(n: u128) -> String {
    string(&format!("{n:032x}"))
}
