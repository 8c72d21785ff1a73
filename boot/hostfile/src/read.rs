//! The reader.

use crate::{Archive, Entry, MAGIC, MAX_BYTES, ParseError, path, write};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::collections::HashMap;
use std::io;

/// The way in which the lines of a section become content.
enum Form {
    Text {
        final_newline: bool,
    },
    Base64,
    /// A link or a directory, whose header says everything.
    Empty(Entry),
}

struct Section {
    path: String,
    form: Form,
    /// The header's line.
    line: usize,
    body: Vec<u8>,
    /// Set when the first line of the body has been read.
    has_lines: bool,
}

pub(crate) fn parse(bytes: &[u8]) -> Result<Archive, ParseError> {
    let error = |line, cause: &str| Err(ParseError { line, cause: cause.to_owned() });
    if bytes.len() as u64 > MAX_BYTES {
        return error(1, &format!("the file is longer than {} MiB", MAX_BYTES >> 20));
    }
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(invalid) => {
            let before = bytes.get(..invalid.valid_up_to()).unwrap_or_default();
            let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
            return error(line, "not UTF-8; binary content must be written as base64");
        }
    };
    let mut lines = text.split_terminator('\n').enumerate();
    // A CR at a line's end is never content (see `write::readable`).
    match lines.next().map(|(_, line)| line.trim_end_matches('\r')) {
        Some(MAGIC) => {}
        Some(other) if other.starts_with("headwater.host/") => {
            let version = other.chars().take(40).collect::<String>();
            return error(1, &format!("{version:?} is not supported; this version reads {MAGIC}"));
        }
        _ => return error(1, &format!("not a host file; the first line must be {MAGIC}")),
    }
    let mut reader = Reader::default();
    let mut section: Option<Section> = None;
    for (number, line) in lines {
        let line = line.strip_suffix('\r').unwrap_or(line);
        if line.starts_with("-- ") {
            if let Some(done) = section.replace(header(line, number + 1)?) {
                reader.add(done)?;
            }
        } else if let Some(section) = &mut section {
            section.add(line, number + 1)?;
        } else if !line.trim().is_empty() {
            return error(number + 1, "content before the first header");
        }
    }
    if let Some(done) = section {
        reader.add(done)?;
    }
    Ok(reader.archive)
}

fn header(line: &str, number: usize) -> Result<Section, ParseError> {
    let error = |cause: String| ParseError { line: number, cause };
    let malformed = || {
        error(
            "not a header (`-- PATH --`); a line of content that begins so needs a backslash"
                .to_owned(),
        )
    };
    let inner = line.strip_prefix("-- ").and_then(|rest| rest.strip_suffix(" --"));
    let mut words = inner.ok_or_else(malformed)?.split(' ');
    let name = path::decode(words.next().unwrap_or_default()).map_err(error)?;
    let options: Vec<&str> = words.collect();
    let (name, is_directory) = match name.strip_suffix('/') {
        Some(name) => (name.to_owned(), true),
        None => (name, false),
    };
    path::check(&name).map_err(error)?;
    let form = match (options.as_slice(), is_directory) {
        ([], true) => Form::Empty(Entry::Directory),
        ([], false) => Form::Text { final_newline: true },
        (["no-newline"], false) => Form::Text { final_newline: false },
        (["base64"], false) => Form::Base64,
        (["->", target], false) => {
            let target = path::decode(target).map_err(error)?;
            path::check_target(&target).map_err(error)?;
            Form::Empty(Entry::Link(target))
        }
        _ => return Err(malformed()),
    };
    Ok(Section { path: name, form, line: number, body: Vec::new(), has_lines: false })
}

impl Section {
    fn add(&mut self, line: &str, number: usize) -> Result<(), ParseError> {
        let error = |cause: &str| ParseError { line: number, cause: cause.to_owned() };
        match &self.form {
            Form::Empty(_) if line.trim().is_empty() => {}
            Form::Empty(Entry::Link(_)) => return Err(error("a link has no content")),
            Form::Empty(_) => return Err(error("a directory has no content")),
            Form::Base64 => {
                let line = line.trim();
                if !line.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte))
                {
                    return Err(error("not base64"));
                }
                self.body.extend_from_slice(line.as_bytes());
            }
            Form::Text { .. } => {
                let line = match line.strip_prefix('\\') {
                    Some(rest) if write::is_escaped(line) => rest,
                    _ => line,
                };
                self.body.extend_from_slice(line.as_bytes());
                self.body.push(b'\n');
            }
        }
        self.has_lines = true;
        Ok(())
    }

    fn finish(self) -> Result<(String, Entry), ParseError> {
        let error = |cause: String| ParseError { line: self.line, cause };
        let mut body = self.body;
        let entry = match self.form {
            Form::Empty(entry) => entry,
            Form::Text { final_newline: true } => Entry::File(body),
            Form::Text { final_newline: false } => {
                if body.pop().is_none() {
                    return Err(error("`no-newline` needs at least one line".to_owned()));
                }
                Entry::File(body)
            }
            Form::Base64 => Entry::File(
                STANDARD.decode(&body).map_err(|reason| error(format!("not base64: {reason}")))?,
            ),
        };
        Ok((self.path, entry))
    }
}

#[derive(Default)]
struct Reader {
    archive: Archive,
    /// The header's line of each path, for the error about a second one.
    lines: HashMap<String, usize>,
}

impl Reader {
    fn add(&mut self, section: Section) -> Result<(), ParseError> {
        let line = section.line;
        let (path, entry) = section.finish()?;
        if let Some(first) = self.lines.get(&path) {
            let cause = format!("{path:?} is already in line {first}");
            return Err(ParseError { line, cause });
        }
        self.archive
            .insert(&path, entry)
            .map_err(|reason: io::Error| ParseError { line, cause: reason.to_string() })?;
        self.lines.insert(path, line);
        Ok(())
    }
}
