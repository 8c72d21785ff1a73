//! The forms of JSON in the document, written piece by piece.

use crate::Text;

/// An object under construction. Each call writes a member; the drop closes the object.
pub(crate) struct Object<'a> {
    out: &'a mut dyn FnMut(&[u8]),
    is_empty: bool,
}

impl<'a> Object<'a> {
    pub(crate) fn open(out: &'a mut dyn FnMut(&[u8])) -> Object<'a> {
        out(b"{");
        Object { out, is_empty: true }
    }

    fn name(&mut self, name: &str) {
        if !self.is_empty {
            (self.out)(b",");
        }
        self.is_empty = false;
        text(self.out, [name]);
        (self.out)(b":");
    }

    pub(crate) fn text(&mut self, name: &str, value: &str) {
        self.texts(name, [value]);
    }

    /// Writes one text of several parts.
    pub(crate) fn texts<'t>(&mut self, name: &str, parts: impl IntoIterator<Item = &'t str>) {
        self.name(name);
        text(self.out, parts);
    }

    pub(crate) fn text_or_null(&mut self, name: &str, value: Option<&str>) {
        match value {
            Some(value) => self.text(name, value),
            None => self.null(name),
        }
    }

    pub(crate) fn short_or_null(&mut self, name: &str, value: Option<Text>) {
        self.text_or_null(name, value.as_deref());
    }

    pub(crate) fn number(&mut self, name: &str, value: impl Into<u64>) {
        self.name(name);
        digits(self.out, value.into(), 1);
    }

    pub(crate) fn number_or_null(&mut self, name: &str, value: Option<u64>) {
        match value {
            Some(value) => self.number(name, value),
            None => self.null(name),
        }
    }

    /// Writes microseconds as seconds.
    pub(crate) fn seconds_or_null(&mut self, name: &str, microseconds: Option<u64>) {
        let Some(microseconds) = microseconds else { return self.null(name) };
        self.name(name);
        digits(self.out, microseconds / 1_000_000, 1);
        (self.out)(b".");
        let (mut fraction, mut places) = (microseconds % 1_000_000, 6);
        while places > 1 && fraction % 10 == 0 {
            (fraction, places) = (fraction / 10, places - 1);
        }
        digits(self.out, fraction, places);
    }

    pub(crate) fn truth(&mut self, name: &str, value: bool) {
        self.name(name);
        (self.out)(if value { b"true" } else { b"false" });
    }

    pub(crate) fn null(&mut self, name: &str) {
        self.name(name);
        (self.out)(b"null");
    }

    pub(crate) fn object(&mut self, name: &str) -> Object<'_> {
        self.name(name);
        Object::open(self.out)
    }
}

impl Drop for Object<'_> {
    fn drop(&mut self) {
        (self.out)(b"}");
    }
}

fn text<'t>(out: &mut dyn FnMut(&[u8]), parts: impl IntoIterator<Item = &'t str>) {
    out(b"\"");
    for byte in parts.into_iter().flat_map(str::bytes) {
        match byte {
            b'"' => out(b"\\\""),
            b'\\' => out(b"\\\\"),
            0..0x20 => {
                let hex = |nibble: u8| if nibble < 10 { b'0' + nibble } else { b'a' - 10 + nibble };
                out(&[b'\\', b'u', b'0', b'0', hex(byte >> 4), hex(byte & 15)]);
            }
            _ => out(&[byte]),
        }
    }
    out(b"\"");
}

/// Writes a decimal number, with leading zeros up to `places`.
fn digits(out: &mut dyn FnMut(&[u8]), mut value: u64, places: usize) {
    let mut digits = [b'0'; 20]; // u64::MAX has 20 digits
    let mut written = 0;
    for digit in digits.iter_mut().rev() {
        if value == 0 && written >= places {
            break;
        }
        *digit = b'0' + (value % 10) as u8;
        value /= 10;
        written += 1;
    }
    if let Some(digits) = digits.get(digits.len().saturating_sub(written)..) {
        out(digits);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn object(fill: impl FnOnce(&mut Object<'_>)) -> Value {
        let mut bytes = Vec::new();
        let mut out = |piece: &[u8]| bytes.extend_from_slice(piece);
        let mut object = Object::open(&mut out);
        fill(&mut object);
        drop(object);
        serde_json::from_slice(&bytes).unwrap()
    }

    #[test]
    fn texts_come_back_whatever_is_in_them() {
        let every: String = (0..0x250).filter_map(char::from_u32).collect();
        let value = object(|object| {
            object.text("a", &every);
            object.texts("b", ["x", "\"", "y"]);
            object.null("c");
            object.object("d").truth("e", true);
        });
        assert_eq!(value, json!({ "a": every, "b": "x\"y", "c": null, "d": { "e": true } }));
    }

    #[test]
    fn numbers_come_back() {
        for number in [0, 1, 9, 10, 1_000_000, u64::MAX] {
            let value = object(|object| object.number("n", number));
            assert_eq!(value, json!({ "n": number }));
        }
    }

    #[test]
    fn seconds_are_what_a_float_would_be() {
        for microseconds in [0, 1, 10, 109_223, 999_999, 1_000_000, 4_500_000, 86_400_000_001] {
            let value = object(|object| object.seconds_or_null("s", Some(microseconds)));
            assert_eq!(value, json!({ "s": microseconds as f64 / 1e6 }));
        }
    }
}
