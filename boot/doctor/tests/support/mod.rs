//! Logs of the tests, several to a file.

use headwater_hostfile::{Archive, Entry};
use std::path::Path;

/// Reads `tests/logs/NAME.txt`, an archive with one log or trace a section. Pictures of control
/// characters become the characters, which no text in an archive can contain.
pub(crate) fn logs(name: &str) -> Archive {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/logs").join(name).with_extension("txt");
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let written = Archive::parse(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut logs = Archive::default();
    for (section, entry) in written.entries() {
        let Entry::File(content) = entry else { panic!("{name}: {section} is not a file") };
        // The section that says where the others are from.
        if section != "README" {
            let text = std::str::from_utf8(content).unwrap();
            let text = text.replace('\u{2400}', "\0").replace('\u{241b}', "\x1b");
            logs.insert(section, Entry::File(text.into_bytes())).unwrap();
        }
    }
    logs
}
