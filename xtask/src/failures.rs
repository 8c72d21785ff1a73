//! Runs `cargo test`, and says at the end which tests failed and what each printed.
//!
//! The output of a workspace's tests has tens of thousands of lines, and a log of CI is often cut.
//! A test that fails once in a hundred runs would then leave no name, so it could not be repaired;
//! the table at the end of the run repeats the names, because the end is what every log keeps.

use crate::process::{announce, program};
use crate::report::Stop;
use anyhow::{Context, Result, bail};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

/// The lines of one failed test that the table repeats.
const LINES: usize = 12;
/// The time that output may come after the end of the tests.
const LATE: Duration = Duration::from_secs(2);

/// Runs tests in this terminal. Returns an error with the names of the failed ones, unless the
/// program exits with 0.
pub(crate) fn run_tests(command: &mut Command) -> Result<()> {
    run_to(command, std::io::stdout())
}

fn run_to(command: &mut Command, mut out: impl Write + Send + 'static) -> Result<()> {
    let line = announce(command);
    let cannot = || format!("cannot run `{line}`");
    let mut child = command.stdout(Stdio::piped()).spawn().with_context(cannot)?;
    let stdout = child.stdout.take().context("the tests have no standard output")?;
    let failures = Arc::new(Mutex::new(Failures::default()));
    let (ended, end) = mpsc::channel::<()>();
    let found = failures.clone();
    thread::spawn(move || {
        copy(BufReader::new(stdout), &mut out, &found);
        drop(ended);
    });
    let status = child.wait().with_context(cannot)?;
    // We do not join the thread, because a process that a test left running may hold the pipe open
    // for ever. The error of the wait is either the end of the output or the time.
    let _ = end.recv_timeout(LATE);
    if !status.success() {
        bail!("`{line}` ended with {status}{}", lock(&failures).report());
    }
    Ok(())
}

/// Runs `cargo` with the words of the line, whose first is `test`.
pub(crate) fn cargo_test(line: &str) -> Result<(), Stop> {
    Ok(run_tests(&mut program(&format!("cargo {line}")))?)
}

/// Copies every line, and keeps those that belong to failed tests.
fn copy(mut from: impl BufRead, to: &mut impl Write, failures: &Mutex<Failures>) {
    let mut line = Vec::new();
    while from.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
        // An output that broke, such as a closed pipe, does not end the tests.
        let _ = to.write_all(&line);
        lock(failures).read(String::from_utf8_lossy(&line).trim_end());
        line.clear();
    }
}

fn lock(failures: &Mutex<Failures>) -> MutexGuard<'_, Failures> {
    failures.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The failed tests, as the tests' harness prints them.
#[derive(Default)]
struct Failures {
    /// Each failed test with the first lines that it printed.
    tests: Vec<(String, Vec<String>)>,
    place: Place,
}

/// The part of the harness's output that a line belongs to.
#[derive(Default)]
enum Place {
    #[default]
    Elsewhere,
    /// The output of a failed test.
    Printed,
    /// The names of all failed tests.
    Names,
}

impl Failures {
    /// Reads a line as the harness of Rust prints it: a heading before each failed test's output,
    /// and `failures:` before and after all of them.
    fn read(&mut self, line: &str) {
        let heading = line.strip_prefix("---- ").and_then(|rest| rest.strip_suffix(" stdout ----"));
        if let Some(name) = heading {
            self.tests.push((name.to_owned(), Vec::new()));
            self.place = Place::Printed;
            return;
        }
        if line == "failures:" {
            self.place = Place::Names;
            return;
        }
        if line == "stack backtrace:" {
            // A trace names the harness, and the place of the panic is in the line before it.
            self.place = Place::Elsewhere;
            return;
        }
        match self.place {
            Place::Elsewhere => {}
            Place::Printed => {
                let lines = self.tests.last_mut().map(|(_, lines)| lines);
                let wanted = lines.filter(|lines| lines.len() < LINES && !line.is_empty());
                if let Some(lines) = wanted {
                    lines.push(line.to_owned());
                }
            }
            // With --nocapture there is nothing but the names.
            Place::Names => match line.strip_prefix("    ") {
                Some(name) if !self.tests.iter().any(|(known, _)| known == name) => {
                    self.tests.push((name.to_owned(), Vec::new()));
                }
                Some(_) => {}
                None if line.is_empty() => {}
                None => self.place = Place::Elsewhere,
            },
        }
    }

    fn report(&self) -> String {
        let mut text = String::new();
        for (name, lines) in &self.tests {
            let _ = write!(text, "\n    {name}");
            for line in lines {
                let _ = write!(text, "\n      {line}");
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// Discards the output, in which the harness of this very test would read failed tests.
    fn quietly(command: &mut Command) -> Result<()> {
        run_to(command.stderr(Stdio::null()), std::io::sink())
    }

    /// The program under test is the harness itself: it compiles and runs a file with three tests.
    #[test]
    fn names_and_words_of_failed_tests_are_repeated() {
        let directory = tempfile::tempdir().unwrap();
        let (source, program) = (directory.path().join("t.rs"), directory.path().join("t"));
        fs::write(
            &source,
            "#[test] fn good() { println!(\"silent\"); }
             #[test] fn wrong() { println!(\"first\"); assert_eq!(1, 2, \"one is not two\"); }
             #[test] fn long() { for i in 0..100 { println!(\"line {i} of many\"); } panic!(); }",
        )
        .unwrap();
        let mut rustc = Command::new("rustc");
        let rustc = rustc.arg("--test").arg(&source).arg("-o").arg(&program);
        assert!(rustc.status().unwrap().success());
        let error = quietly(&mut Command::new(&program)).unwrap_err().to_string();
        assert!(error.contains("\n    wrong\n"), "{error}");
        assert!(error.contains("\n      first\n"), "{error}");
        assert!(error.contains("one is not two"), "{error}");
        assert!(!error.contains("backtrace:"), "{error}");
        assert!(error.contains("\n      line 11 of many"), "{error}");
        assert!(!error.contains("line 12 of many") && !error.contains("silent"), "{error}");
        let loud = quietly(Command::new(&program).args(["wrong", "--nocapture"]));
        let error = loud.unwrap_err().to_string();
        assert!(error.ends_with("\n    wrong"), "{error}");
        quietly(Command::new(&program).arg("good")).unwrap();
    }

    /// A child that outlives its parent keeps the pipe open; here `sleep` does.
    #[test]
    fn a_process_left_behind_does_not_hold_the_run() {
        let script = "echo '---- left stdout ----'; sleep 5 & exit 3";
        let error = quietly(Command::new("sh").args(["-c", script])).unwrap_err().to_string();
        assert!(error.contains("exit status: 3\n    left"), "{error}");
    }
}
