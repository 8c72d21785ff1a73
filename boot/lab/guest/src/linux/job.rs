//! A program of the lab's user, run to its end as on a machine with nothing else on it.

use crate::linux::kernel::now_us;
use crate::linux::port::{fail, send};
use headwater_lab_protocol::{Ended, JOB_DIRECTORY, Job, Output};
use rustix::io::Errno;
use rustix::mount::{MountFlags, mount};
use rustix::process::{WaitOptions, WaitStatus, wait};
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

/// Bytes of one message.
const CHUNK: usize = 1024;

/// Runs the program, sends what it writes while it runs, and then how it ended.
///
/// This process is the guest's first, so every orphan becomes its child, and the wait is one for
/// any child. Once the program itself has ended, all other processes are killed. Otherwise one of
/// them could hold the pipe open, and the end of the output would never come.
pub(crate) fn run(job: &Job) {
    prepare();
    let directory = Path::new("/").join(JOB_DIRECTORY);
    let begun = now_us();
    let child = Command::new(directory.join(&job.program))
        .args(&job.arguments)
        .env_clear()
        .envs([("PATH", directory.as_path()), ("HOME", &directory), ("TMPDIR", Path::new("/tmp"))])
        .envs(job.environment.iter().map(|(name, value)| (name, value)))
        .current_dir(&directory)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) => return fail(format!("cannot start {}: {error}", job.program)),
    };
    let output = child.stdout.take();
    let errors = child.stderr.take();
    let ended = thread::scope(|scope| {
        scope.spawn(|| output.map(|pipe| forward(pipe, false)));
        scope.spawn(|| errors.map(|pipe| forward(pipe, true)));
        let status = reap_until(child.id());
        let left = kill_all();
        status.map(|status| Ended {
            status: status.exit_status(),
            signal: status.terminating_signal(),
            left,
            took_us: now_us() - begun,
        })
    });
    match ended {
        Ok(ended) => send(ended),
        Err(error) => fail(format!("cannot wait for {}: {error}", job.program)),
    }
}

/// Makes the directories that a program expects, and mounts what a test of the kernel needs: the
/// control groups, and the kernel's own switches.
fn prepare() {
    for directory in ["/tmp", "/dev/shm"] {
        let _ = fs::create_dir(directory);
        let _ = mount(c"tmpfs", directory, c"tmpfs", MountFlags::empty(), None);
    }
    for (directory, kind) in [("/sys/fs/cgroup", c"cgroup2"), ("/sys/kernel/debug", c"debugfs")] {
        let _ = mount(kind, directory, kind, MountFlags::empty(), None);
    }
    // As init systems do: groups below the root have the controller of memory.
    let _ = fs::write("/sys/fs/cgroup/cgroup.subtree_control", "+memory");
}

fn forward(mut pipe: impl Read, error: bool) {
    let mut bytes = [0; CHUNK];
    while let Ok(length @ 1..) = pipe.read(&mut bytes) {
        send(Output { error, bytes: bytes[..length].to_vec() });
    }
}

/// Reaps children of any kind until the one with this number has ended.
fn reap_until(number: u32) -> Result<WaitStatus, Errno> {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid.as_raw_nonzero().get().cast_unsigned() == number => {
                return Ok(status);
            }
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
}

/// Kills every other process, and returns the number of those that had not ended by themselves.
fn kill_all() -> u64 {
    let mut left = 0;
    loop {
        // As the first process, this one is spared by the signal to all.
        // SAFETY: the call has no pointer.
        unsafe { libc::kill(-1, libc::SIGKILL) };
        match wait(WaitOptions::empty()) {
            Ok(Some((_, status))) => left += u64::from(status.signaled()),
            Ok(None) | Err(Errno::INTR) => {}
            Err(_) => return left,
        }
    }
}
