//! The part that tests share. Every test target compiles its own copy and uses a part of it.
#![allow(dead_code)]

pub(crate) mod record;

use headwater::Mode;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;
use std::{env, panic, thread};

/// Set in the process that runs a test's body; its value says which body.
const VARIANT: &str = "HEADWATER_TEST_VARIANT";

/// The time after which a test hangs. It does not measure speed: the slowest body takes a few
/// seconds.
const HANGS: Duration = Duration::from_secs(180);

/// The variable with a number of repetitions. Its tests take as long as they were asked to.
const EPISODES: &str = "HEADWATER_TEST_EPISODES";

/// Runs `body` in a fresh process of this test binary: what headwater finds out at set-up is found
/// out once in a process, so tests that share one would depend on their order.
///
/// `test` is the path of the calling test, as libtest prints it. In the fresh process a panic of
/// any thread, or of a forked child, ends the process that panicked with status 101.
///
/// An interpreter starts no process: there, the tests of a target share one.
pub(crate) fn isolated(test: &str, body: impl FnOnce()) {
    if cfg!(miri) {
        return body();
    }
    isolated_as(test, "only", &[], body);
}

/// Runs `body` as [`isolated`] does, with these environment variables; `variant` separates several
/// bodies of one test.
pub(crate) fn isolated_as(
    test: &str,
    variant: &str,
    variables: &[(&str, &str)],
    body: impl FnOnce(),
) {
    match env::var(VARIANT) {
        Ok(ours) if ours == variant => {
            exit_on_panic();
            body();
        }
        Ok(_) => {}
        Err(_) => run_again(test, variant, variables),
    }
}

/// Returns whether this process starts the fresh ones, and outlives them. A setting that a test
/// changes for them and has to change back belongs here.
pub(crate) fn is_parent() -> bool {
    env::var(VARIANT).is_err()
}

/// Runs `body` in a fresh process for each mode that this machine can use, and names the others.
pub(crate) fn in_every_mode(test: &str, body: impl Fn(Mode)) {
    for mode in [Mode::Buffered, Mode::Hedged, Mode::Strict, Mode::Kernel] {
        let variables = [("HEADWATER_MODE", mode.name())];
        isolated_as(test, mode.name(), &variables, || {
            // In a process of its own: `status` sets up, which a body may want to see happen.
            let in_use = mode_in_a_child();
            if in_use == mode as i32 {
                body(mode);
            } else {
                println!("{test}: skipped: mode {} cannot be used here", mode.name());
            }
        });
    }
}

/// Returns the mode that a forked child of this process uses, as a number.
fn mode_in_a_child() -> i32 {
    // SAFETY: this is the only thread that matters in this process so far, and the child ends at
    // once.
    let status = unsafe {
        let child = libc::fork();
        if child == 0 {
            libc::_exit(headwater::status().mode as i32);
        }
        let mut status = 0;
        assert_eq!(libc::waitpid(child, &raw mut status, 0), child);
        status
    };
    assert!(libc::WIFEXITED(status), "status() ended with {status:#x}");
    libc::WEXITSTATUS(status)
}

fn exit_on_panic() {
    let print = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        print(info);
        // `_exit`, because `exit` would flush what a forked child has inherited a second time.
        // SAFETY: ends the process, whatever state it is in.
        unsafe { libc::_exit(101) }
    }));
}

fn run_again(test: &str, variant: &str, variables: &[(&str, &str)]) {
    let mut command = Command::new(env::current_exe().expect("this binary has a path"));
    command
        // A test that is ignored by default runs only on request, and this run is part of it.
        .args(["--exact", test, "--include-ignored", "--nocapture", "--test-threads=1"])
        .env_remove("HEADWATER_MODE")
        .env("RUST_BACKTRACE", "0") // takes locks that a forked child may find taken
        .envs(variables.iter().copied())
        .env(VARIANT, variant)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0); // so that all it has forked can be ended with it
    let child = command.spawn().expect("this binary starts again");
    let group = -child.id().cast_signed();
    let (done, wait) = mpsc::channel();
    thread::spawn(move || done.send(child.wait_with_output()));
    let limit = if env::var_os(EPISODES).is_some() { Duration::MAX } else { HANGS };
    let output = wait.recv_timeout(limit).unwrap_or_else(|_| {
        // SAFETY: the group of a child that has not been waited for.
        unsafe { libc::kill(group, libc::SIGKILL) };
        panic!("{test} ({variant}) hangs");
    });
    let output = output.expect("its output can be read");
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    // A name that no test has would run nothing, and pass.
    let ran = text.contains("running 1 test\n");
    if !ran || !output.status.success() {
        let end = (output.status.code(), output.status.signal());
        panic!(
            "{test} ({variant}) ended with {end:?} (status, signal), ran: {ran}\n{text}{errors}"
        );
    }
    for line in text.lines().filter(|line| line.contains("skipped:")) {
        println!("{line}");
    }
}
