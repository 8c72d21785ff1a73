//! Other programs, run to their end.

use anyhow::{Context, Result, bail};
use std::io::IsTerminal;
use std::process::{Command, Stdio};

/// What the program writes to stdout; an error with its last words unless it exits with 0.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let name = command.get_program().display().to_string();
    let output =
        command.stdin(Stdio::null()).output().with_context(|| format!("cannot run {name}"))?;
    if !output.status.success() {
        let words = last_words(&output.stderr);
        bail!(
            "{name} ended with {}{}{words}",
            output.status,
            if words.is_empty() { "" } else { ": " }
        );
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The same for a program that takes long: a person at a terminal sees what it prints.
pub(crate) fn run_for_long(command: &mut Command) -> Result<()> {
    if !std::io::stderr().is_terminal() {
        return output(command).map(drop);
    }
    let name = command.get_program().display().to_string();
    // Data goes to stdout, words to stderr: ours too.
    let words = std::io::stderr();
    let status = command.stdin(Stdio::null()).stdout(words).status();
    let status = status.with_context(|| format!("cannot run {name}"))?;
    if !status.success() {
        bail!("{name} ended with {status}");
    }
    Ok(())
}

/// The end of what a program complained of, in one line.
pub(crate) fn last_words(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines[lines.len().saturating_sub(3)..].join("; ")
}
