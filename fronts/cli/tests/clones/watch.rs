//! `watch` and its page.

use crate::repair::{LOCAL, listener, repair};
use crate::{Folder, clones, is_root, random, said, status};
use std::fs;
use std::process::{Command, Stdio};

/// Starts a watcher, and waits until it says that it watches.
fn watcher(page: &str) -> std::process::Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_headwater"));
    command.args(["clones", "watch", "--page", page]);
    started(command)
}

fn started(mut command: Command) -> std::process::Child {
    let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    let mut said = std::io::BufReader::new(child.stderr.take().unwrap());
    std::io::BufRead::read_line(&mut said, &mut line).unwrap();
    assert!(line.contains("counts copies, by"), "{line}");
    child
}

/// Returns the thread that keeps the page, as the kernel left it, and the count.
fn kept(page: &str) -> (u32, u64) {
    let bytes = fs::read(page).unwrap();
    assert_eq!((bytes.len(), &bytes[..8]), (64, &b"hwcopies"[..]));
    let number = |at: usize| u64::from_ne_bytes(bytes[at..at + 8].try_into().unwrap());
    (u32::from_ne_bytes(bytes[16..20].try_into().unwrap()), number(24))
}

#[test]
fn a_watcher_that_is_killed_shows_as_dead_and_the_next_one_counts() {
    let folder = Folder::new("watch");
    let page = folder.path("run/copies");
    for count in 1..4 {
        let mut child = watcher(&page);
        assert_eq!(kept(&page), (child.id(), count));
        let second = clones(&["watch", "--page", &page]);
        assert_eq!(status(&second), 3, "{}", said(&second));
        let owner = format!("process {}", child.id());
        assert!(said(&second).contains(&owner), "{}", said(&second));
        // SIGKILL, which no handler sees: the kernel itself marks the word (FUTEX_OWNER_DIED).
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(kept(&page), (0x4000_0000, count));
    }
}

/// Programs of all users look for the page, and none but its keeper may exchange it, whatever the
/// umask of the shell is that starts the watcher.
#[test]
fn the_pages_directory_is_open_to_readers_and_closed_to_writers() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("watch-umask");
    for umask in ["077", "000"] {
        let page = folder.path(&format!("run-{umask}/headwater/copies"));
        let mut shell = Command::new("sh");
        shell.args(["-c", "umask \"$1\"; shift; exec \"$@\"", "sh", umask]);
        shell.args([env!("CARGO_BIN_EXE_headwater"), "clones", "watch", "--page", &page]);
        let mut child = started(shell);
        let mode = |path: &str| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let directory = std::path::Path::new(&page).parent().unwrap();
        let modes = (mode(directory.to_str().unwrap()), mode(&page));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(modes, (0o755, 0o644), "umask {umask}");
    }
}

/// At the start and not at the first copy, which may come after months.
#[test]
fn an_output_that_is_closed_is_known_before_the_watch() {
    let folder = Folder::new("watch-closed");
    let page = folder.path("copies");
    let mut shell = Command::new("timeout");
    shell.args(["20", "sh", "-c", "exec \"$@\" >&-", "sh", env!("CARGO_BIN_EXE_headwater")]);
    let output = shell.args(["clones", "watch", "--page", &page]).output().unwrap();
    assert_eq!(status(&output), 3, "{}", said(&output));
    assert!(said(&output).contains("standard output"), "{}", said(&output));
    assert!(!std::path::Path::new(&page).exists(), "a page without a watcher");
}

#[test]
fn a_file_that_is_no_page_stays_as_it_is() {
    let folder = Folder::new("watch-no-page");
    let cases = [("empty", ""), ("short", "hwcopies"), ("text", &"text ".repeat(20))];
    for (name, content) in cases {
        let page = folder.write(name, content);
        let output = clones(&["watch", "--page", &page]);
        assert_eq!(status(&output), 3, "{name}");
        assert!(said(&output).contains("no page of a watcher"), "{name}: {}", said(&output));
        assert_eq!(fs::read_to_string(&page).unwrap(), content);
    }
    let output = clones(&["watch", "--page", "/proc/headwater/copies"]);
    assert_eq!(status(&output), 3, "{}", said(&output));
    assert!(said(&output).contains("name a file by --page"), "{}", said(&output));
    let output = clones(&["watch", "--page", &folder.path("page"), "--hooks", "/nowhere"]);
    assert_eq!(status(&output), 3, "{}", said(&output));
    assert!(said(&output).contains("/nowhere"), "{}", said(&output));
}

