//! Tests on a terminal, which script(1) of util-linux makes.

use std::process::{Command, Output, Stdio};

/// Runs a shell command on a terminal; `None`, with a line about what is lost, without script(1).
fn on_terminal(shell: &str) -> Option<Output> {
    let done = Command::new("script")
        .args(["--quiet", "--return", "--command", shell, "/dev/null"])
        .env("HEADWATER", env!("CARGO_BIN_EXE_headwater"))
        .env("TERM", "xterm")
        .env_remove("NO_COLOR")
        .stdin(Stdio::null())
        .output();
    if done.is_err() {
        eprintln!("skipped: no script(1), so that nothing is tested on a terminal");
    }
    done.ok()
}

fn shown(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn bytes_are_hex() {
    let Some(output) = on_terminal("$HEADWATER bytes 4") else {
        return;
    };
    let text = shown(&output);
    let digits = text.trim_end();
    assert_eq!(digits.len(), 8, "{text:?}");
    assert!(digits.chars().all(|c| c.is_ascii_hexdigit()), "{text:?}");
}

#[test]
fn bytes_are_raw_if_wanted() {
    let Some(output) = on_terminal("stty raw -echo; $HEADWATER bytes 4000 --raw") else {
        return;
    };
    assert!(output.status.success());
    assert_eq!(output.stdout.len(), 4000);
}

#[test]
fn the_screen_has_colours_unless_refused() {
    let Some(output) = on_terminal("$HEADWATER") else {
        return;
    };
    assert!(shown(&output).contains("\u{1b}["));
    let output = on_terminal("NO_COLOR=1 $HEADWATER").unwrap();
    assert!(!shown(&output).contains('\u{1b}'));
}

#[test]
fn long_work_shows_progress_and_short_work_none() {
    // The reader takes more than a second for the whole, so that the work is long on every machine.
    let slow = "$HEADWATER bytes 30MiB | while head --bytes=1M >/dev/null && [ $((n+=1)) -le 30 ]; \
                do sleep 0.05; done";
    let Some(output) = on_terminal(slow) else {
        return;
    };
    assert!(shown(&output).contains("of 30.00 MiB"), "{output:?}");
    let output = on_terminal("$HEADWATER bytes 1MiB > /dev/null").unwrap();
    assert_eq!(shown(&output), "");
}
