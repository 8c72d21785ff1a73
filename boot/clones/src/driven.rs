//! `headwater clones check --spawn --exec`: drives any sandbox by its command lines.
//!
//! The check knows nothing of the tool that makes copies. It runs the user's lines in one order:
//! template, plant, snapshot, and for each copy spawn, draw, stop. In a line, `{copy}` is the name
//! of the original or the number of a copy, and `{command}` is what has to run inside it.

use crate::Usage;
use crate::draw::Draws;
use crate::process::{Signals, shell};
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
        // Before the line, because one that fails or hangs may have made half of a machine.
        let original = Stopped { lines: self, copy: TEMPLATE.to_owned() };
        if let Some(line) = self.template {
            self.run(line, TEMPLATE).context("the original was not made")?;
        }
        if !self.is_planted {
            self.inside(TEMPLATE, &self.plant).context("the original was not planted")?;
        }
        if let Some(line) = self.snapshot {
            self.run(line, TEMPLATE).context("no snapshot was made")?;
        }
        let mut result = Vec::new();
        for number in 1..=copies {
            let copy = number.to_string();
            let _stopped = Stopped { lines: self, copy: copy.clone() };
            self.run(self.spawn, &copy).with_context(|| format!("copy {copy} was not made"))?;
            let text = self.inside(&copy, &self.draw);
            let text = text.with_context(|| format!("copy {copy} did not draw"))?;
            result.push(document(&text).with_context(|| {
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
        shell(&line, copy, self.limit, Signals::End)
    }

    fn run(&self, line: &str, copy: &str) -> Result<String> {
        shell(&line.replace("{copy}", copy), copy, self.limit, Signals::End)
    }
}

/// Returns the draws in what a copy printed. A login may greet before the document and say goodbye
/// after it, with braces of its own, so each brace at which a line begins is tried.
fn document(text: &str) -> Option<Draws> {
    const TRIED: usize = 1_000;
    let begins = text.match_indices('{').map(|(at, _)| at);
    let begins = begins.filter(|at| *at == 0 || text.as_bytes()[at - 1].is_ascii_whitespace());
    begins.take(TRIED).find_map(|at| {
        let mut documents = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Draws>();
        documents.next()?.ok()
    })
}

/// A copy that is stopped when it is no longer needed, also after an error.
struct Stopped<'a> {
    lines: &'a Lines<'a>,
    copy: String,
}

impl Drop for Stopped<'_> {
    fn drop(&mut self) {
        let Some(line) = self.lines.stop else { return };
        let line = line.replace("{copy}", &self.copy);
        if let Err(error) = shell(&line, &self.copy, self.lines.limit, Signals::Pass) {
            eprintln!("headwater clones: {} was not stopped: {error:#}", self.copy);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::document;

    #[test]
    fn a_login_may_greet_in_braces() {
        let draws = r#"{"schema": "s", "planting": "p", "witnesses": [], "kernel_ms": 1,
            "total_ms": 2}"#;
        for text in [
            draws.to_owned(),
            format!("Welcome to {{host}} \u{FFFD}\n{draws}\nbye {{user}}\n"),
            format!("{{ not a document }}\r\n{draws}\r\n"),
        ] {
            assert_eq!(document(&text).unwrap().planting, "p", "{text}");
        }
        assert!(document("no document {}").is_none());
        assert!(document(&"{".repeat(1 << 20)).is_none(), "neither deep nor slow");
    }
}
