//! The part of a report that a fleet's summary needs. Reports of older versions lack the newer
//! fields; every field that is not read here is skipped.

use super::split::{Fault, LONGEST};
use serde::Deserialize;
use std::borrow::Cow;
use std::fmt;

/// A report, borrowed from the text where it has no escapes.
#[derive(Deserialize)]
pub(super) struct Document<'a> {
    #[serde(borrow, default)]
    pub(super) schema: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(super) verdict: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(super) of: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(super) version: Option<Cow<'a, str>>,
    #[serde(default)]
    pub(super) time: Option<u64>,
    #[serde(borrow, default)]
    pub(super) host: HostPart<'a>,
    #[serde(borrow, default)]
    pub(super) identity: Option<IdentityPart<'a>>,
    #[serde(borrow, default)]
    pub(super) platform: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) kernel: Option<Cow<'a, str>>,
    #[serde(default)]
    pub(super) ready_seconds: Option<f64>,
    #[serde(borrow, default)]
    pub(super) findings: Vec<FindingPart<'a>>,
    /// The number of checks that could not be made.
    #[serde(default, deserialize_with = "count")]
    pub(super) not_checked: usize,
    #[serde(default)]
    pub(super) observed: Option<ObservedPart>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct HostPart<'a> {
    #[serde(borrow)]
    pub(super) name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) machine_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) boot_id: Option<Cow<'a, str>>,
    pub(super) uptime_seconds: Option<u64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct IdentityPart<'a> {
    #[serde(borrow)]
    pub(super) salt: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) machine_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) ssh_host_keys: Vec<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) random_seed: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) boot_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) hardware: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
pub(super) struct FindingPart<'a> {
    #[serde(borrow)]
    pub(super) id: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) severity: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(super) title: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(super) fixes: Vec<FixPart<'a>>,
}

#[derive(Deserialize)]
pub(super) struct FixPart<'a> {
    #[serde(borrow, default)]
    pub(super) what: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(super) exact: Option<Cow<'a, str>>,
}

/// The part of an observer's record that is counted.
#[derive(Deserialize)]
pub(super) struct ObservedPart {
    #[serde(default)]
    pub(super) victims: Vec<VictimPart>,
}

#[derive(Deserialize)]
pub(super) struct VictimPart {
    pub(super) seconds: SecondsPart,
}

#[derive(Deserialize)]
pub(super) struct SecondsPart {
    pub(super) at_least: f64,
}

/// Counts the elements of a list without reading them.
fn count<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<usize, D::Error> {
    Ok(Vec::<serde::de::IgnoredAny>::deserialize(deserializer)?.len())
}

/// The reason why a report does not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// The input is not one document after the other.
    Split(Fault),
    /// The document is not JSON, or a field has another type.
    Json(String),
    /// The document is JSON, and of another kind.
    Foreign(String),
    /// The report was made by a newer version.
    Newer(String),
    /// The file cannot be read.
    File(String),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::Split(Fault::NotAnObject) => f.write_str("not JSON: no object begins here"),
            Refused::Split(Fault::Truncated) => f.write_str("the document is truncated"),
            Refused::Split(Fault::TooLong) => {
                write!(f, "the document is longer than {} MiB", LONGEST >> 20)
            }
            Refused::Json(reason) => write!(f, "not a report: {reason}"),
            Refused::Foreign(schema) if schema.is_empty() => {
                f.write_str("not a report of headwater doctor: the document has no schema")
            }
            Refused::Foreign(schema) => write!(f, "not a report of headwater doctor: {schema}"),
            Refused::Newer(schema) => {
                write!(f, "{schema} is newer than this version, which reads headwater.doctor/1")
            }
            Refused::File(reason) => f.write_str(reason),
        }
    }
}

impl<'a> Document<'a> {
    /// Reads one document.
    ///
    /// # Errors
    ///
    /// Returns the reason why the document does not count.
    pub(super) fn read(text: &'a [u8]) -> Result<Document<'a>, Refused> {
        let document: Document<'a> = match serde_json::from_slice(text) {
            Ok(document) => document,
            Err(error) => return Err(Refused::of(text, &error)),
        };
        schema(&document.schema)?;
        if !["healthy", "findings", "incomplete", "could_not_check"].contains(&&*document.verdict) {
            return Err(Refused::Json(format!("unknown verdict {:?}", document.verdict)));
        }
        Ok(document)
    }
}

impl Refused {
    /// Finds out whether a document that cannot be read is a newer report or another document.
    fn of(text: &[u8], error: &serde_json::Error) -> Refused {
        #[derive(Deserialize)]
        struct Schema<'a> {
            #[serde(borrow, default)]
            schema: Cow<'a, str>,
        }
        match serde_json::from_slice::<Schema<'_>>(text) {
            Ok(document) => {
                schema(&document.schema).err().unwrap_or_else(|| Refused::Json(error.to_string()))
            }
            Err(_) => Refused::Json(error.to_string()),
        }
    }
}

fn schema(schema: &str) -> Result<(), Refused> {
    match schema.strip_prefix("headwater.doctor/").map(str::parse::<u32>) {
        Some(Ok(1)) => Ok(()),
        Some(Ok(2..)) => Err(Refused::Newer(schema.to_owned())),
        _ => Err(Refused::Foreign(schema.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_of_older_versions_are_read_and_others_are_refused() {
        let read = |text: &str| {
            Document::read(text.as_bytes()).map(|document| document.verdict.into_owned())
        };
        let refused = |text: &str| read(text).unwrap_err().to_string();
        // A report of version 0.9 has neither host nor time nor version.
        let old = r#"{"schema":"headwater.doctor/1","verdict":"healthy","of":"x","platform":null,
            "kernel":null,"findings":[],"not_checked":[],"passed":["HW001"],"boots":[]}"#;
        assert_eq!(read(old).as_deref(), Ok("healthy"));
        // With a field that this version does not know.
        let newer = old.replace("\"boots\"", "\"later\":{\"a\":[1]},\"boots\"");
        assert_eq!(read(&newer).as_deref(), Ok("healthy"));
        for (text, part) in [
            (&*old.replace("doctor/1", "doctor/2"), "doctor/2 is newer"),
            (r#"{"schema":"headwater.doctor/2","verdict":7}"#, "doctor/2 is newer"),
            (r#"{"schema":"headwater.bench/1","rows":[]}"#, "headwater.bench/1"),
            (r#"{"schema":"headwater.doctor/x","verdict":"healthy"}"#, "headwater.doctor/x"),
            (r#"{"schema":"headwater.doctor/1"}"#, "unknown verdict"),
            (r#"{"schema":"headwater.doctor/1","verdict":"fine"}"#, "unknown verdict"),
            (r#"{"schema":"headwater.doctor/1","verdict":7}"#, "invalid type"),
            (r#"{"schema":"headwater.doctor/1","verdict":"healthy","time":"now"}"#, "invalid type"),
            (
                r#"{"schema":"headwater.doctor/1","verdict":"healthy","findings":{}}"#,
                "invalid type",
            ),
            (r#"{"schema":7}"#, "invalid type"),
            ("{}", "no schema"),
            (r#"{"kind":"Pod"}"#, "no schema"),
            ("{\"a\": }", "expected value"),
            ("{\"schema\":\"headwater.doctor/1\",\"verdict\":\"h\u{0}\"}", "control character"),
        ] {
            assert!(refused(text).contains(part), "{text}: {}", refused(text));
        }
    }
}
