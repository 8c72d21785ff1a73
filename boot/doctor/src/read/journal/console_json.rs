//! A console's output in the JSON of a cloud's command line: `aws ec2 get-console-output` prints it
//! as one string, with each line break escaped.

use serde::Deserialize;

#[derive(Deserialize)]
struct ConsoleOutput {
    #[serde(rename = "Output")]
    output: String,
}

/// Returns whether a file looks like such a document.
pub(super) fn is_one(first: &[u8]) -> bool {
    let text = first.trim_ascii_start();
    let has = |name: &[u8]| memchr::memmem::find(text, name).is_some();
    // The second name keeps journals out, which may have a field of any name.
    text.starts_with(b"{") && has(b"\"Output\":") && has(b"\"InstanceId\":")
}

/// Returns the console's text; `None` if the file is another document.
pub(super) fn unwrapped(log: &[u8]) -> Option<Vec<u8>> {
    let document: ConsoleOutput = serde_json::from_slice(log).ok()?;
    Some(document.output.into_bytes())
}
