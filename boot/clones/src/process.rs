//! Children that do not outlive their use.

use crate::clean::clean;
use crate::stop;
use anyhow::{Context, Result, bail, ensure};
use rustix::fd::BorrowedFd;
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use rustix::io::{FdFlags, fcntl_getfd, fcntl_setfd};
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::FileExt;
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

/// Ends a child that leads a group, and the group.
pub(crate) fn end_group(child: &mut Child) {
    let group = rustix::process::Pid::from_child(child);
    let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    let _ = child.kill();
    let _ = child.wait();
}

/// Closes, in every program that is started from here, the descriptors that this process was given
/// beside its standard ones. A build system leaves pipes in its children, and one pipe into another
/// process is enough for CRIU to refuse a witness.
pub(crate) fn close_inherited_on_exec() -> Result<()> {
    for entry in fs::read_dir("/proc/self/fd").context("/proc/self/fd")? {
        let Some(number) = entry?.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        if number < 3 {
            continue;
        }
        // SAFETY: the number is used for two calls that fail with EBADF if it is no descriptor, and
        // that change nothing but a flag which every descriptor of Rust's library has anyway. It is
        // not closed or kept.
        let descriptor = unsafe { BorrowedFd::borrow_raw(number) };
        if let Ok(flags) = fcntl_getfd(descriptor) {
            let _ = fcntl_setfd(descriptor, flags | FdFlags::CLOEXEC);
        }
    }
    Ok(())
}

/// The signals that a line ends for.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(crate) enum Signals {
    /// The first signal ends it.
    End,
    /// Only the second one does: the line removes what others made.
    Pass,
}

/// The output that a line may have. It is read into memory, and a copy may print without an end.
const MOST: u64 = 64 << 20;

