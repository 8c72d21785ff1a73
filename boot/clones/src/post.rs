//! The place where a witness meets the command: a directory, and four files in it.
//!
//! Why files, and no socket or pipe? A witness is copied while it waits. A checkpoint keeps only a
//! few kinds of connections, a restored machine has none of the other ends, and a copy must not
//! talk to the planter of the original. A file that is looked for five times in a while exists in
//! every copy, and awk can look for it as well as C.

use crate::planting::LOG;
use crate::process::last_line;
use crate::stop;
use anyhow::{Context, Result};
use std::fmt::Write;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The variable that names a witness's directory.
pub(crate) const DIRECTORY: &str = "HEADWATER_WITNESS_DIR";
/// The variable that names the witness.
pub(crate) const NAME: &str = "HEADWATER_WITNESS";
/// Says that a witness is warm: its title, then a line for each source that it cannot draw.
pub(crate) const READY: &str = "ready";
/// Lets it draw. The file holds for how many seconds a witness of the kernel draws on.
pub(crate) const GO: &str = "go";
/// Has its draws.
pub(crate) const DRAWS: &str = "draws";
/// The time between two looks of this command for a file.
const POLL: Duration = Duration::from_millis(5);
/// The same of a witness. Thirty of them wait together, and an emulated machine has no time to
/// spare.
const WITNESS_POLL: Duration = Duration::from_millis(20);
/// The number of values that a witness draws of each source.
pub(crate) const ROUNDS: usize = 8;

/// The directory of one witness.
pub(crate) struct Post(PathBuf);

impl Post {
    pub(crate) fn new(directory: &Path) -> Post {
        Post(directory.to_owned())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Writes a file so that a reader sees all of it or none.
    pub(crate) fn write(&self, name: &str, text: &str) -> Result<()> {
        let part = self.path(&format!("{name}.tmp"));
        fs::write(&part, text).with_context(|| part.display().to_string())?;
        fs::rename(&part, self.path(name)).with_context(|| part.display().to_string())
    }

    /// Returns the text of a file, or None while there is none.
    pub(crate) fn read(&self, name: &str) -> Result<Option<String>> {
        match fs::read_to_string(self.path(name)) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| self.path(name).display().to_string()),
        }
    }

    /// Returns the last line of the log that says something. The log is a runtime's own words, in
    /// any encoding.
    pub(crate) fn last_words(&self) -> String {
        last_line(&fs::read(self.path(LOG)).unwrap_or_default())
    }

    /// Waits until the file is there, and returns its text; None when the time is over.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or if a signal ends the work.
    pub(crate) fn wait(&self, name: &str, limit: Duration) -> Result<Option<String>> {
        let begun = Instant::now();
        loop {
            if let Some(text) = self.read(name)? {
                return Ok(Some(text));
            }
            if begun.elapsed() >= limit {
                return Ok(None);
            }
            stop::check()?;
            sleep(POLL);
        }
    }

    /// Waits as a witness: until it may draw, and returns for how long; None once the planter has
    /// taken the directory away, so that no witness is left for ever. Calls `meanwhile` at each
    /// look.
    pub(crate) fn wait_for_go(&self, mut meanwhile: impl FnMut()) -> Result<Option<Duration>> {
        loop {
            meanwhile();
            if let Some(text) = self.read(GO)? {
                let seconds = text.trim().parse().unwrap_or(0.0_f64);
                return Ok(Some(Duration::try_from_secs_f64(seconds).unwrap_or_default()));
            }
            if !self.path(READY).exists() {
                return Ok(None);
            }
            sleep(WITNESS_POLL);
        }
    }
}

/// A reseed that the kernel's witness saw while it waited.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Reseed {
    pub(crate) generation: u64,
    /// The nanosecond of CLOCK_MONOTONIC at which the generation was first seen.
    pub(crate) ns: u64,
    /// The same of the last looks before.
    pub(crate) looks: Vec<u64>,
}

/// A value that a witness drew.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Value {
    pub(crate) id: String,
    pub(crate) text: String,
    /// Milliseconds from the trigger, if the witness says so.
    pub(crate) ms: Option<u64>,
}

