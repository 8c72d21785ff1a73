//! Runs other programs, and prints each as a line that a reader of the log can repeat.

use crate::report::Stop;
use anyhow::{Context, Result, bail};
use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

/// The variable with the time that every file of a reproducible build gets: seconds since 1970.
pub(crate) const EPOCH: &str = "SOURCE_DATE_EPOCH";

/// The packages that steps build together, whichever of their tests a step runs.
///
/// It looks simpler to select in each step the packages that it tests. But cargo unites the
/// features that the selected packages ask of a shared dependency, so two selections compile the
/// core and half of the dependencies twice, with other features. OpenSSL's module has a step of its
/// own all the same, because it needs tools, and without them its tests would pass and say so only
/// in their output.
///
/// The core is not among them: another step runs its tests, with the features of the hooks.
pub(crate) const TOGETHER: &str = "--workspace --exclude headwater-openssl --exclude headwater";

/// Splits a line as typed into a program and its arguments; no argument may hold a space.
pub(crate) fn program(line: &str) -> Command {
    let mut words = line.split_whitespace();
    let mut command = Command::new(words.next().expect("a line names a program"));
    command.args(words);
    command
}

/// Runs the program in this terminal. Returns an error unless it exits with 0.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let line = announce(command);
    let status = command.status().with_context(|| format!("cannot run `{line}`"))?;
    if !status.success() {
        bail!("`{line}` ended with {status}");
    }
    Ok(())
}

/// Runs the program and returns its standard output, or an error unless it exits with 0.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let line = announce(command);
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("cannot run `{line}`"))?;
    if !output.status.success() {
        bail!("`{line}` ended with {}", output.status);
    }
    String::from_utf8(output.stdout).with_context(|| format!("`{line}` wrote no UTF-8"))
}

/// Runs `cargo` with the words of the line.
pub(crate) fn cargo(line: &str) -> Result<(), Stop> {
    Ok(run(&mut program(&format!("cargo {line}")))?)
}

/// Builds and runs a program by cargo with the caller's arguments, and returns its exit status.
///
/// The working directory stays the caller's, because the arguments may name files.
pub(crate) fn pass_on(command: &mut Command, arguments: &[OsString]) -> Result<ExitCode> {
    let status = command.args(arguments).status().context("cannot run cargo")?;
    // A program that a signal ended has no exit code; it counts as 1.
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.unwrap_or(1).into())
}

/// Prints the line that a person would type, and returns it.
pub(crate) fn announce(command: &Command) -> String {
    let line = line(command);
    println!("$ {line}");
    line
}

/// Returns the line that a person would type.
pub(crate) fn line(command: &Command) -> String {
    let variables = command
        .get_envs()
        .filter_map(|(name, value)| Some(format!("{}={}", name.display(), value?.display())));
    let words = [command.get_program()].into_iter().chain(command.get_args());
    let line: Vec<String> = variables.chain(words.map(|word| word.display().to_string())).collect();
    line.join(" ")
}

/// Returns the root directory of the workspace.
///
/// The path is read at run time, although `env!` would be shorter: a compiled-in path would be
/// wrong in a copy of the tree that shares its target directory with another copy.
pub(crate) fn root() -> Result<PathBuf> {
    let xtask = env::var_os("CARGO_MANIFEST_DIR").context("run this as `cargo xtask`")?;
    let mut root = PathBuf::from(xtask);
    root.pop();
    Ok(root)
}

/// Returns the directory that cargo builds in.
pub(crate) fn target_directory() -> Result<PathBuf> {
    Ok(env::var_os("CARGO_TARGET_DIR").map_or(root()?.join("target"), PathBuf::from))
}