/// Programs that start and end are no copies of a machine. The record has 10,000 forks.
#[test]
fn a_watcher_counts_no_program_that_starts() {
    let folder = Folder::new("watch-forks");
    let page = folder.path("copies");
    let mut child = watcher(&page);
    let before = kept(&page);
    for _ in 0..200 {
        let ended = Command::new(env!("CARGO_BIN_EXE_headwater")).arg("--version").output();
        assert!(ended.unwrap().status.success());
    }
    assert_eq!(kept(&page), before);
    child.kill().unwrap();
    child.wait().unwrap();
}

/// A machine without a device: its watcher sees no copy, but a repair knows of one.
#[test]
fn a_repair_counts_in_the_page_of_a_watcher() {
    if !is_root() {
        println!("skipped: only root may reseed the kernel; the count of a repair is not shown");
        return;
    }
    let folder = Folder::new("watch-repair");
    let page = folder.path("copies");
    let repaired = || {
        let arguments = ["--json", "--without-generation", "--page", &page];
        let output = repair(&random(), &arguments, None);
        (status(&output), said(&output) + &String::from_utf8_lossy(&output.stdout))
    };
    let (first, text) = repaired();
    if first == 3 && text.contains("the kernel") {
        println!("skipped: {}; the count of a repair is not shown", text.trim());
        return;
    }
    assert!(first == 0 && !text.contains("count of copies"), "no page: {text}");
    let mut child = watcher(&page);
    let (_, before) = kept(&page);
    for count in 1..=2 {
        let (status, text) = repaired();
        assert!(status == 0 && text.contains("count of copies"), "{text}");
        assert_eq!(kept(&page), (child.id(), before + count));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    // Programs still have the page of a dead watcher mapped.
    let (status, text) = repaired();
    assert!(status == 0 && text.contains("count of copies"), "{text}");
    assert_eq!(kept(&page), (0x4000_0000, before + 3));
    // A file that is no page stays as it is, and is no success.
    fs::write(&page, "text ".repeat(20)).unwrap();
    let (status, text) = repaired();
    assert!(status == 1 && text.contains("no page of a watcher"), "{text}");
    assert_eq!(fs::read_to_string(&page).unwrap(), "text ".repeat(20));
}

/// The connection of `--vsock`: what ends it is in the tests of the library, over TCP.
#[test]
fn a_connection_over_vsock_that_ends_is_a_copy() {
    let folder = Folder::new("watch-vsock");
    let page = folder.path("copies");
    let output = clones(&["watch", "--page", &page, "--vsock", "2"]);
    assert_eq!(status(&output), 2, "{}", said(&output));
    let output = clones(&["watch", "--page", &page, "--vsock", "2:1"]);
    assert_eq!(status(&output), 3, "{}", said(&output));
    assert!(said(&output).contains("where the host has to listen"), "{}", said(&output));
    assert!(!std::path::Path::new(&page).exists(), "a page without a watcher");

    let _ = Command::new("modprobe").arg("vsock_loopback").output();
    let port = 40_000 + std::process::id() % 10_000;
    let Some(listener) = listener(port) else {
        println!("skipped: no vsock_loopback here; a watch over vsock is not shown to end");
        return;
    };
    let none = folder.path("hooks");
    fs::create_dir(&none).unwrap();
    let watch = Command::new(env!("CARGO_BIN_EXE_headwater"))
        .args(["clones", "watch", "--once", "--json", "--page", &page, "--hooks", &none])
        .args(["--vsock", &format!("{LOCAL}:{port}")])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    drop(listener.accept().unwrap());
    let output = watch.wait_with_output().unwrap();
    assert_eq!(status(&output), 0, "{}", said(&output));
    let seen: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&seen["signal"], &seen["copies"]), (&"vsock".into(), &2.into()), "{seen}");
}
