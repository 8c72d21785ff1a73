//! Running other programs to their end.

use anyhow::{Context, Result, bail};
use std::io::IsTerminal;
use std::process::{Command, Stdio};

/// Runs a program and returns its output. The error of a failed program ends with its last lines.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let name = command.get_program().display().to_string();
    let output =
        command.stdin(Stdio::null()).output().with_context(|| format!("cannot run {name}"))?;
    if !output.status.success() {
        let words = last_lines(&output.stderr);
        bail!(
            "{name} ended with {}{}{words}",
            output.status,
            if words.is_empty() { "" } else { ": " }
        );
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs a program that takes long. A user at a terminal sees its output.
pub(crate) fn run_for_long(command: &mut Command) -> Result<()> {
    if !std::io::stderr().is_terminal() {
        return output(command).map(drop);
    }
    let name = command.get_program().display().to_string();
    // To stderr, because stdout carries only the data that the user asked for.
    let status = command.stdin(Stdio::null()).stdout(std::io::stderr()).status();
    let status = status.with_context(|| format!("cannot run {name}"))?;
    if !status.success() {
        bail!("{name} ended with {status}");
    }
    Ok(())
}

/// Returns the last lines of a program's errors as one line.
pub(crate) fn last_lines(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines[lines.len().saturating_sub(3)..].join("; ")
}
