//! Requests that would destroy what they are about, or keep less than they promise: refused before
//! the first byte.

#[path = "support/stream.rs"]
mod support;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use support::{Place, command, fails};

/// The page of a verification once replaced the very file that it called intact.
#[test]
fn a_page_does_not_overwrite_a_target() {
    let place = Place::new("refused-page");
    let (a, b) = (place.file("a"), place.file("b"));
    fails(0, &["write", "--seed=42", "--size=1MiB", &a]);
    fails(0, &["write", "--seed=42", "--size=1MiB", &b]);
    let before = fs::read(&a).unwrap();
    let (link, hard) = (place.file("link"), place.file("hard"));
    symlink(&a, &link).unwrap();
    fs::hard_link(&a, &hard).unwrap();
    for page in [&a, &link, &hard, &place.file("./a")] {
        for targets in [&[&*a] as &[&str], &[&b, &a], &[&link]] {
            let page = format!("--html={page}");
            let words = fails(2, &[&["verify", "--seed=42", &*page], targets].concat());
            assert!(words.contains("would overwrite the target"), "{words}");
        }
    }
    assert_eq!(fs::read(&a).unwrap(), before);
    let page = place.file("page.html");
    for html in [&page, &page, "/dev/null"] {
        fails(0, &["verify", "--seed=42", &format!("--html={html}"), &a]);
    }
    assert!(fs::read_to_string(&page).unwrap().contains("<html"));
}

/// A disk is no page, even one that is not verified.
#[test]
fn a_page_does_not_overwrite_a_disk() {
    let place = Place::new("refused-disk");
    let (image, other) = (place.file("image"), place.file("other"));
    fails(0, &["write", "--seed=42", "--size=1MiB", &image]);
    fails(0, &["write", "--seed=42", "--size=1MiB", &other]);
    let made = Command::new("losetup").args(["--find", "--show", &image]).output();
    let Some(made) = made.ok().filter(|made| made.status.success()) else {
        println!("skipped: no loop devices here, so that no disk is named as a page");
        return;
    };
    let disk = String::from_utf8(made.stdout).unwrap().trim().to_owned();
    let page = format!("--html={disk}");
    let ended = [&other, &disk].map(|target| {
        let done = support::run(&["verify", "--seed=42", &page, target]);
        (done.status.code(), String::from_utf8_lossy(&done.stderr).into_owned())
    });
    let detached = Command::new("losetup").args(["--detach", &disk]).status();
    assert!(detached.is_ok_and(|status| status.success()));
    for (status, words) in ended {
        assert_eq!(status, Some(2), "{words}");
        assert!(words.contains("would overwrite"), "{words}");
    }
    assert!(fs::read(&image).unwrap() == fs::read(&other).unwrap(), "the disk was written");
}

/// `{name}` is a target's name in its directory, and /mnt/1/fill and /mnt/2/fill have one.
#[test]
fn equal_names_are_no_names() {
    let place = Place::new("refused-names");
    for directory in ["1", "2"] {
        fs::create_dir(place.file(directory)).unwrap();
    }
    let (one, two, other) = (place.file("1/fill"), place.file("2/fill"), place.file("2/other"));
    let child = "--child={name}";
    let words = fails(2, &["write", "--seed=42", "--size=64KiB", child, &one, &two]);
    assert!(words.contains("are both 'fill' to {name}"), "{words}");
    assert!(!Path::new(&one).exists() && !Path::new(&two).exists());
    fails(0, &["write", "--seed=42", "--size=64KiB", child, &one, &other]);
    fails(0, &["write", "--seed=42", "--size=64KiB", &two]);
    let words = fails(2, &["verify", "--seed=42", child, &one, &two]);
    assert!(words.contains("are both 'fill' to {name}"), "{words}");
    fails(0, &["verify", "--seed=42", child, &one, &other]);
}

/// A state that cannot be kept used to be noticed when a second of the disk was gone.
#[test]
fn a_state_that_cannot_be_kept_is_noticed_before_the_first_byte() {
    let place = Place::new("refused-state");
    let file = place.file("disk");
    fs::write(&file, [7; 100_000]).unwrap();
    let state = format!("--state={}", place.file("none/state"));
    let words = fails(3, &["write", "--seed=42", "--yes", &state, &file]);
    assert!(words.contains("cannot keep the state of the write"), "{words}");
    assert!(words.contains("there is no directory"), "{words}");
    assert!(fs::read(&file).unwrap() == [7; 100_000]);
    // A file that this run would have made is gone again.
    let new = place.file("new");
    fails(3, &["write", "--seed=42", "--size=64KiB", &state, &new]);
    assert!(!Path::new(&new).exists());
}

/// A state was replaced by that of a write to another target, and the first write began again.
#[test]
fn a_state_of_another_target_stays() {
    let place = Place::new("refused-other-state");
    let (one, other) = (place.file("one"), place.file("other"));
    let state = place.file("state");
    let named = format!("--state={state}");
    let args = ["write", "--seed=5", "--size=12MiB", "--limit-rate=4MiB", &named, &one];
    let mut child = command(&args).stderr(Stdio::null()).spawn().unwrap();
    while !Path::new(&state).exists() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let kept = fs::read(&state).unwrap();
    let words = fails(2, &["write", "--seed=5", "--size=64KiB", &named, &other]);
    assert!(words.contains(&format!("unfinished write to {one}")), "{words}");
    assert_eq!(fs::read(&state).unwrap(), kept);
    assert!(!Path::new(&other).exists());
    // The same file once more is this write's own business, made again or not.
    fs::remove_file(&one).unwrap();
    fails(0, &["write", "--seed=5", "--size=64KiB", &named, &one]);
}

/// The signal of `ulimit -f` ended the process without a word.
#[test]
fn a_limit_of_files_is_an_error_with_a_name() {
    let place = Place::new("refused-limit");
    let file = place.file("u");
    let headwater = env!("CARGO_BIN_EXE_headwater");
    let shell =
        format!("ulimit -f 64; exec '{headwater}' stream write --seed=42 --size=4MiB '{file}'");
    let done = Command::new("bash").args(["-c", &shell]).output().unwrap();
    let words = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(3), "{words}");
    assert!(words.contains(&file) && words.contains("too large"), "{words}");
}

/// A filter may allow a ring and refuse its use. The command waited for ever for the ring's answer.
#[test]
fn a_ring_that_may_not_be_used_is_none() {
    let place = Place::new("refused-ring");
    let file = place.file("f");
    fails(0, &["write", "--seed=42", "--size=4MiB", &file]);
    let mut strace = Command::new("strace");
    strace.args(["-f", "-o", "/dev/null", "-e", "trace=io_uring_enter"]);
    strace.args(["-e", "inject=io_uring_enter:error=EPERM", env!("CARGO_BIN_EXE_headwater")]);
    strace.args(["stream", "verify", "--seed=42", &file]).stdin(Stdio::null());
    let Ok(done) = strace.output() else {
        println!("skipped: no strace, so it is not shown that a refused ring is done without");
        return;
    };
    assert_eq!(done.status.code(), Some(0), "{done:?}");
}
