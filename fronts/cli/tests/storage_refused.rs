//! Requests that would destroy what they are about, or keep less than they promise: refused before
//! the first byte.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Place {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("storage-refused-{name}"));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Place(path)
    }

    fn file(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn run(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_headwater"));
    command.arg("stream").args(args).stdin(Stdio::null()).output().unwrap()
}

#[track_caller]
fn ends(status: i32, args: &[&str]) -> String {
    let done = run(args);
    let words = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(status), "{args:?}: {words}");
    words
}

/// The page of a verification once replaced the very file that it called intact.
#[test]
fn a_page_does_not_overwrite_a_target() {
    let place = Place::new("page");
    let (a, b) = (place.file("a"), place.file("b"));
    ends(0, &["write", "--seed=42", "--size=1MiB", &a]);
    ends(0, &["write", "--seed=42", "--size=1MiB", &b]);
    let before = fs::read(&a).unwrap();
    let (link, hard) = (place.file("link"), place.file("hard"));
    symlink(&a, &link).unwrap();
    fs::hard_link(&a, &hard).unwrap();
    for page in [&a, &link, &hard, &format!("{}/./a", place.0.display())] {
        for targets in [&[&*a] as &[&str], &[&b, &a], &[&link]] {
            let page = format!("--html={page}");
            let words = ends(2, &[&["verify", "--seed=42", &*page], targets].concat());
            assert!(words.contains("would overwrite the target"), "{words}");
        }
    }
    assert_eq!(fs::read(&a).unwrap(), before);
    let page = place.file("page.html");
    for html in [&page, &page, "/dev/null"] {
        ends(0, &["verify", "--seed=42", &format!("--html={html}"), &a]);
    }
    assert!(fs::read_to_string(&page).unwrap().contains("<html"));
}

/// `{name}` is a target's name in its directory, and /mnt/1/fill and /mnt/2/fill have one.
#[test]
fn equal_names_are_no_names() {
    let place = Place::new("names");
    for directory in ["1", "2"] {
        fs::create_dir(place.file(directory)).unwrap();
    }
    let (one, two, other) = (place.file("1/fill"), place.file("2/fill"), place.file("2/other"));
    let child = "--child={name}";
    let words = ends(2, &["write", "--seed=42", "--size=64KiB", child, &one, &two]);
    assert!(words.contains("are both 'fill' to {name}"), "{words}");
    assert!(!Path::new(&one).exists() && !Path::new(&two).exists());
    ends(0, &["write", "--seed=42", "--size=64KiB", child, &one, &other]);
    ends(0, &["write", "--seed=42", "--size=64KiB", &two]);
    let words = ends(2, &["verify", "--seed=42", child, &one, &two]);
    assert!(words.contains("are both 'fill' to {name}"), "{words}");
    ends(0, &["verify", "--seed=42", child, &one, &other]);
}

/// A state that cannot be kept used to be noticed when a second of the disk was gone.
#[test]
fn a_state_that_cannot_be_kept_is_noticed_before_the_first_byte() {
    let place = Place::new("state");
    let file = place.file("disk");
    fs::write(&file, [7; 100_000]).unwrap();
    let state = format!("--state={}", place.file("none/state"));
    let words = ends(3, &["write", "--seed=42", "--yes", &state, &file]);
    assert!(words.contains("cannot keep the state of the write"), "{words}");
    assert!(words.contains("there is no directory"), "{words}");
    assert!(fs::read(&file).unwrap() == [7; 100_000]);
    // A file that this run would have made is gone again.
    let new = place.file("new");
    ends(3, &["write", "--seed=42", "--size=64KiB", &state, &new]);
    assert!(!Path::new(&new).exists());
}

/// The signal of `ulimit -f` ended the process without a word.
#[test]
fn a_limit_of_files_is_an_error_with_a_name() {
    let place = Place::new("limit");
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
    let place = Place::new("ring");
    let file = place.file("f");
    ends(0, &["write", "--seed=42", "--size=4MiB", &file]);
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