/// Runs a line of a shell, and returns its standard output. Its standard error goes to the user,
/// who knows the programs in the line.
///
/// # Errors
///
/// If the line fails, prints more than 64 MiB, or takes longer than the limit, or if a signal ends
/// the work. All of its processes are killed then.
pub(crate) fn shell(line: &str, copy: &str, limit: Duration, signals: Signals) -> Result<String> {
    let mut command = Command::new("sh");
    command.args(["-c", line]).env("HEADWATER_COPY", copy);
    // A group of its own, so that the end of the time ends what the shell has started, too.
    command.stdin(Stdio::null()).stdout(Stdio::piped()).process_group(0);
    let mut child = command.spawn().context("cannot run sh")?;
    let pipe = child.stdout.take().context("the child has no output")?;
    let reader = std::thread::spawn(move || {
        // Any bytes: a login may greet in any encoding.
        let mut bytes = Vec::new();
        let file = File::from(std::os::fd::OwnedFd::from(pipe));
        file.take(MOST + 1).read_to_end(&mut bytes).map(|_| bytes)
    });
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if signals == Signals::End && stop::check().is_err() {
            end_group(&mut child);
            stop::check()?;
        }
        if begun.elapsed() > limit {
            end_group(&mut child);
            bail!("`{line}` did not end in {} s (--timeout)", limit.as_secs());
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    if !status.success() {
        bail!("`{line}` failed ({status})");
    }
    // A process that the line left in the background may hold the pipe open. The words of the line
    // itself are there by now, but a reader cannot know it, so such a process has to be waited for.
    let left = limit.saturating_sub(begun.elapsed()).saturating_add(Duration::from_secs(1));
    let begun = Instant::now();
    while !reader.is_finished() {
        if signals == Signals::End {
            stop::check()?;
        }
        if begun.elapsed() > left {
            bail!(
                "`{line}` ended, but a process that it started holds its output open; send that \
                 process's output elsewhere"
            );
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let bytes = reader.join().ok().context("the reader of the output failed")?;
    let bytes = bytes.with_context(|| format!("cannot read the output of `{line}`"))?;
    ensure!(bytes.len() as u64 <= MOST, "`{line}` prints more than 64 MiB");
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Runs a hook to its end.
///
/// Standard error goes to memory and not through a pipe, because a service that the hook has
/// started holds the pipe open for as long as it runs, and a gate would stay shut until then. Nor
/// may the pipe be closed, since the service's next word would end it. So the memory stays, and
/// does not grow any more.
///
/// # Errors
///
/// If it cannot be run, or fails.
pub(crate) fn run_hook(command: &mut Command) -> Result<()> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let said = File::from(memfd_create("said", flags).context("memfd_create")?);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(said.try_clone()?);
    let program = command.get_program().display().to_string();
    ensure!(stop::check().is_ok(), "a signal came before it");
    let mut child = command.spawn().with_context(|| format!("cannot run {program}"))?;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if stop::check().is_err() {
            drop(KillOnDrop(child));
            bail!("a signal ended it");
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let _ = fcntl_add_seals(&said, SealFlags::GROW);
    if !status.success() {
        let mut end = vec![0; 4096];
        let from = said.metadata()?.len().saturating_sub(end.len() as u64);
        let length = said.read_at(&mut end, from)?;
        bail!("it failed ({status}): {}", last_line(&end[..length]));
    }
    Ok(())
}

/// Returns the last line of an output that says something.
pub(crate) fn last_line(output: &[u8]) -> String {
    let text = String::from_utf8_lossy(output);
    let line = text.lines().rfind(|line| !line.trim().is_empty());
    clean(line.unwrap_or("it said nothing").trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(20);

    #[test]
    fn a_line_that_works_returns_its_output_and_knows_its_copy() {
        assert_eq!(shell("echo $HEADWATER_COPY", "2", LIMIT, Signals::End).unwrap(), "2\n");
    }

    #[test]
    fn a_line_that_fails_or_hangs_is_named() {
        let error = shell("exit 3", "1", LIMIT, Signals::End).unwrap_err().to_string();
        assert!(error.contains("`exit 3`") && error.contains('3'), "{error}");
        let begun = Instant::now();
        let error = shell("sleep 60 & sleep 61", "1", Duration::from_secs(1), Signals::End)
            .unwrap_err()
            .to_string();
        assert!(error.contains("--timeout"), "{error}");
        assert!(begun.elapsed() < Duration::from_secs(50), "the children were waited for");
    }

    #[test]
    fn output_without_an_end_and_in_any_encoding_is_read() {
        let error = shell("yes; true", "1", LIMIT, Signals::End).unwrap_err().to_string();
        assert!(error.contains("yes"), "{error}");
        let text = shell(r"printf 'gr\374ezi {1}'", "1", LIMIT, Signals::End).unwrap();
        assert!(text.ends_with("ezi {1}"), "{text}");
    }

    /// A hook starts services, and what a service says goes to where the hook's words go. A gate
    /// that waited for the end of these words would stay shut for as long as the service runs.
    #[test]
    fn a_hook_may_leave_a_process_that_holds_its_output() {
        let file = std::env::temp_dir().join(format!("headwater-leaves-{}", std::process::id()));
        let text =
            "printf '#!/bin/sh\nsleep 60 & echo why >&2\nexit $1\n' > \"$1\" && chmod 755 \"$1\"";
        let mut write = Command::new("sh");
        assert!(write.args(["-c", text, "sh"]).arg(&file).status().unwrap().success());
        let begun = Instant::now();
        let ended = run_hook(&mut Command::new(&file));
        let error = run_hook(&mut Command::new("/nowhere/hook")).unwrap_err();
        fs::remove_file(&file).unwrap();
        assert!(begun.elapsed().as_secs() < 30, "the process that the hook left was waited for");
        ended.unwrap();
        assert!(format!("{error:#}").contains("/nowhere/hook"), "{error:#}");
    }

    #[test]
    fn a_process_in_the_background_that_holds_the_output_is_an_error() {
        let error = shell("sleep 30 & echo x", "1", Duration::from_secs(1), Signals::End)
            .unwrap_err()
            .to_string();
        assert!(error.contains("holds its output open"), "{error}");
    }
}
