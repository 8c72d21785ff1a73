//! Files of configuration, read as OpenSSL reads them (`crypto/conf/conf_def.c` of 3.0 to 4.0).
//!
//! OpenSSL drops a file with one mistake as a whole, the lines of this command included, and most
//! programs then use OpenSSL's own generator without a word. So it must be known here what OpenSSL
//! takes for a mistake. config(5) does not say it: which bytes a name may have, say, or that a
//! variable without a value is one. A reader that is more tolerant would let such a file pass, and
//! one that is stricter would refuse sound ones, so this one takes the same steps in the same
//! order, down to the pieces of 510 bytes.
//!
//! Some files mean something else to each program that reads them: relative paths of inclusion,
//! pipes, files that begin with a byte order mark (which newer releases skip, but not in a file
//! that is included). They are refused, too.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, ReadDir};
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::{env, mem};

/// The values of each section, in the order in which OpenSSL runs them.
pub(super) type Sections = BTreeMap<Vec<u8>, Vec<Value>>;

/// A value of a section.
pub(super) struct Value {
    /// As it was written.
    pub(super) name: Vec<u8>,
    /// Without quotes and escapes, and with the values of its variables.
    pub(super) value: Vec<u8>,
}

/// Name of the section before the first heading.
const TOP: &[u8] = b"default";
/// The number of open files at which files that include each other are refused.
const MOST_OPEN: usize = 16;
/// The most bytes that OpenSSL reads at once.
const PIECE: usize = 510;
/// The most bytes of a value with its variables expanded.
const LONGEST: usize = 65_536;

/// Reads a text that is in no file yet.
///
/// # Errors
///
/// A message of one line.
pub(super) fn read_text(text: &[u8]) -> Result<Sections, String> {
    let mut reader = Reader::default();
    reader.open.push(Input {
        path: PathBuf::from("the extended configuration"),
        text: text.to_owned(),
        at: 0,
    });
    reader.read()
}

/// Reads `path` and the files that it includes. A missing file counts as empty, as in OpenSSL.
///
/// # Errors
///
/// A message of one line.
pub(super) fn read(path: &Path) -> Result<Sections, String> {
    let mut reader = Reader::default();
    if !is_missing(&fs::metadata(path)) {
        reader.open(path)?;
    }
    reader.read()
}

#[derive(Default)]
struct Reader {
    sections: Sections,
    open: Vec<Input>,
    /// The directory whose files are being included. OpenSSL keeps one at a time.
    directory: Option<ReadDir>,
    /// `.pragma = includedir`
    include_directory: Option<Vec<u8>>,
    /// `.pragma = abspath`
    absolute_only: bool,
    /// `.pragma = dollarid`
    dollar_in_names: bool,
}

/// A file, and how much of it has been read.
struct Input {
    path: PathBuf,
    text: Vec<u8>,
    at: usize,
}

impl Input {
    /// Returns the next line, or a piece of it; nothing at the end.
    fn piece(&mut self) -> &[u8] {
        let rest = &self.text[self.at..];
        let line = rest.iter().position(|&byte| byte == b'\n').map_or(rest.len(), |end| end + 1);
        let piece = &rest[..line.min(PIECE)];
        self.at += piece.len();
        piece
    }
}

impl Reader {
    fn read(mut self) -> Result<Sections, String> {
        let mut section = TOP.to_owned();
        self.sections.entry(section.clone()).or_default();
        while let Some(line) = self.line()? {
            self.add(&line, &mut section).map_err(|what| match what {
                Fault::Mistake(what) => {
                    let line = String::from_utf8_lossy(&line);
                    let file = self.open.last().map_or(Path::new(""), |input| &input.path);
                    let file = file.display();
                    format!(
                        "cannot extend the present configuration of OpenSSL: '{}' in {file} {what}, \
                         for which OpenSSL would ignore all of it",
                        line.trim()
                    )
                }
                Fault::Other(message) => message,
            })?;
        }
        Ok(self.sections)
    }

