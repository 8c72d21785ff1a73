//! `headwater clones check --spawn --exec`: drives any sandbox by its command lines.
//!
//! The check knows nothing of the tool that makes copies. It runs the user's lines in one order:
//! template, plant, snapshot, and for each copy spawn, draw, stop. In a line, `{copy}` is the name
//! of the original or the number of a copy, and `{command}` is what has to run inside it.

use crate::Usage;
use crate::draw::Draws;
use crate::process::shell;
use anyhow::{Context, Result, bail};
use std::time::Duration;

/// The name of the original in a line.
pub(crate) const TEMPLATE: &str = "template";

/// The user's lines.
pub(crate) struct Lines<'a> {
    pub(crate) template: Option<&'a str>,
    pub(crate) snapshot: Option<&'a str>,
    pub(crate) spawn: &'a str,
    pub(crate) exec: &'a str,
    pub(crate) stop: Option<&'a str>,
    /// True if the original has witnesses already.
    pub(crate) is_planted: bool,
    /// Arguments for `plant` and `draw`.
    pub(crate) plant: String,
    pub(crate) draw: String,
    pub(crate) limit: Duration,
}

impl Lines<'_> {
    /// Returns an error if a line lacks a word without which it cannot do its part.
    pub(crate) fn check(&self) -> Result<()> {
        if !self.exec.contains("{command}") {
            bail!(Usage(format!(
                "--exec '{}' lacks {{command}}, which stands for what has to run in a copy; write, \
                 for example, --exec 'ssh copy{{copy}} {{command}}'",
                self.exec
            )));
        }
        Ok(())
    }

    /// Makes copies, and returns their draws.
    pub(crate) fn copies(&self, copies: usize) -> Result<Vec<Draws>> {
        if let Some(line) = self.template {
            self.run(line, TEMPLATE).context("the original was not made")?;
        }
        let original = Stopped { lines: self, copy: TEMPLATE.to_owned() };
        if !self.is_planted {
            self.inside(TEMPLATE, &self.plant).context("the original was not planted")?;
        }
        if let Some(line) = self.snapshot {
            self.run(line, TEMPLATE).context("no snapshot was made")?;
        }
        let mut result = Vec::new();
        for number in 1..=copies {
            let copy = number.to_string();
            self.run(self.spawn, &copy).with_context(|| format!("copy {copy} was not made"))?;
            let _stopped = Stopped { lines: self, copy: copy.clone() };
            let text = self.inside(&copy, &self.draw);
            let text = text.with_context(|| format!("copy {copy} did not draw"))?;
            // A login may greet before the document and say goodbye after it.
            let document = text.find('{').zip(text.rfind('}')).map(|(from, to)| &text[from..=to]);
            let draws = document.and_then(|document| serde_json::from_str(document).ok());
            result.push(draws.with_context(|| {
                format!(
                    "copy {copy} printed no draws: {}",
                    crate::process::last_line(text.as_bytes())
                )
            })?);
        }
        drop(original);
        Ok(result)
    }

    fn inside(&self, copy: &str, command: &str) -> Result<String> {
        let line = self.exec.replace("{copy}", copy).replace("{command}", command);
        shell(&line, copy, self.limit)
    }

    fn run(&self, line: &str, copy: &str) -> Result<String> {
        shell(&line.replace("{copy}", copy), copy, self.limit)
    }
}

/// A copy that is stopped when it is no longer needed, also after an error.
struct Stopped<'a> {
    lines: &'a Lines<'a>,
    copy: String,
}

impl Drop for Stopped<'_> {
    fn drop(&mut self) {
        let Some(line) = self.lines.stop else { return };
        if let Err(error) = self.lines.run(line, &self.copy) {
            eprintln!("headwater clones: {} was not stopped: {error:#}", self.copy);
        }
    }
}