/// The contents of a file of a witness.
#[derive(Debug, Default, Eq, PartialEq)]
pub(crate) struct Said {
    /// The runtime's name and version.
    pub(crate) title: String,
    /// Sources that this runtime does not have, with the reason.
    pub(crate) skipped: Vec<(String, String)>,
    /// The kernel's reseed generation, if the witness can read it.
    pub(crate) reseeds: Option<u64>,
    /// The reseeds that it saw while it waited.
    pub(crate) seen: Vec<Reseed>,
    pub(crate) values: Vec<Value>,
}

const SKIPPED: &str = "skipped";
const RESEEDS: &str = "# reseed-generation ";
const SEEN: &str = "# reseed ";

impl Said {
    /// Reads the file `ready`, whose first line is the title.
    pub(crate) fn ready(text: &str) -> Said {
        let (title, rest) = text.split_once('\n').unwrap_or((text, ""));
        let mut said = Said { title: title.trim().to_owned(), ..Said::default() };
        for line in rest.lines() {
            let mut fields = line.splitn(3, '\t');
            match (fields.next(), fields.next(), fields.next()) {
                (Some(SKIPPED), Some(id), Some(why)) => {
                    said.skipped.push((id.to_owned(), why.to_owned()));
                }
                _ => said.fact(line),
            }
        }
        said
    }

    /// Reads the file `draws`.
    pub(crate) fn draws(text: &str) -> Said {
        let mut said = Said::default();
        for line in text.lines() {
            let mut fields = line.splitn(3, '\t');
            match (fields.next(), fields.next(), fields.next()) {
                (Some(id), Some(value), ms) => said.values.push(Value {
                    id: id.to_owned(),
                    text: value.to_owned(),
                    ms: ms.and_then(|ms| ms.trim().parse().ok()),
                }),
                _ => said.fact(line),
            }
        }
        said
    }

    fn fact(&mut self, line: &str) {
        if let Some(number) = line.strip_prefix(RESEEDS) {
            self.reseeds = number.trim().parse().ok();
        }
        if let Some(numbers) = line.strip_prefix(SEEN) {
            let numbers: Option<Vec<u64>> =
                numbers.split_whitespace().map(|number| number.parse().ok()).collect();
            if let Some([generation, ns, looks @ ..]) = numbers.as_deref() {
                let (generation, ns, looks) = (*generation, *ns, looks.to_vec());
                self.seen.push(Reseed { generation, ns, looks });
            }
        }
    }

    /// Formats what this command's own witnesses say when they are ready.
    pub(crate) fn ready_text(&self) -> String {
        let mut text = format!("{}\n", self.title);
        for (id, why) in &self.skipped {
            let _ = writeln!(text, "{SKIPPED}\t{id}\t{why}");
        }
        text + &self.facts()
    }

    pub(crate) fn draws_text(&self) -> String {
        let mut text = self.facts();
        for Value { id, text: value, ms } in &self.values {
            let ms = ms.map(|ms| format!("\t{ms}")).unwrap_or_default();
            let _ = writeln!(text, "{id}\t{value}{ms}");
        }
        text
    }

    fn facts(&self) -> String {
        let mut text =
            self.reseeds.map(|number| format!("{RESEEDS}{number}\n")).unwrap_or_default();
        for Reseed { generation, ns, looks } in &self.seen {
            let _ = write!(text, "{SEEN}{generation} {ns}");
            for look in looks {
                let _ = write!(text, " {look}");
            }
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_witness_writes_is_read_again() {
        let ready = Said {
            title: "Python 3.11".to_owned(),
            skipped: vec![("python/numpy".to_owned(), "not installed, here".to_owned())],
            reseeds: Some(7),
            ..Said::default()
        };
        assert_eq!(Said::ready(&ready.ready_text()), ready);
        let value = |ms| Value { id: "a/b".to_owned(), text: "0.5 1".to_owned(), ms };
        let draws = Said {
            values: vec![value(None), value(Some(12))],
            reseeds: Some(9),
            seen: vec![Reseed { generation: 9, ns: 40, looks: vec![10, 20] }],
            ..Said::default()
        };
        assert_eq!(Said::draws(&draws.draws_text()), draws);
    }

    #[test]
    fn lines_that_are_none_are_passed_over() {
        let said =
            Said::draws("noise\n\n# reseed-generation x\n# reseed 3\n# reseed 3 x\na/b\t1\tlate\n");
        assert_eq!((said.values.len(), said.values[0].ms, said.reseeds), (1, None, None));
        assert!(said.seen.is_empty());
        assert_eq!(Said::ready("").title, "");
    }
}
