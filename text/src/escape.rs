//! Text that came from a machine under examination, made safe for a terminal.

/// Returns `text` with every control, bidirectional and invisible format character written out as
/// `\u{...}`, and tabs as blanks.
///
/// Log lines, unit names and paths are chosen by other people. An escape sequence in one of them
/// could colour the terminal, move its cursor over a verdict, or set its title; a bidirectional
/// override could show a command in another order than the one that a paste would run.
pub fn untrusted(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\t' => safe.push(' '),
            c if c.is_control() || is_format(c) => safe.extend(c.escape_unicode()),
            c => safe.push(c),
        }
    }
    safe
}

/// Returns a JSON document in which every character that [`untrusted`] would escape is written as
/// `\uXXXX`, which a reader of JSON turns back.
///
/// A document is also printed, and then its strings reach the terminal. But it must stay the same
/// document, so the escapes of `untrusted` would not do: JSON knows no `\u{...}`. The line breaks
/// and blanks between values stay, because a string of a document holds no line break.
pub fn json(document: &str) -> String {
    let mut safe = String::with_capacity(document.len());
    for c in document.chars() {
        if c != '\n' && (c.is_control() || is_format(c)) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                safe.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            safe.push(c);
        }
    }
    safe
}

/// Returns true for characters of Unicode's categories Cf, Zl and Zp that change or hide what a
/// reader sees.
fn is_format(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminals_are_not_moved_and_text_is_not_turned() {
        for (text, safe) in [
            ("ssh.service", "ssh.service"),
            ("café 日本", "café 日本"),
            ("a\tb", "a b"),
            ("\x1b[31mred", "\\u{1b}[31mred"),
            ("line\nline", "line\\u{a}line"),
            ("\u{9b}2J", "\\u{9b}2J"),
            ("rm \u{202e}txt", "rm \\u{202e}txt"),
            ("zero\u{200b}width", "zero\\u{200b}width"),
            ("\u{feff}bom", "\\u{feff}bom"),
            ("tag\u{e0041}", "tag\\u{e0041}"),
        ] {
            assert_eq!(untrusted(text), safe);
        }
    }

    #[test]
    fn a_document_is_safe_to_print_and_says_the_same() {
        for (text, safe) in [
            ("{\n  \"a\": \"café 日本\"\n}\n", "{\n  \"a\": \"café 日本\"\n}\n"),
            ("\"\u{9b}2J\"", "\"\\u009b2J\""),
            ("\"rm \u{202e}txt\"", "\"rm \\u202etxt\""),
            ("\"tag\u{e0041}\"", "\"tag\\udb40\\udc41\""),
            ("\"a\tb\"", "\"a\\u0009b\""),
        ] {
            assert_eq!(json(text), safe);
        }
    }
}
