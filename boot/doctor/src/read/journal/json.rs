//! journalctl's json: an entry a line, its fields as strings; what is not UTF-8 as an array of
//! numbers, what is there twice as an array of values, what is too large as null.

use super::entry::{Entry, Writer};
use super::stamp::Stamp;
use serde::Deserialize;
use serde::de::{Deserializer, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// The fields that matter, by systemd.journal-fields(7).
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Fields<'a> {
    #[serde(rename = "MESSAGE", borrow)]
    pub(super) message: Value<'a>,
    #[serde(rename = "_TRANSPORT", borrow)]
    pub(super) transport: Value<'a>,
    #[serde(rename = "SYSLOG_IDENTIFIER", borrow)]
    pub(super) identifier: Value<'a>,
    #[serde(rename = "_PID", borrow)]
    pub(super) pid: Value<'a>,
    /// In place of `_PID` where a line came by /dev/kmsg, as systemd's own do until the journal
    /// runs.
    #[serde(rename = "SYSLOG_PID", borrow)]
    pub(super) syslog_pid: Value<'a>,
    #[serde(rename = "UNIT", borrow)]
    pub(super) unit: Value<'a>,
    #[serde(rename = "_BOOT_ID", borrow)]
    pub(super) boot: Value<'a>,
    /// The time at which journald received the line, in microseconds.
    #[serde(rename = "__MONOTONIC_TIMESTAMP", borrow)]
    pub(super) received: Value<'a>,
    /// The time that the writer itself put on the line: the kernel's own time.
    #[serde(rename = "_SOURCE_MONOTONIC_TIMESTAMP", borrow)]
    pub(super) written: Value<'a>,
    #[serde(rename = "__REALTIME_TIMESTAMP", borrow)]
    pub(super) wall: Value<'a>,
}

/// A field's value as text; the first one if the field has several.
#[derive(Clone, Default)]
pub(super) struct Value<'a>(pub(super) Option<Cow<'a, str>>);

impl<'a> Fields<'a> {
    /// Returns whether the fields are those of a journal entry.
    pub(super) fn are_an_entry(&self) -> bool {
        self.message.0.is_some()
            && (self.received.0.is_some() || self.wall.0.is_some() || self.boot.0.is_some())
            || self.received.0.is_some() && self.boot.0.is_some()
    }

    /// Returns the entry's time: the kernel's clock if the entry has it, else the wall clock.
    pub(super) fn stamp(&self) -> Stamp {
        let micros =
            |value: &Value<'_>| Some(value.0.as_deref()?.parse::<u64>().ok()? as f64 / 1e6);
        let kernel = micros(&self.written).or_else(|| micros(&self.received));
        Stamp {
            kernel,
            wall: if kernel.is_none() { micros(&self.wall) } else { None },
            ..Stamp::default()
        }
    }

    /// Returns the entry that the fields describe.
    pub(super) fn entry(self) -> Entry<'a> {
        let writer = match (self.transport.0.as_deref(), self.identifier.0.as_deref()) {
            // A program's line in /dev/kmsg has this transport too, under the program's name.
            (Some("kernel"), None | Some("kernel")) => Writer::Kernel,
            (Some("audit"), _) => Writer::Audit,
            (transport, Some(name)) if transport.is_none() || name != "kernel" => {
                let pid = self.pid.0.as_deref();
                let kmsg = || self.syslog_pid.0.as_deref().filter(|_| transport == Some("kernel"));
                Writer::by_name(name, pid.or_else(kmsg))
            }
            _ => Writer::Other,
        };
        Entry {
            stamp: self.stamp(),
            writer,
            message: self.message.0.unwrap_or_default(),
            unit: self.unit.0,
            boot: self.boot.0,
        }
    }
}

/// Reads a line; returns `None` if it is not an entry.
pub(super) fn parse(line: &[u8]) -> Option<Entry<'_>> {
    // json-seq puts a record separator in front, json-sse a name.
    let line = line.strip_prefix(b"\x1e").or_else(|| line.strip_prefix(b"data: ")).unwrap_or(line);
    let fields: Fields<'_> = serde_json::from_slice(line).ok()?;
    fields.are_an_entry().then(|| fields.entry())
}