    /// Puts a file before what is still to be read.
    fn open(&mut self, path: &Path) -> Result<(), String> {
        let refused = |why: &str| Err(format!("cannot read {}: {why}", path.display()));
        if self.open.len() >= MOST_OPEN {
            return Err(format!(
                "{}: configuration files include each other in a circle",
                path.display()
            ));
        }
        let text = match fs::metadata(path) {
            Ok(kind) if kind.is_file() => fs::read(path),
            // An old way to have no configuration.
            Ok(_) if path == Path::new("/dev/null") => Ok(Vec::new()),
            // A pipe is empty after the first program that reads it.
            Ok(_) => return refused("it is no regular file"),
            Err(error) => Err(error),
        };
        let text = match text {
            Ok(text) => text,
            Err(error) => return refused(&error.to_string()),
        };
        if text.contains(&0) || text.starts_with(b"\xef\xbb\xbf") {
            return refused(
                "releases of OpenSSL disagree on a NUL byte, or on a byte order mark at the \
                 beginning; save it as UTF-8 without a mark",
            );
        }
        self.open.push(Input { path: path.to_owned(), text, at: 0 });
        Ok(())
    }

    /// Returns the next line with those that continue it, if any is left.
    fn line(&mut self) -> Result<Option<Vec<u8>>, String> {
        let mut line = Vec::new();
        let mut goes_on = false;
        loop {
            let Some(input) = self.open.last_mut() else { return Ok(None) };
            let piece = input.piece();
            if piece.is_empty() && !goes_on {
                // The rest of a directory comes before the rest of the file that included it.
                self.open.pop();
                self.open_next_of_directory()?;
                continue;
            }
            let end = piece.iter().rposition(|byte| !b"\r\n".contains(byte)).map_or(0, |at| at + 1);
            goes_on = !piece.is_empty() && end == piece.len();
            line.extend_from_slice(&piece[..end]);
            if !goes_on && line.ends_with(b"\\") && !line.ends_with(b"\\\\") {
                line.pop();
                goes_on = true;
            }
            if !goes_on {
                return Ok(Some(line));
            }
        }
    }

    fn open_next_of_directory(&mut self) -> Result<(), String> {
        let Some(mut files) = self.directory.take() else { return Ok(()) };
        let is_included = |path: &Path| {
            let end = path.extension().map(OsStr::as_bytes).unwrap_or_default();
            end.eq_ignore_ascii_case(b"cnf") || end.eq_ignore_ascii_case(b"conf")
        };
        let next = files.by_ref().flatten().map(|file| file.path()).find(|path| is_included(path));
        if let Some(path) = next {
            self.directory = Some(files);
            self.open(&path)?;
        }
        Ok(())
    }

    fn add(&mut self, line: &[u8], section: &mut Vec<u8>) -> Result<(), Fault> {
        let line = before_comment(line);
        let start = after_spaces(line, 0);
        if start == line.len() {
            return Ok(());
        }
        if line[start] == b'[' {
            let first = after_spaces(line, start + 1);
            let mut at = first;
            let end = loop {
                let end = self.after_name(line, at);
                let next = after_spaces(line, end);
                match byte(line, next) {
                    b']' => break end,
                    0 => return Err(Fault::Mistake("has no closing bracket")),
                    _ if next == at => {
                        return Err(Fault::Mistake("has a byte in its name that ends it"));
                    }
                    _ => at = next,
                }
            };
            *section = self.expand(&line[first..end], None)?;
            self.sections.entry(section.clone()).or_default();
            return Ok(());
        }
        let (mut name, mut end) = (start, self.after_name(line, start));
        let mut of = section.clone();
        if line[end..].starts_with(b"::") {
            of = line[start..end].to_owned();
            name = end + 2;
            end = self.after_name(line, name);
        }
        let at = after_spaces(line, end);
        // A directive's name may be longer, as in `.includes = PATH`, but something must follow it.
        let is = |directive: &[u8]| {
            line[name..].starts_with(directive)
                && (at != name + directive.len() || byte(line, at) == b'=')
        };
        let argument = || {
            let at = if byte(line, at) == b'=' { after_spaces(line, at + 1) } else { at };
            without_spaces_at_end(&line[at..])
        };
        if is(b".pragma") {
            return self.pragma(argument());
        }
        if is(b".include") {
            let path = self.expand(argument(), Some(&of))?;
            return self.include(path);
        }
        if byte(line, at) != b'=' {
            return Err(Fault::Mistake(if at == line.len() {
                "has no equals sign"
            } else {
                "has something else than an equals sign after its name"
            }));
        }
        let written = without_spaces_at_end(&line[after_spaces(line, at + 1)..]);
        let value = self.expand(written, Some(&of))?;
        let values = self.sections.entry(of).or_default();
        // The last of a name counts, at the place of the last.
        let name = line[name..end].to_owned();
        values.retain(|value| value.name != name);
        values.push(Value { name, value });
        Ok(())
    }

