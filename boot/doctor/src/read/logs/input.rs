//! A file, or standard input for `-`, with a bar on the terminal while a large one is read.

use super::LogError;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::path::Path;

/// Smaller files are read before a bar would be visible.
const LARGE: u64 = 128 << 20;

/// A file, or standard input.
pub(crate) struct Input {
    source: Box<dyn Read>,
    /// The name in messages.
    pub(crate) name: String,
    bar: Option<ProgressBar>,
}

impl Input {
    pub(crate) fn open(path: &Path) -> Result<Input, LogError> {
        if path == Path::new("-") {
            return Ok(Input {
                source: Box::new(io::stdin()),
                name: "standard input".to_owned(),
                bar: None,
            });
        }
        let name = path.display().to_string();
        let file = File::open(path).map_err(|reason| LogError::read(&name, reason))?;
        let length = file.metadata().map_or(0, |about| about.len());
        let bar = (length > LARGE && io::stderr().is_terminal()).then(|| bar(length, &name));
        Ok(Input { source: Box::new(file), name, bar })
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(buffer)?;
        if let Some(bar) = &self.bar {
            bar.inc(read as u64);
        }
        Ok(read)
    }
}

impl Drop for Input {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn bar(length: u64, name: &str) -> ProgressBar {
    let style = "{msg}  {binary_bytes:>10} of {binary_total_bytes}  [{bar:30}]  {binary_bytes_per_sec}, {eta} left";
    let style = ProgressStyle::with_template(style)
        .expect("the template is a constant, and a test draws it")
        .progress_chars("=> ");
    ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr())
        .with_style(style)
        .with_message(name.to_owned())
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_template_is_valid() {
        super::bar(1, "file").abandon();
    }
}