impl<'de: 'a, 'a> Deserialize<'de> for Value<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a journal field: a string, null, bytes, or several of these")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Value<'de>, E> {
        Ok(Value(Some(Cow::Borrowed(text))))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value<'de>, E> {
        Ok(Value(Some(Cow::Owned(text.to_owned()))))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value<'de>, E> {
        Ok(Value(Some(Cow::Owned(number.to_string()))))
    }

    fn visit_unit<E>(self) -> Result<Value<'de>, E> {
        Ok(Value(None))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value<'de>, A::Error> {
        let mut first: Option<Cow<'de, str>> = None;
        let mut bytes = Vec::new();
        while let Some(item) = items.next_element::<Item<'de>>()? {
            match item {
                Item::Byte(byte) => bytes.push(byte),
                Item::Text(text) => drop(first.get_or_insert(text)),
                Item::Bytes(all) => {
                    first.get_or_insert_with(|| {
                        Cow::Owned(String::from_utf8_lossy(&all).into_owned())
                    });
                }
            }
        }
        let text =
            (!bytes.is_empty()).then(|| Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()));
        Ok(Value(text.or(first)))
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Item<'a> {
    Byte(u8),
    Text(#[serde(borrow)] Cow<'a, str>),
    Bytes(Vec<u8>),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_every_kind_are_text() {
        for (value, text) in [
            ("\"a\\nb\"", Some("a\nb")),
            ("[97,10,98]", Some("a\nb")),
            ("[\"a\\nb\",\"c\"]", Some("a\nb")),
            ("[[97,10,98],\"c\"]", Some("a\nb")),
            ("null", None),
            ("7", Some("7")),
        ] {
            let line = format!(
                "{{ \"_BOOT_ID\" : \"x\", \"__MONOTONIC_TIMESTAMP\" : \"1500000\", \"MESSAGE\" : {value} }}"
            );
            let entry = parse(line.as_bytes()).unwrap_or_else(|| panic!("{line}"));
            assert_eq!(entry.message, text.unwrap_or_default(), "{line}");
            assert_eq!(entry.stamp.kernel, Some(1.5));
        }
    }

    /// The kernel's own time where there is one; and a program's line through /dev/kmsg is the
    /// program's.
    #[test]
    fn writers_and_times_are_told_by_their_fields() {
        let read = |fields: &str| {
            let line =
                format!("{{\"__MONOTONIC_TIMESTAMP\":\"9000000\",\"MESSAGE\":\"m\",{fields}}}");
            let entry = parse(line.as_bytes()).unwrap();
            (entry.writer, entry.stamp.kernel)
        };
        let kernel = "\"_TRANSPORT\":\"kernel\",\"SYSLOG_IDENTIFIER\":\"kernel\",\"_SOURCE_MONOTONIC_TIMESTAMP\":\"1500000\"";
        assert_eq!(read(kernel), (Writer::Kernel, Some(1.5)));
        assert_eq!(
            read("\"_TRANSPORT\":\"kernel\",\"SYSLOG_IDENTIFIER\":\"random\""),
            (Writer::Other, Some(9.0))
        );
        assert_eq!(
            read(
                "\"_TRANSPORT\":\"kernel\",\"SYSLOG_IDENTIFIER\":\"systemd\",\"SYSLOG_PID\":\"1\""
            )
            .0,
            Writer::Init
        );
        assert_eq!(
            read(
                "\"_TRANSPORT\":\"syslog\",\"SYSLOG_IDENTIFIER\":\"systemd\",\"SYSLOG_PID\":\"1\""
            )
            .0,
            Writer::Other
        );
        assert_eq!(
            read("\"_TRANSPORT\":\"syslog\",\"SYSLOG_IDENTIFIER\":\"kernel\""),
            (Writer::Other, Some(9.0))
        );
        assert_eq!(
            read("\"_TRANSPORT\":\"journal\",\"SYSLOG_IDENTIFIER\":\"systemd\",\"_PID\":\"1\""),
            (Writer::Init, Some(9.0))
        );
        assert_eq!(
            read("\"_TRANSPORT\":\"journal\",\"SYSLOG_IDENTIFIER\":\"systemd\",\"_PID\":\"71\""),
            (Writer::Other, Some(9.0))
        );
    }

    #[test]
    fn other_json_is_no_entry() {
        for line in
            ["", "{}", "[]", "{\"MESSAGE\":\"m\"}", "{\"MESSAGE\":\"m\",\"_BOOT_ID\":\"x\"", "7"]
        {
            assert!(parse(line.as_bytes()).is_none(), "{line}");
        }
    }
}