    fn pragma(&mut self, argument: &[u8]) -> Result<(), Fault> {
        let colon = argument.iter().position(|&byte| byte == b':').unwrap_or(0);
        if colon == 0 || colon + 1 == argument.len() {
            return Err(Fault::Mistake("is no NAME:VALUE"));
        }
        let name = without_spaces_at_end(&argument[..colon]);
        let value = &argument[after_spaces(argument, colon + 1)..];
        let switch = || match value.to_ascii_lowercase().as_slice() {
            b"on" | b"true" => Ok(true),
            b"off" | b"false" => Ok(false),
            _ => Err(Fault::Mistake("is neither on nor off")),
        };
        match name {
            b"dollarid" => self.dollar_in_names = switch()?,
            b"abspath" => self.absolute_only = switch()?,
            b"includedir" => self.include_directory = Some(value.to_owned()),
            _ => {}
        }
        Ok(())
    }

    fn include(&mut self, mut path: Vec<u8>) -> Result<(), Fault> {
        let directory =
            env::var_os("OPENSSL_CONF_INCLUDE").map(|value| value.as_bytes().to_owned());
        let directory = directory.or_else(|| self.include_directory.clone());
        if !path.starts_with(b"/")
            && let Some(mut directory) = directory
        {
            directory.push(b'/');
            directory.append(&mut path);
            path = directory;
        }
        if path.is_empty() {
            return Ok(());
        }
        let is_relative = !path.starts_with(b"/");
        let path = Path::new(OsStr::from_bytes(&path));
        if is_relative && self.absolute_only {
            return Err(Fault::Mistake("is a relative path under `.pragma = abspath:true`"));
        }
        if is_relative {
            return Err(Fault::Other(format!(
                "cannot extend the present configuration of OpenSSL: it includes '{}', which is \
                 another file in each directory; write the whole path",
                path.display()
            )));
        }
        let kind = fs::metadata(path);
        if is_missing(&kind) {
            return Ok(());
        }
        if !kind.is_ok_and(|kind| kind.is_dir()) {
            return self.open(path).map_err(Fault::Other);
        }
        // OpenSSL includes no directory inside another.
        if self.directory.is_none() {
            let files = fs::read_dir(path).map_err(|error| {
                Fault::Other(format!("cannot read {}: {error}", path.display()))
            })?;
            self.directory = Some(files);
            self.open_next_of_directory().map_err(Fault::Other)?;
        }
        Ok(())
    }

