//! Children that do not outlive their use.

use anyhow::{Context, Result, bail};
use std::fs::File;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A child that is killed when it is no longer needed.
pub(crate) struct KillOnDrop(pub(crate) Child);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs a line of a shell, and returns its standard output. Its standard error goes to the user,
/// who knows the programs in the line.
///
/// # Errors
///
/// If the line fails, or takes longer than the limit. All of its processes are killed then.
pub(crate) fn shell(line: &str, copy: &str, limit: Duration) -> Result<String> {
    let mut command = Command::new("sh");
    command.args(["-c", line]).env("HEADWATER_COPY", copy);
    // A group of its own, so that the end of the time ends what the shell has started, too.
    command.stdin(Stdio::null()).stdout(Stdio::piped()).process_group(0);
    let mut child = command.spawn().context("cannot run sh")?;
    let pipe = child.stdout.take().context("the child has no output")?;
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        File::from(std::os::fd::OwnedFd::from(pipe)).read_to_string(&mut text).map(|_| text)
    });
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if begun.elapsed() > limit {
            let group = rustix::process::Pid::from_child(&child);
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
            let _ = child.wait();
            bail!("`{line}` did not end in {} s (--timeout)", limit.as_secs());
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    if !status.success() {
        bail!("`{line}` failed ({status})");
    }
    // A process that the line left in the background may hold the pipe open. The words of the line
    // itself are there by now, but a reader cannot know it, so such a process has to be waited for.
    let left = limit.saturating_sub(begun.elapsed()) + Duration::from_secs(1);
    let begun = Instant::now();
    while !reader.is_finished() {
        if begun.elapsed() > left {
            bail!(
                "`{line}` ended, but a process that it started holds its output open; send that \
                 process's output elsewhere"
            );
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    reader.join().ok().context("the reader of the output failed")?.context("the output is no text")
}

/// Returns the last line of an output that says something.
pub(crate) fn last_line(output: &[u8]) -> String {
    let text = String::from_utf8_lossy(output);
    let line = text.lines().rfind(|line| !line.trim().is_empty());
    line.unwrap_or("it said nothing").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(20);

    #[test]
    fn a_line_that_works_returns_its_output_and_knows_its_copy() {
        assert_eq!(shell("echo $HEADWATER_COPY", "2", LIMIT).unwrap(), "2\n");
    }

    #[test]
    fn a_line_that_fails_or_hangs_is_named() {
        let error = shell("exit 3", "1", LIMIT).unwrap_err().to_string();
        assert!(error.contains("`exit 3`") && error.contains('3'), "{error}");
        let begun = Instant::now();
        let error =
            shell("sleep 60 & sleep 61", "1", Duration::from_secs(1)).unwrap_err().to_string();
        assert!(error.contains("--timeout"), "{error}");
        assert!(begun.elapsed() < Duration::from_secs(50), "the children were waited for");
    }

    #[test]
    fn a_process_in_the_background_that_holds_the_output_is_an_error() {
        let error =
            shell("sleep 30 & echo x", "1", Duration::from_secs(1)).unwrap_err().to_string();
        assert!(error.contains("holds its output open"), "{error}");
    }
}
