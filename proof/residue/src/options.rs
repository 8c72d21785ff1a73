//! The command line.

use std::path::PathBuf;

/// The request.
#[derive(Debug, Default)]
pub struct Options {
    /// The program that draws.
    pub subject: PathBuf,
    /// The name of the profile that it was built in.
    pub label: String,
    /// A fact to force, which chooses the back end.
    pub force: Option<String>,
    /// True if the output begins with the names of the columns.
    pub header: bool,
    /// The bytes of stack that a draw may take that fills a page.
    pub refill_limit: Option<usize>,
    /// The bytes of stack that the first draw of a process may take.
    pub first_limit: Option<usize>,
    /// Cases of this name alone.
    pub only: Option<String>,
}

impl Options {
    /// Reads the arguments.
    pub fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
        let mut options = Options::default();
        while let Some(name) = arguments.next() {
            let mut value = || arguments.next().ok_or(format!("{name} needs a value"));
            match name.as_str() {
                "--subject" => options.subject = value()?.into(),
                "--label" => options.label = value()?,
                "--force" => options.force = Some(value()?),
                "--only" => options.only = Some(value()?),
                "--header" => options.header = true,
                "--refill-limit" => options.refill_limit = Some(number(&value()?)?),
                "--first-limit" => options.first_limit = Some(number(&value()?)?),
                _ => return Err(format!("there is no option {name}; see README.md")),
            }
        }
        if options.subject.as_os_str().is_empty() {
            return Err("--subject has to name the program that draws".into());
        }
        Ok(options)
    }
}

fn number(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| format!("{text} is no number"))
}
