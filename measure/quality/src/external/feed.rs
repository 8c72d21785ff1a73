//! A process that reads a stream and writes a report.

use crate::sources::Source;
use std::io::{ErrorKind, Write};
use std::process::{Command, Stdio};

/// The result of a process.
pub(super) struct Done {
    /// The program's standard output and standard error.
    pub(super) words: String,
    /// Number of bytes that it read.
    pub(super) bytes: u64,
}

/// Starts `program`, feeds it up to `limit` bytes and waits for its end. The error says in words
/// why it did not run.
pub(super) fn run(
    program: &str,
    arguments: &[&str],
    source: &mut dyn Source,
    limit: u64,
) -> Result<Done, String> {
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| match error.kind() {
            ErrorKind::NotFound => "not installed".to_owned(),
            _ => error.to_string(),
        })?;
    let mut into = child.stdin.take().ok_or("it has no standard input")?;
    std::thread::scope(|scope| {
        let feeder = scope.spawn(move || {
            let (mut words, mut bytes) = (vec![0; 8192], Vec::with_capacity(1 << 16));
            let mut fed = 0;
            while fed < limit {
                if source.fill(&mut words)? < words.len() {
                    break;
                }
                bytes.clear();
                bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
                // A battery that has read enough closes the pipe.
                if into.write_all(&bytes).is_err() {
                    break;
                }
                fed += bytes.len() as u64;
            }
            Ok::<u64, crate::Error>(fed)
        });
        let output = child.wait_with_output().map_err(|error| error.to_string())?;
        let bytes =
            feeder.join().map_err(|_| "its feeder panicked")?.map_err(|error| error.to_string())?;
        let words = [output.stdout, output.stderr]
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        Ok(Done { words: words.join("\n"), bytes })
    })
}

/// Returns the first line that a command writes, unless it is empty.
pub(super) fn first_line(command: &[&str]) -> Option<String> {
    let output = Command::new(command[0]).args(&command[1..]).stdin(Stdio::null()).output().ok()?;
    let words = [output.stdout, output.stderr].concat();
    let words = String::from_utf8_lossy(&words);
    words.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
}

/// Returns name and version of the Debian package that is called like the program.
pub(super) fn package(program: &str) -> Option<String> {
    let output = Command::new("dpkg-query")
        .args(["-W", "-f", "${Package} ${Version}", program])
        .output()
        .ok()?;
    let words = String::from_utf8_lossy(&output.stdout).into_owned();
    (output.status.success() && !words.is_empty()).then_some(words)
}