    /// Returns the text without quotes and escapes, and with the values of its variables. A heading
    /// belongs to no section; its variables are those before the first heading.
    fn expand(&self, text: &[u8], section: Option<&[u8]>) -> Result<Vec<u8>, Fault> {
        let mut expanded = Vec::new();
        // OpenSSL's measure of the result, which counts what lies around the variables only once.
        let mut length = text.len() + 1;
        let mut at = 0;
        while at < text.len() {
            match text[at] {
                quote if is_quote(quote) => {
                    at += 1;
                    while at < text.len() && text[at] != quote {
                        at += usize::from(text[at] == b'\\');
                        expanded.extend(text.get(at));
                        at += 1;
                    }
                    at += 1;
                }
                b'\\' => {
                    expanded.extend(text.get(at + 1).map(|&escaped| match escaped {
                        b'r' => b'\r',
                        b'n' => b'\n',
                        b'b' => 8,
                        b't' => b'\t',
                        other => other,
                    }));
                    at += 2;
                }
                b'$' if !self.dollar_in_names || matches!(byte(text, at + 1), b'{' | b'(') => {
                    let from = at;
                    let close = match byte(text, at + 1) {
                        b'{' => Some(b'}'),
                        b'(' => Some(b')'),
                        _ => None,
                    };
                    let first = at + 1 + usize::from(close.is_some());
                    at = self.after_variable(text, first);
                    let (mut of, mut name) = (section, &text[first..at]);
                    if text[at..].starts_with(b"::") {
                        of = Some(name);
                        let end = self.after_variable(text, at + 2);
                        name = &text[at + 2..end];
                        at = end;
                    }
                    if close.is_some_and(|close| byte(text, at) != close) {
                        return Err(Fault::Mistake("has an open bracket after a `$`"));
                    }
                    at += usize::from(close.is_some());
                    let Some(value) = self.variable(of, name) else {
                        return Err(Fault::Mistake("contains a variable that has no value"));
                    };
                    length = (value.len() + length).saturating_sub(at - from);
                    if length > LONGEST {
                        return Err(Fault::Mistake("is too long with its variables"));
                    }
                    expanded.extend_from_slice(&value);
                }
                other => {
                    expanded.push(other);
                    at += 1;
                }
            }
        }
        Ok(expanded)
    }

    fn variable(&self, section: Option<&[u8]>, name: &[u8]) -> Option<Vec<u8>> {
        let value = |section: &[u8]| {
            let values = self.sections.get(section)?;
            values.iter().find(|value| value.name == name).map(|value| value.value.clone())
        };
        let of_environment =
            || (section == Some(b"ENV")).then(|| env::var_os(OsStr::from_bytes(name))).flatten();
        section
            .and_then(value)
            .or_else(|| of_environment().map(|value| value.as_bytes().to_owned()))
            .or_else(|| value(TOP))
    }

    fn after_name(&self, line: &[u8], mut at: usize) -> usize {
        loop {
            match byte(line, at) {
                b'\\' => at += 1 + usize::from(at + 1 < line.len()),
                b'$' if self.dollar_in_names => at += 1,
                byte if is_name(byte) || b"!%&*+,-./;?@^|~".contains(&byte) => at += 1,
                _ => return at,
            }
        }
    }

    fn after_variable(&self, text: &[u8], mut at: usize) -> usize {
        while is_name(byte(text, at)) || self.dollar_in_names && byte(text, at) == b'$' {
            at += 1;
        }
        at
    }
}

enum Fault {
    /// OpenSSL drops the whole configuration for it.
    Mistake(&'static str),
    Other(String),
}

fn is_missing(kind: &io::Result<fs::Metadata>) -> bool {
    let is_missing = |kind| matches!(kind, ErrorKind::NotFound | ErrorKind::NotADirectory);
    kind.as_ref().is_err_and(|error| is_missing(error.kind()))
}

/// Returns the byte at a place, and zero after the end, as in a string of C.
fn byte(line: &[u8], at: usize) -> u8 {
    line.get(at).copied().unwrap_or(0)
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn is_quote(byte: u8) -> bool {
    b"\"'`".contains(&byte)
}

fn is_space(byte: u8) -> bool {
    b" \t\r\n".contains(&byte)
}

fn after_spaces(line: &[u8], mut at: usize) -> usize {
    while is_space(byte(line, at)) {
        at += 1;
    }
    at
}

fn without_spaces_at_end(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|&byte| !is_space(byte)).map_or(0, |at| at + 1);
    &text[..end]
}

/// Returns the line up to its comment. A `#` in quotes, or after a backslash, begins none.
fn before_comment(line: &[u8]) -> &[u8] {
    let mut quote = 0;
    let mut is_escaped = false;
    for (at, &byte) in line.iter().enumerate() {
        match byte {
            _ if mem::take(&mut is_escaped) => {}
            b'\\' => is_escaped = true,
            _ if quote == byte => quote = 0,
            _ if quote != 0 => {}
            b'#' => return &line[..at],
            _ if is_quote(byte) => quote = byte,
            _ => {}
        }
    }
    line
}
